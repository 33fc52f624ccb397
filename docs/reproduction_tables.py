"""Tables of results on the paper's datasets, made from the committed reports."""

import statistics
from collections import Counter

from report_files import Row, names_of, render, rows_of, text_of
from summary_tables import PAIR, arm_of

from keras_vaf.paper.tables.summaries import TITLES

_TITLES = {"relu": "ReLU", "vaf-relu": "VAF"}
_TASKS = {"accuracy": "classification", "RMSE": "regression"}
_VAFS = ("vaf-random", "vaf-relu")
_CHOICES = {
    "relu": "ReLU",
    "vaf-random": "random start",
    "vaf-random-rescaled": "random start, rescaled",
    "vaf-copies": "start at k equal copies of ReLU",
    "vaf-k1": "k = 1",
    "vaf-k5": "k = 5",
    "vaf-k9": "k = 9",
    "vaf-neuron": "not shared",
    "vaf-tanh": "g = tanh, started as tanh",
    "vaf-tanh-random": "g = tanh, random start",
    "vaf-tanh-rescaled": "g = tanh, random start, rescaled",
    "vaf-silu": "g = silu, started as silu",
    "tanh": "fixed tanh, against g = tanh",
    "silu": "fixed silu, against g = silu",
    "relu-adamw": "AdamW: ReLU",
    "vaf-adamw-no-decay": "AdamW: no weight decay for activations",
    "vaf-adamw-tenth": "AdamW: a tenth of the learning rate for activations",
    "vaf-adamw-tenfold": "AdamW: ten times the learning rate for activations",
}


def reproductions(manner: str) -> list[tuple[str, dict[str, Row]]]:
    """Return the score and the rows of each dataset that was run, honestly selected.

    Args:
        manner: The protocol, `"paper"` or `"ours"`.
    """
    found = []
    for score, task in _TASKS.items():
        for report in names_of(f"reproduction/{task}-{manner}-validation-*.md"):
            rows = rows_of(report)
            for name in dict.fromkeys(row["dataset"] for row in rows):
                own: dict[str, Row] = {}
                for row in rows:
                    if row["dataset"] == name:  # the first line of an arm has its mean
                        own.setdefault(arm_of(row), row)
                found.append((score, own))
    return found


def _mean(row: Row) -> str:
    return f"{row['mean']} ± {row['deviation']}"


def _both(row: Row) -> str:
    return f"{row['p']} ({row['p (Holm)']})"


def results() -> str:
    """Scores on each dataset under protocol `ours`."""
    return render([_beside_fixed(*each) for each in reproductions("ours")])


def _beside_fixed(score: str, arms: dict[str, Row]) -> Row:
    fixed, vaf = arms["best-fixed"], arms["vaf-best"]
    return {
        "dataset": fixed["dataset"],
        "score": score,
        "rows": fixed["rows"],
        "constant": arms["constant"]["mean"],
        "ReLU": _mean(arms["relu"]),
        "PReLU": _mean(arms["prelu"]),
        "ReLU of equal size and tries": _mean(arms["relu-fair"]),
        "best fixed activation": f"{_mean(fixed)} ({_member(fixed)})",
        "best VAF": f"{_mean(vaf)} ({_member(vaf)})",
    }


def _member(row: Row) -> str:
    """Return the title of the activation that was the best of several."""
    return TITLES[row["activation"].partition("(")[2].rstrip(")")]


def learning_rates() -> str:
    """Count the datasets by the median of the learning rates that an arm selects."""
    counts: dict[str, Counter[float]] = {}
    for _, arms in reproductions("ours"):
        for arm, row in arms.items():
            if _is_one(row):
                counts.setdefault(arm, Counter())[float(row["rate"])] += 1
    rates = sorted({rate for own in counts.values() for rate in own})
    return render(
        [
            {"activation": TITLES[arm]}
            | {f"{rate:g}": str(own[rate]) for rate in rates}
            for arm, own in counts.items()
        ]
    )


def epochs() -> str:
    """Mean epochs until training stops, relative to ReLU: medians over datasets."""
    ratios: dict[str, dict[str, list[float]]] = {}
    for score, arms in reproductions("ours"):
        own = {
            arm: _number(row["mean epochs"])
            for arm, row in arms.items()
            if _is_one(row)
        }
        for arm, number in own.items():
            each = ratios.setdefault(arm, {}).setdefault(_TASKS[score], [])
            each.append(number / own["relu"])
    return render(
        [
            {"activation": TITLES[arm]}
            | {task: f"{statistics.median(each):.2f}" for task, each in own.items()}
            for arm, own in ratios.items()
        ]
    )


def _is_one(row: Row) -> bool:
    """Tell whether a row is one activation, not the best of several."""
    return bool(row["rate"]) and "(" not in row["activation"]


def equal_tries() -> str:
    """A VAF of either start, ReLU with equal size and tries, and published results."""
    return render([_beside_published(*each) for each in reproductions("paper")])


def _beside_published(score: str, arms: dict[str, Row]) -> Row:
    sign = -1 if score == "RMSE" else 1
    published = {a: _number(arms[a]["published"]) for a in ("relu", *_VAFS)}
    best = max(_VAFS, key=lambda arm: sign * published[arm])
    vaf, fair = arms["vaf-either"], arms["relu-fair"]
    reached = sign * (_number(vaf["mean"]) - published[best]) >= 0
    gain = sign * (published[best] - published["relu"])
    return {
        "dataset": vaf["dataset"],
        "score": score,
        "published ReLU": arms["relu"]["published"],
        "published VAF": arms[best]["published"],
        "published gain": f"{gain:+.4f}",
        "ReLU of equal size and tries": _mean(fair),
        "VAF of either start": _mean(vaf),
        "gain": vaf["gain"],
        "p (Holm)": _both(vaf),
        "at or better than published": "yes" if reached else "no",
    }


def _number(cell: str) -> float:
    return float(cell.split()[0])


def causes(task: str) -> str:
    """Scores with other settings, where ours differ from the published ones."""
    lines = []
    for report in names_of(f"reproduction/causes/{task}-*validation-*.md"):
        protocol = text_of(report).partition("\n")[0].partition(": ")[2]
        setting = protocol.removeprefix("protocol paper").removeprefix(", ")
        rows = [row for row in rows_of(report) if row["published"]]
        titles = [f"{row['dataset']}, {_TITLES[row['activation']]}" for row in rows]
        named = setting or "as settled here"
        for name, key in (("published", "published"), (named, "mean")):
            cells = (row[key].partition(" ")[0] for row in rows)
            lines.append({"setting": name} | dict(zip(titles, cells, strict=True)))
    return render([lines[0], *lines[1::2]])


def choices() -> str:
    """Counts and p-values of settings other than the defaults, over all datasets."""
    found: dict[str, Row] = {}
    for task in ("classification", "regression"):
        (report,) = names_of(f"reproduction/choices-{task}-paper-validation-*.md")
        for arm, _, count, *counts, ratio, p in PAIR.findall(text_of(report)):
            row = found.setdefault(arm, {"instead of the default": _CHOICES[arm]})
            row[f"{task}: error ratio"] = f"{float(ratio):.2f}"
            row[f"{task}: better, worse of {count}"] = ", ".join(counts)
            row[f"{task}: p"] = p
    return render(list(found.values()))


TABLES = (choices, epochs, equal_tries, learning_rates, results)
