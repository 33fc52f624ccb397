"""Recompute the registered answers and the tables of the pages from the records.

`python -m benchmarks.recompute` prints them. `python -m benchmarks.recompute --check`
compares the lines of each table below a comment `table: NAME` in the README and in
`docs`, cell by cell, and exits with 1 if one differs; headers are not compared. It
reads `docs/reports/**/*.csv.xz` alone: `docs/reports/index.md` explains their columns.
"""

import argparse
import functools
import itertools
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
import pandas as pd
from pandas import DataFrame, Series
from scipy import stats

ROOT = Path(__file__).parents[1]
Lines = list[list[str]]
Pair = tuple[str, str]
FIXED = ["relu", "gelu", "silu", "tanh"]
TABLE = re.compile(r"^ *<!-- table: (?!data-list)(\S+) -->\n\n((?: *\|.*\n)+)", re.M)
BY_RATE = ["validation", "rate"]


class Estimate(NamedTuple):
    """A mean or a ratio, its interval and p-value, and signs of the differences."""

    mean: float
    low: float
    high: float
    p: float
    below: int
    above: int
    ties: int

    def exp(self) -> Self:
        """Return the ratio whose logarithm this is."""
        mean, low, high = np.exp(self[:3])
        return self._replace(mean=mean, low=low, high=high)

    def text(self, form: str = ".2f") -> str:
        """Return mean and interval; "z" writes what is rounded to -0 as 0."""
        return "{:z%s} ({:z%s} to {:z%s})".replace("%s", form).format(*self[:3])

    def cells(self) -> list[str]:
        """Return mean, interval, counts and p-value."""
        tied = f", {self.ties} tied" if self.ties else ""
        counts, p = f"{self.below} : {self.above}{tied}", f"{self.p:.4f}"
        return [f"{self.mean:.3f}", f"{self.low:.3f} to {self.high:.3f}", counts, p]


def t_test(values: Series, overlap: float = 0, level: float = 0.95) -> Estimate:
    """Return a mean with its t-test; `overlap` is the share of rows that folds test."""
    n, mean = len(values), values.mean()
    error = np.sqrt((1 / n + overlap / (1 - overlap)) * values.var())
    half = stats.t.isf((1 - level) / 2, n - 1) * error
    p = 2 * stats.t.sf(abs(mean) / error, n - 1) if error else float(mean == 0)
    signs = [int((np.sign(values) == sign).sum()) for sign in (-1, 1, 0)]
    return Estimate(mean, mean - half, mean + half, p, *signs)


def ratio(own: Series, other: Series, level: float = 0.95) -> Estimate:
    """Return the ratio of errors over datasets, with Wilcoxon's p-value."""
    logs = np.log(own / other).dropna()
    logs = logs.where(logs.abs() >= 1e-9, 0.0)  # equal but for rounding
    p = stats.wilcoxon(logs).pvalue if logs.any() else 1.0
    return t_test(logs, level=level)._replace(p=p).exp()


def seed_ratio(own: Series, other: Series, overlap: float = 0) -> Estimate:
    """Return the ratio of errors over seeds or folds, with a t-test of logarithms."""
    return t_test(np.log(own / other), overlap).exp()


def holm(values: Iterable[float]) -> list[float]:
    """Return p-values with Holm's correction."""
    p = Series(list(values)).sort_values()
    return (p * np.arange(len(p), 0, -1)).cummax().clip(upper=1).sort_index().to_list()


def lines(frame: DataFrame, form: str = "{}") -> Lines:
    """Return the index and the cells of a frame as text."""
    cells = frame.map(lambda each: each if isinstance(each, str) else form.format(each))
    return cells.reset_index().astype(str).to_numpy().tolist()


@functools.cache
def read(*names: str) -> DataFrame:
    """Return the records of files, whose first lines show where they come from."""
    paths = [ROOT / f"docs/reports/{name}.csv.xz" for name in names]
    return pd.concat([pd.read_csv(path, skiprows=1) for path in paths])


def titles(frame: DataFrame) -> Series:
    """Return the titles of the activations, in the order of the records."""
    return frame.drop_duplicates("activation").set_index("activation").title


def best(frame: DataFrame, keys: list[str], rank: list[str]) -> DataFrame:
    """Return the row of each group with the smallest rank; of equal ones the first."""
    return frame.sort_values(rank, kind="stable").drop_duplicates(keys)


def best_mean(
    frame: DataFrame, keys: list[str], among: list[str], rank: list[str]
) -> DataFrame:
    """Return the rows with those values of `among` whose mean rank is smallest."""
    means = frame.groupby([*keys, *among], sort=False)[rank].mean().round(12)
    return frame.merge(best(means.reset_index(), keys, rank)[[*keys, *among]])


