"""The paper's experiments: their protocols, numbers, runs and tables."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from keras_vaf.cli import main
from keras_vaf.datasets import Dataset
from keras_vaf.experiments import Form, fully_connected, read_compact
from keras_vaf.experiments.fully_connected import ARCHITECTURES, protocols_of
from keras_vaf.experiments.published import CLASSIFICATION, REGRESSION
from keras_vaf.experiments.reproduction import EXPERIMENTS, find_experiment
from keras_vaf.experiments.verdict import verdicts
from keras_vaf.experiments.verdict_table import lines_of, over_datasets
from tests.experiments.fakes import make_arm

pytestmark = pytest.mark.backend("tensorflow")

# What the paper prints in bold, read apart from the numbers.
BOLD = {
    "cpu_small": "vaf-random",
    "delta_elevators": "vaf-random",
    "elevators": "vaf-random",
    "kin8nm": "vaf-relu",
    "puma8nh": "vaf-random",
    "puma32h": "vaf-random",
    "servo": "vaf-random",
    "energy_cooling": "vaf-relu",
    "energy_heating": "relu",
    "yacht": "vaf-relu",
    "liver": "vaf-relu",
    "wine": "vaf-random",
    "image_segmentation": "relu",
    "landsat_satellite": "vaf-relu",
    "cardiotocography": "vaf-random",
    "seismic_bumps": "relu",
    "dermatology": "vaf-relu",
    "diabetic_retinopathy": "vaf-relu",
    "qsar_biodegradation": "vaf-random",
    "climate_crashes": "vaf-relu",
}


def table(rows, name="toy", task="regression"):
    """Return data of so many rows."""
    x = np.linspace(0, 1, rows, dtype="float32")[:, None]
    if task == "regression":
        return Dataset(name, task, x, x[:, 0], ("a",))
    return Dataset(name, task, x, np.arange(rows) % 2, ("a",), ("no", "yes"))


def test_the_best_published_number_of_a_row_is_the_bold_one():
    for numbers, best in ((REGRESSION, min), (CLASSIFICATION, max)):
        for dataset in dict.fromkeys(each.dataset for each in numbers):
            row = [each for each in numbers if each.dataset == dataset]
            assert [each.variant for each in row] == ["relu", "vaf-random", "vaf-relu"]
            assert best(row, key=lambda each: each.mean).variant == BOLD[dataset]
            assert {each.hidden for each in row} <= set(ARCHITECTURES)


def test_every_dataset_of_both_tables_is_there():
    names = [name for experiment in EXPERIMENTS for name in experiment.datasets]

    assert sorted(names) == sorted(BOLD)


def test_small_data_are_trained_with_rprop_as_published():
    protocols = protocols_of(table(4_999))

    assert len({protocol.digest for protocol in protocols}) == 30
    for protocol in protocols:
        assert protocol.optimizer.name == "Rprop"
        assert protocol.optimizer.arguments["eta_plus"] == 1.01
        assert protocol.optimizer.arguments["eta_minus"] == 0.5
        assert (protocol.epochs, protocol.folds) == (300, 10)
        assert (protocol.batch_size, protocol.rates) == (None, ())
        assert protocol.preprocessing.targets == "min-max"
    assert {protocol.variant.name for protocol in protocols} == {
        "relu",
        "vaf-random",
        "vaf-relu",
    }
    assert {p.variant.arguments.get("k", 3) for p in protocols} == {3}


def test_large_data_are_trained_with_rmsprop_at_ten_equispaced_rates():
    [protocol, *_] = protocols_of(table(5_000))

    assert protocol.optimizer.name == "RMSprop"
    assert protocol.batch_size is not None
    assert protocol.rates[0] == pytest.approx(0.0001)
    assert protocol.rates[-1] == pytest.approx(0.1)
    assert np.diff(protocol.rates) == pytest.approx([0.0111] * 9)


def test_targets_of_classes_and_of_two_datasets_stay_as_they_are():
    for dataset in (table(40, task="classification"), table(40, "elevators")):
        assert protocols_of(dataset)[0].preprocessing.targets == "none"


def test_our_own_manner_is_another_protocol():
    paper, ours = (
        protocols_of(table(40), Form(manner))[0] for manner in ("paper", "ours")
    )

    assert ours.optimizer.arguments["eta_plus"] == 1.2
    assert ours.epochs > paper.epochs
    with pytest.raises(ValueError, match=r"paper and ours\. Received: 'theirs'"):
        Form("theirs")


def regressions(variant, scores):
    reports = make_arm(variant, scores, "regression")
    return [
        dataclasses.replace(
            report, protocol=dataclasses.replace(report.protocol, dataset="servo")
        )
        for report in reports
    ]


def test_verdicts_hold_our_numbers_beside_the_published_ones():
    reports = regressions("relu", [0.3, 0.2, 0.4]) + regressions(
        "vaf-relu", [0.2, 0.2, 0.5]
    )

    found = verdicts(reports, "rmse", REGRESSION)

    relu, vaf = found["servo", "relu"], found["servo", "vaf-relu"]
    assert (relu.gains, relu.p) == ((), None)
    assert vaf.gains == pytest.approx((0.1, 0.0, -0.1))
    assert vaf.p == pytest.approx(1)
    assert (vaf.mean, vaf.constant) == (pytest.approx(0.3), 0.5)
    assert (vaf.published.mean, relu.published.mean) == (0.0961, 0.0946)
    line = lines_of(found)[1]
    assert line[:5] == ("servo", "40", "vaf-relu", "5-3", "0.3000")
    assert "0.0961 ± 0.0271 (25)" in line
    assert "1/1/1" in line
    [sentence] = over_datasets(found)
    assert "vaf-relu against relu over 1 datasets" in sentence


def test_unknown_names_are_refused(capsys):
    with pytest.raises(ValueError, match=r"regression, classification\. Received: 'x'"):
        find_experiment("x")

    for words in (
        ["figures"],
        ["regression", "--datasets", "wine"],
        ["regression", "--protocol", "theirs"],
        ["regression", "--shard", "3/2"],
        ["classification", "--data-dir", "nowhere", "--datasets", "liver"],
    ):
        assert main(["reproduce", *words]) == 2
        said = capsys.readouterr().err
        assert said.startswith("keras-vaf: ")
        assert said.count("\n") == 1


def test_a_quick_run_writes_the_table_and_goes_on(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(fully_connected, "_QUICK", {"epochs": 2, "folds": 2})
    monkeypatch.setattr(fully_connected, "_QUICK_ARCHITECTURES", ((3,), (4,)))
    words = ["reproduce", "classification", "--quick", "--datasets", "wine"]
    words += ["--output", str(tmp_path)]

    assert main(words) == 0
    first = capsys.readouterr().out
    reports = sorted(tmp_path.rglob("seed-*.json"))
    assert main([*words, "--selection", "paper"]) == 0

    assert len(reports) == 2 * 3 * 2
    assert sorted(tmp_path.rglob("seed-*.json")) == reports
    tables = {path.name: path.read_text() for path in tmp_path.glob("*.md")}
    assert sorted(tables) == [
        "classification-paper-quick-paper-tensorflow.md",
        "classification-paper-quick-validation-tensorflow.md",
    ]
    assert "quick form" in first
    made_from = read_compact(tmp_path / "classification-paper-quick-tensorflow.json")
    for line in lines_of(verdicts(made_from, "accuracy", CLASSIFICATION)):
        assert f"| {' | '.join(line)} |" in tables[sorted(tables)[1]]
    for name, text in tables.items():
        assert text.startswith("# Classification: protocol paper, quick form")
        assert text.count("| wine | 178 |") == 3
        assert "0.9552 ± 0.0371 (50)" in text
        assert f"learning rate: {name.split('-')[3]}." in text


def test_committed_tables_say_what_their_reports_say():
    """The tables under docs/, made again from the compact reports beside them."""
    folder = Path(__file__).parents[2] / "docs" / "reports" / "reproduction"
    published = {each.name: each for each in EXPERIMENTS}
    tables = sorted(folder.glob("*.md"))
    assert tables
    for path in tables:
        name, manner, selection, backend = path.stem.split("-")
        found = verdicts(
            read_compact(folder / f"{name}-{manner}-{backend}.json"),
            published[name].metric,
            published[name].published,
            selection,
        )
        text = path.read_text(encoding="utf-8")
        for line in lines_of(found):
            assert f"| {' | '.join(line)} |" in text
