"""Tables of results on the paper's datasets, made from the committed reports."""

import statistics
from collections import Counter
from collections.abc import Callable

import report_files
from report_files import Row, render, results_of

from keras_vaf.experiments.results.result import Result
from keras_vaf.experiments.results.table import (
    comparison_cells,
    direction_cells,
    published_cell,
)
from keras_vaf.research.paper.tables.summaries import (
    TITLES,
    Results,
    Summary,
    holm_over_datasets,
    summaries_of,
)

_HEADLINE = (
    ("vaf-relu", "relu"),
    ("vaf-silu", "silu"),
    ("vaf-random", "relu"),
    ("vaf-best", "relu-fair"),
    ("vaf-best", "best-fixed"),
)
_TASKS = ("regression", "classification")
_SCORES = {"classification": "accuracy", "regression": "RMSE"}
_SHORT = {"relu": "ReLU", "vaf-relu": "VAF"}
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
_CAUSES = {
    "ours": "eta+ 1.2, at most 2,000 epochs, patience 200",
    "paper": "as settled here",
    "paper-inputs-none": "preprocessing.inputs=none",
    "paper-eta_plus-1.2": "optimizer.arguments.eta_plus=1.2",
    "paper-targets-standard": "preprocessing.targets=standard",
    "paper-learning_rate-0.1": "optimizer.arguments.learning_rate=0.1",
    "paper-learning_rate-0.001": "optimizer.arguments.learning_rate=0.001",
    "paper-learning_rate-0.0001": "optimizer.arguments.learning_rate=0.0001",
}


def _found(name: str) -> Results:
    """Return the results of the file of reports with this beginning."""
    return results_of(report_files.REPORTS / f"reproduction/{name}-jax.json.xz")


def summary(manner: str) -> str:
    """Count the datasets on which each VAF is better or worse, and significantly so.

    Args:
        manner: The protocol, `"paper"` or `"ours"`.
    """
    return render(
        [
            {
                "task": f"{task}, {len(each.results)} datasets",
                "activation": TITLES[each.activation],
                "compared with": TITLES[each.reference],
                "better": _count(each, "better"),
                "worse": _count(each, "worse"),
                "error ratio": each.ratio.text(),
                "Wilcoxon p": f"{each.ratio.p:.3g}",
                "p (Holm)": each.p_text,
            }
            for task in _TASKS
            for each in summaries_of(_found(f"{task}-{manner}"))
            if each.activation.startswith("vaf")
        ],
        3,
    )


def _count(each: Summary, direction: str) -> str:
    """Return the number of datasets and, in brackets, of significant ones."""
    names = each.datasets(direction)
    return f"{len(names)} ({len(each.significant.intersection(names))})"


def headline() -> str:
    """Count better and worse datasets of the main comparisons, tasks as columns."""
    return _by_task(lambda *pair: pair in _HEADLINE)


def fixed() -> str:
    """Count the datasets on which each fixed activation is better than ReLU."""
    return _by_task(lambda name, to: to == "relu" and not name.startswith("vaf"))


def _by_task(is_shown: Callable[[str, str], bool]) -> str:
    found: dict[tuple[str, str], Row] = {}
    for task in _TASKS:
        for each in summaries_of(_found(f"{task}-ours")):
            pair = each.activation, each.reference
            if is_shown(*pair):
                titles = {"activation": TITLES[pair[0]]}
                titles["compared with"] = TITLES[pair[1]]
                p = each.p_text if "<" in each.p_text else f"= {each.p_text}"
                line = found.setdefault(pair, titles)
                line[f"{task}, {len(each.results)} datasets"] = (
                    f"{each.ratio.text()}; {len(each.datasets('better'))} better, "
                    f"{len(each.datasets('worse'))} worse, p {p}"
                )
    return render(list(found.values()), 2)


def _by_dataset(manner: str) -> list[tuple[str, dict[str, Result]]]:
    """Return the task and the results by activation of each dataset."""
    found: dict[tuple[str, str], dict[str, Result]] = {}
    for task in reversed(_TASKS):
        for (dataset, name), each in _found(f"{task}-{manner}").items():
            found.setdefault((task, dataset), {})[name] = each
    return [(task, own) for (task, _), own in found.items()]


def results() -> str:
    """Scores on each dataset under protocol `ours`."""
    return render([_beside_fixed(*each) for each in _by_dataset("ours")], 2)


def _beside_fixed(task: str, own: dict[str, Result]) -> Row:
    first, best, vaf = next(iter(own.values())), own["best-fixed"], own["vaf-best"]
    return {
        "dataset": first.protocol.dataset,
        "score": _SCORES[task],
        "rows": str(sum(first.selected.reports[0].rows.values())),
        "constant": f"{statistics.fmean(first.baseline):.4f}",
        "ReLU": _mean(own["relu"]),
        "PReLU": _mean(own["prelu"]),
        "ReLU of equal size and tries": _mean(own["relu-fair"]),
        "best fixed activation": _of_team(best),
        "best VAF": _of_team(vaf),
    }


