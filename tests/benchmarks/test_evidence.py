"""The trainings of the registered comparisons, and the statistics on their records."""

import itertools
import math

import keras
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmarks.evidence import new_tables
from benchmarks.evidence.answers import PACKED
from benchmarks.evidence.map import functions
from benchmarks.evidence.map import study as map_study
from benchmarks.evidence.pytorch import tables as seed_tables
from benchmarks.evidence.ratios import Ratio
from benchmarks.evidence.records import Records, pack, unpack
from benchmarks.evidence.tables import ARMS, DecayingAdam, TableStudy
from keras_vaf.datasets import Dataset
from keras_vaf.models import cnet

pytestmark = pytest.mark.backend("torch")


def test_a_ratio_is_the_t_interval_of_the_logarithms():
    rng = np.random.default_rng(0)
    errors, reference = rng.uniform(0.1, 1, (2, 12))
    ratio = Ratio.of(errors, reference)
    logs = np.log(errors / reference)
    expected = stats.t.interval(0.9, 11, logs.mean(), stats.sem(logs))
    np.testing.assert_allclose(np.log(ratio.interval(0.9)), expected)
    assert ratio.mean == pytest.approx(stats.gmean(errors / reference))
    assert ratio.p == pytest.approx(stats.wilcoxon(logs).pvalue)


def test_differences_by_rounding_are_ties():
    ratio = Ratio.of([0.1 + 0.2, 0.5, 0.9], [0.3, 1.0, 0.8])
    assert ratio.counts == (1, 1, 1)


def test_ratios_are_equivalent_only_if_the_whole_interval_is_within_the_bound():
    narrow = Ratio.of([1.01, 0.99, 1.0, 1.005], [1.0] * 4)
    wide = Ratio.of([1.2, 0.8, 1.0, 1.1], [1.0] * 4)
    assert narrow.is_within(0.03) and not wide.is_within(0.03)
    assert not narrow.is_within(0.001)


def test_records_are_packed_and_read_again(tmp_path):
    records = Records(tmp_path / "study")
    assert records.read("wine", 0.1) is None
    records.write({"error": 0.25}, "wine", 0.1)
    assert Records(tmp_path / "study").read("wine", 0.1) == {"error": 0.25}
    assert pack(tmp_path / "study", tmp_path / "packed.json.gz") == 1
    assert unpack(tmp_path / "packed.json.gz") == [{"error": 0.25}]


def test_the_learning_rate_falls_linearly_to_zero():
    weight = keras.Variable([0.0])
    optimizer = DecayingAdam(4, learning_rate=1.0)
    places = [0.0]
    for _ in range(6):
        optimizer.apply([keras.ops.ones(1)], [weight])
        places.append(float(keras.ops.convert_to_numpy(weight)[0]))
    steps = -np.diff(places)
    np.testing.assert_allclose(steps, [1, 0.75, 0.5, 0.25, 0, 0], atol=1e-4)


def line(name):
    """Return a small regression."""
    x = np.random.default_rng(0).normal(size=(60, 2)).astype("float32")
    return Dataset(name, "regression", x, x[:, 0] * 2, ("a", "b"))


def study(**changed):
    """Return a small study of two arms."""
    fields = {"rates": (0.003, 0.03), "extend": False, **changed}
    return TableStudy(("line",), line, ("relu", "gelu"), **fields)


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr("benchmarks.evidence.tables.HIDDEN", (4,))
    monkeypatch.setattr("benchmarks.evidence.tables.FOLDS", 2)
    monkeypatch.setattr("benchmarks.evidence.tables.epochs", lambda rows: 2)


def test_a_study_resumes_with_equal_results(quick, tmp_path):
    whole, parts = Records(tmp_path / "whole"), Records(tmp_path / "parts")
    study(references=True).run(whole)
    study(rates=(0.03,)).run(parts)
    stamp = parts.path("line", "gelu", 0.03).stat().st_mtime_ns
    study(references=True).run(parts)
    assert list(parts) == list(whole)
    assert parts.path("line", "gelu", 0.03).stat().st_mtime_ns == stamp
    assert len(list(whole)) == study(references=True).trainings()