def wide(frame: DataFrame, rows: str, value: str) -> DataFrame:
    """Return the mean of a value for each activation (column) and dataset or seed."""
    return frame.pivot_table(value, rows, "activation")


# The page of registered comparisons, and the errors on help


def tuned(study: str) -> DataFrame:
    """Return the folds of a study of tables at the learning rates of validation."""
    trained = read(f"evidence/{study}").dropna(subset="rate")
    return best(trained, ["dataset", "fold", "activation"], BY_RATE)


def errors(study: str) -> DataFrame:
    """Return mean errors by dataset and activation, those of references included."""
    folds, every = tuned(study), read(f"evidence/{study}")
    four = best(folds[folds.activation.isin(FIXED)], ["dataset", "fold"], BY_RATE)
    parts = [folds, four.assign(activation="best of four"), every[every.rate.isna()]]
    return wide(pd.concat(parts), "dataset", "test")


def pair_lines(found: DataFrame, pairs: Iterable[Pair], names: Series) -> Lines:
    """Return ratios of errors over datasets, with Holm's correction for all lines."""
    ratios = {pair: ratio(found[pair[0]], found[pair[1]]) for pair in pairs}
    corrected = holm(each.p for each in ratios.values())
    return [
        [*(names.get(each, each) for each in pair), *own.cells(), f"{p:.3f}"]
        for (pair, own), p in zip(ratios.items(), corrected, strict=True)
    ]


def on_tables() -> dict[str, Lines]:
    """Return the tables of the new regressions, of the catalogue and of bends."""
    found, names = errors("regressions"), titles(read("evidence/regressions"))
    arms = [*FIXED, "prelu", "vaf-relu", "vaf-silu"]
    shown = found[[*arms, "best of four", "linear", "boosting"]]
    shown = shown.div(found.relu, axis=0).map("{:.3f}".format)
    pairs = [pair[::-1] for pair in itertools.combinations(arms, 2)]
    registered = [("vaf-silu", "relu"), ("vaf-silu", "best of four")]
    more = [*pairs, registered[1]]
    bends = tuned("kinks").pivot_table(["test", "training"], "title", "dataset")
    bends = (bends / bends.loc["GELU"]).swaplevel(axis=1).sort_index(axis=1)
    return {
        "new-tables": lines(shown.assign(relu=found.relu.map("{:.4f}".format))),
        "new-pairs": pair_lines(found, pairs, names),
        "catalogue-pairs": pair_lines(errors("catalogue"), more, names),
        "without-diamonds": pair_lines(found.drop("diamonds"), registered, names),
        "bends": lines(bends.loc[titles(read("evidence/kinks"))], "{:.3f}"),
    }


def is_scored(frame: DataFrame) -> Series:
    """Tell which trainings are scored; three seeds only select."""
    return ~frame.seed.isin([100, 101, 102])


def sine_errors(study: str, dataset: str) -> tuple[DataFrame, str]:
    """Return errors by seed on a task of the map, and the name of the tuned sine."""
    frame = read(f"evidence/{study}").query("dataset == @dataset")
    scored, sines = is_scored(frame), frame.activation.str.startswith("sin")
    tried = frame[~scored & sines].groupby(["activation", "rate"]).validation.mean()
    found = wide(frame[scored], "seed", "error")
    return found.replace(0, 0.5 / 5000), tried.idxmin()[0]  # 0 is half a wrong row


def function_errors(frame: DataFrame) -> DataFrame:
    """Return geometric mean errors of sine and VAFs on each random function."""
    family = frame.activation.str.extract("^(sin|vaf-[0-9])")[0]
    frame = frame.assign(arm=frame.activation, activation=family)
    keys, among = ["dataset", "activation"], ["arm", "rate"]
    chosen = best_mean(frame[~is_scored(frame)], keys, among, ["validation"])
    chosen = chosen[[*keys, *among]].drop_duplicates()
    scored = frame[is_scored(frame)].merge(chosen)
    return np.exp(wide(scored.assign(log=np.log(scored.error)), "dataset", "log"))


def tested(frame: DataFrame, rank: list[str], score: str) -> DataFrame:
    """Return test scores by seed, at the learning rates that seed 0 selects."""
    rates = best(frame[frame.seed == 0], ["activation"], rank).set_index("activation")
    short = frame.activation.str.removesuffix("-long")  # the same for less time
    return wide(frame[frame.rate == short.map(rates.rate)], "seed", score)


def losses() -> DataFrame:
    """Return the test losses of the transformer by seed; seed 0 only selects."""
    frame = read("evidence/language", "evidence/language-others")
    return tested(frame, ["validation"], "test").loc[1:]


def accuracies(frame: DataFrame) -> DataFrame:
    """Return the test accuracies of a convolutional network by seed."""
    frame = frame.assign(error=-frame.validation_accuracy)
    return tested(frame, ["error", "validation_loss"], "test_accuracy")


