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
_SENTENCES = {
    "nothing": "No model predicts the target better than a constant ({title}, {score} "
    "{mean}). Add columns that tell more about the target, or rows.",
    "constant": "Better on the test rows, without inputs: {title}, {score} {mean}.",
    "only": "Use {own}: it is the only activation.",
    "best": "Use {own}: its mean validation {score}, {error}, is the best of {count} "
    "networks ({title}: {mean}).",
    "ties": "The same score, with no lower loss: {title}.",
    "no score": "It or {title} has a fold without a finite score.",
    "equal": "On the test rows of all folds, it equals {title}.",
    "sure": "On the test rows, its {score} {size} that of {title}, beyond chance "
    "({ends}, corrected p {p}).",
    "unsure": "On the test rows, its {score} {size} that of {title}: these {cells} "
    "folds cannot tell that from chance{in_ends}.",
    "reference": "Better on the test rows, with one try: {title}, {score} {mean}"
    "{in_ends}.",
    "network": "Better than {own} on the test rows, and than {first} beyond chance "
    "(p {p}): {title}. A choice by test rows would make their score too good.",
    "time": "An epoch with {own} took {times:.2g} times as long as with {title}.",
    "wider": "Next, try a wider network, {option}.",
    "few": "To tell what is more than chance, use at least three folds, {option}.",
    "rows": "To see more test rows, add seeds, {option}.",
    "seeds": "To show the difference to {title}, add about {added} seed{s}, {option}.",
    "vain": "No number of seeds shows the difference to {title}, because seeds do not "
    "make the test folds larger: only more rows do.",
    "timed": "Only more rows show the difference to {title}: folds by time have the "
    "same test rows for every seed.",
}


def advice(found: DataFrame, following: str = "", timed: bool = False) -> str:
    """Return what to use, how sure that is, and what to try next, as sentences.

    Args:
        found: Records, as for `table`.
        following: The next step, in place of the one that this function knows.
        timed: Whether the folds are by time, and thus the same for every seed.
    """
    return " ".join(_Case(found, timed).sentences(following))


