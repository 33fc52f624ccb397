"""Recompute the registered answers and the tables of the pages from the records.

`python -m benchmarks.recompute` prints them; `--check` compares them with the lines of
each table below a comment `table: NAME` in the README and in `docs`, and exits with 1
if one differs. It reads `docs/reports/**/*.csv.xz` alone.
"""

import functools
import itertools
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from pandas import DataFrame, Series
from scipy import stats

ROOT = Path(__file__).parents[1]
Names = list[str]
Lines = list[Names]
FIXED = ["relu", "gelu", "silu", "tanh"]
TABLE = re.compile(r"^ *<!-- table: (\S+) -->\n\n((?: *\|.*\n)+)", re.M)
BY_RATE = ["validation", "rate"]
SELECT = [100, 101, 102]  # seeds of trainings that are not scored
TASKS = "regression", "classification"
FAIR = "ReLU of equal size and tries"
EITHER = {"vaf-either": ["vaf-random", "vaf-relu"]}  # the two starts of the paper
# When the page prints "confirmed", if the p-value is below 0.05 as well, and "refuted".
# The p-values of each family are corrected together; other comparisons need none.
RULES = {
    **dict.fromkeys(["T1", "T3"], lambda e: (e.mean < 1, e.low > 0.98)),
    "T2": lambda e: (is_within(e, 0.03), e.low > 1),
    "T4": lambda e: (e.mean > 1, e.high < 1.02),
    "K": lambda e: (e.mean > 1, False),
    **dict.fromkeys(["M1", "M2", "O1", "O2"], lambda e: (e.mean < 1, e.low > 0.95)),
    "M3": lambda e: (e.mean < 1, e.mean > 1),  # "refuted" needs a p-value, too
    "L1": lambda e: (e.mean < 0, e.low > -0.001 * losses()["silu"].mean()),
    "L2": lambda e: (e.mean < 0, e.low > -0.001 * losses()["silu-long"].mean()),
    "S": lambda e: (e.mean > 0, e.mean < 0),  # as M3
    **dict.fromkeys(["C", "C2", "C3"], lambda e: (e.low > 0.05, e.high < 0.05)),
    "U1": lambda e: (e.p < 0.05 and e.mean < 1, e.low > 0.98),
    "U2": lambda e: (is_within(e, 0.03), e.low > 1.03 or e.high < 0.97),
    **dict.fromkeys(["F2", "F4", "F8", "F16"], lambda e: (e.mean < 1, e.low > 0.98)),
}
FAMILIES = "T1 T3 T4 M1 M2 L1 L2", "K", "M3", "O1 O2", "S", "F2 F4 F8 F16"
# Units, comparisons that share Holm's correction, and the effect of the pilot.
PILOTS = {"T1": (14, 7, 0.926), "T3": (14, 7, 0.80), "T4": (11, 7, 1.079)}
PILOTS |= dict.fromkeys(["M1", "M2"], (15, 7, 0.66))
PILOTS |= dict.fromkeys(["O1", "O2"], (20, 2, 0.754))


class Estimate(NamedTuple):
    """A mean or a ratio, its interval and p-value, and signs of the differences."""

    mean: float
    low: float
    high: float
    p: float
    below: int
    above: int
    ties: int

    def exp(self) -> "Estimate":
        return Estimate._make([*np.exp(self[:3]), *self[3:]])

    def text(self, form: str = ".2f") -> str:
        # "z" writes what is rounded to -0 as 0.
        return "{:z%s} ({:z%s} to {:z%s})".replace("%s", form).format(*self[:3])

    def cells(self) -> Names:
        return [f"{self.mean:.3f}", f"{self.low:.3f} to {self.high:.3f}"]


def t_test(values: Series, overlap: float = 0) -> Estimate:
    """Return a mean with its t-test; `overlap` is the share of rows that folds test."""
    n, mean = len(values), values.mean()
    error = np.sqrt((1 / n + overlap / (1 - overlap)) * values.var())
    half = stats.t.isf(0.025, n - 1) * error
    p = 2 * stats.t.sf(abs(mean) / error, n - 1) if error else float(mean == 0)
    signs = [int((np.sign(values) == sign).sum()) for sign in (-1, 1, 0)]
    return Estimate(mean, mean - half, mean + half, p, *signs)


def ratio(own: Series, other: Series) -> Estimate:
    """Return the ratio of errors over datasets, with Wilcoxon's p-value."""
    logs = np.log(own / other).dropna()
    logs = logs.where(logs.abs() >= 1e-9, 0.0)  # equal but for rounding
    p = stats.wilcoxon(logs).pvalue if logs.any() else 1.0
    return t_test(logs)._replace(p=p).exp()