def estimates() -> dict[str, Estimate]:
    """Return the estimates of the registered comparisons, with all their parts."""
    new, start = errors("regressions"), errors("classifications")
    every = read("evidence/regressions")
    high, low = (wide(every[every.rate == r], "dataset", "test") for r in (0.03, 0.001))
    (labels, sine), loss = sine_errors("map", "mnist"), losses()
    random, vaf = function_errors(read("evidence/functions")), new["vaf-silu"]
    found = {
        "T1": ratio(vaf, new.relu),
        "T2": ratio(vaf, new["best of four"]),
        "T3": ratio(high["vaf-silu"] / high.silu, low["vaf-silu"] / low.silu),
        "T4": ratio(start["vaf-relu"], start.relu),
        f"M1, against {sine}": seed_ratio(labels["vaf-1"], labels[sine]),
        "M2, against sin": seed_ratio(labels["vaf-1"], labels["sin"]),
        "O1": ratio(random["vaf-1"], random["sin"]),
        "O2": ratio(random["vaf-3"], random["sin"]),
        "L1": t_test(loss["vaf-silu"] - loss["silu"]),
        "L2": t_test(loss["vaf-silu"] - loss["silu-long"]),
    }
    for name, folds in tuned("kinks").groupby("dataset"):
        own, copy = wide(folds, "fold", "test"), "gelu-hinges-fixed"
        found[f"K, {name}"] = seed_ratio(own[copy], own.gelu, 1 / len(own))
    for name in ("beats", "chirp", "scales"):
        own, _ = sine_errors("map", name)
        found[f"M3, {name}, against sin"] = seed_ratio(own["vaf-3"], own["sin"])
    sensor = read("evidence/sensor").query("labels == 80")
    no_rivals = ["nothing", "histogram", "vaf-3", "vaf-7", "vaf-histogram"]
    for curve in ("inversion", "gamma", "negative"):
        own = sensor[sensor.curve == curve].rename(columns={"method": "activation"})
        own = wide(own, "seed", "accuracy")
        rival = own.drop(columns=no_rivals).mean().idxmax()
        found[f"S, {curve}, against {rival}"] = t_test(own["vaf-7"] - own[rival])
    small = accuracies(read("evidence/images").query("dataset == 'cifar10'"))
    large = accuracies(read("evidence/images-all"))
    found["C"] = t_test(small["vaf-relu"] - small.relu)
    found["C2"] = t_test(large["vaf-relu"] - large.relu)
    return found | {"C3": t_test(large["vaf-random"] - large.relu)}


# When the page prints "confirmed", if the p-value is below 0.05 as well, and "refuted".
# The p-values of each family are corrected together; other comparisons need none.
RULES = {
    **dict.fromkeys(["T1", "T3"], lambda e: (e.mean < 1, e.low > 0.98)),
    "T2": lambda e: (is_same("regressions", 0.03), e.low > 1),
    "T4": lambda e: (e.mean > 1, e.high < 1.02),
    "K": lambda e: (e.mean > 1, False),
    **dict.fromkeys(["M1", "M2", "O1", "O2"], lambda e: (e.mean < 1, e.low > 0.95)),
    "M3": lambda e: (e.mean < 1, e.mean > 1),  # "refuted" needs a p-value, too
    "L1": lambda e: (e.mean < 0, e.low > -0.001 * losses()["silu"].mean()),
    "L2": lambda e: (e.mean < 0, e.low > -0.001 * losses()["silu-long"].mean()),
    "S": lambda e: (e.mean > 0, e.mean < 0),  # as M3
    **dict.fromkeys(["C", "C2", "C3"], lambda e: (e.low > 0.05, e.high < 0.05)),
}
FAMILIES = "T1 T3 T4 M1 M2 L1 L2", "K", "M3", "O1 O2", "S"


def is_same(study: str, bound: float) -> bool:
    """Tell whether the VAF and the best of four are equivalent: the rule of T2."""
    found = errors(study)
    narrow = ratio(found["vaf-silu"], found["best of four"], level=0.9)
    return narrow.low >= 1 - bound and narrow.high <= 1 + bound


