"""`read_trials`, which reads the results of the trials of a search."""

from __future__ import annotations

import csv
import io
import os
import statistics
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from keras_vaf.utils import (
    AnyFloat,
    build,
    check_choice,
    check_kind,
    check_kinds,
    deviation,
    parse_json,
)

DEVIATION, EPOCHS, SECONDS = "cv/deviation", "cv/epochs", "cv/seconds"
_FOLD, _FOLD_EPOCHS = "cv/fold_{}", "cv/fold_{}_epochs"


@dataclass(frozen=True)
class TrialResult:
    """Result of one trial.

    Args:
        trial: Number of the trial, as text.
        status: `"COMPLETED"` or `"FAILED"`.
        values: The hyperparameters.
        score: Mean of the objective on validation rows over the folds.
        deviation: Standard deviation over the folds (n - 1).
        fold_scores: The objective of each fold.
        fold_epochs: The best epoch of each fold.
        epochs: Median of the best epochs. A model on all rows is trained for this
            number of epochs.
        seconds: Duration of the trial, in seconds.
        message: Error message of a failed trial.

    Example:

    >>> TrialResult("0", "COMPLETED", {"k": 3}, score=0.2).values
    {'k': 3}
    """

    trial: str
    status: str
    values: dict[str, Any]
    score: AnyFloat | None = None
    deviation: AnyFloat | None = None
    fold_scores: tuple[AnyFloat, ...] = ()
    fold_epochs: tuple[int, ...] = ()
    epochs: int | None = None
    seconds: float | None = None
    message: str | None = None


def fold_metrics(
    scores: Sequence[float], epochs: Sequence[int], seconds: float
) -> dict[str, float]:
    """Return the metrics of each fold, their deviation and the median epoch."""
    named = {_FOLD.format(fold): score for fold, score in enumerate(scores)}
    named |= {_FOLD_EPOCHS.format(fold): best for fold, best in enumerate(epochs)}
    return {
        **named,
        DEVIATION: deviation(scores),
        EPOCHS: statistics.median_high(epochs),
        SECONDS: seconds,
    }


def result_of(state: dict[str, Any]) -> TrialResult:
    """Return the result of a trial from the state that KerasTuner stores.

    Raises:
        ValueError: If the state does not describe a trial.
    """
    try:
        result = asdict(_result(state))
    except (LookupError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"It is not the state of a trial: {error!r}") from error
    return build(TrialResult, result, "trial")


def _result(state: dict[str, Any]) -> TrialResult:
    histories = state["metrics"]["metrics"]
    numbers = {
        name: history["observations"][-1]["value"][-1]
        for name, history in histories.items()
    }
    folds = range(sum(_FOLD.format(i) in numbers for i in range(len(numbers))))
    epochs = numbers.get(EPOCHS)
    ended = state["status"] == "COMPLETED"
    return TrialResult(
        trial=state["trial_id"],
        status=state["status"],
        values=state["hyperparameters"]["values"],
        score=float(state["score"]) if ended else None,
        deviation=numbers.get(DEVIATION),
        fold_scores=tuple(numbers[_FOLD.format(i)] for i in folds),
        fold_epochs=tuple(int(numbers[_FOLD_EPOCHS.format(i)]) for i in folds),
        epochs=None if epochs is None else int(epochs),
        seconds=numbers.get(SECONDS),
        message=state["message"],
    )


def read_trials(folder: str | os.PathLike[str]) -> list[TrialResult]:
    """Read the trials of a search, which may still be running.

    Args:
        folder: The project folder of a tuner, `directory/project_name`.

    Returns:
        The trials that ended, in the order of their start. A trial whose file is
        incomplete or has wrong values is left out, and a warning names the file.

    Raises:
        FileNotFoundError: If the folder has no trial.
        ValueError: If the folder is not a path, or if the file of every trial is
            incomplete or has wrong values.

    Example:

    >>> read_trials("nowhere")
    Traceback (most recent call last):
    FileNotFoundError: Expected the folder of a search... Received: nowhere
    """
    check_kind("folder", folder, str, os.PathLike)
    paths = sorted(Path(folder).glob("trial_*/trial.json"))
    if not paths:
        raise FileNotFoundError(
            f"Expected the folder of a search, with trials. Received: {folder}"
        )
    results, refused = [], []
    for path in paths:
        try:
            results.append(result_of(parse_json(path.read_bytes())))
        except ValueError as error:
            refused.append(
                f"{path} is not a complete file of a trial; resume the search to run "
                f"the trial again ({error})"
            )
    if not results:
        raise ValueError(
            f"Expected the folder of a search, with trials. Received: {refused[0]}"
        )
    for text in refused:
        warnings.warn(f"Left out: {text}", stacklevel=2)
    return results


def ranked(results: Sequence[TrialResult], direction: str) -> list[TrialResult]:
    """Return the trials from best to worst, followed by trials without a score.

    Args:
        results: The trials.
        direction: `"min"` if low scores are good, `"max"` if high ones are.

    Returns:
        The trials in this order.

    Example:

    >>> scores = {"0": 0.2, "1": 0.1, "2": None}
    >>> trials = [TrialResult(n, "COMPLETED", {}, s) for n, s in scores.items()]
    >>> [trial.trial for trial in ranked(trials, "min")]
    ['1', '0', '2']
    """
    check_choice("direction", direction, ("min", "max"))
    sign = 1 if direction == "min" else -1
    return sorted(
        results, key=lambda r: (r.score is None, sign * (r.score or 0.0), r.trial)
    )


def names_of(results: Sequence[TrialResult]) -> list[str]:
    """Return the names of the hyperparameters, except those that Hyperband adds."""
    names = dict.fromkeys(name for result in results for name in result.values)
    return [name for name in names if not name.startswith("tuner/")]


def to_csv(results: Sequence[TrialResult]) -> str:
    """Return all trials as CSV text, with one column per hyperparameter and fold.

    Args:
        results: The trials.

    Returns:
        Text of comma-separated values with a header line.

    Raises:
        ValueError: If the results are not a sequence of `TrialResult`.

    Example:

    >>> print(to_csv([TrialResult("0", "COMPLETED", {"k": 3}, score=0.2)]))
    trial,status,score,deviation,epochs,seconds,k
    0,COMPLETED,0.2,,,,3
    <BLANKLINE>
    """
    check_kinds("results", results, TrialResult)
    names = list(dict.fromkeys(name for result in results for name in result.values))
    folds = max((len(result.fold_scores) for result in results), default=0)
    head = ("trial", "status", "score", "deviation", "epochs", "seconds")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*head, *names, *(f"fold_{fold}" for fold in range(folds))])
    for result in results:
        fields = (getattr(result, name) for name in head)
        values = (result.values.get(name) for name in names)
        writer.writerow([*fields, *values, *result.fold_scores])
    return text.getvalue()