def test_a_linear_regression_solves_a_line(quick, tmp_path):
    records = Records(tmp_path)
    study(references=True).run(records)
    errors = {
        arm: [fold["test"] for fold in records.read("line", arm)["folds"]]
        for arm in ("constant", "linear")
    }
    assert max(errors["linear"]) < 1e-5 < 0.05 < min(errors["constant"])


def test_a_rate_is_added_where_an_arm_selects_an_edge_in_three_folds(tmp_path):
    records = Records(tmp_path)
    own = study(rates=(0.0003, 0.001, 0.03), extend=True)
    for arm in own.arms:
        for rate in own.rates:
            best = {("gelu", 0.03): 3, ("relu", 0.0003): 2}.get((arm, rate), 0)
            folds = [{"validation": float(fold >= best)} for fold in range(10)]
            if rate == 0.001:
                folds = [{"validation": 0.5}] * 10
            records.write({"folds": folds}, "line", arm, rate)
    assert own.further_rates(records, "line") == [0.1]


def test_the_fixed_copy_of_gelu_is_not_trained():
    layer = ARMS["gelu-hinges-fixed"]()
    layer.build((None, 3))
    assert layer.trainable_variables == []
    trained = ARMS["gelu-hinges"]()
    trained.build((None, 3))
    assert len(trained.trainable_variables) == 4


def test_fixed_functions_of_the_map_are_not_trained_and_have_their_frequency():
    x = np.linspace(-3, 3, 50)
    fixed = {"sin": np.sin(x), "sin-1.5": np.sin(1.5 * x), "sin-3": np.sin(3 * x)}
    fixed |= {"tanh": np.tanh(x), "silu": x / (1 + np.exp(-x))}
    for name, expected in fixed.items():
        layer = map_study.ARMS[name].build()
        layer.build((None, 4))
        assert layer.trainable_variables == []
        np.testing.assert_allclose(layer.function(x), expected, atol=1e-6)
    for name in ("vaf-1", "vaf-3"):
        layer = map_study.ARMS[name].build()
        layer.build((None, 4))
        np.testing.assert_allclose(layer.function(x), fixed["sin"], atol=1e-6)
        assert len(layer.trainable_variables) == 4


def test_equal_time_is_the_time_of_the_task_with_relu():
    place = map_study.PLACES[0]
    seconds = {"plain relu": 2e-4, "sin": 4e-4, "vaf-1": 5e-4}
    prices = {"seconds": {"plasticity": seconds}}
    found = [map_study.steps_of(place, name, prices) for name in ("sin-3", "vaf-1")]
    assert found == [150, 120]  # of 300 steps
    seconds["vaf-1"] = 3e-4  # faster than the fixed sine, which is noise
    found = [map_study.steps_of(place, name, prices) for name in ("sin-3", "vaf-1")]
    assert found == [200, 200]


def test_the_map_selects_a_rate_by_the_seeds_for_choice(monkeypatch, tmp_path):
    """Run the study without training: an error is known for each key."""

    def train(trainer, place, arm, budget, rate, seed):
        assert budget == "time"
        keys = {"dataset": place.dataset, "arm": arm, "rate": rate}
        error = abs(rate - 0.003)
        return {**keys, "seed": seed, "validation": error, "error": 1.0}

    monkeypatch.setattr(map_study, "train", train)
    monkeypatch.setattr(map_study.Place, "problem", lambda self: None)
    monkeypatch.setattr(map_study.Place, "trainer", lambda *arguments: True)
    records = Records(tmp_path)
    study = map_study.MapStudy("time")
    study.run(records)
    frame = pd.DataFrame(list(records))
    assert len(frame) == study.trainings() == 4 * 8 * (9 + 15)
    assert set(frame[frame.seed >= 300].rate) == {0.003}


