"""`select`, which selects learning rates, and `results_of`, what follows from that."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from keras_vaf.experiments.significance import (
    LEVEL,
    corrected_interval,
    corrected_t_test,
    holm,
)
from keras_vaf.utils import check_choice, deviation

if TYPE_CHECKING:
    import pandas

Selection = Literal["validation", "paper"]

_ARM = ["problem", "recipe", "activation", "arguments"]
_SCORES = {"validation": "validation", "paper": "test"}
_TIE = 1e-9  # means that differ by a smaller share are equal but for rounding
SIGN = {"classification": -1.0, "regression": 1.0}
"""The number that makes a score an error, by task."""


def select(
    found: pandas.DataFrame, selection: Selection = "validation"
) -> pandas.DataFrame:
    """Return the record of the best score per activation, recipe, seed and fold.

    Of equal scores, the record with the lower validation loss is selected, and of equal
    losses, the earlier record. A network without a finite loss is selected last.

    Args:
        found: Records, from `records`.
        selection: `"validation"` selects by the validation score, `"paper"` by the test
            score, as in the paper's tables. Its scores are better than those of new
            data.

    Returns:
        The selected records, in the order of `found`.

    Raises:
        ValueError: If the selection is unknown.
    """
    score = _SCORES[check_choice("selection", selection, _SCORES)]
    finite = found["val_loss"].notna() | found["learning_rate"].isna()
    errors = (found[score] * found["task"].map(SIGN)).where(finite)
    ordered = found.assign(error=errors)
    ordered = ordered.sort_values(["error", "val_loss"], kind="stable")
    chosen = ordered.drop_duplicates([*_ARM, "seed", "fold"]).index
    return found.loc[chosen.sort_values()]


def select_architectures(
    selected: pandas.DataFrame, selection: Selection = "validation"
) -> pandas.DataFrame:
    """Return the records of the recipe with the best mean score per activation.

    `selected` are the records of `select`, from recipes that differ in `hidden`. Of
    equal means, the recipe with the lower mean validation loss is selected.
    """
    errors = selected[_SCORES[selection]] * selected["task"].map(SIGN)
    losses = selected["val_loss"].fillna(math.inf)
    groups = selected.assign(error=errors, val_loss=losses).groupby(_ARM, sort=False)
    means = groups[["error", "val_loss"]].mean().reset_index()
    # Equal means may differ by rounding.
    means["error"] = [float(f"{error:.9g}") for error in means["error"]]
    means = means.sort_values(["error", "val_loss"], kind="stable")
    arms = ["problem", "activation", "arguments"]
    best = means.drop_duplicates(arms).set_index(_ARM).index
    return selected[selected.set_index(_ARM).index.isin(best)]


class Result(NamedTuple):
    """The selected records of one activation, or of a reference, and what follows.

    Gains are differences from the first activation, positive if this one is better. The
    errors are scores with the sign that makes lower ones better.
    """

    rows: pandas.DataFrame  # by seed and fold
    title: str
    is_network: bool
    mean: float
    deviation: float
    error: float
    validation_error: float  # infinity after a diverged training
    gains: list[float]
    gain: float
    p: float
    interval: float
    parameters: float
    seconds: float


def results_of(found: pandas.DataFrame) -> list[Result]:
    """Return the result of each activation, in the order of the records.

    Raises:
        ValueError: If no record is that of a network, or if the records have several
            datasets or recipes.
    """
    recipes = found[["problem", "recipe"]].drop_duplicates().values.tolist()
    if len(recipes) != 1 or not found["learning_rate"].notna().any():
        raise ValueError(
            "Expected records of networks on one dataset by one recipe. Received: "
            f"{len(found)} records of {recipes}"
        )
    seconds, first = found.groupby(_ARM, sort=False)["seconds"].sum(), None
    results: list[Result] = []
    for key, rows in select(found).groupby(_ARM, sort=False):
        network = bool(rows["learning_rate"].notna().all())
        results.append(result_of(rows, first if network else None, seconds[key]))
        first = rows if network and first is None else first
    p = iter(holm([each.p for each in results if not math.isnan(each.p)]))
    return [
        each._replace(p=each.p if math.isnan(each.p) else next(p)) for each in results
    ]


def result_of(
    rows: pandas.DataFrame, first: pandas.DataFrame | None, seconds: float = math.nan
) -> Result:
    """Return the result of some selected records, compared with other ones.

    Raises:
        ValueError: If the records have different seeds or folds.
    """
    cells = ["seed", "fold"]
    rows = rows.sort_values(cells)
    sign, scores = SIGN[rows["task"].iloc[0]], rows["test"].tolist()
    mean, gains = statistics.fmean(scores), []
    if first is not None:
        first = first.sort_values(cells)
        if first[cells].values.tolist() != rows[cells].values.tolist():
            raise ValueError(
                "Activations must have the same seeds and folds to be compared. "
                f"Received: {len(rows)} and {len(first)} folds"
            )
        gains = (sign * (first["test"].to_numpy() - rows["test"].to_numpy())).tolist()
    gain = statistics.fmean(gains) if gains else math.nan
    # With two folds, the interval is so wide that it means nothing.
    tested = len(gains) > 2 and all(map(math.isfinite, gains))
    share = rows["share"].iloc[0]
    diverged = rows[["val_loss", "validation"]].isna().any(axis=None)
    return Result(
        rows,
        rows["title"].iloc[0],
        bool(rows["learning_rate"].notna().all()),
        mean,
        deviation(scores),
        sign * mean,
        math.inf if diverged else sign * statistics.fmean(rows["validation"]),
        gains,
        0.0 if abs(gain) <= _TIE * abs(mean) else gain,
        corrected_t_test(gains, share) if tested else math.nan,
        corrected_interval(gains, share) if tested else math.nan,
        rows["parameters"].iloc[0],
        seconds,
    )


def choose(results: Sequence[Result]) -> Result:
    """Return the activation to use.

    If activations are significantly better than the first one, the best of them on the
    validation rows is chosen. Otherwise, the one with the fewest parameters is chosen
    that is not significantly worse, and of several the earliest. The test scores decide
    about significance alone.
    """
    networks = [each for each in results if each.is_network]
    finite = [each for each in networks if each.validation_error < math.inf]
    better = [each for each in finite if each.p < LEVEL and each.gain > 0]
    if better:
        return min(better, key=lambda each: each.validation_error)
    rest = [n for n in finite or networks if not (n.p < LEVEL and n.gain < 0)]
    return min(rest or finite or networks, key=lambda each: each.parameters)


def settings_of(result: Result) -> tuple[float, int, int]:
    """Return learning rate, number of epochs and seed for a training on all rows.

    The learning rate is the most frequent one of the folds, and the number of epochs is
    the median of their best epochs.
    """
    rate = statistics.mode(result.rows["learning_rate"])
    epochs = max(1, round(statistics.median(result.rows["best_epoch"])))
    return rate, epochs, int(result.rows["seed"].iloc[0])