def seed_ratio(own: Series, other: Series, overlap: float = 0) -> Estimate:
    return t_test(np.log(own / other), overlap).exp()


def holm(values: Iterable[float]) -> list[float]:
    p = Series(list(values)).sort_values()
    return (p * np.arange(len(p), 0, -1)).cummax().clip(upper=1).sort_index().to_list()


def lines(frame: DataFrame, form: str = "{}") -> Lines:
    cells = frame.map(lambda each: each if isinstance(each, str) else form.format(each))
    return cells.reset_index().astype(str).to_numpy().tolist()


@functools.cache
def read(*names: str) -> DataFrame:
    paths = [ROOT / f"docs/reports/{name}.csv.xz" for name in names]
    return pd.concat([pd.read_csv(path, skiprows=1) for path in paths])


def best(frame: DataFrame, keys: list[str], rank: list[str]) -> DataFrame:
    """Return the row of each group with the smallest rank; of equal ones the first."""
    return frame.sort_values(rank, kind="stable").drop_duplicates(keys)


def best_mean(frame: DataFrame, keys: Names, among: Names, rank: Names) -> DataFrame:
    """Return the rows with those values of `among` whose mean rank is smallest."""
    means = frame.groupby([*keys, *among], sort=False)[rank].mean().round(12)
    return frame.merge(best(means.reset_index(), keys, rank)[[*keys, *among]])


def wide(frame: DataFrame, rows: str, value: str) -> DataFrame:
    return frame.pivot_table(value, rows, "activation")


def tuned(study: str) -> DataFrame:
    trained = read(f"evidence/{study}").dropna(subset="rate")
    return best(trained, ["dataset", "fold", "activation"], BY_RATE)


def with_best(folds: DataFrame, keys: Names, name: str) -> DataFrame:
    team = best(folds[folds.activation.isin(FIXED)], keys, BY_RATE)
    return pd.concat([folds, team.assign(activation=name)])


def errors(study: str) -> DataFrame:
    folds = with_best(tuned(study), ["dataset", "fold"], "best of four")
    references = read(f"evidence/{study}").query("rate.isna()")
    return wide(pd.concat([folds, references]), "dataset", "test")


def sine_errors(study: str, dataset: str) -> tuple[DataFrame, str]:
    """Return errors by seed on a task of the map, and the name of the tuned sine."""
    frame = read(f"evidence/{study}").query("dataset == @dataset")
    scored, sines = ~frame.seed.isin(SELECT), frame.activation.str.startswith("sin")
    tried = frame[~scored & sines].groupby(["activation", "rate"]).validation.mean()
    found = wide(frame[scored], "seed", "error")
    return found.replace(0, 0.5 / 5000), tried.idxmin()[0]  # 0 is half a wrong row


def function_errors(frame: DataFrame) -> DataFrame:
    family = frame.activation.str.extract("^(sin|vaf-[0-9])")[0]
    frame = frame.assign(arm=frame.activation, activation=family)
    keys, among = ["dataset", "activation"], ["arm", "rate"]
    chosen = best_mean(frame[frame.seed.isin(SELECT)], keys, among, ["validation"])
    scored = frame[~frame.seed.isin(SELECT)]
    scored = scored.merge(chosen[[*keys, *among]].drop_duplicates())
    return np.exp(wide(scored.assign(log=np.log(scored.error)), "dataset", "log"))


def tested(frame: DataFrame, rank: list[str], score: str) -> DataFrame:
    rates = best(frame[frame.seed == 0], ["activation"], rank).set_index("activation")
    short = frame.activation.str.removesuffix("-long")  # the same for less time
    return wide(frame[frame.rate == short.map(rates.rate)], "seed", score)


def losses() -> DataFrame:
    frame = read("evidence/language", "evidence/language-others")
    return tested(frame, ["validation"], "test").loc[1:]  # seed 0 selects


def accuracies(frame: DataFrame) -> DataFrame:
    frame = frame.assign(error=-frame.validation_accuracy)
    return tested(frame, ["error", "validation_loss"], "test_accuracy")