def test_sines_on_random_functions_have_their_start_and_factor():
    sines = {"sin-0.5": 0.5, "sin": 1, "sin-2": 2}
    factors = {
        f"{name}@{start}": (factor, start)
        for group in (sines, {"vaf-1": 1, "vaf-3": 1})
        for start in (5, 10, 20)
        for name, factor in group.items()
    }
    assert set(functions.ARMS) == set(factors)
    x = np.linspace(-1, 1, 9)
    for name, (factor, start) in factors.items():
        arm = functions.ARMS[name]
        layer = arm.build()
        layer.build((None, 1))
        np.testing.assert_allclose(layer.function(x), np.sin(factor * x), atol=1e-6)
        assert bool(layer.trainable_variables) == name.startswith("vaf")
        assert (arm.omega, arm.kernels) == (start, "siren")
    place = map_study.Place(functions.TASK, "beats-0")
    prices = {"seconds": {"oscillating": {"plain relu": 1, "sin": 2, "vaf-1": 3}}}
    found = [map_study.steps_of(place, name, prices) for name in ("sin-2@5", "vaf-1@5")]
    assert found == [1500, 1000]


def test_random_functions_are_the_registered_ones():
    x = np.linspace(-1, 1, 20_001)
    for name in functions.NAMES:
        y = functions.draw(name)(x)
        spectrum = np.abs(np.fft.rfft((y - y.mean())[:-1])) ** 2
        # The window has two units of x, so number n has n / 2 periods per unit.
        assert spectrum[: 2 * 16 + 8].sum() > 0.98 * spectrum.sum()
        assert np.array_equal(functions.draw(name)(x), y)
    assert len({functions.draw(name)(x).tobytes() for name in functions.NAMES}) == 20


def test_published_ratios_of_random_functions_are_those_of_the_records():
    frame = pd.DataFrame(unpack(PACKED / "functions.json.gz"))
    logs = []
    for name in functions.NAMES:
        own = frame[frame.dataset == name]
        errors = {}
        for start in ("sin", "vaf-1", "vaf-3"):
            arms = own[own.arm.str.startswith(start)]
            tried = arms[arms.seed < 300].groupby(["arm", "rate"]).validation.mean()
            arm, rate = tried.idxmin()
            best = arms[(arms.arm == arm) & (arms.rate == rate) & (arms.seed >= 300)]
            assert len(best) == 5
            errors[start] = np.log(best.error).mean()
        logs.append([errors[each] - errors["sin"] for each in ("vaf-1", "vaf-3")])
    low, high = stats.t.interval(0.95, 19, np.mean(logs, 0), stats.sem(logs))
    ratios = np.exp([np.mean(logs, 0), low, high]).T
    cells = [f"{mean:.3f} ({low:.3f} to {high:.3f})" for mean, low, high in ratios]
    cells = [
        f"{cell}, {better} : {20 - better}"
        for cell, better in zip(cells, np.sum(np.array(logs) < 0, 0), strict=True)
    ]
    text = (PACKED / "functions.md").read_text("utf-8")
    assert f"| all, 20 | {' | '.join(cells)} |" in text


def steps(checkpoint, first, last):
    """Train from one step to another, and return the losses."""
    torch = pytest.importorskip("torch")
    x = torch.linspace(-1, 1, 12).reshape(6, 2)
    losses = []
    for _ in range(first, last):
        checkpoint.parts["optimizer"].zero_grad()
        loss = (checkpoint.network(x) - x.sum(1, keepdim=True)).square().mean()
        loss.backward()
        checkpoint.parts["optimizer"].step()
        checkpoint.parts["decay"].step()
        losses.append(loss.item())
    return losses