class _Case:
    """The network that a comparison chooses, and what its records say of it."""

    def __init__(self, found: DataFrame, timed: bool) -> None:
        self.found, self.task, self.timed = found, task_of(found), timed
        score, self.sign = results.score_of(self.task)
        self.models = results.models_of(found)
        self.networks = results.networks_of(self.models)
        self.key = results.choose(self.models)
        self.rows = dict(iter(results.select(found).groupby(results.ARM)))
        self.cells = len(found.drop_duplicates(results.CELL))
        self.first = self.networks.index[0]
        own, first = (self.models["title"][key] for key in (self.key, self.first))
        self.facts = {"own": own, "first": first, "score": score, "cells": self.cells}

    def say(self, name: str, other: Any = None, **facts: Any) -> str:
        """Return a sentence on the choice, and perhaps on another model."""
        title = {"title": self.models["title"].get(other)}
        return _SENTENCES[name].format(**self.facts | title | facts)

    def written(self, value: float) -> str:
        return written(value, self.task)

    def sentences(self, following: str) -> Iterator[str]:
        constant, none = self.constant()
        if none:
            yield from constant
            return
        # The choice is compared with the baseline, and with the next best network.
        rest = self.networks.drop([self.key]).sort_values("error", kind="stable").index
        both = dict.fromkeys([self.first, *rest[:1]])
        others = [key for key in both if key != self.key]
        yield from self.reason(others)
        pairs = [(other, self.against(self.key, other)) for other in others]
        if self.cells > 2:
            yield from itertools.starmap(self.certainty, pairs)
        yield from constant
        yield from self.better()
        yield from self.time()
        if following:
            yield following
        elif pairs and not pairs[0][1]["p"] < LEVEL:
            yield from self.remedy(*pairs[0])
        elif self.task in CONSTANT:
            widths = tuple(2 * int(w) for w in self.found["hidden"][0].split("-"))
            cost = self.networks["seconds"].sum()
            yield self.say("wider", option=option(self.found, "hidden", widths, cost))

    def constant(self) -> tuple[list[str], bool]:
        """Return a sentence if a constant is better, and whether no model is."""
        if self.task not in CONSTANT:
            return [], False
        constant = table(self.found).iloc[-1]
        facts = {"title": constant.name, "mean": self.written(constant["mean"])}
        worse = self.sign * self.models["mean"] >= self.sign * constant["mean"]
        none = bool(worse.drop(self.networks.index.drop([self.key])).all())
        said = self.say("nothing" if none else "constant", **facts)
        return [said] if worse[self.key] else [], none

    def against(self, key: Any, other: Any) -> dict[str, Any]:
        """Return the numbers of a model compared with another one."""
        numbers = results.numbers_of(self.rows[key], self.rows[other])
        numbers["p"] = min(numbers["p"] * (len(self.networks) - 1), 1.0)
        if self.first in (key, other):  # as in the table
            numbers["p"] = self.models["p"][other if key == self.first else key]
        ends = ""
        if not math.isnan(numbers["low"]):
            # No gain exceeds the error, or what an accuracy lacks to 1.
            room = self.models["mean"][other]
            if self.sign < 0:
                shares = self.found["test"].between(0, 1).all()
                room = 1 - room if shares else math.inf
            high = min(numbers["high"], room if room >= 0 else math.inf)
            ends = f"{self.written(numbers['low'])} to {self.written(high)}"
            ends = f"95% interval of the gain {ends}"
        return numbers | {"ends": ends, "in_ends": f" ({ends})" if ends else ""}

    def reason(self, others: list[Any]) -> Iterator[str]:
        """Yield what to use and why: because of its validation score alone."""
        if not others:
            yield self.say("only")
            return
        errors, other = self.networks["error"], others[0]
        own, mean = (self.written(self.sign * errors[k]) for k in (self.key, other))
        yield self.say("best", other, error=own, mean=mean, count=len(errors))
        equal = self.networks[results.lowest(errors)].drop([self.key])["title"]
        if len(equal):
            yield self.say("ties", title=", ".join(equal))

    def certainty(self, other: Any, numbers: dict[str, Any]) -> str:
        """Return what the test rows say of the choice and another network."""
        gain, half, p = (numbers[name] for name in ("gain", "interval", "p"))
        title, mean = (self.models[name][other] for name in ("title", "mean"))
        title += "" if other == self.first else ", the next on validation rows"
        if math.isnan(half) or gain == half == 0:
            return self.say("no score" if math.isnan(half) else "equal", title=title)
        share = self.sign > 0 and mean > 0
        size = f"{100 * abs(gain) / mean:.2g} %" if share else self.written(abs(gain))
        word = "higher" if (gain > 0) == (self.sign < 0) else "lower"
        size = "equals" if gain == 0 else f"is {size} {word} than"
        title += "" if half else ", on each fold"
        facts = numbers | {"p": p_value(p), "size": size, "title": title}
        return self.say("sure" if p < LEVEL else "unsure", **facts)

    def better(self) -> Iterator[str]:
        """Yield a sentence on each model that is better on the test rows."""
        errors = self.sign * self.models["mean"]
        for other in errors.index[errors < errors[self.key]]:
            model = self.models.loc[[other]].iloc[0]
            if other not in self.networks.index:
                ends = self.against(other, self.key)["in_ends"]
                mean = self.written(model["mean"])
                yield self.say("reference", other, mean=mean, in_ends=ends)
            elif model["p"] < LEVEL and model["gain"] > 0:
                yield self.say("network", other, p=p_value(model["p"]))

    def time(self) -> Iterator[str]:
        """Yield the time of a VAF relative to the function at which it starts."""
        arguments = json.loads(self.key[1])
        start = arguments.get("initialization", "as-it-is")
        bases = [key for key in self.networks.index if key[0] == start]
        if "k" in arguments and bases:
            epochs = self.found["seconds"] / self.found["epochs"]
            seconds = epochs.groupby([self.found[n] for n in results.ARM]).median()
            times = seconds[self.key] / max(seconds[bases[0]], 1e-9)
            yield self.say("time", bases[0], times=times)

    def remedy(self, other: Any, numbers: dict[str, Any]) -> Iterator[str]:
        """Yield what would show the difference to another network, and its cost."""
        if self.cells < 3:
            yield self.more("few", 3 - self.cells, other)
        elif self.timed:
            yield self.say("timed", other)
        elif numbers["interval"] == 0:
            yield self.more("rows", 2, other)
        elif not math.isnan(numbers["interval"]):
            enough = (n for n in range(1, _MOST_SEEDS) if self.shown(n, numbers))
            added = next(enough, 0)
            yield self.more("seeds" if added else "vain", added, other)

    def shown(self, added: int, numbers: dict[str, Any]) -> bool:
        """Tell whether further seeds would show a gain that is as large as this one."""
        t, share = require("scipy.stats", extra="experiments").t, self.found["share"][0]
        error = numbers["interval"] / t.isf(LEVEL / 2, self.cells - 1)
        spread = error / math.sqrt(1 / self.cells + share / (1 - share))
        n = self.cells + added * self.found["fold"].nunique()
        level = LEVEL / (len(self.networks) - 1) / 2  # the strictest step of Holm
        least = t.isf(level, n - 1) * spread * math.sqrt(1 / n + share / (1 - share))
        return least < abs(numbers["gain"])

    def more(self, name: str, added: int, other: Any) -> str:
        """Return a sentence with the option for further seeds, and its cost."""
        seeds = sorted(map(int, {*self.found["seed"]}))
        cost = self.found["seconds"].sum()
        new = (seed for seed in itertools.count() if seed not in seeds)
        wanted = (*seeds, *itertools.islice(new, added))
        words = option(self.found, "seeds", wanted, cost * added / len(seeds))
        if self.timed:  # other seeds have the same test rows
            words = option(self.found, "folds", 3, 2 * cost)
        facts = {"added": added, "option": words, "s": "s" * (added > 1)}
        return self.say(name, other, **facts)
