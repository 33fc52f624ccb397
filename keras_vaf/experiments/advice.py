"""`advice`: which model to use, how sure that is, and what would make it surer."""

import json
import math
from collections.abc import Iterator

from pandas import DataFrame, Series

from keras_vaf.experiments import results
from keras_vaf.experiments.results import ARM, best_of, numbers_of, score_of, select
from keras_vaf.experiments.significance import LEVEL
from keras_vaf.experiments.tables import (
    CONSTANT,
    minutes,
    option,
    p_value,
    table,
    task_of,
    written,
)
from keras_vaf.utils import require

_MOST_SEEDS = 100


def advice(found: DataFrame, following: str = "") -> str:
    """Return what to use, how sure that is, and what to try next, as sentences."""
    models, task = results.models_of(found), task_of(found)
    score, sign = score_of(task)
    network, key = models["parameters"].notna(), results.choose(models)
    errors = sign * models["mean"]
    best = errors[[key, *models.index[~network]]].idxmin()
    if task in CONSTANT:
        constant = table(found).iloc[-1]
        if errors[best] >= sign * constant["mean"]:
            return (
                "No model predicts the target better than a constant "
                f"({constant.name}, {score} {written(constant['mean'], task)}). "
                "Add columns that tell more about the target, or rows."
            )
    networks = models[network]
    sentences = [f"Use {_reason(networks, key, task)}"]
    if best != key:
        rows = select(found).groupby(ARM)
        other = numbers_of(rows.get_group(best), rows.get_group(key))
        scores = [written(models["mean"][each], task) for each in (best, key)]
        low, high = (written(other[end], task) for end in ("low", "high"))
        sentences = [
            f"Try {other['title']} first: {score} {scores[0]}, and {scores[1]} with "
            f"the network{low and f' (95% interval of the gain {low} to {high})'}.",
            f"Among the networks, use {_reason(networks, key, task)}",
        ]
    sure = len(networks) == 1
    if not sure:
        text, sure = _certainty(found, networks, key)
        sentences += [text, *_others(networks, key)]
    after = ""
    if sure and task in CONSTANT and best == key:
        after = "Next, try a wider network: `--hidden 200,100`."
        if k := json.loads(key[1]).get("k"):  # a VAF
            after = f"Next, try a larger k: `--k {k + 2}`."
    return " ".join(filter(None, [*sentences, following or after]))


def _reason(networks: DataFrame, key: tuple[str, str], task: str) -> str:
    """Return why a network is chosen: by its validation score alone."""
    title, (score, sign) = networks["title"][key], score_of(task)
    if len(networks) == 1:
        return f"{title}: it is the only activation."
    value = written(sign * networks["error"][key], task)
    best = f"{title}: its mean validation {score}, {value}, is the best of "
    equal = [name for name in best_of(networks)["title"] if name != title]
    if equal:
        return (
            f"{best}{len(networks)} networks. {' and '.join(equal)} reached the same, "
            "with no fewer parameters."
        )
    other = _other(networks, key)
    value = written(sign * networks["error"][other], task)
    return f"{best}{len(networks)} networks ({networks['title'][other]}: {value})."


def _other(networks: DataFrame, key: tuple[str, str]) -> tuple[str, str]:
    """Return what a network is compared with: the first one, or else the next best."""
    first = networks.index[0]
    return networks["error"].drop([key]).idxmin() if key == first else first