def test_a_training_goes_on_from_its_checkpoint_as_if_never_stopped(tmp_path):
    torch = pytest.importorskip("torch")
    from benchmarks.evidence.pytorch.torch_study import Checkpoint

    def begin(path, key, seed=0):
        torch.manual_seed(seed)
        network = torch.nn.Linear(2, 1)
        optimizer = torch.optim.Adam(network.parameters(), 0.1)
        decay = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 1e-3, 8)
        return Checkpoint(tmp_path / f"{path}.pt", key, network, optimizer, decay)

    key = ("silu", 0.1, 0)
    expected = steps(begin("whole", key), 0, 8)
    stopped = begin("stopped", key)
    first = steps(stopped, 0, 3)
    stopped.save({"step": 3})
    later = begin("stopped", key, seed=1)  # other weights, which are replaced
    assert later.load({"step": 0}) == {"step": 3}
    assert first + steps(later, 3, 8) == expected
    assert begin("stopped", ("gelu", 0.1, 0)).load({"step": 0}) == {"step": 0}


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


def test_errors_of_all_activations_are_compared_on_each_dataset(tmp_path):
    rng = np.random.default_rng(0)
    keys = itertools.product("ab", new_tables.ARMS, range(3))
    frame = pd.DataFrame(keys, columns=["dataset", "arm", "fold"])
    frame = frame.assign(rate=0.1, validation=0.0, test=rng.uniform(1, 2, len(frame)))
    means = frame.groupby(["dataset", "arm"]).test.mean()

    lines = new_tables.pairs_table(frame, [("vaf-silu", "relu")]).splitlines()
    ratios = means[:, "vaf-silu"] / means[:, "relu"]
    assert lines[2].startswith(
        f"| VAF, SiLU start | ReLU | {stats.gmean(ratios):.3f} |"
    )
    rows = frame[frame.dataset == "a"].pivot(index="fold", columns="arm", values="test")
    mean, low, high = new_tables.fold_intervals(frame)["a"]
    assert mean == pytest.approx(stats.gmean(rows["vaf-silu"] / rows["relu"]))
    assert low * high == pytest.approx(mean**2)
    logs = np.log(rows["vaf-silu"] / rows["relu"])
    # Nadeau and Bengio's variance: 1/3 from the folds, and 1/2 from the test share.
    half = stats.t.ppf(0.975, 2) * logs.std() * np.sqrt(1 / 3 + 1 / 2)
    assert np.log(high / mean) == pytest.approx(half)


def test_published_accuracies_and_losses_are_those_of_the_records():
    frame = pd.DataFrame(unpack(PACKED / "sensor.json.gz"))
    for labels, part in frame.groupby("labels"):
        lines = (PACKED / f"sensor_{labels}.md").read_text("utf-8").splitlines()
        cells = {row[1].strip(): row[3:] for row in (each.split("|") for each in lines)}
        for method, title in seed_tables.METHODS.items():
            for place, curve in enumerate(seed_tables.CURVES):
                own = part[(part.method == method) & (part.curve == curve)].accuracy
                half = stats.t.ppf(0.975, 9) * own.std() / math.sqrt(10)
                expected = f"{own.mean():.3f} ± {half:.3f}"
                assert cells[title][place].strip() == expected
    frame = pd.DataFrame(unpack(PACKED / "language.json.gz"))
    tested = frame[(frame.seed > 0) & (frame.rate == 0.004)]
    text = (PACKED / "language.md").read_text("utf-8")
    for loss in tested.groupby("arm").test.mean():
        assert f"| {loss:.4f} |" in text


