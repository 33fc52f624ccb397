"""Show the errors behind the registered answers on tables.

`python -m benchmarks.evidence.new_tables` reads the packed records and writes files to
`docs/reports/evidence`. `pairs.md`, `without_diamonds.md`, `new_tables.md` and
`new_tables.png` are about the fourteen new regressions, `catalogue_pairs.md` is about
the ten of the catalogue, and `bends.md` about the three sets of the question on bends.
All of it is exploratory.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.evidence.answers import (
    FIXED,
    PACKED,
    folds_of,
    mean_errors,
    ratio_of,
    selected,
)
from benchmarks.evidence.ratios import cells
from benchmarks.evidence.records import unpack
from keras_vaf.experiments.results.ratio import Ratio
from keras_vaf.experiments.results.significance import corrected_interval, holm
from keras_vaf.utils import markdown_table, require, write_atomically

TITLES = {
    "relu": "ReLU",
    "gelu": "GELU",
    "silu": "SiLU",
    "tanh": "tanh",
    "prelu": "PReLU",
    "vaf-relu": "VAF, ReLU start",
    "vaf-silu": "VAF, SiLU start",
    "best-fixed": "best of four",
    "linear": "linear",
    "boosting": "trees",
}
ARMS = (*FIXED, "prelu", "vaf-relu", "vaf-silu")
BENDS = {
    "relu": "ReLU",
    "gelu-hinges-fixed": "fixed copy of GELU from three relus",
    "gelu-hinges": "VAF, g = relu, starts as that copy",
    "vaf-relu": "VAF, g = relu, ReLU start",
    "gelu": "GELU",
    "vaf-gelu": "VAF, g = gelu, GELU start",
    "silu": "SiLU",
    "vaf-silu": "VAF, g = silu, SiLU start",
}
SPLITS = ("test", "training")
REGISTERED = (("vaf-silu", "relu"), ("vaf-silu", "best-fixed"))
"""The pairs of T1 and T2."""


def pairs_table(frame: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> str:
    """Return the ratios of errors of pairs of activations.

    Args:
        frame: One row for each activation, dataset and fold.
        pairs: Names of an activation, and of the one with which it is compared.
    """
    ratios = [ratio_of(frame, *pair) for pair in pairs]
    corrected = holm([each.p for each in ratios])
    lines = [
        [*(TITLES[name] for name in pair), *cells(ratio), f"{p:.3f}"]
        for pair, ratio, p in zip(pairs, ratios, corrected, strict=True)
    ]
    columns = ["activation", "against", "error ratio", "95 % interval"]
    columns += ["better : worse", "Wilcoxon p", "p (Holm)"]
    return markdown_table(columns, lines, text_columns=2)


def errors_table(frame: pd.DataFrame, everything: pd.DataFrame) -> str:
    """Return the error of ReLU on each dataset, and that of the others relative to it.

    Args:
        frame: One row for each activation, dataset and fold.
        everything: The rows of all trainings, and of the references.
    """
    own = {name: mean_errors(frame, name) for name in (*ARMS, "best-fixed")}
    own |= {name: mean_errors(everything, name) for name in ("linear", "boosting")}
    relu = own.pop("relu")
    lines = [
        [name, f"{error:.4f}", *(f"{each[name] / error:.3f}" for each in own.values())]
        for name, error in relu.items()
    ]
    columns = ["dataset", "RMSE of ReLU", *(TITLES[name] for name in own)]
    return markdown_table(columns, lines, text_columns=1)


def fold_intervals(frame: pd.DataFrame) -> dict[str, tuple[float, float, float]]:
    """Return the ratio of VAF from SiLU to ReLU on each dataset, with its interval.

    Args:
        frame: One row for each activation, dataset and fold.

    Returns:
        The geometric mean over the folds, and the 95 % interval of the corrected
        resampled t-test.
    """
    found = {}
    for name, rows in frame.groupby("dataset"):
        errors = rows.pivot(index="fold", columns="arm", values="test")
        logs = np.log(errors["vaf-silu"] / errors["relu"]).to_list()
        mean, half = float(np.mean(logs)), corrected_interval(logs, 1 / len(logs))
        found[str(name)] = (
            math.exp(mean),
            math.exp(mean - half),
            math.exp(mean + half),
        )
    return dict(sorted(found.items(), key=lambda item: item[1]))


def bends_table(frame: pd.DataFrame) -> str:
    """Return test and training errors relative to GELU.

    Args:
        frame: One row for each activation, dataset and fold.
    """
    means = frame.pivot_table(["test", "training"], "arm", "dataset")
    means /= means.loc["gelu"]
    names = sorted(frame.dataset.unique())
    lines = [
        [
            title,
            *(
                f"{means.loc[arm, (split, name)]:.3f}"
                for name in names
                for split in SPLITS
            ),
        ]
        for arm, title in BENDS.items()
    ]
    columns = [f"{name}, {split}" for name in names for split in SPLITS]
    return markdown_table(["activation", *columns], lines, text_columns=1)


def picture(
    datasets: dict[str, tuple[float, float, float]], all_of_them: Ratio, path: Path
) -> None:
    """Draw the ratio of each dataset, and the mean of all.

    Args:
        datasets: Result of `fold_intervals`.
        all_of_them: The ratios of the datasets.
        path: The picture.
    """
    pyplot = require("matplotlib.pyplot", extra="plot")
    figure, axis = pyplot.subplots(figsize=(4.4, 4.6), layout="constrained")
    rows = {**datasets, "all fourteen": (all_of_them.mean, *all_of_them.interval())}
    for place, (name, (mean, low, high)) in enumerate(rows.items()):
        color = "C0" if name in datasets else "black"
        axis.plot([low, high], [place, place], color=color, linewidth=2)
        axis.plot(mean, place, "o", color=color)
    axis.axvline(1, color="gray", linewidth=0.8)
    axis.set(xscale="log", xlabel="error of the VAF / error of ReLU")
    axis.set_yticks(range(len(rows)), rows)
    ticks = (0.7, 0.8, 1, 1.25, 1.5)
    axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.minorticks_off()
    axis.invert_yaxis()
    axis.set_title("better \u2190     \u2192 worse", fontsize=10)
    figure.savefig(path, dpi=110)


def main() -> int:
    """Write the tables and the picture."""
    everything = folds_of(unpack(PACKED / "regressions.json.gz"))
    frame = selected(everything)
    pairs = [(b, a) for a, b in itertools.combinations(ARMS, 2)]
    write_atomically(PACKED / "pairs.md", f"{pairs_table(frame, pairs)}\n")
    earlier = selected(folds_of(unpack(PACKED / "catalogue.json.gz")))
    table = pairs_table(earlier, [*pairs, ("vaf-silu", "best-fixed")])
    write_atomically(PACKED / "catalogue_pairs.md", f"{table}\n")
    without = pairs_table(frame[frame.dataset != "diamonds"], REGISTERED)
    write_atomically(PACKED / "without_diamonds.md", f"{without}\n")
    table = errors_table(frame, everything)
    write_atomically(PACKED / "new_tables.md", f"{table}\n")
    bends = bends_table(selected(folds_of(unpack(PACKED / "kinks.json.gz"))))
    write_atomically(PACKED / "bends.md", f"{bends}\n")
    ratio = ratio_of(frame, "vaf-silu", "relu")
    picture(fold_intervals(frame), ratio, PACKED / "new_tables.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
