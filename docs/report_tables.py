"""Tables and sentences of the pages, made from the committed reports.

A line `<!-- report: NAME -->` on a page becomes one of them when the pages are built.
The README is read as it is: there the text stands between that line and
`<!-- end of report -->`, and `python docs/report_tables.py` brings it up to date.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
REPORTS = Path(__file__).parent / "reports"

_BENCHMARK = "benchmarks/cpu.md"
_WINE = "family/wine.md"
_VAF = "VAF, k=3, relu, layer"
_TITLES = {"relu": "ReLU", "vaf-relu": "VAF"}
_VAFS = ("vaf-random", "vaf-relu")
_MODES = {
    "jax": "JAX",
    "tensorflow": "TensorFlow",
    "tensorflow-xla": "TensorFlow, `jit_compile=True`",
    "torch": "PyTorch",
    "torch-compile": "PyTorch, `torch.compile`",
}
_CHOICES = {
    "relu": "ReLU",
    "vaf-random": "random start",
    "vaf-copies": "start at k equal copies of ReLU",
    "vaf-k1": "k = 1",
    "vaf-k5": "k = 5",
    "vaf-k9": "k = 9",
    "vaf-neuron": "not shared",
    "vaf-tanh": "g = tanh, started as tanh",
    "vaf-tanh-random": "g = tanh, random start",
    "vaf-silu": "g = silu, started as silu",
    "relu-adamw": "AdamW: ReLU",
    "vaf-adamw-no-decay": "AdamW: activations do not decay",
    "vaf-adamw-tenth": "AdamW: activations at a tenth of the rate",
    "vaf-adamw-tenfold": "AdamW: activations at ten times the rate",
}
_VERDICT = re.compile(
    r"^- (\S+) against \S+ over (\d+) datasets: better on (\d+), worse on (\d+); "
    r"Wilcoxon signed-rank p = (\S+)",
    re.M,
)
_COMMENT = re.compile(r"^<!-- report: (\S+) -->$", re.M)
_COMMITTED = re.compile(
    r"(?<=^<!-- report: )(\S+)( -->\n).*?(?=^<!-- end of report -->$)", re.M | re.S
)

Row = dict[str, str]


def fill(text: str) -> str:
    """Return a page with its reports in place of the lines that name them."""
    return _COMMENT.sub(lambda found: NAMED[found[1]](), text)


def refresh(text: str) -> str:
    """Return a text whose reports between comments are up to date."""
    return _COMMITTED.sub(
        lambda found: f"{found[1]}{found[2]}\n{NAMED[found[1]]()}\n\n", text
    )


def rows_of(report: str, heading: str = "") -> list[Row]:
    """Return the first table below a heading of a report, a dictionary for each row.

    Args:
        report: Path below `docs/reports`.
        heading: How the heading begins; the first table of the report by default.

    Raises:
        ValueError: If there is no such heading or no table below it.
    """
    text = (REPORTS / report).read_text(encoding="utf-8")
    start = re.search(rf"^#+ {re.escape(heading)}.*$", text, re.M) if heading else None
    if heading and start is None:
        raise ValueError(f"Expected a heading {heading!r} in {report}.")
    found = re.search(r"(?:^\|.*\|\n)+", text[start.end() if start else 0 :], re.M)
    if found is None:
        raise ValueError(f"Expected a table below {heading!r} in {report}.")
    names, _, *lines = (_cells(line) for line in found[0].splitlines())
    return [dict(zip(names, line, strict=True)) for line in lines]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def render(rows: Sequence[Row]) -> str:
    """Return rows as a table; columns of numbers are aligned to the right."""
    columns = ([row[name] for row in rows] for name in rows[0])
    rule = ["---:" if any(map(_is_number, column)) else "---" for column in columns]
    lines = [list(rows[0]), rule, *(list(row.values()) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _is_number(cell: str) -> bool:
    return re.match(r"[-+]?\d", cell) is not None


def _of_activations(
    report: str, heading: str, activations: Iterable[str] = ()
) -> list[Row]:
    """Return a table whose first column names activations, some of them or all."""
    rows = rows_of(report, heading)
    key = next(iter(rows[0]))
    wanted = tuple(activations) or tuple(row[key] for row in rows)
    by_name = {row[key]: row for row in rows}
    return [
        {"activation": name} | {k: v for k, v in by_name[name].items() if k != key}
        for name in wanted
    ]


def _with_modes(rows: Sequence[Row]) -> str:
    """Return a table of a benchmark, its modes by the names that people know."""
    filled = [k for k in rows[0] if any(row[k] for row in rows)]
    return render([{_MODES.get(k, k): row[k] for k in filled} for row in rows])


def reproductions(manner: str) -> list[tuple[str, dict[str, Row]]]:
    """Return the score and the rows of each dataset that was run, honestly selected.

    Args:
        manner: The protocol, `"paper"` or `"ours"`.
    """
    found = []
    for task, score in (("classification", "accuracy"), ("regression", "RMSE")):
        for path in sorted(REPORTS.glob(f"reproduction/{task}-{manner}-validation-*")):
            rows = rows_of(str(path.relative_to(REPORTS)))
            for name in dict.fromkeys(row["dataset"] for row in rows):
                own = (row for row in rows if row["dataset"] == name)
                found.append((score, {row["activation"]: row for row in own}))
    return found


def _mean(row: Row) -> str:
    return f"{row['mean']} ± {row['deviation']}"


def _beside_relu(score: str, arms: dict[str, Row]) -> Row:
    relu, random, known = (arms[a] for a in ("relu", "vaf-random", "vaf-relu"))
    return {
        "dataset": relu["dataset"],
        "score": score,
        "rows": relu["rows"],
        "constant": arms["constant"]["mean"],
        "ReLU": _mean(relu),
        "VAF, ReLU start": _mean(known),
        "VAF, random start": _mean(random),
        "p, ReLU start": known["p"],
        "p, random start": random["p"],
    }


def results(manner: str) -> str:
    """What the paper's datasets say that were run."""
    return render([_beside_relu(*each) for each in reproductions(manner)])


