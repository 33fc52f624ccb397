"""The tables of the paper's datasets and of `docs/records`, for `recompute`."""

import functools
import itertools

import numpy as np
import pandas as pd
from pandas import DataFrame

from benchmarks.recompute import (
    BY_RATE,
    FIXED,
    Estimate,
    Lines,
    Pair,
    best,
    best_mean,
    holm,
    lines,
    ratio,
    read,
    t_test,
    titles,
    wide,
)

Arm = tuple[str, float]
ARMS: list[tuple[Arm, Arm]] = [
    (("vaf-relu", 0.001), ("relu", 0.001)),
    (("vaf-relu", 0.001), ("relu", 0.003)),
    (("relu", 0.003), ("relu", 0.001)),
    (("vaf-relu", 0.001), ("silu", 0.001)),
    (("vaf-silu", 0.001), ("silu", 0.001)),
    (("vaf-silu", 0.001), ("relu", 0.001)),
]
MORE: list[tuple[Arm, Arm]] = [
    (("vaf-relu", 0.001), ("gelu", 0.001)),
    (("vaf-relu", 0.003), ("relu", 0.003)),
    (("vaf-relu", 0.003), ("relu", 0.01)),
    (("vaf-silu", 0.001), ("silu", 0.003)),
]
NAMES = {"relu": "ReLU", "gelu": "GELU", "silu": "SiLU", "tanh": "tanh"}
NAMES |= {f"vaf-{name}": f"VAF from {NAMES[name]}" for name in ("relu", "silu")}
GONE = ["DyT", "Derf", "NActivation", "PolyReLU"]  # after version 0.3.0
TRAININGS = {"U": 750} | dict.fromkeys(("F2", "F4", "F8", "F16"), 2400)
TASKS = {"regression": 1, "classification": -1}  # errors and accuracies
RIVALS = {"relu": "ReLU", "relu-fair": "ReLU of equal size and tries"}
TEAMS = {"best-fixed": FIXED, "vaf-best": ["vaf-relu", "vaf-silu", "vaf-random"]}
STARTS = [("vaf-relu", "relu"), ("vaf-silu", "silu"), ("vaf-random", "relu")]
STARTS = [pair for each in STARTS for pair in (each, (each[0], "best-fixed"))]
STARTS += [("vaf-best", "relu-fair"), ("vaf-best", "best-fixed")]
OTHERS = [(e, "relu") for e in ("prelu", *FIXED[1:], "relu-fair", "best-fixed")]
PAPER = [(f"vaf-{e}", "relu") for e in ("random", "random-rescaled", "relu")]
PAPER += [(f"vaf-{e}", "relu-fair") for e in ("either", "either-rescaled")]
PAIRS = {"ours": STARTS + OTHERS, "paper": [*PAPER, ("relu-fair", "relu")]}
EITHER = {"vaf-either": ["vaf-random", "vaf-relu"]}
EITHER["vaf-either-rescaled"] = ["vaf-random-rescaled", "vaf-relu"]


def p_text(p: float, form: str = ".3g", sign: str = "") -> str:
    """Return a p-value as text."""
    return f"{sign}{p:{form}}" if p >= 0.001 else "< 0.001"


@functools.cache
def selected(name: str, by: str = "validation") -> DataFrame:
    """Return the folds of each activation and team that validation or test selects."""
    frame = read(f"reproduction/{name}")
    if "classification" in name:  # accuracies become errors
        frame = frame.assign(validation=1 - frame.validation, test=1 - frame.test)
    frame = frame.assign(error=frame.get("test_scaled", frame.test))
    is_of = frame.activation.isin
    both = [frame[is_of(b)].assign(activation=a) for a, b in EITHER.items()]
    keys, rank = ["dataset", "activation", "hidden"], [by, "validation_loss"]
    folds = best(pd.concat([frame, *both]), [*keys, "seed", "fold"], rank)
    parts = [best_mean(folds, keys[:2], keys[2:], rank)]
    for team, members in TEAMS.items():
        own = parts[0][parts[0].activation.isin(members)]
        own = best_mean(own, keys[:1], keys[1:2], rank)
        parts.append(own.assign(activation=team))
    return pd.concat(parts)


