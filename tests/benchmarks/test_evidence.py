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
from benchmarks.evidence.pytorch import tables as seed_tables
from benchmarks.evidence.ratios import counts, is_within
from benchmarks.evidence.records import Records, pack, unpack
from benchmarks.evidence.tables import ARMS, DecayingAdam, TableStudy
from keras_vaf.datasets import Dataset
from keras_vaf.experiments.results.ratio import Ratio

pytestmark = pytest.mark.backend("torch")


def test_differences_by_rounding_are_ties():
    ratio = Ratio.of([0.1 + 0.2, 0.5, 0.9], [0.3, 1.0, 0.8])
    assert counts(ratio) == (1, 1, 1)


def test_ratios_are_equivalent_only_if_the_whole_interval_is_within_the_bound():
    narrow = Ratio.of([1.01, 0.99, 1.0, 1.005], [1.0] * 4)
    wide = Ratio.of([1.2, 0.8, 1.0, 1.1], [1.0] * 4)
    assert is_within(narrow, 0.03) and not is_within(wide, 0.03)
    assert not is_within(narrow, 0.001)


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


@pytest.mark.parametrize(
    ("study", "name", "datasets"),
    [("regressions", "pairs", 14), ("catalogue", "catalogue_pairs", 10)],
)
def test_published_ratios_of_pairs_are_those_of_the_records(study, name, datasets):
    records = [each for each in unpack(PACKED / f"{study}.json.gz") if "rate" in each]
    frame = pd.DataFrame(records).explode("folds", ignore_index=True)
    frame = frame.join(pd.DataFrame(frame.pop("folds").tolist()))
    frame["fold"] = frame.groupby(["dataset", "arm", "rate"]).cumcount()
    assert set(frame.fold) == set(range(10))
    fixed = frame[frame.arm.isin(["relu", "gelu", "silu", "tanh"])]
    frame = pd.concat([frame, fixed.assign(arm="best-fixed")])
    folds = frame.sort_values(["validation", "rate"])
    folds = folds.groupby(["dataset", "arm", "fold"]).test.first()
    means = np.log(folds.groupby(["dataset", "arm"]).mean().unstack())
    assert len(means) == datasets
    titles = {title: arm for arm, title in new_tables.TITLES.items()}
    lines = (PACKED / f"{name}.md").read_text("utf-8").splitlines()[2:]
    assert len(lines) == 7 * 6 / 2 + (study == "catalogue")
    for line in lines:
        one, other, ratio, interval, counts, p, _ = (
            each.strip() for each in line.split("|")[1:-1]
        )
        logs = means[titles[one]] - means[titles[other]]
        low, high = np.exp(stats.ttest_1samp(logs, 0).confidence_interval())
        assert (ratio, interval) == (
            f"{np.exp(logs.mean()):.3f}",
            f"{low:.3f} to {high:.3f}",
        )
        assert counts == f"{(logs < 0).sum()} : {(logs > 0).sum()}"
        assert p == f"{stats.wilcoxon(logs).pvalue:.4f}"


def test_published_accuracies_of_the_sensor_are_those_of_the_records():
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