def estimates() -> dict[str, Estimate]:
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
    found["C3"] = t_test(large["vaf-random"] - large.relu)
    for units, frame in read("evidence/few-units").groupby("question"):
        if units:
            own = best(frame, ["dataset", "seed", "activation"], BY_RATE)
            own = with_best(own, ["dataset", "seed"], "best of three")
            own = wide(own, "dataset", "test")
            found[f"F{units}"] = ratio(own["vaf-silu"], own["best of three"])
        else:
            own = frame.groupby(["activation", "rate", "dataset"]).test.mean()
            for name, rate in (("U1", 0.001), ("U2", 0.003)):
                found[name] = ratio(own["vaf-relu", 0.001], own["relu", rate])
    return found


def is_within(e: Estimate, bound: float) -> bool:
    """Tell whether the 90 % interval of a ratio over datasets is within a bound."""
    freedom = e.below + e.above + e.ties - 1
    share = stats.t.isf(0.05, freedom) / stats.t.isf(0.025, freedom)
    low, high = e.mean * (e.low / e.mean) ** share, e.mean * (e.high / e.mean) ** share
    return low >= 1 - bound and high <= 1 + bound


def words(confirmed: bool, refuted: bool) -> str:
    return "confirmed" if confirmed else "refuted" if refuted else "cannot tell"


def registered() -> Lines:
    found, corrected, table = estimates(), dict[str, float](), Lines()
    parts = {name: list[tuple[bool, str]]() for name in ("K", "M3", "S", "U")}
    for family in FAMILIES:
        own = [name for name in found if name.partition(",")[0] in family.split()]
        corrected |= zip(own, holm(found[name].p for name in own), strict=True)
    for name, e in found.items():
        key, p = name.partition(",")[0], corrected.get(name)
        whole = "U" if key[0] == "U" else key
        yes, no = RULES[key](e)
        clear = p is None or p < 0.05
        answer = words(yes and clear, no and (clear or whole not in parts))
        texts = ["" if each is None else f"{each:.4f}" for each in (e.p, p)]
        texts[0] = texts[0] if p is not None or whole == "U" else ""
        table.append([name, *e.cells(), *texts, answer])
        if whole in parts:
            parts[whole].append((yes, answer))
    for key, each in parts.items():
        wins = sum(answer == "confirmed" for _, answer in each)
        lost = any(answer == "refuted" for _, answer in each)
        better = key == "S" or all(one for one, _ in each)
        no = lost if key in ("M3", "U") else not wins
        table.append([key, *[""] * 4, words(wins > 1 and not lost and better, no)])
    return sorted(table)


def power() -> Lines:
    """Return, for each ratio, its interval's half width and the chance to confirm."""
    random, table = np.random.default_rng(45), []
    for name, estimate in estimates().items():
        if (key := name.partition(",")[0]) in PILOTS:
            units, family, effect = PILOTS[key]
            half = np.log(estimate.high / estimate.low) / 2
            spread = half * np.sqrt(units) / stats.t.isf(0.025, units - 1)
            draws = random.normal(np.log(effect), spread, (4000, units))
            one = stats.ttest_1samp(draws, 0, axis=1) if key[0] == "M" else None
            p = (one or stats.wilcoxon(draws, axis=1)).pvalue
            right = np.sign(draws.mean(axis=1)) == np.sign(np.log(effect))
            share = np.mean((family * p < 0.05) & right)
            cells = f"{np.expm1(half):.0%}", f"{effect:.3g}", f"{share:.0%}"
            table.append([key, str(units), *cells])
    return table


@functools.cache
def selected(name: str, by: str = "validation") -> DataFrame:
    frame = read(f"reproduction/{name}")
    if "classification" in name:  # accuracies become errors
        frame = frame.assign(validation=1 - frame.validation, test=1 - frame.test)
    frame = frame.assign(error=frame.get("test_scaled", frame.test))
    is_of = frame.activation.isin
    both = [frame[is_of(b)].assign(activation=a) for a, b in EITHER.items()]
    keys, rank = ["dataset", "activation", "hidden"], [by, "validation_loss"]
    folds = best(pd.concat([frame, *both]), [*keys, "seed", "fold"], rank)
    return best_mean(folds, keys[:2], keys[2:], rank)


def fold_gains(name: str, own: str, other: str) -> DataFrame:
    found = selected(name)
    scores = found.set_index(["activation", "dataset", "seed", "fold"]).error
    first = best(found, ["dataset"], ["seed", "fold"]).set_index("dataset")
    share = first.rows_test / first.filter(like="rows_").sum(axis=1)
    gains = (scores[other] - scores[own]).groupby("dataset", sort=False)
    tests = {data: t_test(each, share[data]) for data, each in gains}
    table = DataFrame.from_dict(tests, orient="index", columns=Estimate._fields)
    return table.assign(p=holm(table.p))


