"""`check_report`, which checks that the parts of a report are consistent."""

from __future__ import annotations

from typing import Any

import numpy as np

from keras_vaf.utils import check_integer

_ROWS = ("train", "validation", "test")
_MOST_UNITS = 10_000
_TASKS = ("classification", "regression")


def check_report(report: Any) -> None:
    """Check that the parts of a report from a file are consistent.

    Args:
        report: A `Report` whose fields have the correct types.

    Raises:
        ValueError: If the parts are not consistent.
    """
    protocol = report.protocol
    _require(protocol.task in _TASKS, "a known task", protocol.task)
    for name in ("folds", *(["patience"] if protocol.patience is not None else [])):
        check_integer(name, getattr(protocol, name))
    for width in protocol.hidden:
        check_integer("hidden", width)
    for name in ("seed", "fold", "parameters", "flops"):
        check_integer(name, getattr(report, name), minimum=0)
    _require(report.fold < protocol.folds, "a fold of the protocol", report.fold)
    _require(report.seconds >= 0, "at least 0 seconds", report.seconds)
    for name in _ROWS:
        check_integer(name, report.rows.get(name, -1), minimum=0)
    enough = len(report.trials) >= max(1, protocol.starts)
    _require(enough, "a trial of each start", len(report.trials))
    for trial in report.trials:
        _check_trial(trial, protocol.metric)
    _require(protocol.metric in report.baseline, "the metric", report.baseline)
    _require(len(set(map(len, report.curves.values()))) < 2, "equal lengths", "curves")
    for activation in report.activations:
        _check_activation(activation)
    for name in ("backend", "device"):
        text = report.environment.get(name)
        _require(isinstance(text, str), f"the name of a {name}", text)


def _check_trial(trial: Any, metric: str) -> None:
    names = trial.scores.keys(), trial.validation.keys()
    _require(metric in names[0] and {"loss", metric} <= names[1], "scores", trial)
    _require(0 <= trial.best_epoch <= trial.epochs, "a best epoch", trial)
    check_integer("start", trial.start, minimum=0)


def _check_activation(activation: dict[str, Any]) -> None:
    weights, inputs = activation.get("weights", {}), activation.get("inputs", [0.0])
    there = isinstance(weights, dict) and isinstance(inputs, list) and len(inputs) > 0
    _require(there, "weights by name, and inputs", activation)
    config = activation.get("config", {"config": {}})
    there = isinstance(config, dict) and isinstance(config.get("config"), dict)
    _require(there, "the configuration of a layer", config)
    for name, value in config["config"].items():
        small = not isinstance(value, int) or name == "seed" or value <= _MOST_UNITS
        _require(small, f"at most {_MOST_UNITS} for `{name}`", value)
    for values in (*weights.values(), inputs):
        kind = np.asarray(values).dtype.kind
        _require(kind in "fiu", "numbers", values)


def _require(good: bool, expected: str, value: object) -> None:
    if not good:
        raise ValueError(f"A report must have {expected}. Received: {str(value)[:80]}")
