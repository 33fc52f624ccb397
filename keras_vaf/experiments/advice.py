"""`advice`: which network to use, how sure that is, and what would make it surer."""

import itertools
import json
import math
from collections.abc import Iterator
from typing import Any

from pandas import DataFrame

from keras_vaf.experiments import results
from keras_vaf.experiments.significance import LEVEL
from keras_vaf.experiments.tables import (
    CONSTANT,
    option,
    p_value,
    table,
    task_of,
    written,
)
from keras_vaf.utils import require

_MOST_SEEDS = 100
Key = tuple[str, str]  # name and arguments of a model


def advice(found: DataFrame, following: str = "") -> str:
    """Return what to use, how sure that is, and what to try next, as sentences.

    Args:
        found: Records, as for `table`.
        following: The next step, in place of the one that this function knows.
    """
    case, task = _Case(found), task_of(found)
    if task in CONSTANT:
        constant = table(found).iloc[-1]
        tried = case.models.drop(case.networks.index.drop([case.key]))
        if (case.sign * tried["mean"]).min() >= case.sign * constant["mean"]:
            return (
                "No model predicts the target better than a constant "
                f"({constant.name}, {case.score} {written(constant['mean'], task)}). "
                "Add columns that tell more about the target, or rows."
            )
    pairs = [(other, case.against(other)) for other in case.others]
    sentences = [case.reason()]
    if case.cells > 2:
        sentences += [case.certainty(*pair) for pair in pairs]
    sentences += [*case.better(), case.time()]
    sure = not pairs or pairs[0][1]["p"] < LEVEL
    after = case.wider() if sure else case.remedy(pairs[0][1])
    return " ".join(filter(None, [*sentences, following or after]))