def fold_gains(name: str, own: str, other: str) -> DataFrame:
    """Return how much smaller one error is on each dataset, with Holm's p-values."""
    found = selected(name)
    scores = found.set_index(["activation", "dataset", "seed", "fold"]).error
    first = best(found, ["dataset"], ["seed", "fold"]).set_index("dataset")
    share = first.rows_test / first.filter(like="rows_").sum(axis=1)
    gains = (scores[other] - scores[own]).groupby("dataset", sort=False)
    tests = {data: t_test(each, share[data]) for data, each in gains}
    table = DataFrame.from_dict(tests, orient="index", columns=Estimate._fields)
    return table.assign(p=holm(table.p))


def compared(name: str, pairs: list[Pair]) -> DataFrame:
    """Return ratios and counts of pairs over datasets, with corrected p-values."""
    means, table = wide(selected(name), "dataset", "error"), {}
    for own, other in pairs:
        gains = fold_gains(name, own, other)
        signs = np.sign(gains[gains.p < 0.05]["mean"]).to_list()
        e = ratio(means[own], means[other])
        table[own, other] = e, len(gains), signs.count(1), signs.count(-1)
    shown = DataFrame(table, index=["ratio", "datasets", "gains", "losses"]).T
    return shown.assign(holm=holm(e.p for e in shown.ratio))


def on_datasets() -> dict[str, Lines]:
    """Return the comparisons over the paper's datasets under both protocols."""
    found = {"summary-ours": [], "summary-paper": [], "headline": {}, "fixed": {}}
    names = {"vaf-best": "best VAF", "best-fixed": "best fixed activation"}
    names["vaf-either"] = "VAF, random or ReLU start"
    names["vaf-either-rescaled"] = "VAF, rescaled or ReLU start"
    for manner, task in itertools.product(PAIRS, ("regression", "classification")):
        own = titles(read(f"reproduction/{task}-{manner}")).to_dict() | names
        for pair, each in compared(f"{task}-{manner}", PAIRS[manner]).iterrows():
            e, pair_names = each.ratio, tuple(own[name] for name in pair)
            counts = [f"{e.below} ({each.gains})", f"{e.above} ({each.losses})"]
            cells = [*counts, e.text(), f"{e.p:.3g}", p_text(each.holm)]
            row = [f"{task}, {each.datasets} datasets", *pair_names, *cells]
            if pair[0].startswith("vaf"):
                found[f"summary-{manner}"].append(row)
            if manner == "ours":
                p = p_text(each.holm, sign="= ")
                text = f"{e.text()}; {e.below} better, {e.above} worse, p {p}"
                plain = pair in OTHERS
                if plain or pair not in (STARTS[1], STARTS[3], STARTS[5]):
                    where = found["fixed" if plain else "headline"]
                    where.setdefault(pair_names, [*pair_names]).append(text)
    both = {name: list(found[name].values()) for name in ("headline", "fixed")}
    return found | both


def on_choices() -> Lines:
    """Return the comparisons of other settings with the default, over all datasets."""
    names = [f"choices-{task}" for task in TASKS]
    means = pd.concat([wide(selected(name), "dataset", "error") for name in names])
    first = read(f"reproduction/{names[0]}").drop_duplicates("activation")
    table = first.dropna(subset="against").set_index("title")
    pairs = {title: (own.activation, own.against) for title, own in table.iterrows()}
    for name in ("tanh", "silu"):  # these against the default, too
        pairs[f"fixed {name}"] = (name, "vaf-relu")
    found = {title: ratio(means[own], means[b]) for title, (own, b) in pairs.items()}
    corrected = holm(e.p for e in found.values())
    return [
        [title, e.text(), f"{e.below}, {e.above}", p_text(p)]
        for (title, e), p in zip(found.items(), corrected, strict=True)
    ]


def at_rates(frame: DataFrame, pairs: list[tuple[Arm, Arm]]) -> Lines:
    """Return ratios of the errors of activations at fixed learning rates."""
    errors, found = frame.groupby(["activation", "rate", "dataset"]).test.mean(), []
    for pair in pairs:
        e = ratio(*(errors[arm] for arm in pair))
        names = [f"{NAMES[name]} at {rate:g}" for name, rate in pair]
        better = f"{e.below} of {sum(e[4:])}"
        found.append([*names, e.text(".3f"), better, f"{e.p:.4f}"])
    return found


