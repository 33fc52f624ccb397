"""The answers to R1, and the table and picture of the page on ReLU alone.

`python -m benchmarks.recompute.relu` draws the picture, `docs/reports/relu/r1.png`.
"""

import numpy as np
from pandas import DataFrame, Series
from scipy import stats

from benchmarks.recompute.records import ROOT, Lines, read
from benchmarks.recompute.statistics import t_test, words

BOUND, FITTED = 1.02, "k=5 fitted"
DRAWN = ["relu", "hard", "relu trained", "k=5", FITTED]
ARMS = {"relu": "ReLU in place", "hard": "hard form", "k=3": "k = 3", "k=5": "k = 5"}
ARMS |= {"k=3 fitted": "k = 3, fitted", FITTED: "k = 5, fitted"}
ARMS |= {"relu trained": "ReLU, trained", "prelu trained": "PReLU, trained"}


def logs() -> DataFrame:
    """Return log r for each family and seed: of tables the mean."""
    keys = ["family", "dataset", "seed"]
    found = read("relu/r1").pivot_table("test", keys, "arm", sort=False)
    half = found.index.get_level_values("dataset").str.endswith("mnist") / 2
    found = np.log(found.add(half, axis=0).div(found.original + half, axis=0))
    return found[[*ARMS]].groupby(["family", "seed"], sort=False).mean()


def against(rival: str) -> list[str]:
    """Return the row of k = 5 fitted against another arm, by the sign test."""
    means = logs().groupby("family", sort=False).mean()
    found = t_test((means[FITTED] - means[rival]).dropna())
    better, worse = found.below, found.above
    number = better + worse + found.ties
    p = stats.binomtest(better, better + worse).pvalue
    answer = words(better == number, 2 * worse >= number)
    return [*found.exp().cells(), f"{better} of {number}", f"{p:.3f}", answer]


def on_relu() -> dict[str, Lines]:
    """Return the answers, and the changes of each family in per cent."""
    means = logs().groupby("family", sort=False).mean()
    e = t_test(means[FITTED]).exp()
    first = ["R1a", *e.cells(), "", "", words(e.high < BOUND, e.low > BOUND)]
    rows = [first, ["R1b", *against("hard")], ["R1c", *against("relu trained")]]
    table = Lines()
    for family, own in logs().groupby("family", sort=False):
        table.append([str(family), *(change(own[arm]) for arm in ARMS)])
    table.append(["all", *(change(means[arm]) for arm in ARMS)])
    short = [[*row[:3], row[4], row[6]] for row in table]
    return {"registered-relu": rows, "relu": table, "relu-short": short}


def on_cost() -> Lines:
    """Return the operators of each form of two networks, and its relative times."""
    rows = Lines()
    for names, own in read("relu/cost").groupby(["network", "form"], sort=False):
        ends = zip(own.ratio, own.ratio_low, own.ratio_high, strict=True)
        times = ["{:.1f} ({:.1f} to {:.1f})".format(*each) for each in ends]
        times = ["1", "1"] if names[1] == "SiLU" else times
        rows.append([", ".join(names), *times, own.operators.iloc[-1]])
    return rows


def change(found: Series) -> str:
    if (found := found.dropna()).empty:
        return ""
    cells = (100 * (each - 1) for each in t_test(found).exp()[:3])
    return "{:+z.1f} ({:+z.1f} to {:+z.1f})".format(*cells)


def draw() -> None:
    """Draw log r of each family, with its interval over seeds."""
    seeds = logs()[DRAWN].rename(columns=ARMS).groupby("family", sort=False)
    halves = stats.t.isf(0.025, seeds.count() - 1) * seeds.sem()
    axes = seeds.mean().plot.barh(xerr=halves, width=0.8, figsize=(5.4, 7), ylabel="")
    axes.legend(loc="lower right", bbox_to_anchor=(1, 0.28))
    axes.set_xticks(np.log([1, 2, 5, 10]), ["1", "2", "5", "10"])
    axes.set(xlabel="error relative to the network as trained", ylim=(7.5, -0.5))
    axes.figure.savefig(ROOT / "docs/reports/relu/r1.png", bbox_inches="tight")


if __name__ == "__main__":
    draw()
