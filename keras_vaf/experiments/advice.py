"""`advice`, two sentences on what to use after a comparison, and what to try next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keras_vaf.experiments.results import CELL, SIGN, choose, models_of
from keras_vaf.experiments.significance import LEVEL
from keras_vaf.experiments.tables import SCORE, p_value, table, task_of, written
from keras_vaf.layers import VAFActivation
from keras_vaf.utils import readable, require

if TYPE_CHECKING:
    import pandas


def advice(found: pandas.DataFrame, layer: str, more: str = "") -> str:
    """Return what to use, how sure that is, and what to try next, as two sentences.

    If a reference has a better mean test score than the chosen network, the reference
    is named first.

    Args:
        found: The records of a comparison, perhaps with references.
        layer: Name of the layer of the chosen activation.
        more: What to try next. By default, it depends on the chosen activation.
    """
    models, task, constant = models_of(found), task_of(found), table(found).iloc[-1]
    network, key = models["parameters"].notna(), choose(models)
    errors = SIGN[task] * models["mean"]
    best = errors[[key, *models.index[~network]]].idxmin()
    if errors[best] >= SIGN[task] * constant["mean"]:
        return (
            "No model predicts the target better than a constant "
            f"({constant.name}, {SCORE[task]} {written(constant['mean'], task)}). "
            "Add columns that tell more about the target, or rows."
        )
    use = f"{models['title'][key]}: {_evidence(found, models[network], key)}."
    if best != key:
        other = models_of(found, baseline=key).loc[best]
        scores = [written(models["mean"][each], task) for each in (best, key)]
        low, high = (written(end, task) for end in _ends(other))
        return (
            f"Try {other['title']} first: {SCORE[task]} {scores[0]}, and {scores[1]} "
            f"with the network{low and f' (95% interval of the gain {low} to {high})'}."
            f" Among the networks, use {use}"
        )
    following = "Next, try a wider network: `--hidden 200,100`."
    if key == models.index[0]:
        following = "To find smaller differences, add seeds: `--seeds 0,1,2`."
    elif layer == VAFActivation.__name__:
        following = "Next, try a larger k: `--k 5`."
    return f"Use {use} {more or following}"


def _ends(model: pandas.Series) -> tuple[float, float]:
    return model["gain"] - model["interval"], model["gain"] + model["interval"]


def _evidence(
    found: pandas.DataFrame, networks: pandas.DataFrame, key: tuple[str, str]
) -> str:
    """Return how sure the choice among the activations is."""
    title, task, chosen = networks["title"].iloc[0], task_of(found), networks.loc[key]
    if chosen["p"] < LEVEL and chosen["gain"] > 0:
        size, low, high = map(readable, (chosen["gain"], *_ends(chosen)))
        return (
            f"it is better than {title} ({SCORE[task]} "
            f"{'higher' if task == 'classification' else 'lower'} by {size}, "
            f"95% interval {low} to {high}, corrected p {p_value(chosen['p'])})"
        )
    if len(networks) == 1:
        return "it is the only activation"
    cells = len(found.drop_duplicates(CELL))
    if cells == 2:
        return (
            f"two folds cannot tell whether an activation is better than {title}, and "
            "it is the cheapest"
        )
    seeds, folds = found["seed"].nunique(), found["fold"].nunique()
    words = f"these {folds} folds" if folds > 1 else "this fold"
    words += f" of {seeds} seeds" if seeds > 1 else ""
    gain = _smallest_gain(networks, cells)
    shown = f", which would have shown a gain of about {written(gain, task)}"
    return (
        f"no activation is better than {title} beyond chance on {words}"
        f"{shown if gain > 0 else ''}, and it is the cheapest"
    )


def _smallest_gain(networks: pandas.DataFrame, cells: int) -> float:
    """Return the gain that the folds could have shown for half of the activations.

    The level is that of Bonferroni's correction: the strictest step of Holm's.
    """
    t = require("scipy.stats", extra="experiments").t(cells - 1)
    wider = t.isf(LEVEL / (len(networks) - 1) / 2) / t.isf(LEVEL / 2)
    return float(networks["interval"].median() * wider)