def default_rate() -> Lines:
    """Return the comparisons at the default learning rate in earlier records."""
    keys = ["dataset", "activation", "rate", "fold"]
    catalogue = read("evidence/catalogue", "evidence/kinks").drop_duplicates(keys)
    sets = {"new regressions": read("evidence/regressions"), "catalogue": catalogue}
    found = {name: at_rates(frame, ARMS + MORE) for name, frame in sets.items()}
    return [[name, *line] for name, own in found.items() for line in own]


def selections(task: str) -> DataFrame:
    """Return scores of ReLU and of the better VAF, and gains, for each dataset."""
    name, published = f"{task}-paper", read("reproduction/published")
    published, sign = published[published.task == task], TASKS[task]
    theirs = wide(published, "dataset", "mean") * sign
    theirs["vaf-either"] = theirs[["vaf-random", "vaf-relu"]].min(axis=1)
    scores = {"paper": theirs * sign}
    for by in ("error", "validation"):
        own = wide(selected(name, by), "dataset", "error")
        scores[by] = own if sign > 0 else 1 - own
    table = DataFrame(index=theirs.index)
    for by, own in scores.items():
        text = own[["relu", "vaf-either"]].map("{:.4f}".format)
        table[by] = text.relu + " → " + text["vaf-either"]
        table[f"{by} gain"] = sign * (own.relu - own["vaf-either"]) > 0
    fair = scores["error"]["relu-fair"] - scores["error"]["vaf-either"]
    table["fair gain"] = sign * fair > 0
    spread = wide(published, "dataset", "deviation").relu
    table["near"] = (scores["error"].relu - scores["paper"].relu).abs() <= spread
    for rival in RIVALS:
        gains = fold_gains(name, "vaf-either", rival)
        table[f"{rival} gain"], table[f"{rival} p"] = gains["mean"] > 0, gains.p
    return table


def paper_selection() -> dict[str, Lines]:
    """Return the results by the paper's selection and by validation rows."""
    found = pd.concat([selections(task) for task in TASKS])
    shown, clear = found[["paper", "error", "validation"]].copy(), {}
    counts = {
        "the paper's figures": found["paper gain"],
        "ours, test rows": found["error gain"],
        f"ours, test rows, {RIVALS['relu-fair']}": found["fair gain"],
    }
    for rival, title in RIVALS.items():
        gain, p = found[f"{rival} gain"], found[f"{rival} p"]
        words = gain.map({True: "better, p ", False: "not better, p "})
        shown[rival] = words + p.map("{:.3f}".format)
        counts[f"ours, validation rows, {title}"] = gain
        clear[f"ours, validation rows, {title}"] = str((gain & (p < 0.05)).sum())
    counts["our ReLU within one published deviation"] = found.near
    numbers = [
        [name, f"{each.sum()} of {len(each)}", clear.get(name, "")]
        for name, each in counts.items()
    ]
    return {"paper-selection": lines(shown), "paper-counts": numbers}


def few_errors(frame: DataFrame) -> DataFrame:
    """Return errors at selected learning rates, those of the best rival included."""
    keys = ["dataset", "seed"]
    chosen = best(frame, [*keys, "activation"], BY_RATE)
    rivals = best(chosen[chosen.activation != "vaf-silu"], keys, BY_RATE)
    both = pd.concat([chosen, rivals.assign(activation="best of three")])
    return wide(both, "dataset", "test")


def answer(confirmed: bool, refuted: bool) -> str:
    """Return the word for an answer."""
    return "confirmed" if confirmed else "refuted" if refuted else "cannot tell"


def untuned_answers(frame: DataFrame) -> Lines:
    """Return the answers about the default learning rate, by their registered rules."""
    errors = frame.groupby(["activation", "rate", "dataset"]).test.mean()
    own, relu = errors["vaf-relu", 0.001], errors["relu"]
    first, second = ratio(own, relu[0.001]), ratio(own, relu[0.003])
    narrow, bound = ratio(own, relu[0.003], level=0.9), 0.03
    words = [
        answer(first.p < 0.05 and first.mean < 1, first.low > 0.98),
        answer(
            narrow.low >= 1 - bound and narrow.high <= 1 + bound,
            second.low > 1 + bound or second.high < 1 - bound,
        ),
    ]
    both = answer({*words} == {"confirmed"}, "refuted" in words)
    rows = zip(("U1", "U2"), (first, second), words, strict=True)
    return [[name, *e.cells(), "", word] for name, e, word in rows] + [
        ["U", "", "", "", "", "", both]
    ]


