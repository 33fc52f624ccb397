"""`keras_vaf.torch.VAF`, a VAF as a plain module of PyTorch."""

import copy
import io
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from keras_vaf.layers import VAFActivation
from keras_vaf.ops.activations import BY_NAME
from keras_vaf.ops.native.case import FUNCTIONS as CASES
from keras_vaf.torch import VAF, parameter_groups
from keras_vaf.torch.functions import FUNCTIONS

X = torch.linspace(-6, 6, 240).reshape(4, 3, 4, 5)
DTYPES = (torch.float64, torch.bfloat16, torch.float16)
NAMES = [name for name in FUNCTIONS if name in BY_NAME]
close = torch.testing.assert_close


def trained(g="gelu", **arguments):
    """Return a VAF with random numbers."""
    vaf = VAF(g=g, **arguments)
    random = torch.Generator().manual_seed(0)
    vaf.weight.data = torch.randn(vaf.weight.shape, generator=random)
    return vaf


def network():
    layers = nn.Linear(4, 8), trained("gelu"), nn.Linear(8, 8), trained("relu")
    return nn.Sequential(*layers, nn.Linear(8, 1))


def in_double(vaf, x):
    """Return f(x) and its gradients, computed by its equation in float64."""
    x, weight = (t.detach().double().requires_grad_() for t in (x, vaf.weight))
    shape = [1] * x.ndim
    for axis in vaf.axes:
        shape[axis] = x.shape[axis]
    a, b, w, c = weight.reshape(*shape, -1).split([vaf.k] * 3 + [1], -1)
    y = (w * FUNCTIONS[vaf.g](a * x[..., None] + b)).sum(-1) + c[..., 0]
    y.square().sum().backward()
    return y.detach(), x.grad, weight.grad