class _Case:
    """The network that a comparison chooses, and what its records say of it."""

    def __init__(self, found: DataFrame) -> None:
        self.found, self.task = found, task_of(found)
        self.score, self.sign = results.score_of(self.task)
        self.models = results.models_of(found)
        self.networks = results.networks_of(self.models)
        self.titles, self.key = self.models["title"], results.choose(self.models)
        self.rows = dict(iter(results.select(found).groupby(results.ARM)))
        self.cells = len(found.drop_duplicates(results.CELL))
        self.first = self.networks.index[0]
        # The choice is compared with the baseline, and with the next best network.
        rest = self.networks.drop([self.key]).sort_values("error", kind="stable").index
        own = [self.first] * (self.first != self.key)
        self.others: list[Key] = [*dict.fromkeys([*own, *rest[:1]])]

    def against(self, other: Key, key: Key | None = None) -> dict[str, Any]:
        """Return the numbers of a model, by default the choice, against another one."""
        key = key or self.key
        numbers = results.numbers_of(self.rows[key], self.rows[other])
        numbers["p"] = min(numbers["p"] * (len(self.networks) - 1), 1.0)
        if self.first in (key, other):  # as in the table
            numbers["p"] = self.models["p"][other if key == self.first else key]
        numbers["ends"] = ""
        if not math.isnan(numbers["low"]):
            # No gain exceeds the error, or what an accuracy lacks to 1.
            room = self.models["mean"][other]
            if self.sign < 0:
                shares = self.found["test"].between(0, 1).all()
                room = 1 - room if shares else math.inf
            ends = numbers["low"], min(numbers["high"], room if room >= 0 else math.inf)
            low, high = (written(end, self.task) for end in ends)
            numbers["ends"] = f"95% interval of the gain {low} to {high}"
        return numbers

    def reason(self) -> str:
        """Return what to use and why: because of its validation score alone."""
        title, errors = self.titles[self.key], self.networks["error"]
        if not self.others:
            return f"Use {title}: it is the only activation."
        both = self.key, self.others[0]
        own, other = (written(self.sign * errors[key], self.task) for key in both)
        text = (
            f"Use {title}: its mean validation {self.score}, {own}, is the best of "
            f"{len(errors)} networks ({self.titles[both[1]]}: {other})."
        )
        equal = self.networks[results.lowest(errors)].drop([self.key])["title"]
        if len(equal):
            text += f" {', '.join(equal)} reached the same, with no lower loss."
        return text

    def certainty(self, other: Key, numbers: dict[str, Any]) -> str:
        """Return what the test rows say of the choice and another network."""
        gain, half, title = numbers["gain"], numbers["interval"], self.titles[other]
        if other != self.first:
            title += ", the next on validation rows"
        if math.isnan(half):
            return f"It or {title}, has a fold without a finite score."
        if gain == half == 0:
            return f"On the test rows of all folds, it equals {title}."
        mean = self.models["mean"][other]
        word = "higher" if (gain > 0) == (self.sign < 0) else "lower"
        size = written(abs(gain), self.task)
        if self.sign > 0 and mean > 0:
            size = f"{100 * abs(gain) / mean:.2g} %"
        same = "equals" if gain == 0 else f"is {size} {word} than"
        text = f"On the test rows, its {self.score} {same} that of {title}"
        if numbers["p"] < LEVEL:
            p = p_value(numbers["p"])
            return f"{text}, beyond chance ({numbers['ends']}, corrected p {p})."
        text += ", on each fold" if half == 0 else ""
        ends = numbers["ends"] and f" ({numbers['ends']})"
        return f"{text}: these {self.cells} folds cannot tell that from chance{ends}."

    def better(self) -> Iterator[str]:
        """Yield a sentence on each model that is better on the test rows."""
        errors, own = self.sign * self.models["mean"], self.titles[self.key]
        for other in errors.index[errors < errors[self.key]]:
            title, model = self.titles[other], self.models.loc[[other]].iloc[0]
            if other not in self.networks.index:
                mean = written(model["mean"], self.task)
                ends = self.against(self.key, other)["ends"]
                yield (
                    f"Better on the test rows, with one try: {title}, {self.score} "
                    f"{mean}{ends and f' ({ends})'}."
                )
            elif model["p"] < LEVEL and model["gain"] > 0:
                yield (
                    f"{title} tests better than {own}, and better than "
                    f"{self.titles[self.first]} beyond chance (p "
                    f"{p_value(model['p'])}), but test rows do not choose."
                )

    def time(self) -> str:
        """Return the time of a VAF relative to the function at which it starts."""
        arguments = json.loads(self.key[1])
        start = arguments.get("initialization", "as-it-is")
        bases = [key for key in self.networks.index if key[0] == start]
        if "k" not in arguments or not bases:
            return ""
        epochs = self.found["seconds"] / self.found["epochs"]
        seconds = epochs.groupby([self.found[name] for name in results.ARM]).median()
        times = seconds[self.key] / max(seconds[bases[0]], 1e-9)
        title = self.titles[bases[0]]
        return f"An epoch with it took {times:.2g} times as long as with {title}."

    def wider(self) -> str:
        """Return the next step after a choice that is certain."""
        if self.task not in CONSTANT:
            return ""
        widths = tuple(2 * int(each) for each in self.found["hidden"][0].split("-"))
        words = option(self.found, "hidden", widths, self.networks["seconds"].sum())
        return f"Next, try a wider network, {words}."

    def remedy(self, numbers: dict[str, Any]) -> str:
        """Return how many seeds would show the gain, and their cost."""
        seeds, share = self.found["seed"].nunique(), self.found["share"].iloc[0]
        folds = self.found["fold"].nunique()
        if self.cells < 3:
            few = f"{self.cells} fold{'s' * (self.cells > 1)}"
            more = self.seeds(3 - self.cells)
            return f"{few} cannot tell what is more than chance: use three, {more}."
        if math.isnan(numbers["interval"]):
            return ""
        if numbers["interval"] == 0:
            return f"To see more test rows, add seeds, {self.seeds(2)}."
        t, ratio = require("scipy.stats", extra="experiments").t, share / (1 - share)
        error = numbers["interval"] / t.isf(LEVEL / 2, self.cells - 1)
        spread = error / math.sqrt(1 / self.cells + ratio)
        level = LEVEL / (len(self.networks) - 1) / 2  # the strictest step of Holm

        def shown(seeds: int) -> float:
            n = seeds * folds
            return t.isf(level, n - 1) * spread * math.sqrt(1 / n + ratio)

        for added in range(1, _MOST_SEEDS):
            if shown(seeds + added) < abs(numbers["gain"]):
                text = f"add about {added} seed{'s' * (added > 1)}, {self.seeds(added)}"
                return f"To show a difference of this size, {text}."
        return (
            "No number of seeds shows a difference of this size, because seeds do not "
            "make the test folds larger: only more rows do."
        )

    def seeds(self, more: int) -> str:
        """Return the option for further seeds, with its cost."""
        seeds = sorted(map(int, {*self.found["seed"]}))
        new = (seed for seed in itertools.count() if seed not in seeds)
        wanted = (*seeds, *itertools.islice(new, more))
        cost = self.found["seconds"].sum() / len(seeds) * more
        return option(self.found, "seeds", wanted, cost)