def test_published_accuracies_of_images_are_those_of_the_records():
    frame = pd.concat(
        pd.DataFrame(unpack(PACKED / f"{each}.json.gz"))
        for each in ("images", "images-others")
    )
    lines = (PACKED / "images.md").read_text("utf-8").splitlines()[2:]
    rows = {each.split("|")[1].strip(): each for each in lines}
    tested = {}
    for arm, title in seed_tables.IMAGE_ARMS.items():
        own = frame[(frame.arm == arm) & (frame.dataset == "cifar10")]
        # No two rates are equal on validation data, so the higher accuracy selects.
        tuned = own[own.seed == 0]
        rate = max(zip(tuned.validation, tuned.rate, strict=True))[1]
        scores = np.array(own[own.rate == rate].sort_values("seed").test.tolist())
        tested[arm], loss = 100 * scores[:, 0], scores[:, 1].mean()
        assert len(scores) == 3
        assert f"| {tested[arm].mean():.1f} ± " in rows[title]
        assert f"| {loss:.2f} |" in rows[title]
    for control, arm in itertools.product(("relu", "silu"), seed_tables.IMAGE_ARMS):
        if arm != control:
            test = stats.ttest_rel(tested[arm], tested[control])
            low, high = test.confidence_interval()
            mean = (tested[arm] - tested[control]).mean()
            title = seed_tables.IMAGE_ARMS[arm]
            assert f"| {mean:.1f} ({low:.1f} to {high:.1f}) |" in rows[title]


def test_an_activation_with_unfinished_trainings_is_not_in_the_table_of_images():
    frame = pd.DataFrame(unpack(PACKED / "images.json.gz"))
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
    found = derivatives(fast, images.batch(x, np.arange(4)))
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_learned_functions_are_those_of_the_last_states(tmp_path):
    torch = pytest.importorskip("torch")
    from benchmarks.evidence.pytorch import images, learned
    from benchmarks.evidence.pytorch.torch_study import copied

    network = images.create("vaf-relu", (3, 32, 32), seed=1)
    second = [each for each in network.layers if hasattr(each, "function")][1]
    second.beta.assign(1.5 * second.beta)
    state = {"network": copied(network), "numbers": {"epoch": images.EPOCHS}}
    torch.save(state, tmp_path / "cifar10_vaf-relu_0.0003_1.pt")
    unfinished = {**state, "numbers": {"epoch": images.EPOCHS - 1}}
    torch.save(unfinished, tmp_path / "cifar10_vaf-relu_0.0003_2.pt")
    rows = list(learned.learned(tmp_path))
    assert [(each["arm"], each["seed"], each["layer"]) for each in rows] == [
        ("vaf-relu", 1, 1),
        ("vaf-relu", 1, 2),
    ]
    relu = np.maximum(0, learned.POINTS)
    np.testing.assert_allclose(rows[0]["values"], relu, atol=1e-4)
    np.testing.assert_allclose(rows[1]["values"], 1.5 * relu, atol=1e-4)


def test_a_trained_power_undoes_a_power():
    torch = pytest.importorskip("torch")
    from benchmarks.evidence.pytorch import sensor, sensor_network

    source = sensor_network.Network()
    for method, numbers in (("power", 1), ("power-affine", 3)):
        network = sensor_network.adapted(source, method, None)
        assert sensor.count(network) == numbers
        x = torch.rand(2, 1, 28, 28)
        torch.testing.assert_close(network.front(x), x)
        with torch.no_grad():
            network.front.log_power.fill_(math.log(4))
        torch.testing.assert_close(network.front(x**0.25), x)


def test_published_controls_of_the_sensor_are_those_of_the_records():
    frame = pd.DataFrame(unpack(PACKED / "sensor.json.gz"))
    frame = frame[(frame.labels == 80) & (frame.method == "vaf-7")]
    frame = pd.concat([frame, pd.DataFrame(unpack(PACKED / "sensor-controls.json.gz"))])
    lines = (PACKED / "sensor_controls.md").read_text("utf-8").splitlines()[2:]
    rows = {tuple(map(str.strip, each.split("|")[1:3])): each for each in lines}
    for curve, title in seed_tables.CURVES.items():
        own = frame[frame.curve == curve]
        own = own.pivot(index="seed", columns="method", values="accuracy")
        for control, name in seed_tables.CONTROLS.items():
            test = stats.ttest_rel(own["vaf-7"], own[control])
            low, high = test.confidence_interval()
            expected = f"| {(own['vaf-7'] - own[control]).mean():.3f} | {low:.3f} to "
            assert f"{expected}{high:.3f} | {test.pvalue:.4f} |" in rows[title, name]
