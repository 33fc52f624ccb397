"""`select`, which selects learning rates, and `models_of`, what follows from that."""

import math
import statistics
from typing import Any, Literal

import pandas

from keras_vaf.experiments import significance
from keras_vaf.experiments.significance import LEVEL, holm
from keras_vaf.utils import check_choice, deviation

Selection = Literal["validation", "paper"]

ARM, CELL = ["activation", "arguments"], ["seed", "fold"]
_ARM = ["problem", "recipe", *ARM]
_ORDER = ["error", "val_loss"]
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
        found: Records, from `records`, whose order is kept.
        selection: `"validation"` selects by the validation score, `"paper"` by the test
            score, as in the paper's tables, which new data would not reach.

    Raises:
        ValueError: If the selection is unknown.
    """
    score = _SCORES[check_choice("selection", selection, _SCORES)]
    finite = found["val_loss"].notna() | found["learning_rate"].isna()
    errors = (found[score] * found["task"].map(SIGN)).where(finite)
    ordered = found.assign(error=errors).sort_values(_ORDER, kind="stable")
    chosen = ordered.drop_duplicates([*_ARM, *CELL]).index
    return found.loc[chosen.sort_values()]


def select_architectures(
    selected: pandas.DataFrame, selection: Selection = "validation"
) -> pandas.DataFrame:
    """Return, of what `select` returns, the recipe with the best mean score per arm.

    Of equal means, the recipe with the lower mean validation loss is selected.
    """
    errors = selected[_SCORES[selection]] * selected["task"].map(SIGN)
    losses = selected["val_loss"].fillna(math.inf)
    groups = selected.assign(error=errors, val_loss=losses).groupby(_ARM, sort=False)
    means = groups[_ORDER].mean().reset_index()
    # Equal means may differ by rounding.
    means["error"] = [float(f"{error:.9g}") for error in means["error"]]
    means = means.sort_values(_ORDER, kind="stable")
    best = means.drop_duplicates(["problem", *ARM]).set_index(_ARM).index
    return selected[selected.set_index(_ARM).index.isin(best)]


def numbers_of(
    rows: pandas.DataFrame, first: pandas.DataFrame | None = None
) -> dict[str, Any]:
    """Return the numbers of one model, compared with the records of a `first` one.

    `rows` are selected records. Gains are positive if the model is better. `error` is
    its mean validation score with the sign that makes lower ones better, and infinity
    after a diverged training.

    Raises:
        ValueError: If the records have different seeds or folds.
    """
    rows, sign = rows.sort_values(CELL), SIGN[rows["task"].iloc[0]]
    scores = rows["test"].to_numpy(float)
    diverged = rows[["val_loss", "validation"]].isna().any(axis=None)
    numbers = {
        "title": rows["title"].iloc[0],
        "mean": scores.mean(),
        "deviation": deviation(scores.tolist()),
        "error": math.inf if diverged else sign * rows["validation"].mean(),
        "parameters": rows["parameters"].iloc[0],
        **dict.fromkeys(("gain", "interval", "p"), math.nan),
    }
    if first is None:
        return numbers
    first = first.sort_values(CELL)
    if first[CELL].values.tolist() != rows[CELL].values.tolist():
        raise ValueError(
            "Activations must have the same seeds and folds to be compared. "
            f"Received: {len(rows)} and {len(first)} folds"
        )
    gains = (sign * (first["test"].to_numpy() - scores)).tolist()
    gain, share = statistics.fmean(gains), rows["share"].iloc[0]
    numbers["gain"] = 0.0 if abs(gain) <= _TIE * abs(numbers["mean"]) else gain
    # With two folds, the interval is so wide that it means nothing.
    if len(gains) > 2 and all(map(math.isfinite, gains)):
        numbers["interval"] = significance.corrected_interval(gains, share)
        numbers["p"] = significance.corrected_t_test(gains, share)
    return numbers


def models_of(
    found: pandas.DataFrame, baseline: tuple[str, str] | None = None
) -> pandas.DataFrame:
    """Return `numbers_of` each model, by name and arguments, and its `seconds`.

    The networks are compared with the first one, with Holm's correction, or all models
    with a `baseline`, by its name and arguments.

    Raises:
        ValueError: If no record is that of a network, or if the records have several
            datasets or recipes.
    """
    recipes = found[["problem", "recipe"]].drop_duplicates().values.tolist()
    networks = found.loc[found["learning_rate"].notna(), ARM].drop_duplicates()
    if len(recipes) != 1 or networks.empty:
        raise ValueError(
            "Expected records of networks on one dataset by one recipe. Received: "
            f"{len(found)} records of {recipes}"
        )
    rows = dict(iter(select(found).groupby(ARM, sort=False)))
    first, *others = networks.itertuples(index=False, name=None)
    compared = rows if baseline else others
    numbers = {
        key: numbers_of(own, rows[baseline or first] if key in compared else None)
        for key, own in rows.items()
    }
    models = pandas.DataFrame.from_dict(numbers, "index")
    models["seconds"] = found.groupby(ARM)["seconds"].sum()
    tested = models["p"].dropna()
    models.loc[tested.index, "p"] = holm(tested.tolist())
    return models


def choose(models: pandas.DataFrame) -> tuple[str, str]:
    """Return the name and the arguments of the activation to use, from `models_of`.

    Of activations that are significantly better than the first one, it is the best on
    the validation rows. Otherwise, of those that are not significantly worse, it is the
    one with the fewest parameters, and of several the earliest.
    """
    networks = models[models["parameters"].notna()]
    finite = networks[networks["error"] < math.inf]
    usable = networks if finite.empty else finite
    sure = usable["p"] < LEVEL
    better = usable[sure & (usable["gain"] > 0)]
    if not better.empty:
        return better["error"].idxmin()
    rest = usable[~(sure & (usable["gain"] < 0))]
    return (usable if rest.empty else rest)["parameters"].idxmin()


def settings_of(rows: pandas.DataFrame) -> tuple[float, int, int]:
    """Return learning rate, number of epochs and seed for a training on all rows.

    The learning rate is the most frequent one of the selected records of a network, and
    the number of epochs is the median of their best epochs.
    """
    rows = rows.sort_values(CELL)
    epochs = max(1, round(rows["best_epoch"].median()))
    return statistics.mode(rows["learning_rate"]), epochs, int(rows["seed"].iloc[0])