def on_choices() -> Lines:
    means = pd.concat(wide(selected(f"choices-{t}"), "dataset", "error") for t in TASKS)
    table = read("reproduction/choices-regression").drop_duplicates("activation")
    table = table.set_index("title").dropna(subset="against")
    found = {
        n: ratio(means[e.activation], means[e.against]) for n, e in table.iterrows()
    }
    for name in ("tanh", "silu"):  # these against the default, too
        found[f"fixed {name}"] = ratio(means[name], means["vaf-relu"])
    corrected = holm(e.p for e in found.values())
    return [
        [title, e.text(), f"{e.below}, {e.above}", f"{p:.3g}"]
        for (title, e), p in zip(found.items(), corrected, strict=True)
    ]


def on_paper() -> dict[str, Lines]:
    names = "the paper's figures", "ours, test rows", "ours, validation rows"
    published, parts = read("reproduction/published"), list[list[DataFrame]]()
    for task in TASKS:
        own = published[published.task == task]
        theirs, spread = (wide(own, "dataset", each) for each in ("mean", "deviation"))
        theirs = 1 - theirs if task == TASKS[1] else theirs  # errors, too
        theirs["vaf-either"] = theirs[["vaf-random", "vaf-relu"]].min(axis=1)
        ours = [selected(f"{task}-paper", by) for by in ("error", "validation")]
        errors = [theirs, *(wide(each, "dataset", "error") for each in ours)]
        cells, better = DataFrame(index=theirs.index), DataFrame(index=theirs.index)
        for name, each in zip(names, errors, strict=True):
            text = (1 - each if task == TASKS[1] else each).map("{:.4f}".format)
            cells[name] = text.relu + " → " + text["vaf-either"]
            better[name] = each["vaf-either"] < each.relu
        better[f"{names[1]}, {FAIR}"] = errors[1]["vaf-either"] < errors[1]["relu-fair"]
        for rival, title in (("relu", "ReLU"), ("relu-fair", FAIR)):
            found = fold_gains(f"{task}-paper", "vaf-either", rival)
            better[f"{names[2]}, {title}"] = gain = found["mean"] > 0
            better[f"p, {names[2]}, {title}"] = gain & (found.p < 0.05)
            words = gain.map({True: "better, p ", False: "not better, p "})
            cells[title] = words + found.p.map("{:.3f}".format)
        near = (errors[1].relu - theirs.relu).abs() <= spread.relu
        better["our ReLU within one published deviation"] = near
        parts.append([cells, better])
    cells, better = (pd.concat(each) for each in zip(*parts, strict=True))
    count = better.sum().astype(str)
    counts = [
        [name, f"{count[name]} of {len(better)}", count.get(f"p, {name}", "")]
        for name in better
        if name != names[2] and not name.startswith("p, ")
    ]
    return {"paper-selection": lines(cells), "paper-counts": counts}


def on_help(found: Lines) -> Lines:
    page = (ROOT / "docs/help.md").read_text("utf-8")
    answers = {row[0].partition(",")[0]: row for row in found}
    rows = re.findall(r"^\| ([^|]*\((\w+)\) \| [^|]* \| [^|]*) \|", page, re.M)
    return [[*text.split(" | "), *answers[n][1:3], answers[n][-1]] for text, n in rows]


def tables() -> dict[str, Lines]:
    every = registered()
    later = [row for row in every if row[0][0] in "UF"]
    found = {"registered": [row for row in every if row not in later]}
    found |= {"registered-0-4": later, "help": on_help(every), "power": power()}
    return found | {"choices": on_choices()} | on_paper()


def differences(found: dict[str, Lines]) -> Iterator[str]:
    for page in (ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))):
        for name, text in TABLE.findall(page.read_text("utf-8")):
            rows = text.splitlines()[2:]
            shown = [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows]
            for row, own in itertools.zip_longest(shown, found.get(name, shown)):
                if row != own:
                    yield f"{page.name}, {name}: {row} is {own}"


def main() -> int:
    if unknown := {*sys.argv[1:]} - {"--check"}:
        raise ValueError(f"The argument is `--check`. Received: {unknown}")
    found = tables()
    if "--check" in sys.argv:
        different = list(differences(found))
        print(*different, f"{len(different)} rows differ", sep="\n")
        return int(bool(different))
    for name, rows in found.items():
        print(f"\n{name}\n", *(" | ".join(row) for row in rows), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
