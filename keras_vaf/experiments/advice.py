"""`advice`, two sentences on what to use after a comparison, and what to try next."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from keras_vaf.experiments.results import SIGN, Result, choose, result_of
from keras_vaf.experiments.significance import LEVEL, corrected_interval
from keras_vaf.experiments.tables import CONSTANT, SCORE, p_value, task_of, written
from keras_vaf.layers import VAFActivation
from keras_vaf.utils import readable


def advice(results: Sequence[Result], layer: str, more: str = "") -> str:
    """Return what to use, how sure that is, and what to try next, as two sentences.

    If a reference has a better mean test score than the chosen network, the reference
    is named first.

    Args:
        results: The results of a comparison, perhaps with references.
        layer: Name of the layer of the chosen activation.
        more: What to try next. By default, it depends on the chosen activation.
    """
    chosen = choose(results)
    networks = [each for each in results if each.is_network]
    others = [each for each in results if not each.is_network]
    best = min((chosen, *others), key=lambda result: result.error)
    task, constant = task_of(chosen.rows), chosen.rows["constant"].mean()
    use = f"{chosen.title}: {_evidence(networks, chosen)}."
    if best.error >= SIGN[task] * constant:
        return (
            "No model predicts the target better than a constant "
            f"({CONSTANT[task]}, {SCORE[task]} {written(constant, task)}). "
            "Add columns that tell more about the target, or rows."
        )
    if best is not chosen:
        instead = f"Try {best.title} first: {_instead(best, chosen)}. "
        return f"{instead}Among the networks, use {use}"
    following = "Next, try a wider network: `--hidden 200,100`."
    if chosen is networks[0]:
        following = "To find smaller differences, add seeds: `--seeds 0,1,2`."
    elif layer == VAFActivation.__name__:
        following = "Next, try a larger k: `--k 5`."
    return f"Use {use} {more or following}"


def _instead(best: Result, chosen: Result) -> str:
    """Return by how much a reference is better than the chosen network."""
    task, compared = task_of(best.rows), result_of(best.rows, chosen.rows)
    scores = [written(each.mean, task) for each in (best, chosen)]
    text = f"{SCORE[task]} {scores[0]}, and {scores[1]} with the network"
    if math.isnan(compared.interval):
        return text
    low, high = (written(end, task) for end in _ends(compared))
    return f"{text} (95% interval of the gain {low} to {high})"


def _ends(result: Result) -> tuple[float, float]:
    return result.gain - result.interval, result.gain + result.interval


def _evidence(networks: Sequence[Result], chosen: Result) -> str:
    """Return how sure the choice among the activations is."""
    title, task = networks[0].title, task_of(chosen.rows)
    if chosen.p < LEVEL and chosen.gain > 0:
        size, low, high = map(readable, (chosen.gain, *_ends(chosen)))
        return (
            f"it is better than {title} ({SCORE[task]} "
            f"{'higher' if task == 'classification' else 'lower'} by {size}, "
            f"95% interval {low} to {high}, corrected p {p_value(chosen.p)})"
        )
    if len(networks) == 1:
        return "it is the only activation"
    if len(chosen.rows) == 2:
        return (
            f"two folds cannot tell whether an activation is better than {title}, and "
            "it is the cheapest"
        )
    seeds, folds = (chosen.rows[name].nunique() for name in ("seed", "fold"))
    words = f"these {folds} folds" if folds > 1 else "this fold"
    words += f" of {seeds} seeds" if seeds > 1 else ""
    gain = _smallest_gain(networks)
    shown = f", which would have shown a gain of about {gain}" if gain else ""
    return (
        f"no activation is better than {title} beyond chance on {words}{shown}, "
        "and it is the cheapest"
    )


def _smallest_gain(networks: Sequence[Result]) -> str:
    """Return the gain that the folds could have shown for half of the activations.

    The level is that of Bonferroni's correction: the strictest step of Holm's.
    """
    share, level = networks[0].rows["share"].iloc[0], LEVEL / (len(networks) - 1)
    tested = [each.gains for each in networks if not math.isnan(each.interval)]
    known = [corrected_interval(gains, share, 1 - level) for gains in tested]
    gain = statistics.median(known) if known else 0.0
    return written(gain, task_of(networks[0].rows)) if gain else ""