def equal_tries(manner: str) -> str:
    """A VAF of either start beside a ReLU of equal means, and what was published."""
    return render([_beside_published(*each) for each in reproductions(manner)])


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
        "ReLU of equal means": _mean(fair),
        "VAF of either start": _mean(vaf),
        "gain": vaf["gain"],
        "p": vaf["p"],
        "at or better than published": "yes" if reached else "no",
    }


def _number(cell: str) -> float:
    return float(cell.split()[0])


def causes(task: str) -> str:
    """What other settings make of scores that differ from the published ones."""
    paths = REPORTS.glob(f"reproduction/causes/{task}-paper-*validation-*.md")
    lines = []
    for path in sorted(paths, key=lambda path: (len(path.name), path.name)):
        title = path.read_text(encoding="utf-8").partition("\n")[0]
        setting = title.partition("protocol paper, ")[2]
        rows = [r for r in rows_of(str(path.relative_to(REPORTS))) if r["published"]]
        titles = [f"{row['dataset']}, {_TITLES[row['activation']]}" for row in rows]
        named = setting or "as settled here"
        for name, key in (("published", "published"), (named, "mean")):
            cells = (row[key].partition(" ")[0] for row in rows)
            lines.append({"setting": name} | dict(zip(titles, cells, strict=True)))
    return render([lines[0], *lines[1::2]])


def choices() -> str:
    """How other choices than the default ones did, over the datasets of both tables."""
    found: dict[str, Row] = {}
    for task in ("classification", "regression"):
        (path,) = REPORTS.glob(f"reproduction/choices-{task}-paper-validation-*.md")
        for arm, count, *counts, p in _VERDICT.findall(path.read_text("utf-8")):
            row = found.setdefault(arm, {"instead of the default": _CHOICES[arm]})
            row[f"{task}: better, worse of {count}"] = ", ".join(counts)
            row[f"{task}: p"] = p
    return render(list(found.values()))


def results_in_words(manner: str) -> str:
    """How often a VAF was better, and how often by more than chance."""
    found = reproductions(manner)
    counts, values = {}, []
    for arm in _VAFS:
        gains = [_number(arms[arm]["gain"]) for _, arms in found]
        counts[arm] = sum(gain > 0 for gain in gains)
        values += [float(arms[arm]["p"]) for _, arms in found]
    small = sum(value < 0.05 for value in values)
    verb = "is" if small == 1 else "are"
    return (
        f"Of {len(found)} datasets of the paper, a VAF that starts as ReLU has the "
        f"better mean on {counts['vaf-relu']}, and one that starts at random on "
        f"{counts['vaf-random']}. Below 0.05 {verb} {small} of the {len(values)} "
        "p-values, which are not corrected for their number."
    )


def wine() -> str:
    """What a handful of activations, and a wider ReLU network, did on Wine."""
    names = (
        *("ReLU", "VAF, ReLU start", "VAF, random start", "PReLU", "KAF", "Swish"),
        *("ReLU, as many parameters", "majority class"),
    )
    return render(_of_activations(_WINE, "", names))


