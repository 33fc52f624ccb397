"""`select`, which selects learning rates, and `models_of`, what follows from that."""

import math
import statistics
from typing import Any, Literal

import numpy as np
from pandas import DataFrame, Series

from keras_vaf.experiments import significance
from keras_vaf.utils import check_choice, deviation

Selection = Literal["validation", "paper"]

ARM, CELL = ["activation", "arguments"], ["seed", "fold"]
SCORES = {"validation": "validation", "paper": "test"}  # those that select
_TIE = 1e-9  # means that differ by a smaller share are equal but for rounding
_SAME = 1e-4  # gains that differ by a smaller share are equal
_KNOWN = {"classification": ("accuracy", -1.0), "regression": ("RMSE", 1.0)}


def score_of(task: str) -> tuple[str, float]:
    """Return the name of the score of a task, and the sign that makes it an error.

    The task of an own model is `"maximize NAME"` or `"minimize NAME"`.

    >>> score_of("classification"), score_of("minimize mae")
    (('accuracy', -1.0), ('mae', 1.0))
    """
    verb, _, name = task.partition(" ")
    return _KNOWN.get(task, (name, -1.0 if verb == "maximize" else 1.0))


def sign(task: str) -> float:
    """Return the sign that makes a score of a task an error."""
    return score_of(task)[1]


def select(found: DataFrame, selection: Selection = "validation") -> DataFrame:
    """Return the record of the best score per activation, recipe, seed and fold.

    Of equal scores, the record with the lower validation loss is selected, and of equal
    losses, the earlier record. A network without a finite loss is selected last.

    Args:
        found: Records, from `records`, whose order is kept.
        selection: `"validation"` selects by the validation score, `"paper"` by the test
            score, as in the paper's tables, which new data would not reach.

    Raises:
        ValueError: If the selection is unknown.
    """
    score = SCORES[check_choice("selection", selection, SCORES)]
    finite = found["val_loss"].notna() | found["learning_rate"].isna()
    errors = (found[score] * found["task"].map(sign)).where(finite)
    rows = found.assign(error=errors).sort_values(["error", "val_loss"], kind="stable")
    chosen = rows.drop_duplicates(["recipe", *ARM, *CELL]).index
    return found.loc[chosen.sort_values()]


def numbers_of(rows: DataFrame, first: DataFrame | None = None) -> dict[str, Any]:
    """Return the numbers of the selected records of a model, compared with a first one.

    The lower the `error`, a mean of validation scores with a sign, the better.
    """
    rows, factor = rows.sort_values(CELL), sign(rows["task"].iloc[0])
    scores = rows["test"].to_numpy(float)
    diverged = rows[["val_loss", "validation"]].isna().any(axis=None)
    numbers = {
        "title": rows["title"].iloc[0],
        "mean": scores.mean(),
        "deviation": deviation(scores.tolist()),
        "error": math.inf if diverged else factor * rows["validation"].mean(),
        "val_loss": rows["val_loss"].mean(skipna=False),
        "parameters": rows["parameters"].iloc[0],
        **dict.fromkeys(("gain", "interval", "low", "high", "p"), math.nan),
    }
    if first is None:
        return numbers
    first = first.sort_values(CELL)
    if first[CELL].values.tolist() != rows[CELL].values.tolist():
        raise ValueError(
            "Activations must have the same seeds and folds to be compared. "
            f"Received: {len(rows)} and {len(first)} folds"
        )
    gains, shares = factor * (first["test"].to_numpy() - scores), rows["share"]
    gain = 0.0 if abs(gains.mean()) <= _TIE * abs(scores.mean()) else gains.mean()
    numbers["gain"] = gain
    # With two folds, the interval is so wide that it means nothing.
    if len(gains) < 3 or not np.isfinite(gains).all():
        return numbers
    numbers["interval"] = 0.0
    # Folds that gain the same, or the same number of rows, do not prove certainty.
    both = np.array([gains, gains * shares])
    if (np.ptp(both, axis=1) > _SAME * abs(both).max(axis=1)).all():
        data = gains.tolist(), shares.iloc[0]
        half = numbers["interval"] = significance.corrected_interval(*data)
        numbers["low"], numbers["high"] = gain - half, gain + half
        numbers["p"] = significance.corrected_t_test(*data)
    return numbers


def models_of(found: DataFrame) -> DataFrame:
    """Return `numbers_of` each model; networks are compared with the first one."""
    recipes = found["recipe"].unique().tolist()  # a hash of the data, too
    networks = found.loc[found["learning_rate"].notna(), ARM].drop_duplicates()
    if len(recipes) != 1 or networks.empty:
        raise ValueError(
            "Expected records of networks on one dataset by one recipe. Received: "
            f"{len(found)} records of {recipes}"
        )
    rows = dict(iter(select(found).groupby(ARM, sort=False)))
    first, *others = networks.itertuples(index=False, name=None)
    numbers = {
        key: numbers_of(own, rows[first] if key in others else None)
        for key, own in rows.items()
    }
    models = DataFrame.from_dict(numbers, "index")
    models["seconds"] = found.groupby(ARM)["seconds"].sum()
    tested = models["p"].dropna()
    models.loc[tested.index, "p"] = significance.holm(tested.tolist())
    return models


def choose(models: DataFrame) -> tuple[str, str]:
    """Return the network with the best mean validation score.

    Of networks that are equal but for rounding, it is the one with the lower mean
    validation loss, then the one with fewer parameters, and then the first one.

    Args:
        models: As from `models_of`. References take no part.
    """
    left = networks_of(models)
    for column in ("error", "val_loss", "parameters"):
        left = left[lowest(left[column])]
    return left.index[0]


def networks_of(models: DataFrame) -> DataFrame:
    """Return the models that are networks."""
    return models[models["parameters"].notna()]


def lowest(values: Series) -> Series:
    """Tell which values equal the lowest one but for rounding; NaN is the highest."""
    values, best = values.fillna(math.inf), values.fillna(math.inf).min()
    return (values == best) | (values - best <= _TIE * abs(best))


def settings_of(rows: DataFrame) -> tuple[float, int, int]:
    """Return the most frequent learning rate, its median best epoch, and a seed."""
    rows = rows.sort_values(CELL)
    rate = statistics.mode(rows["learning_rate"])
    epochs = rows.loc[rows["learning_rate"] == rate, "best_epoch"].median()
    return rate, max(1, round(epochs)), int(rows["seed"].iloc[0])
