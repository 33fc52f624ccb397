"""`published`, the numbers of the paper, and `published_table`, with ours."""

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas

from keras_vaf.experiments.results import (
    ARM,
    SCORES,
    Selection,
    numbers_of,
    select,
    sign,
)
from keras_vaf.experiments.significance import holm
from keras_vaf.experiments.tables import Text, p_value
from keras_vaf.paper.parts import Reproduction, Trained
from keras_vaf.utils import require

_FILE = Path(__file__).with_name("published.json")

NUMBERS = json.loads(_FILE.read_text(encoding="utf-8"))
"""Mean, deviation and architecture by part, dataset and activation."""

FEWEST_DATASETS = 6
"""Number of datasets from which a signed-rank test can find a difference."""

_CHOSEN = {
    "validation": "Learning rates and architectures are selected by validation scores.",
    "paper": "Learning rates and architectures are selected by test scores, as in the "
    "paper, so that new data would have worse scores.",
}


def published() -> pandas.DataFrame:
    """Return the numbers of the paper's tables.

    - `part`: `"regression"`, `"classification"`, `"cnet_A"` or `"cnet_B"`.
    - `dataset`, `activation`: Their names. The paper does not say which random start it
      used, so that `vaf-random-rescaled` has the numbers of `vaf-random`.
    - `published`, `published_deviation`: RMSE or accuracy: mean and deviation of ten
      folds. Networks `cnet_B` were trained once, and have no deviation.
    - `published_hidden`: Widths of the hidden layers, or numbers of filters.

    The paper selected learning rate and architecture by test scores.

    Example:

    >>> numbers = keras_vaf.paper.published().set_index("dataset").loc["wine"]
    >>> float(numbers.set_index("activation").loc["relu", "published"])
    0.8879
    """
    names = ("part", "dataset", "activation")
    columns = [*names, "published", "published_deviation", "published_hidden"]
    rows = [
        [part, dataset, activation, *numbers]
        for part, datasets in NUMBERS.items()
        for dataset, activations in datasets.items()
        for activation, numbers in activations.items()
    ]
    rows += [
        [part, dataset, "vaf-random-rescaled", *numbers]
        for part, dataset, activation, *numbers in rows
        if activation == "vaf-random"
    ]
    return pandas.DataFrame(rows, columns=columns)


def published_table(trained: Sequence[Trained], selection: Selection) -> Reproduction:
    """Return one row for each activation on each dataset.

    - `part`, `dataset`, `task`, `activation`: Their names.
    - `constant`: Mean score of a constant prediction.
    - `mean`, `deviation`, `hidden`: Mean and deviation of the test scores, accuracy or
      RMSE, and the selected architecture.
    - `gain`, `p`: Mean improvement over the first activation on the same folds, and its
      p-value by the corrected t-test with Holm's correction for the datasets. It is NaN
      for fewer than six datasets.
    - `published`, `published_deviation`, `published_hidden`: As in `published`.
    """
    groups: dict[tuple[str, str], list[Trained]] = {}  # of architectures
    for each in trained:
        groups.setdefault((each.part.title, each.dataset.name), []).append(each)
    rows = [row for group in groups.values() for row in _rows(group, selection)]
    table = pandas.DataFrame(rows).merge(published(), "left")
    for _, p in table.groupby(["part", "activation"], sort=False)["p"]:
        known = p.dropna()
        few = len(known) < FEWEST_DATASETS
        table.loc[known.index, "p"] = math.nan if few else holm(known.tolist())
    text = Text("", *_cells(table), _notes(table, selection))
    return Reproduction(table, text, {})


def _rows(trained: Sequence[Trained], selection: Selection) -> Iterator[dict[str, Any]]:
    """Yield the rows of the architectures of one part on one dataset."""
    found = pandas.concat([each.records for each in trained], ignore_index=True)
    chosen = select_architectures(select(found, selection), selection)
    first = None
    for arm in trained[0].part.arms:
        rows = chosen[chosen["activation"] == arm.name]
        numbers = numbers_of(rows, first)
        first = rows if first is None else first
        yield {
            "part": trained[0].part.title,
            "dataset": trained[0].dataset.name,
            "task": trained[0].dataset.task,
            "activation": arm.name,
            "constant": rows["constant"].mean(),
            "mean": numbers["mean"],
            "deviation": numbers["deviation"],
            "hidden": rows["hidden"].iloc[0],
            "gain": numbers["gain"],
            "p": numbers["p"],
        }


