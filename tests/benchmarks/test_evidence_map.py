"""The trainings on the map and on random functions, and their tables."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmarks.evidence.answers import PACKED
from benchmarks.evidence.map import functions
from benchmarks.evidence.map import study as map_study
from benchmarks.evidence.records import Records, unpack

pytestmark = pytest.mark.backend("torch")


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


@pytest.mark.parametrize(
    ("study", "name"), [("map", "map_ratios"), ("map-steps", "map_ratios_steps")]
)
def test_published_ratios_of_the_map_are_those_of_the_records(study, name):
    frame = pd.DataFrame(unpack(PACKED / f"{study}.json.gz"))
    rows = [
        [cell.strip() for cell in line.split("|")[2:-1]]
        for line in (PACKED / f"{name}.md").read_text("utf-8").splitlines()[3:]
    ]

    def scored(dataset, arm):
        own = frame[(frame.dataset == dataset) & (frame.arm == arm)]
        tried = own[own.seed < 300].groupby("rate").validation.mean()
        best = own[(own.rate == tried.idxmin()) & (own.seed >= 300)]
        # An error of zero counts as half a wrong row.
        floor = 0.5 / 1000 if dataset == "mnist" else 0
        return np.log(np.maximum(best.sort_values("seed").error.to_numpy(), floor))

    for column, dataset in enumerate(("mnist", "beats", "chirp", "scales")):
        sine = scored(dataset, "sin")
        for row, arm in zip(
            rows, ("vaf-1", "vaf-3", "silu", "tanh", "xielu"), strict=True
        ):
            test = stats.ttest_rel(scored(dataset, arm), sine)
            low, high = np.exp(test.confidence_interval())
            ratio = np.exp((scored(dataset, arm) - sine).mean())
            assert row[column] == f"{ratio:.3g} ({low:.3g} to {high:.3g})"


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
