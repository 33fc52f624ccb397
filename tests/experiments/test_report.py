"""Reports as data: read as they were written, and which trial stands for a cell."""

import json
import types

import keras
import pytest

from keras_vaf.experiments import Report
from keras_vaf.experiments.reports.report import environment
from keras_vaf.ops.native.library import Found
from tests.experiments.fakes import make_protocol, make_report, make_trial


def trials(*results, metric="accuracy"):
    """Return trials of these losses and scores, numbered by their learning rates."""
    return tuple(
        make_trial(rate=float(rate), validation={"loss": loss, metric: score})
        for rate, (loss, score) in enumerate(results)
    )


def test_comes_back_from_json():
    report = make_report()

    data = json.loads(json.dumps(report.to_dict()))

    assert Report.from_dict(data) == report


@pytest.mark.parametrize(
    "data", [None, [], {}, {"format": 1}, {"format": 2, "seed": 0}], ids=str
)
def test_refuses_what_is_no_report(data):
    with pytest.raises(ValueError, match=r"Expected a report .* Received: "):
        Report.from_dict(data)


def test_of_an_unknown_format_is_refused():
    data = make_report().to_dict() | {"format": 99}

    with pytest.raises(ValueError, match="99"):
        Report.from_dict(data)


def test_the_best_validation_score_stands_for_the_cell():
    report = make_report(trials=trials((0.1, 0.5), (0.9, 0.75), (0.2, 0.5)))

    assert report.selected.rate == 1.0
    assert report.score == report.selected.scores["accuracy"]


def test_a_small_error_is_a_good_score():
    protocol = make_protocol(task="regression")
    tried = trials((0.1, 3.0), (0.9, 2.0), metric="rmse")

    assert make_report(protocol=protocol, trials=tried).selected.rate == 1.0


def test_the_loss_decides_between_equal_scores():
    report = make_report(trials=trials((0.3, 0.75), (0.2, 0.75), (0.2, 0.75)))

    assert report.selected.rate == 1.0


def test_a_trial_without_a_finite_epoch_is_the_last_choice():
    assert make_report(trials=trials((None, 1.0), (9.0, 0.1))).selected.rate == 1.0
    assert make_report(trials=trials((None, 1.0))).selected.rate == 0.0


def test_names_versions_backend_and_device():
    found = environment()

    assert found["backend"] == keras.backend.backend()
    assert found["versions"]["keras"] == keras.__version__
    assert found["backend"] in found["versions"]
    assert (
        "cpu" in found["device"]
        or "cuda" in found["device"]
        or "gpu" in found["device"]
    )
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize("level, expected", [(None, ""), (3, "x86-64-v3")])
def test_names_the_instruction_set_of_usable_kernels(monkeypatch, level, expected):
    library = level and types.SimpleNamespace(vaf_level=lambda: level)
    found = Found(library, None, "")
    monkeypatch.setattr("keras_vaf.experiments.reports.report.find", lambda: found)
    assert environment()["native_kernels"] == expected