def registered() -> Lines:
    """Return the answers of the registered comparisons, by the rules of their page."""

    def words(confirmed: bool, refuted: bool) -> str:
        return "confirmed" if confirmed else "refuted" if refuted else "cannot tell"

    found = estimates()
    corrected: dict[str, float] = {}
    for family in FAMILIES:
        own = [name for name in found if name.partition(",")[0] in family.split()]
        corrected |= zip(own, holm(found[name].p for name in own), strict=True)
    table, parts = [], {"K": [], "M3": [], "S": []}
    for name, e in found.items():
        key, p = name.partition(",")[0], corrected.get(name)
        confirmed, refuted = RULES[key](e)
        clear = p is None or p < 0.05
        answer = words(confirmed and clear, refuted and (clear or key not in parts))
        shown = ["", ""] if p is None else [f"{e.p:.4f}", f"{p:.4f}"]
        table.append([name, *e.cells()[:2], *shown, answer])
        if key in parts:
            parts[key].append((confirmed, answer))
    for key, own in parts.items():
        wins = sum(answer == "confirmed" for _, answer in own)
        lost = any(answer == "refuted" for _, answer in own)
        yes = wins > 1 and not lost and (key == "S" or all(better for better, _ in own))
        answer = words(yes, lost if key == "M3" else not wins)
        table.append([key, "", "", "", "", answer])
    return sorted(table)


# What the registered questions could find

# Units, comparisons that share Holm's correction, and the effect of the pilot.
PILOTS = {"T1": (14, 7, 0.926), "T3": (14, 7, 0.80), "T4": (11, 7, 1.079)}
PILOTS |= dict.fromkeys(["M1", "M2"], (15, 7, 0.66))
PILOTS |= dict.fromkeys(["O1", "O2"], (20, 2, 0.754))
DRAWS = 4000


def power() -> Lines:
    """Return, for each ratio, its interval's half width and the chance to confirm."""
    random, table = np.random.default_rng(45), []
    for name, estimate in estimates().items():
        if (key := name.partition(",")[0]) in PILOTS:
            units, family, effect = PILOTS[key]
            half = np.log(estimate.high / estimate.low) / 2
            spread = half * np.sqrt(units) / stats.t.isf(0.025, units - 1)
            draws = random.normal(np.log(effect), spread, (DRAWS, units))
            one = stats.ttest_1samp(draws, 0, axis=1) if key[0] == "M" else None
            p = (one or stats.wilcoxon(draws, axis=1)).pvalue
            right = np.sign(draws.mean(axis=1)) == np.sign(np.log(effect))
            share = np.mean((family * p < 0.05) & right)
            cells = f"{np.expm1(half):.0%}", f"{effect:.3g}", f"{share:.0%}"
            table.append([key, str(units), *cells])
    return table


def bootstrap() -> Lines:
    """Return the ratios of T1 and T2 with intervals from samples of datasets."""
    new, random, table = errors("regressions"), np.random.default_rng(45), []
    for name, rival in (("T1", "relu"), ("T2", "best of four")):
        logs = np.log(new["vaf-silu"] / new[rival]).dropna().to_numpy()
        means = random.choice(logs, (10_000, len(logs))).mean(axis=1)
        low, high = np.exp(np.quantile(means, [0.025, 0.975]))
        table.append([name, f"{np.exp(logs.mean()):.3f}", f"{low:.3f} to {high:.3f}"])
    return table


# The check


def on_help(found: dict[str, Lines], page: str) -> Lines:
    """Return the rows of the page of answers: its three cells of text, and numbers."""
    registered = found["registered"] + found["registered-0-4"]
    answers = {row[0].partition(",")[0]: row for row in registered}
    rows = re.findall(r"^\| ([^|]*\((\w+)\) \| [^|]* \| [^|]*) \|", page, re.M)
    return [
        [*text.split(" | "), *answers[name][1:3], answers[name][-1]]
        for text, name in rows
    ]


def tables() -> dict[str, Lines]:
    """Return the lines of all tables; the last ones are records, not recomputed."""
    from benchmarks.recompute_records import on_records

    found = {"registered": registered(), **on_tables(), **on_records()}
    page = (ROOT / "docs/help.md").read_text("utf-8")
    found |= {"help": on_help(found, page), "power": power(), "bootstrap": bootstrap()}
    kept = read("tables/printed").groupby("table", sort=False).line
    return found | {name: [row.split(" | ") for row in rows] for name, rows in kept}


def differences(found: dict[str, Lines]) -> Iterator[str]:
    """Yield what differs on the pages from the lines of the tables."""
    for page in (ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))):
        for match in TABLE.finditer(page.read_text("utf-8")):
            name, rows = match[1], match[2].splitlines()[2:]
            shown = [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows]
            for row, own in itertools.zip_longest(shown, found.get(name, [])):
                for cells in itertools.zip_longest(row or [], own or []):
                    if cells[0] != cells[1]:
                        yield f"{page.name}, {name}, {row}: {cells}"


def main() -> int:
    """Print the tables, or compare those of the pages with them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recompute")
    parser.add_argument("--check", action="store_true", help="compare with the pages")
    found = tables()
    if parser.parse_args().check:
        different = list(differences(found))
        print(*different, f"{len(different)} cells differ", sep="\n")
        return int(bool(different))
    for name, rows in found.items():
        print(f"\n{name}\n", *(" | ".join(row) for row in rows), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