def _certainty(
    found: DataFrame, networks: DataFrame, key: tuple[str, str]
) -> tuple[str, bool]:
    """Return what the test rows say of the choice, and whether it is beyond chance."""
    first, other, task = networks.index[0], _other(networks, key), task_of(found)
    numbers = networks.loc[other if key == first else key]
    low, high, gain = numbers["low"], numbers["high"], numbers["gain"]
    if key == first:  # the gain is that of the other one over the first
        low, high, gain = -high, -low, 0.0 - gain
    title, (score, sign) = networks["title"][other], score_of(task)
    if math.isnan(numbers["interval"]):
        cells = len(found.drop_duplicates(results.CELL))
        if cells < 3:
            return (
                f"{cells} fold{'s' * (cells > 1)} cannot tell whether that is more "
                f"than chance: use three or more, {_seeds(found, 3 - cells)}."
            ), False
        return "Some trainings had no finite loss, so that nothing is certain.", False
    if gain == 0 and numbers["interval"] == 0:
        return f"On test rows, it and {title} are equal on all folds.", False
    word = "higher" if (gain > 0) == (sign < 0) else "lower"
    size = written(abs(gain), task)
    text = f"On test rows, its {score} is {size} {word} than that of {title}"
    if numbers["interval"] == 0:
        return f"{text}, equal on all folds, too few to tell it from chance.", False
    if gain == 0:
        text = f"On test rows, its mean {score} equals that of {title}"
    text += f" (95% interval of the gain {written(low, task)} to {written(high, task)}"
    if numbers["p"] < LEVEL:
        return f"{text}, corrected p {p_value(numbers['p'])}), beyond chance.", True
    shown, remedy = _power(found, networks, numbers, abs(gain), other)
    cells = len(found.drop_duplicates(results.CELL))
    return (
        f"{text}): these {cells} folds cannot tell that from chance{shown}. {remedy}",
        False,
    )


def _others(networks: DataFrame, key: tuple[str, str]) -> Iterator[str]:
    """Yield a sentence on each other network that tests better beyond chance."""
    first = networks["title"].iloc[0]
    rest = networks.drop([key])
    better = rest[(rest["p"] < LEVEL) & (rest["gain"] > 0)]
    for title, p in better[["title", "p"]].itertuples(index=False):
        yield f"{title} tests better than {first} beyond chance (p {p_value(p)})."


def _power(
    found: DataFrame,
    networks: DataFrame,
    numbers: Series,
    gain: float,
    other: tuple[str, str],
) -> tuple[str, str]:
    """Return the gain that the folds would show, and what it costs to show this one."""
    stats = require("scipy.stats", extra="experiments")
    task, seeds = task_of(found), found["seed"].nunique()
    cells, share = len(found.drop_duplicates(results.CELL)), found["share"].iloc[0]
    folds, ratio = cells / seeds, share / (1 - share)
    spread = numbers["interval"] / (
        stats.t(cells - 1).isf(LEVEL / 2) * math.sqrt(1 / cells + ratio)
    )
    level = LEVEL / (len(networks) - 1) / 2  # the strictest step of Holm's correction

    def shown(seeds: int) -> float:
        count = round(seeds * folds)
        return stats.t(count - 1).isf(level) * spread * math.sqrt(1 / count + ratio)

    score, mean = score_of(task)[0], networks["mean"][other]
    room = 1 - mean if "acc" in score else math.inf
    room = abs(mean) if score_of(task)[1] > 0 else room
    now = shown(seeds)
    words = f", and show gains from about {written(now, task)}" if now < room else ""
    if gain <= stats.norm.isf(level) * spread * math.sqrt(ratio) or gain == 0:
        return words, (
            "No number of seeds shows a difference of this size, because seeds do not "
            "make the test folds larger: only more rows do."
        )
    enough = (n for n in range(seeds + 1, _MOST_SEEDS) if shown(n) < gain)
    more = next(enough, _MOST_SEEDS) - seeds
    return words, (
        f"To show a difference of this size, add about {more} seed{'s' * (more > 1)}, "
        f"{_seeds(found, more)}."
    )


def _seeds(found: DataFrame, more: int) -> str:
    """Return the option for further seeds, with its cost."""
    seeds = sorted({*found["seed"]})
    new = (seed for seed in range(10_000) if seed not in seeds)
    wanted = (*map(int, seeds), *(next(new) for _ in range(more)))
    cost = minutes(found["seconds"].sum() / len(seeds) * more)
    if len(wanted) > 8:
        return cost
    return f"{cost}: {option(found, 'seeds', wanted)}"