def select_architectures(
    selected: pandas.DataFrame, selection: Selection
) -> pandas.DataFrame:
    """Return the records of the recipe with the best mean score of each activation."""
    errors = selected[SCORES[selection]] * selected["task"].map(sign)
    losses = selected["val_loss"].fillna(math.inf)
    names, order = ["problem", "recipe", *ARM], ["error", "val_loss"]
    groups = selected.assign(error=errors, val_loss=losses).groupby(names, sort=False)
    means = groups[order].mean().reset_index()
    # Equal means may differ by rounding.
    means["error"] = [float(f"{error:.9g}") for error in means["error"]]
    means = means.sort_values(order, kind="stable")
    best = means.drop_duplicates(["problem", *ARM]).set_index(names).index
    return selected[selected.set_index(names).index.isin(best)]


def _cells(table: pandas.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Return the columns and lines of the text, without columns of empty cells."""
    several = table["part"].nunique() > 1
    lines = [
        {
            "dataset": f"{row.part}, {row.dataset}" if several else row.dataset,
            "activation": row.activation,
            "constant": f"{row.constant:.4f}",
            "ours": _score(row.mean, row.deviation, row.hidden),
            "published": _score(*row[-3:]),
            "gain": "" if math.isnan(row.gain) else f"{row.gain:+.4f}",
            "p (Holm)": p_value(row.p).removeprefix("= "),
        }
        for row in table.itertuples(index=False)
    ]
    columns = [name for name in lines[0] if any(line[name] for line in lines)]
    return columns, [[line[name] for name in columns] for line in lines]


def _score(mean: float, deviation: float, hidden: str) -> str:
    """Return a score as text; "" for NaN."""
    if math.isnan(mean):
        return ""
    spread = "" if math.isnan(deviation) else f" ± {deviation:.4f}"
    return f"{mean:.4f}{spread} ({hidden})"


def _notes(table: pandas.DataFrame, selection: Selection) -> list[str]:
    """Return what the columns mean, and how each activation does over all datasets."""
    classes = table["task"].iloc[0] == "classification"
    score = "Accuracy" if classes else "RMSE of the targets as they are trained"
    count = table["dataset"].nunique()
    tests = f"Fewer than {FEWEST_DATASETS} datasets are not tested for significance."
    if count >= FEWEST_DATASETS:
        tests = "p: corrected t-test over folds, Holm's correction for the datasets."
    return [
        f"{score}, mean and deviation over the test folds (architecture). Constant: a "
        f"prediction that ignores the inputs. {_CHOSEN[selection]}",
        f"Gain: improvement over {table['activation'].iloc[0]} on the same folds. "
        f"{tests}",
        *(over_datasets(table) if count > 1 else ()),
    ]


def over_datasets(table: pandas.DataFrame) -> list[str]:
    """Return a sentence for each part and activation: is it better than the first one?

    Ratios of errors are averaged geometrically. From six datasets on, the p-value is
    that of Wilcoxon's signed-rank test on their logarithms, with Holm's correction for
    the activations of a part.
    """
    sentences = []
    for _, part in table.groupby("part", sort=False):
        first, *others = part["activation"].unique()
        regression = part["task"] == "regression"
        errors = part["mean"].where(regression, 1 - part["mean"])
        wide = part.assign(error=errors).pivot_table("error", "dataset", "activation")
        logs = [_logarithms(wide[name] / wide[first]) for name in others]
        p = [_signed_rank(each) for each in logs]
        tested = iter(holm([each for each in p if not math.isnan(each)]))
        for name, each, raw in zip(others, logs, p, strict=True):
            text = (
                f"{name} against {first}: better on {(each < 0).sum()} of {len(each)} "
                f"datasets, {math.exp(each.mean()):.3f} times the error"
            )
            if not math.isnan(raw):
                text += f", Wilcoxon signed-rank p {p_value(next(tested))} (Holm)"
            sentences.append(f"{text}.")
    return sentences


def _logarithms(ratios: pandas.Series) -> pandas.Series:
    """Return the logarithms of ratios but 0 and infinity, rounded for ties to be 0."""
    return ratios[(ratios > 0) & (ratios < math.inf)].map(math.log).round(9)


def _signed_rank(logs: pandas.Series) -> float:
    """Return the p-value of a signed-rank test; NaN for few datasets."""
    if len(logs) < FEWEST_DATASETS:
        return math.nan
    scipy = require("scipy.stats", extra="experiments")
    return float(scipy.wilcoxon(logs).pvalue) if logs.any() else 1.0