@pytest.mark.parametrize("g", FUNCTIONS)
def test_the_equation_its_gradients_and_its_start(g, form):
    for sizes, axes, k in (((), (), 1), ((), (), 5), ((3,), (1,), 3), ((5,), (-1,), 3)):
        vaf, x = trained(g, k=k, unshared=sizes, axes=axes), X.clone().requires_grad_()
        y = vaf(x)
        y.square().sum().backward()
        found = y, x.grad, vaf.weight.grad
        for value, wanted in zip(found, in_double(vaf, X), strict=True):
            size = max(1.0, wanted.abs().max().item())
            close(value.double() / size, wanted / size, rtol=1e-4, atol=1e-5)
        vaf.reset_parameters()
        close(vaf(X), FUNCTIONS[g](X), rtol=1e-6, atol=1e-6)
    vaf = trained(g, unshared=(3, 5), axes=(1, 3))
    close(vaf(X).double(), in_double(vaf, X)[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("g", NAMES)
def test_the_same_numbers_as_the_keras_layer(g, form):
    for unshared in ((), (3,)):
        vaf, sharing = trained(g, unshared=unshared), "channel" if unshared else "layer"
        layer = VAFActivation(g=g, sharing=sharing, data_format="channels_first")
        layer.build(X.shape)
        parts = (vaf.alpha, vaf.alpha_bias, vaf.beta, vaf.beta_bias)
        layer.set_weights([part.detach().numpy() for part in parts])
        same = form == "kernels" and g in CASES  # both call the same kernel
        close(vaf(X), layer(X), **({"rtol": 0, "atol": 0} if same else {}))
        with torch.autocast("cpu", torch.bfloat16):
            close(layer(X), vaf(X))


def test_any_function_or_module_is_a_g():
    for g in (nn.ELU(0.5), nn.Softplus(2.0), lambda h: h * torch.sigmoid(1.702 * h)):
        vaf = VAF(g=g)
        close(vaf(X), g(X), rtol=0, atol=0)
        vaf(X).sum().backward()
        assert vaf.weight.grad.isfinite().all()
    assert "ELU" in repr(VAF(g=nn.ELU(0.5)))


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"g": "rellu"}, "Did you mean 'relu'"),
        ({"g": nn.ReLU}, "Received: g="),
        ({"unshared": (3, 4), "axes": (2, 1)}, "ascending"),
        ({"initialization": "leaky_relu", "k": 1}, "k"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        VAF(**arguments)
    with pytest.raises(ValueError, match=r"torch\.int64"):
        VAF()(torch.tensor([1, -2]))


def test_views_are_read_and_written_in_place():
    vaf = VAF()
    beta = vaf.beta
    with torch.no_grad():
        beta.add_(1)
        vaf.beta_bias.fill_(2)
        vaf.alpha[0] = 5
        vaf.alpha_bias[1] = 7
    assert vaf.weight[[0, 4, 6, 9]].tolist() == [5, 7, 2, 2]
    assert [name for name, _ in vaf.named_parameters()] == ["weight"]
    with pytest.raises(AttributeError):
        vaf.alpha = torch.ones(3)
    vaf.reset_parameters()
    close(vaf(X), torch.relu(X), rtol=0, atol=0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("g", ("relu", "gelu", "mish"))
def test_a_module_in_another_dtype(dtype, g, form):
    vaf, x = trained(g).to(dtype), X.to(dtype)
    wide = trained(g).to(dtype).to(torch.promote_types(dtype, torch.float32))
    y = vaf(x)
    assert y.dtype == dtype == vaf.weight.dtype
    expected = wide(x.to(wide.weight.dtype)).to(dtype)
    close(y, expected)
    y.sum().backward()
    assert vaf.weight.grad.dtype == dtype
    if dtype.itemsize < 4:  # a module in float32 takes the same input
        close(trained(g)(x), trained(g)(x.float()).to(dtype))


@pytest.mark.parametrize("dtype", DTYPES[1:])
@pytest.mark.parametrize("g", ("gelu", "mish"))
def test_autocast_keeps_as_much_as_a_fixed_function(dtype, g, form):
    found = []
    for module in (nn.GELU(), trained(g)):
        kept = []
        hooks = torch.autograd.graph.saved_tensors_hooks(
            lambda t, kept=kept: kept.append(t) or t, lambda t: t
        )
        with hooks, torch.autocast("cpu", dtype):
            x = nn.Linear(8, 8)(torch.randn(16, 8))
            y = module(x)
        assert y.dtype == x.dtype == dtype
        found.append(sorted(str(t.dtype) for t in kept if t.numel() == y.numel()))
    assert found[0] == found[1]


@pytest.mark.parametrize("g", ("relu", "mish"))
def test_layouts_are_kept(g, form):
    inputs = (
        torch.zeros(0, 3),
        torch.tensor(1.5),
        torch.randn(3, 4, 5).transpose(0, 2),
        torch.randn(2, 3, 4, 5).contiguous(memory_format=torch.channels_last),
        torch.randn(4, 3, 1, 1).expand(4, 3, 2, 2),
    )
    for x in inputs:
        vafs = [trained(g), *([trained(g, unshared=(3,))] if x.ndim == 4 else [])]
        for vaf in vafs:
            leaf = x.detach().requires_grad_()
            y = vaf(leaf)
            y.sum().backward()
            assert y.shape == leaf.grad.shape == x.shape
            assert y.stride() == x.stride() or not x.numel() or 0 in x.stride()
            close(y, vaf(x.contiguous()))


@pytest.mark.parametrize("g", ("tanh", "gelu", "mish"))
def test_second_derivatives(g, form):
    found, start = [], torch.randn(6)
    for vaf, x in ((trained(g), start), (trained(g).double(), start.double())):
        x.requires_grad_()
        (first,) = torch.autograd.grad(vaf(x).sum(), x, create_graph=True)
        first.square().sum().backward()
        found.append((x.grad.double(), vaf.weight.grad.double()))
    close(*found, rtol=1e-4, atol=1e-4)


def test_functions_of_torch_func(form):
    module, x = network(), torch.randn(6, 4)
    values = {name: p.detach() for name, p in module.named_parameters()}

    def total(values, x):
        return torch.func.functional_call(module, values, (x,)).sum()

    whole = torch.func.grad(total)(values, x)
    assert all(whole[name].any() for name in ("1.weight", "3.weight"))
    each = torch.func.vmap(torch.func.grad(total), (None, 0))(values, x)
    tangent = {name: torch.randn_like(value) for name, value in values.items()}
    _, slope = torch.func.jvp(lambda v: total(v, x), (values,), (tangent,))
    expected = sum((whole[name] * tangent[name]).sum() for name in values)
    close(slope, expected, rtol=1e-4, atol=1e-3)
    for name, value in whole.items():
        close(each[name].sum(0), value, rtol=1e-3, atol=1e-3)


def test_copies_and_files():
    module, x, file = network(), torch.randn(3, 4), io.BytesIO()
    torch.save(module.state_dict(), file)
    file.seek(0)
    loaded, assigned = network(), network()
    loaded.load_state_dict(torch.load(file, weights_only=True))
    assigned.load_state_dict(module.state_dict(), assign=True)
    copies = (copy.deepcopy(module), pickle.loads(pickle.dumps(module)))
    for other in (*copies, loaded, assigned):
        assert torch.equal(other(x), module(x))


def test_parameters_without_memory_are_set_later():
    vaf = VAF(3, "gelu", device="meta").to_empty(device="cpu")
    vaf.reset_parameters()
    close(vaf(X), nn.functional.gelu(X))
    nn.utils.parametrize.register_parametrization(vaf, "weight", nn.Tanh())
    vaf(X).sum().backward()
    assert vaf.parametrizations.weight.original.grad.any()


@pytest.mark.filterwarnings("ignore:The .grad attribute")  # of torch.compile itself
@pytest.mark.parametrize("called", (False, True))
def test_fifty_vafs_are_one_graph(called, kernels):
    from torch._dynamo.utils import counters

    torch.compiler.reset()
    counters.clear()
    parts = [part for _ in range(50) for part in (nn.Linear(8, 8), VAF(3, "gelu"))]
    module, x = nn.Sequential(*parts, nn.Linear(8, 2)), torch.randn(4, 8)
    if called:
        module(x)
    compiled = torch.compile(module, backend="eager", fullgraph=True)
    for _ in range(2):
        compiled(x).sum().backward()
    assert counters["stats"]["unique_graphs"] == 1
    close(compiled(x), module(x))


@pytest.mark.parametrize("assign", (False, True))
def test_a_state_of_version_0_3_0_is_loaded(assign):
    """It holds four weights for each VAF.

    At commit 8533b88, in `torch.nn`, with the seed 0, this wrote the file:

    ```
    module = convert(Sequential(Linear(4, 8), GELU(), Sequential(Linear(8, 8), PReLU(8),
        Linear(8, 8), LeakyReLU(0.1)), Linear(8, 8), ReLU6(), Linear(8, 2)))
    x, optimizer = torch.randn(16, 4), torch.optim.SGD(module.parameters(), lr=0.1)
    (module(x) - 1).square().mean().backward()
    optimizer.step()
    state = {name: value.clone() for name, value in module.state_dict().items()}
    torch.save({"state": state, "x": x, "y": module(x).detach()}, "state_0_3_0.pt")
    ```
    """
    file = torch.load(Path(__file__).with_name("state_0_3_0.pt"), weights_only=True)
    module = nn.Sequential(
        *(nn.Linear(4, 8), VAF(g="gelu")),
        nn.Sequential(nn.Linear(8, 8), VAF(unshared=(8,)), nn.Linear(8, 8), VAF()),
        *(nn.Linear(8, 8), VAF(), nn.Linear(8, 2)),
    )
    module.load_state_dict(file["state"], assign=assign)
    close(module(file["x"]), file["y"])
    moved = np.abs(module[1].beta.detach().numpy() - [1, 0, 0])
    assert moved.max() > 1e-4  # it was trained


def test_parameter_groups_go_by_class():
    module = nn.Sequential(nn.Linear(4, 8), VAF(unshared=(8,)), nn.Linear(8, 1))
    others, vafs = parameter_groups(module, lr=0.5, weight_decay=0.0)
    assert [*map(id, vafs["params"])] == [id(module[1].weight)]
    assert (len(others["params"]), vafs["lr"], vafs["weight_decay"]) == (4, 0.5, 0.0)
    assert torch.optim.SGD([others, vafs], lr=0.1).param_groups[0]["lr"] == 0.1
    with pytest.raises(ValueError, match="module with VAFs"):
        parameter_groups(nn.Linear(2, 2))
