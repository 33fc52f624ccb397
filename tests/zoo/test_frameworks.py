"""Each block of docs/frameworks.md and docs/torch.md runs, and keeps what it says.

`pip install -e '.[test-torch,torch-zoo]' && KERAS_BACKEND=torch pytest -n 0 -m zoo
tests/zoo` runs the blocks for other packages. Nothing is downloaded.
"""

import re
from pathlib import Path
from types import SimpleNamespace

import keras
import numpy as np
import pytest

import keras_vaf

pytestmark = pytest.mark.filterwarnings("ignore")
DOCS = Path(__file__).parents[2] / "docs"
SILU = keras.activations.silu


def vafs(module):
    return [m for m in module.modules() if isinstance(m, keras_vaf.torch.VAF)]


def moved(module):
    """Move the weights of all VAFs, as training does."""
    for vaf in vafs(module):
        vaf.weight.data += 0.3 * vaf.weight.data.new(vaf.weight.shape).normal_()
    return module


def equal(one, other, x):
    pair = [module.eval()(x) for module in (one, other)]
    first, second = (getattr(each, "logits", each) for each in pair)
    return first.equal(second) and len(vafs(one)) == len(vafs(other)) > 0


def restores(module, load, path):
    (vaf,) = vafs(module)
    before = vaf.weight.detach().clone()
    moved(module)
    load(path)
    return before.equal(vaf.weight)


def close(one, other, limit=1e-6):
    return np.abs(np.asarray(one) - np.asarray(other)).max() <= limit


def on_runtime(path, x):
    import onnxruntime

    session = onnxruntime.InferenceSession(path)
    return session.run(None, {session.get_inputs()[0].name: x.numpy()})[0]


# The backend of a section, the other packages that it needs, with which it runs in the
# full run alone, and what holds after its blocks. `convert` returns VAFs that moved.
SECTIONS = {
    "transformers": (
        *("torch", ["transformers"]),
        lambda n: (
            equal(n.llama, n.again, n.ids) and equal(n.new, n.same, n.ids),
            [group["weight_decay"] for group in n.groups[1:]] == [0],
            any("act_fn" in p for p in n.trainer.get_decay_parameter_names(n.llama)),
        ),
    ),
    "The Hub": (
        *("torch", ["huggingface_hub"]),
        lambda n: [equal(n.network, n.again, n.x)],
    ),
    "PEFT": (
        *("torch", ["peft"]),
        lambda n: (
            equal(n.model, n.again, n.ids),
            [v.weight.requires_grad for v in vafs(n.model)] == 2 * [False, True],
        ),
    ),
    "timm": (
        *("torch", ["timm"]),
        lambda n: (n.y.isfinite().all(), len(vafs(n.network)) == 17),
    ),
    "Lightning": (
        *("torch", ["lightning"]),
        lambda n: (
            equal(n.fit.net, n.again.net, n.torch.ones(2, 8)),
            Path("epoch_1.png").exists(),
        ),
    ),
    "accelerate": (
        *("torch", ["accelerate"]),
        lambda n: [restores(n.network, n.accelerator.load_state, "state")],
    ),
    "TensorBoard": ("torch", ["tensorboard"], lambda n: [*Path("runs").iterdir()]),
    "ONNX": (
        *("torch", ["onnxscript", "onnxruntime"]),
        lambda n: [
            close(on_runtime(path, n.x), n.network(n.x).detach(), 1e-5)
            for path in ("network.onnx", "by_torchscript.onnx")
        ],
    ),
    "DeepXDE": (
        *("torch", ["deepxde"]),
        lambda n: (
            not vafs(n.net)[0].weight.equal(n.VAF(g="tanh").weight),
            restores(n.net, n.model.restore, n.path),
        ),
    ),
    "TensorFlow": (
        *("tensorflow", []),
        lambda n: (n.step(n.tf.ones((4, 8)), 1.0) is None, n.vaf.beta_bias != 0),
    ),
    "JAX": (
        *("jax", []),
        lambda n: (
            close(n.y, SILU(n.x), 0),
            close(n.pointwise(n.VAF(__import__("jax").nn.silu), n.x, n.weights), n.y),
            close(
                n.pointwise(n.VAF(n.g), n.x, n.GStart()((3,), 3, n.g), unshared=(1,)),
                n.y,
            ),
        ),
    ),
    "Optax": (
        *("jax", ["optax"]),
        lambda n: (
            close(abs(n.updates["kernel"]), 1e-3),
            close(abs(n.updates["vaf"][3]), 1e-2),
        ),
    ),
    "Flax NNX": (
        *("jax", ["flax"]),
        lambda n: (
            close(n.Vaf()(n.jnp.ones(3)), SILU(1.0)),
            len(n.nnx.to_flat_state(n.nnx.state(n.Vaf(), n.nnx.Param))) == 4,
            not n.nnx.to_flat_state(
                n.nnx.state(n.nnx.List([keras_vaf.VAFActivation()]))
            ),
        ),
    ),
    "Equinox": (
        *("jax", ["equinox"]),
        lambda n: (
            close(n.Vaf()(n.jnp.ones(3)), SILU(1.0)),
            n.eqx.filter_grad(lambda f: f(n.jnp.ones(3)).sum())(n.Vaf()).weights[3]
            == 3,
        ),
    ),
}


def run(page, title=""):
    """Run the blocks of a section, or of a whole page, and return their names."""
    text, names = (DOCS / page).read_text("utf-8"), {}
    text = text.split(f"\n## {title}\n")[1].partition("\n## ")[0] if title else text
    for block in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S):
        exec(compile(block, f"{page}, {title}", "exec"), names)
    return SimpleNamespace(**names)


def cases():
    for title, (backend, packages, check) in SECTIONS.items():
        marks = [pytest.mark.backend(backend)]
        if packages:
            marks += [pytest.mark.zoo, pytest.mark.needs(*packages)]
        yield pytest.param(title, check, marks=marks)


@pytest.mark.parametrize("title, check", [*cases()])
def test_a_section(title, check, tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    if SECTIONS[title][0] == "torch":
        request.getfixturevalue("torchvision")
    convert = keras_vaf.convert
    monkeypatch.setattr(keras_vaf, "convert", lambda m, **w: moved(convert(m, **w)))
    assert all(check(run("frameworks.md", title)))


@pytest.mark.backend("tensorflow")
def test_every_section_is_run():
    titles = re.findall(r"^## (.*)", (DOCS / "frameworks.md").read_text("utf-8"), re.M)
    assert titles == [*SECTIONS, "Keras"]


@pytest.mark.backend("torch")
def test_the_page_about_pytorch(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    n = run("torch.md")
    n.plain[1].beta.data.mul_(2)  # as its last block does
    assert equal(n.network, n.plain, n.x)
