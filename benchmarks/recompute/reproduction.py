"""The tables of the page on the reproduction of the paper, and that of settings."""

import functools

import pandas as pd
from pandas import DataFrame

from benchmarks.recompute.records import Lines, best, best_mean, lines, read, wide
from benchmarks.recompute.statistics import Estimate, holm, ratio, t_test

TASKS = "regression", "classification"
FAIR = "ReLU of equal size and tries"
EITHER = {"vaf-either": ["vaf-random", "vaf-relu"]}  # the two starts of the paper


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
    pairs = {title: (e.activation, e.against) for title, e in table.iterrows()}
    for name in ("tanh", "silu"):  # these against the default, too
        pairs[f"fixed {name}"] = name, "vaf-relu"
    found = {title: ratio(means[a], means[b]) for title, (a, b) in pairs.items()}
    corrected = holm(e.p for e in found.values())
    every = zip(found.items(), corrected, strict=True)
    return [[title, e.text(), f"{p:.3g}"] for (title, e), p in every]


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
            words = gain.map({True: "better, ", False: "not better, "})
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
