"""`published_table`, our results next to the published ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from keras_vaf.paper.parts import Report, Trained
from keras_vaf.paper.published_numbers import published
from keras_vaf.study.results import (
    Selection,
    result_of,
    select,
    select_architectures,
)
from keras_vaf.study.significance import holm
from keras_vaf.study.tables import Text, p_value
from keras_vaf.utils import require

if TYPE_CHECKING:
    import pandas

FEWEST_DATASETS = 6
"""Number of datasets from which differences are tested for significance.

A signed-rank test of fewer cannot find any, and the p-value of a single dataset changes
with the seed of its folds.
"""

_TIE = 1e-9  # ratios this close to 1 differ by rounding alone
_CHOSEN = {
    "validation": "Learning rates and architectures are selected by validation scores.",
    "paper": "Learning rates and architectures are selected by test scores, as in the "
    "paper, so that new data would have worse scores.",
}


def published_table(trained: Sequence[Trained], selection: Selection) -> Report:
    """Return one row for each activation on each dataset.

    - `part`, `dataset`, `task`, `activation`: Their names.
    - `constant`: Mean score of a constant prediction.
    - `mean`, `deviation`, `hidden`: Mean and deviation of the test scores, accuracy or
      RMSE, and the selected architecture.
    - `gain`, `p`: Mean improvement over the first activation on the same folds, and its
      p-value by the corrected t-test with Holm's correction for the datasets. It is NaN
      for fewer than six datasets.
    - `published`, `published_deviation`, `published_hidden`: As in `published`.

    Args:
        trained: The trained parts.
        selection: As in `select`.
    """
    pandas = require("pandas", extra="experiments")
    keys = ["part", "dataset", "activation"]
    rows = [row for group in _groups(trained) for row in _rows(group, selection)]
    table = pandas.DataFrame(rows).merge(published(), "left", keys)
    for _, own in table.groupby(["part", "activation"], sort=False):
        tested = own["p"].notna().sum() >= FEWEST_DATASETS
        table.loc[own.index, "p"] = math.nan
        if tested:
            known = own["p"].dropna()
            table.loc[known.index, "p"] = holm(known.tolist())
    return Report(table, Text("", *_cells(table), _notes(table, selection)), {})


def _groups(trained: Sequence[Trained]) -> list[list[Trained]]:
    """Return lists of parts that differ in their architecture."""
    groups: dict[tuple[str, str], list[Trained]] = {}
    for each in trained:
        groups.setdefault((each.part.title, each.dataset.name), []).append(each)
    return [*groups.values()]


def _rows(trained: Sequence[Trained], selection: Selection) -> Iterator[dict[str, Any]]:
    """Yield the rows of the architectures of one part on one dataset."""
    pandas = require("pandas", extra="experiments")
    found = pandas.concat([each.records for each in trained], ignore_index=True)
    chosen = select_architectures(select(found, selection), selection)
    first = None
    for arm in trained[0].part.arms:
        rows = chosen[chosen["activation"] == arm.name].sort_values(["seed", "fold"])
        result = result_of(rows, first)
        first = rows if first is None else first
        yield {
            "part": trained[0].part.title,
            "dataset": trained[0].dataset.name,
            "task": trained[0].dataset.task,
            "activation": arm.name,
            "constant": rows["constant"].mean(),
            "mean": result.mean,
            "deviation": result.deviation,
            "hidden": rows["hidden"].iloc[0],
            "gain": result.gain,
            "p": result.p,
        }


def _cells(table: pandas.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Return the columns and lines of the text, without columns of empty cells."""
    several = table["part"].nunique() > 1
    lines = [
        {
            "dataset": f"{row.part}, {row.dataset}" if several else row.dataset,
            "activation": row.activation,
            "constant": f"{row.constant:.4f}",
            "ours": _score(row.mean, row.deviation, row.hidden),
            "published": _score(
                row.published, row.published_deviation, row.published_hidden
            ),
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
    tests = (
        "p is that of the corrected resampled t-test over the folds, with Holm's "
        "correction for the datasets."
        if count >= FEWEST_DATASETS
        else f"Fewer than {FEWEST_DATASETS} datasets are not tested for significance."
    )
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
    sentences, scipy = [], require("scipy.stats", extra="experiments")
    for _, part in table.groupby("part", sort=False):
        first, *others = part.groupby("activation", sort=False)
        baseline = _errors(first[1])
        logs = {}
        for name, own in others:
            ratios = _errors(own) / baseline
            known = ratios[(ratios > 0) & (ratios < math.inf)]
            logs[name] = known.map(math.log).where((known - 1).abs() >= _TIE, 0.0)
        tested = {
            name: 1.0 if (each == 0).all() else scipy.wilcoxon(each).pvalue
            for name, each in logs.items()
            if len(each) >= FEWEST_DATASETS
        }
        corrected = dict(zip(tested, holm([*tested.values()]), strict=True))
        for name, each in logs.items():
            text = f"{name} against {first[0]}: better on {(each < 0).sum()} of "
            text += f"{len(each)} datasets, {math.exp(each.mean()):.3f} times the error"
            p = corrected.get(name, math.nan)
            if not math.isnan(p):
                text += f", Wilcoxon signed-rank p {p_value(p)} (Holm's correction)"
            sentences.append(f"{text}.")
    return sentences


def _errors(rows: pandas.DataFrame) -> pandas.Series:
    """Return the mean errors by dataset: RMSE, or 1 minus the accuracy."""
    rows = rows.set_index("dataset")
    return rows["mean"].where(rows["task"] == "regression", 1 - rows["mean"])
