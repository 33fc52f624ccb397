"""The trainings of cnet_B on images, and their tables."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmarks.evidence.answers import PACKED, packed_frame
from benchmarks.evidence.pytorch import tables as seed_tables
from benchmarks.evidence.records import Records
from keras_vaf.layers import VAFActivation
from keras_vaf.models import cnet

pytestmark = pytest.mark.backend("torch")


@pytest.mark.parametrize(("size", "width"), [(15, 5), (14, 5), (6, 3), (4, 1)])
def test_a_convolution_by_fourier_transforms_is_a_convolution(size, width):
    torch = pytest.importorskip("torch")
    from benchmarks.evidence.pytorch.convolution import convolve

    rng = np.random.default_rng(0)
    shapes = (2, 3, size, size), (width, width, 3, 4), (2, 4, size, size)
    images, kernel, weights = (torch.tensor(rng.normal(size=each)) for each in shapes)

    def derivatives(function, dtype):
        given = [each.to(dtype).requires_grad_() for each in (images, kernel)]
        y = function(*given)
        return y, *torch.autograd.grad((y * weights).sum(), given)

    def direct(images, kernel):
        kernel = kernel.permute(3, 2, 0, 1)
        return torch.nn.functional.conv2d(images, kernel, padding=width // 2)

    expected = derivatives(direct, torch.float64)
    for one, other in zip(derivatives(convolve, torch.float32), expected, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=1e-5, atol=3e-5)


FORMS = {
    "images": (("images", "images-others"), "cifar10", (), 3),
    "images_fashion_mnist": (("images-others",), "fashion_mnist", ("relu-1.5",), 3),
    "images_all": (("images-all",), "cifar10", ("relu-1.5", "silu", "vaf-silu"), 3),
    "images_cnet_a": (("images-cnet-a",), "cifar10", (), 3),
}


@pytest.mark.parametrize("name", FORMS)
def test_published_accuracies_of_images_are_those_of_the_records(name):
    studies, dataset, absent, seeds = FORMS[name]
    frame = packed_frame(*studies)
    frame = frame[frame.dataset == dataset]
    lines = (PACKED / f"{name}.md").read_text("utf-8").splitlines()[2:]
    rows = {each.split("|")[1].strip(): each for each in lines}
    shown = {k: v for k, v in seed_tables.IMAGE_ARMS.items() if k not in absent}
    assert list(rows) == list(shown.values())
    tested = {}
    for arm, title in shown.items():
        own = frame[frame.arm == arm]
        # No two rates are equal on validation data, so the higher accuracy selects.
        tuned = own[own.seed == 0]
        rate = max(zip(tuned.validation, tuned.rate, strict=True))[1]
        scores = np.array(own[own.rate == rate].sort_values("seed").test.tolist())
        tested[arm], loss = 100 * scores[:, 0], scores[:, 1].mean()
        assert len(scores) == seeds
        assert f"| {tested[arm].mean():.1f} ± " in rows[title]
        assert f"| {loss:.2f} |" in rows[title]
    controls = [each for each in ("relu", "relu-1.5", "silu") if each in shown]
    for control, arm in itertools.product(controls, shown):
        if arm != control:
            test = stats.ttest_rel(tested[arm], tested[control])
            low, high = test.confidence_interval()
            mean = (tested[arm] - tested[control]).mean()
            title = seed_tables.IMAGE_ARMS[arm]
            assert f"| {mean:z.1f} ({low:z.1f} to {high:z.1f}) |" in rows[title]


@pytest.mark.parametrize(
    ("name", "arm", "answer"),
    [("C2", "vaf-relu", "refuted"), ("C3", "vaf-random", "cannot tell")],
)
def test_a_gain_of_five_points_on_all_images_is_answered_by_the_rule(name, arm, answer):
    frame = packed_frame("images-all")
    rate = {"relu": 0.0003, "vaf-relu": 0.001, "vaf-random": 0.001}
    vaf, relu = (
        [test[0] for test in frame[(frame.arm == a) & (frame.rate == rate[a])].test]
        for a in (arm, "relu")
    )
    low, high = stats.ttest_rel(vaf, relu).confidence_interval()
    assert len(vaf) == 3 and low < 0.05
    assert (high < 0.05) == (answer == "refuted")
    [row] = [
        each
        for each in (PACKED / "answers.md").read_text("utf-8").splitlines()
        if each.startswith(f"| {name} |")
    ]
    assert f"| {low:.3f} to {high:.3f} |" in row and row.endswith(f"| {answer} |")


def test_an_activation_with_unfinished_trainings_is_not_in_the_table_of_images():
    frame = packed_frame("images")
    relu = frame[frame.arm == "relu"]
    silu = relu.assign(arm="silu", test=relu.test.tolist()[::-1])
    unfinished = silu[silu.seed < 2].assign(arm="vaf-silu")
    text = seed_tables.image_table(pd.concat([frame, silu, unfinished]))
    assert "| SiLU" in text and "| VAF from SiLU" not in text


@pytest.mark.parametrize("arm", ["relu", "vaf-silu"])
def test_the_faster_network_for_images_computes_cnet_b(arm):
    torch = pytest.importorskip("torch")
    from benchmarks.evidence.pytorch import images

    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, 20, 20, 3)).astype("float32")
    classes = torch.tensor(rng.integers(0, 10, 4))
    fast = images.create(arm, (3, 20, 20), seed=0)
    plain = cnet((20, 20, 3), (150, 150), 10, images.ARMS[arm], seed=0)
    plain.set_weights(fast.get_weights())

    def derivatives(network, x):
        logits = network(x)
        loss = torch.nn.functional.cross_entropy(logits, classes)
        weights = [each.value for each in network.trainable_variables]
        return logits, *torch.autograd.grad(loss, weights)

    expected = derivatives(plain, torch.tensor(x))
    found = derivatives(fast, images.batch(torch.tensor(x), np.arange(4)))
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_learned_functions_are_those_of_the_last_states(tmp_path):
    torch = pytest.importorskip("torch")
    from benchmarks.evidence.pytorch import images, learned
    from benchmarks.evidence.pytorch.torch_study import copied

    network = images.create("vaf-relu", (3, 32, 32), seed=1)
    for _ in range(7):  # later layers are number 9 and 10, which is another order
        VAFActivation()
    second = [each for each in network.layers if hasattr(each, "function")][1]
    second.beta.assign(1.5 * second.beta)
    state = {"network": copied(network), "numbers": {"epoch": images.EPOCHS}}
    torch.save(state, tmp_path / "cifar10_vaf-relu_0.0003_1.pt")
    records = Records(tmp_path / "images")
    for rate, accuracy in ((0.0003, 0.7), (0.001, 0.6)):
        key = "cifar10", "vaf-relu", rate, 0
        records.write({"validation": [accuracy, 1.0]}, *key)
        torch.save(state, tmp_path / f"{'_'.join(map(str, key))}.pt")
    unfinished = {**state, "numbers": {"epoch": images.EPOCHS - 1}}
    torch.save(unfinished, tmp_path / "cifar10_vaf-relu_0.0003_2.pt")
    rows = list(learned.learned(tmp_path))
    assert [(each["arm"], each["seed"], each["layer"]) for each in rows] == [
        ("vaf-relu", seed, layer) for seed in (0, 1) for layer in (1, 2)
    ]
    relu = np.maximum(0, learned.POINTS)
    np.testing.assert_allclose(rows[0]["values"], relu, atol=1e-4)
    np.testing.assert_allclose(rows[1]["values"], 1.5 * relu, atol=1e-4)
