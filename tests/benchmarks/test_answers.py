"""The answers to the registered comparisons, on records whose answer is known."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from benchmarks.evidence import answers
from benchmarks.evidence.answer import corrected
from benchmarks.evidence.records import unpack

pytestmark = pytest.mark.backend("torch")

RATES = (0.001, 0.03)


def table_records(factors, datasets=14, noise=0.01):
    """Return records in which each arm has a given multiple of the same errors."""
    rng = np.random.default_rng(0)
    records = []
    for name in map(str, range(datasets)):
        level = rng.uniform(0.1, 1, 10)
        for arm, factor in factors.items():
            for rate in RATES:
                # The smaller rate is better on validation rows.
                test = level * (factor(rate) if callable(factor) else factor)
                test = test * np.exp(noise * rng.standard_normal())
                folds = [{"validation": rate, "test": float(each)} for each in test]
                keys = {"dataset": name, "arm": arm, "rate": rate}
                records.append({**keys, "folds": folds})
    return records


def answer(found, name):
    """Return the text of an answer."""
    return next(each for each in corrected(found) if each.name == name).text


@pytest.mark.parametrize(
    ("factor", "first", "second"),
    [(0.9, "confirmed", "cannot tell"), (1.0, "refuted", "confirmed"),
     (1.2, "refuted", "refuted")],
)  # fmt: skip
def test_tables(factor, first, second):
    fixed = dict.fromkeys(answers.FIXED, 1.0)
    found = answers.tables(table_records({**fixed, "vaf-silu": factor}))
    assert answer(found, "T1") == first
    assert answer(found, "T2") == second


def test_validation_rows_select_and_test_rows_do_not():
    # At 0.03 the test error is smaller, but the validation loss is larger.
    records = table_records({"relu": lambda rate: 1 if rate < 0.01 else 0.5}, noise=0)
    chosen = answers.selected(answers.folds_of(records))
    assert set(chosen.rate) == {0.001}


def test_a_diverged_training_has_the_error_of_the_constant_prediction():
    keys = {"dataset": "wine", "rate": 0.1}
    diverged = {**keys, "arm": "relu", "folds": [{"validation": 1, "test": math.nan}]}
    constant = {"dataset": "wine", "arm": "constant", "folds": [{"test": 0.7}]}
    frame = answers.folds_of([diverged, constant])
    assert frame[frame.arm == "relu"].test.to_list() == [0.7]


def test_high_learning_rates():
    factors = {"silu": 1.0, "vaf-silu": lambda rate: 0.98 if rate < 0.01 else 0.8}
    found = answers.high_rates(table_records(factors))
    assert found.estimate == pytest.approx(0.8 / 0.98, rel=0.02)
    assert answer([found], "T3") == "confirmed"
    same = answers.high_rates(table_records({"silu": 1.0, "vaf-silu": 1.0}))
    assert answer([same], "T3") == "refuted"


@pytest.mark.parametrize(("factor", "text"), [(1.1, "confirmed"), (0.9, "refuted")])
def test_the_default_learning_rate(factor, text):
    found = answers.default_rate(table_records({"relu": 1, "vaf-relu": factor}, 11))
    assert answer([found], "T4") == text
    assert found.p == pytest.approx(2 / 2**11)  # all 11 signs agree


@pytest.mark.parametrize(("factor", "text"), [(1.2, "confirmed"), (1.0, "refuted")])
def test_bends(factor, text):
    arms = {"gelu": 1.0, "gelu-hinges-fixed": factor}
    records = table_records(arms, 3, noise=0)
    rng = np.random.default_rng(1)
    for record in records:
        for fold in record["folds"]:
            fold["test"] *= math.exp(0.02 * rng.standard_normal())
    found = answers.bends(records)
    assert [each.text for each in found if each.name == "K"] == [text]
    # Nadeau and Bengio's correction, from its definition.
    chosen = answers.selected(answers.folds_of(records))
    first = chosen[chosen.dataset == "0"].set_index(["arm", "fold"]).test
    logs = np.log(first["gelu-hinges-fixed"] / first["gelu"])
    error = math.sqrt((1 / 10 + 1 / 9) * logs.var())
    expected = 2 * stats.t.sf(abs(logs.mean()) / error, 9)
    assert found[0].p == pytest.approx(expected)


def sensor_records(gains):
    """Return accuracies of four methods, with a gain of `vaf-7` for each curve."""
    rng = np.random.default_rng(0)
    records = []
    for curve, gain in gains.items():
        for seed in range(10):
            level = 0.8 + 0.001 * rng.standard_normal()
            values = {"affine": level, "head": level - 0.05, "vaf-7": level + gain}
            values |= {"vaf-histogram": 0.99, "histogram": 0.99}  # take no part
            for method, accuracy in values.items():
                noise = 0.001 * rng.standard_normal()
                keys = {"seed": seed, "labels": 80, "curve": curve, "method": method}
                records.append({**keys, "accuracy": accuracy + noise})
    return records


@pytest.mark.parametrize(
    ("gains", "text"),
    [((0.01, 0.01, 0), "confirmed"), ((0.01, 0.01, -0.01), "cannot tell"),
     ((0, 0, 0), "refuted")],
)  # fmt: skip
def test_sensors(gains, text):
    gains = dict(zip(("inversion", "gamma", "negative"), gains, strict=True))
    found = answers.sensors(sensor_records(gains))
    assert [each.text for each in found if each.name == "S"] == [text]
    assert found[0].name == "S, inversion, against affine"


def test_language():
    rng = np.random.default_rng(0)
    records = []
    for arm, loss in {"silu": 1.0, "silu-long": 0.98, "vaf-silu": 0.99}.items():
        for rate in (0.002, 0.004):
            for seed in range(6):
                value = loss + rate + 1e-4 * rng.standard_normal()
                keys = {"arm": arm, "rate": rate, "seed": seed}
                records.append({**keys, "validation": value, "test": value})
    found = answers.language(records)
    assert found[0].estimate == pytest.approx(-0.01, abs=3e-4)
    assert [each.text for each in corrected(found)] == ["confirmed", "refuted"]


def map_records(factors):
    """Return errors of sines, which are the given multiples of the same errors.

    The sine with the frequency 1.5 is the best one on the seeds for choice.
    """
    rng = np.random.default_rng(0)
    records = []
    for (dataset, arm), factor in factors.items():
        for seed in (100, 101, 102, *range(300, 315)):
            error = 0.01 * factor * math.exp(0.01 * rng.standard_normal())
            validation = 0.5 if arm == "sin-1.5" else 1.0
            keys = {"dataset": dataset, "arm": arm, "rate": 0.01, "seed": seed}
            records.append({**keys, "validation": validation, "error": error})
    return records


@pytest.mark.parametrize(
    ("k1", "k3", "texts"),
    [(0.5, 0.9, ("refuted", "confirmed", "confirmed")),
     (0.4, 1.1, ("confirmed", "confirmed", "refuted")),
     (1.0, 1.0, ("refuted", "refuted", "cannot tell"))],
)  # fmt: skip
def test_the_map(k1, k3, texts):
    factors = {("mnist", "sin"): 1, ("mnist", "sin-1.5"): 0.5, ("mnist", "sin-3"): 0.1}
    factors["mnist", "vaf-1"] = k1
    for name in ("beats", "chirp", "scales"):
        factors |= {(name, "sin"): 1, (name, "vaf-3"): k3}
    found = answers.periodic(map_records(factors))
    by_name = {each.name: each for each in (*corrected(found[:2]), *found[2:])}
    tuned, plain = by_name["M1, against sin-1.5"], by_name["M2, against sin"]
    assert (tuned.text, plain.text, by_name["M3"].text) == texts
    assert plain.estimate == pytest.approx(k1, rel=0.02)
    assert by_name["M3, chirp, against sin"].estimate == pytest.approx(k3, rel=0.02)


def test_no_wrong_row_counts_as_half_a_wrong_row():
    factors = {("mnist", "sin"): 1, ("mnist", "vaf-1"): 0}
    for name in ("beats", "chirp", "scales"):
        factors |= {(name, "sin"): 1, (name, "vaf-3"): 1}
    found = answers.periodic(map_records(factors))
    assert found[1].estimate == pytest.approx(0.5 / 5000 / 0.01, rel=0.02)


@pytest.mark.parametrize(
    ("factor", "text"), [(0.8, "confirmed"), (0.99, "cannot tell"), (1.1, "refuted")]
)
def test_random_functions(factor, text):
    """Change the error of k = 1 by a factor; the better of two sines has w = 2."""
    rng = np.random.default_rng(0)
    arms = {"sin@5": 2, "sin-2@10": 1, "vaf-1@5": factor, "vaf-3@20": 1.5}
    records, logs = [], []
    for function in range(20):
        noise = {arm: 0.1 * rng.standard_normal() for arm in arms}
        logs.append(math.log(factor) + noise["vaf-1@5"] - noise["sin-2@10"])
        for arm, seed in itertools.product(arms, (100, 101, 102, 300, 301)):
            for rate in (0.001, 0.01):
                if seed >= 300 and rate == 0.001:
                    continue
                # What is selected is decided by validation errors alone.
                validation = arms[arm] * (2 if rate == 0.001 else 1)
                error = arms[arm] * math.exp(noise[arm] + 0.1 * (seed - 300.5))
                keys = {"dataset": f"beats-{function}", "arm": arm, "rate": rate}
                scores = {"validation": validation, "error": error}
                records.append({**keys, "seed": seed, **scores})
    first, second = answers.random_functions(records)
    assert first.text == text and second.text == "refuted"
    assert first.estimate == pytest.approx(math.exp(np.mean(logs)))
    expected = stats.t.interval(0.95, 19, np.mean(logs), stats.sem(logs))
    assert np.log(first.interval) == pytest.approx(expected)
    assert first.p == pytest.approx(stats.wilcoxon(logs).pvalue)


@pytest.mark.parametrize(
    ("gain", "text"), [(0.1, "confirmed"), (0.05, "cannot tell"), (0, "refuted")]
)
def test_images(gain, text):
    records = []
    for seed in range(3):
        for arm, best in {"relu": 0.6, "vaf-relu": 0.6 + gain}.items():
            for rate in (0.0003, 0.001):
                accuracy = best + 0.001 * seed * (arm == "relu") - rate
                keys = {"dataset": "cifar10", "arm": arm, "rate": rate, "seed": seed}
                scores = [accuracy, 1.0]
                records.append({**keys, "validation": scores, "test": scores})
    assert answers.images(records).text == text


def test_holms_correction_counts_comparisons_without_an_answer():
    one = answers.Answer("T1", 0.9, (0.8, 0.95), 0.01, True, False)
    [found] = corrected([one], tests=len(answers.ONE_P))
    assert found.corrected == pytest.approx(0.07)
    assert found.text == "cannot tell"


def test_the_committed_answers_are_those_of_the_committed_records():
    records = unpack(answers.PACKED / "classifications.json.gz")
    wrong = {}
    for record in records:
        errors = [fold["test"] for fold in record["folds"]]
        wrong[record["dataset"], record["arm"]] = np.mean(errors)
    names = sorted({name for name, _ in wrong})
    logs = np.log([wrong[name, "vaf-relu"] / wrong[name, "relu"] for name in names])
    p = stats.wilcoxon(logs).pvalue
    row = f"| T4 | {np.exp(logs.mean()):.3f} | "
    text = (answers.PACKED / "answers.md").read_text(encoding="utf-8")
    [line] = [line for line in text.splitlines() if line.startswith(row)]
    assert f"| {p:.4f} |" in line
    assert len(names) == 11