def few_answers(errors: dict[str, DataFrame]) -> tuple[Lines, Lines]:
    """Return the answers about few units, by the registered rule, and other pairs."""
    found = {q: ratio(e["vaf-silu"], e["best of three"]) for q, e in errors.items()}
    corrected = holm([*(e.p for e in found.values()), *[1.0] * (4 - len(found))])
    table, pairs = [], []
    for (name, e), p in zip(found.items(), corrected, strict=False):
        word = answer(p < 0.05 and e.mean < 1, e.low > 0.98)
        table.append([name, *e.cells(), f"{p:.4f}", word])
        for rival in ("silu", "relu", "tanh"):
            e = ratio(errors[name]["vaf-silu"], errors[name][rival])
            cells = [e.text(".3f"), f"{e.below} of {sum(e[4:])}", f"{e.p:.4f}"]
            pairs.append([name, NAMES["vaf-silu"], NAMES[rival], *cells])
    return table, pairs


def registered_0_4() -> dict[str, Lines]:
    """Return the answers of the page registered for 0.4, and exploratory pairs."""
    frame = read("evidence/few-units")
    names = frame.question.map(lambda units: f"F{units}" if units else "U")
    parts = {name: frame[names == name] for name in TRAININGS}
    done = {name: own for name, own in parts.items() if len(own) == TRAININGS[name]}
    few = {name: few_errors(own) for name, own in done.items() if name != "U"}
    table, pairs = few_answers(few)
    if "U" in done:
        table = untuned_answers(done["U"]) + table
        pairs = [["U", *line] for line in at_rates(done["U"], ARMS[2:])] + pairs
    for name in (name for name in parts if name not in done):
        share = len(parts[name]) / TRAININGS[name]
        table.append([name, *[""] * 5, f"cannot tell, {share:.0%} finished"])
    return {"registered-0-4": table, "few-units": pairs}


def on_cost() -> dict[str, Lines]:
    """Return the times of networks by backend: VAFs with the kernels / without."""
    frame = read("speed/cpu").query("not case.str.contains(' x ')")
    vafs = frame[frame.activation == "VAF"].sort_values("kernels", ascending=False)
    seconds, works = "seconds_median", ("training", "first step")
    found: dict[str, Lines] = {}
    for work in works:
        own = vafs[vafs.work == work].assign(value=lambda each: each.ratio)
        if work == "first step":
            fixed = frame[(frame.work == work) & (frame.ratio == 1) & ~frame.kernels]
            own = pd.concat([fixed, own]).assign(value=lambda each: each[seconds])
        texts = own.assign(value=own.value.map("{:.2f}".format))
        keys = ["network", "backend"]
        cells = texts.groupby(keys, sort=False).value.agg(" / ".join).unstack()
        found[f"cost-{work.replace(' ', '-')}"] = lines(
            cells.loc[frame.network.unique(), ["jax", "tensorflow", "torch"]]
        )
    return found


def on_family() -> Lines:
    """Return time and memory of each activation on an array, relative to ReLU."""
    frame = read("speed/cpu").query("case == '32 x 32 x 32 x 64' and not kernels")
    frame = frame[~frame.label.isin(GONE)]
    timed = frame[frame.work == "forward and gradient"]
    table = timed.pivot_table("ratio", "label", "backend", sort=False)
    kept = frame.dropna(subset="kept_bytes").drop_duplicates("label")
    memory = kept.set_index("label").kept_bytes
    return lines(table.assign(memory=memory / memory["ReLU"]).iloc[1:], "{:.1f}")


def on_records() -> dict[str, Lines]:
    """Return the tables of `docs/records` and of choices."""
    found = {"choices": on_choices(), "default-rate": default_rate()} | on_cost()
    found["family"] = on_family()
    return on_datasets() | found | paper_selection() | registered_0_4()