def _mean(each: Result) -> str:
    return f"{each.mean:.4f} ± {each.deviation:.4f}"


def _of_team(each: Result) -> str:
    return f"{_mean(each)} ({TITLES[each.protocol.variant.name]})"


def learning_rates() -> str:
    """Count the datasets by the median of the learning rates that are selected."""
    counts: dict[str, Counter[float]] = {}
    for _, own in _by_dataset("ours"):
        for name, each in _single(own).items():
            rates = [trial.rate for trial in each.selected.trials]
            counts.setdefault(name, Counter())[statistics.median_low(rates)] += 1
    every = sorted({rate for own in counts.values() for rate in own})
    return render(
        [
            {"activation": TITLES[name]}
            | {f"{rate:g}": str(own[rate]) for rate in every}
            for name, own in counts.items()
        ]
    )


def epochs() -> str:
    """Mean epochs until training stops, relative to ReLU: medians over datasets."""
    ratios: dict[str, dict[str, list[float]]] = {}
    for task, own in _by_dataset("ours"):
        means = {
            name: statistics.fmean(trial.epochs for trial in each.selected.trials)
            for name, each in _single(own).items()
        }
        for name, mean in means.items():
            each = ratios.setdefault(name, {}).setdefault(task, [])
            each.append(mean / means["relu"])
    return render(
        [
            {"activation": TITLES[name]}
            | {task: f"{statistics.median(each):.2f}" for task, each in own.items()}
            for name, own in ratios.items()
        ]
    )


def _single(own: dict[str, Result]) -> dict[str, Result]:
    """Return the results that are not of the best of several activations."""
    return {name: each for name, each in own.items() if not each.selected.team}


def equal_tries() -> str:
    """A VAF of either start, ReLU with equal size and tries, and published results."""
    corrected = {
        key: p
        for task in _TASKS
        for key, p in holm_over_datasets(_found(f"{task}-paper")).items()
    }
    lines = []
    for task, own in _by_dataset("paper"):
        vaf = own["vaf-either"]
        p = corrected.get((vaf.protocol.dataset, "vaf-either", vaf.against))
        lines.append(_beside_published(task, own, p))
    return render(lines, 2)


def _beside_published(task: str, own: dict[str, Result], p: float | None) -> Row:
    sign = -1 if task == "regression" else 1
    published = {name: own[name].published for name in ("relu", *_VAFS)}
    best = max((published[name] for name in _VAFS), key=lambda each: sign * each.mean)
    relu, vaf = published["relu"], own["vaf-either"]
    cells = comparison_cells(vaf) | direction_cells(vaf, p)
    reached = sign * (round(vaf.mean, 4) - best.mean) >= 0
    return {
        "dataset": vaf.protocol.dataset,
        "score": _SCORES[task],
        "published ReLU": published_cell(relu),
        "published VAF": published_cell(best),
        "published gain": f"{sign * (best.mean - relu.mean):+.4f}",
        "ReLU of equal size and tries": _mean(own["relu-fair"]),
        "VAF of either start": _mean(vaf),
        "gain": cells["gain"],
        "p (Holm)": f"{cells['p']} ({cells['p (Holm)']})",
        "at or better than published": "yes" if reached else "no",
    }


def causes(task: str) -> str:
    """Scores with other settings, where ours differ from the published ones."""
    lines: list[Row] = []
    folder = report_files.REPORTS / "reproduction/causes"
    for name, setting in _CAUSES.items():
        if not (file := folder / f"{task}-{name}-jax.json.xz").is_file():
            continue
        means, published = {"setting": setting}, {"setting": "published"}
        for each in results_of(file).values():
            if each.published:
                title = f"{each.protocol.dataset}, {_SHORT[each.selected.name]}"
                means[title] = f"{each.mean:.4f}"
                published[title] = f"{each.published.mean:.4f}"
        lines += [means] if lines else [published, means]
    return render(lines)


def choices() -> str:
    """Counts and p-values of settings other than the defaults, over all datasets."""
    found: dict[str, Row] = {}
    for task in reversed(_TASKS):
        for each in summaries_of(_found(f"choices-{task}-paper")):
            title = {"instead of the default": _CHOICES[each.activation]}
            row = found.setdefault(each.activation, title)
            counts = [len(each.datasets(word)) for word in ("better", "worse")]
            row[f"{task}: error ratio"] = each.ratio.text()
            row[f"{task}: better, worse of {len(each.results)}"] = (
                f"{counts[0]}, {counts[1]}"
            )
            row[f"{task}: p"] = each.p_text
    return render(list(found.values()))


TABLES = (choices, epochs, equal_tries, fixed, headline, learning_rates, results)
