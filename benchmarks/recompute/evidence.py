"""The registered answers: the tables of the page on evidence and of its records."""

import re

import numpy as np
import pandas as pd
from pandas import DataFrame
from scipy import stats

from benchmarks.recompute.records import (
    BY_RATE,
    ROOT,
    Lines,
    Names,
    best,
    best_mean,
    read,
    wide,
)
from benchmarks.recompute.statistics import (
    Estimate,
    holm,
    is_within,
    ratio,
    seed_ratio,
    t_test,
    words,
)

FIXED = ["relu", "gelu", "silu", "tanh"]
SELECT = [100, 101, 102]  # seeds of trainings that are not scored
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


def on_steps() -> Lines:
    """Return how many more steps the gain of a VAF in a transformer is worth."""
    loss, rows = losses(), Lines()
    for name, title in (("gelu", "GELU"), ("silu", "SiLU")):
        gain, more = (loss[name] - loss[n] for n in (f"vaf-{name}", f"{name}-long"))
        rows.append([title, f"{11 * gain.mean() / more.mean():.1f} %", "11 %"])
    return rows


def finding(name: str, estimate: str, interval: str) -> str:
    """Return an estimate and its interval as words."""
    mean, low, high = map(float, [estimate, *interval.split(" to ")])
    if name == "L1":
        return f"loss lower by {-mean:.3f} ({-high:.3f} to {-low:.3f})"
    if name in ("C2", "C3"):
        return f"{100 * mean:+.1f} points ({100 * low:+.1f} to {100 * high:+.1f})"
    percent = [f"{abs(100 * (each - 1)):.0f}" for each in (mean, low, high)]
    if low < 1 < high:
        return f"between {percent[1]} % less and {percent[2]} % more error"
    if high < 1:
        return f"{percent[0]} % less error ({percent[2]} to {percent[1]} %)"
    return f"{percent[0]} % more error ({percent[1]} to {percent[2]} %)"


def on_help(found: Lines) -> Lines:
    page = (ROOT / "docs/help.md").read_text("utf-8")
    answers = {row[0].partition(",")[0]: row for row in found}
    rows = re.findall(r"^\| ([^|]*\((\w+)\)) \| [^|]* \| ([^|]*) \|", page, re.M)
    return [
        [text, f"{finding(name, *answers[name][1:3])}: {answers[name][-1]}", against]
        for text, name, against in rows
    ]