def operation() -> str:
    """Time of forward and backward pass on one large array."""
    shapes = [f"{k}, relu, layer" for k in (1, 3, 5, 15)]
    shapes += ["3, tanh, layer", "15, tanh, layer"]
    shapes += ["3, relu, channel", "3, relu, neuron"]
    names = ("ReLU", "PReLU", "tanh", *(f"VAF, k={shape}" for shape in shapes))
    rows = _of_activations(_BENCHMARK, "Forward and backward, ms", names)
    return _with_modes(rows)


def training_step() -> str:
    """Time of a training step of two networks."""
    headings = {
        "convolutional network": "Training step of cnet_B, ms",
        "two dense layers of 64": "Training step of a small network, ms",
    }
    rows = [
        {"network": network, **row}
        for network, heading in headings.items()
        for row in _of_activations(_BENCHMARK, heading)
    ]
    return _with_modes(rows)


def kept() -> str:
    """What each form of an activation keeps for the backward pass."""
    forms = ("VAF", "VAF, autodiff", "VAF, materialised")
    vafs = (f"{form}, k={k}, relu, layer" for form in forms for k in (3, 15))
    rows = _of_activations(
        _BENCHMARK, "Kept for the backward pass, MB", ("ReLU", "PReLU", *vafs)
    )
    return _with_modes(rows)


def backends() -> str:
    """What each backend takes for the same work, with ReLU and with a VAF."""
    headings = {
        "dense, step, ms": "Training step of a small network, ms",
        "convolutional, step, ms": "Training step of cnet_B, ms",
        "convolutional, compilation, s": "Compile time of cnet_B, s",
    }
    columns = {
        f"{what}: {name}": row
        for what, heading in headings.items()
        for name, row in zip(
            ("ReLU", "VAF"),
            _of_activations(_BENCHMARK, heading, ("ReLU", _VAF)),
            strict=True,
        )
    }
    return render(
        [
            {"backend": title} | {what: row[mode] for what, row in columns.items()}
            for mode, title in _MODES.items()
            if any(row.get(mode) for row in columns.values())
        ]
    )


def family_time() -> str:
    """Time of forward and backward pass of the compared activations."""
    return _with_modes(_of_activations(_BENCHMARK, "Family, forward and backward, ms"))


def family_memory() -> str:
    """Peak memory of a process that runs the compared activations."""
    return _with_modes(_of_activations(_BENCHMARK, "Family, peak resident memory, MB"))


def machine() -> str:
    """Where and when the benchmark ran."""
    rows = {row["machine"]: row[""] for row in rows_of(_BENCHMARK)}
    packages = ("keras", "tensorflow", "jax", "torch")
    versions = ", ".join(f"{name} {rows[name]}" for name in packages if name in rows)
    return (
        f"Measured by `python -m benchmarks` on {rows['date']}, on {rows['cores']} "
        f"cores of {rows['processor']}, with {versions}. Numbers in parentheses are "
        "ratios to ReLU."
    )


def cost_in_a_line() -> str:
    """Time and memory of a VAF beside ReLU, for the README."""
    step, alone, kept = (
        " / ".join(_ratios(heading))
        for heading in (
            "Training step of cnet_B, ms",
            "Forward and backward, ms",
            "Kept for the backward pass, MB",
        )
    )
    return (
        "With k = 3 and g = relu, beside ReLU on JAX / TensorFlow / PyTorch: a "
        f"training step of a convolutional network takes {step} times as long, forward "
        f"and backward pass of the activation alone {alone} times, and {kept} times as "
        "much is kept for the backward pass (PyTorch). `python -m benchmarks` measures "
        "it."
    )


def _ratios(heading: str) -> list[str]:
    """Return the ratios of a VAF to ReLU on the three backends, where measured."""
    (row,) = _of_activations(_BENCHMARK, heading, [_VAF])
    found = (re.search(r"\((.*?)\)", row[m]) for m in ("jax", "tensorflow", "torch"))
    return [ratio[1] for ratio in found if ratio]


NAMED: dict[str, Callable[[], str]] = {
    function.__name__.replace("_", "-"): function
    for function in (
        *(choices, wine, operation, training_step, kept, backends),
        *(family_time, family_memory, machine, cost_in_a_line),
    )
} | {
    f"{function.__name__.replace('_', '-')}-{manner}": partial(function, manner)
    for function in (results, results_in_words, equal_tries)
    for manner in ("paper", "ours")
} | {
    f"causes-{task}": partial(causes, task) for task in ("classification", "regression")
}


if __name__ == "__main__":
    README.write_text(refresh(README.read_text(encoding="utf-8")), encoding="utf-8")
