"""`describe` and other summaries of the catalogue and of datasets."""

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from keras_vaf.datasets.catalogue import CATALOGUE, Entry, Size
from keras_vaf.datasets.dataset import Dataset
from keras_vaf.utils import png_bytes, require

_BARS = "▁▂▃▄▅▆▇█"
_ASCII_BARS = ".:-=+*#@"
_BINS = 16

# Columns of the picture.
_COLUMNS = 6
_PICTURE_BINS = 30


def catalogue_table(entries: Sequence[Entry] | None = None) -> list[list[str]]:
    """Return a table of the catalogue and of the paper's sizes, with a header row.

    Args:
        entries: The entries to show; `None` for the whole catalogue.

    Returns:
        The rows, as text.
    """
    header = ["name", "task", "rows", "inputs", "classes", "in the paper", "difference"]
    rows = [
        [
            entry.name,
            entry.task,
            *_size(entry.size, entry.image_shape),
            f"{entry.paper_name}: {_paper_size(entry)}",
            entry.difference,
        ]
        for entry in (CATALOGUE if entries is None else entries)
    ]
    return [header, *rows]


def _size(size: Size, image_shape: Sequence[int] | None = None) -> list[str]:
    inputs = " x ".join(map(str, image_shape or (size.inputs,)))
    return [str(size.rows), inputs, "" if size.classes is None else str(size.classes)]


def _paper_size(entry: Entry) -> str:
    if entry.paper_size is None:
        return "the same"
    rows, inputs, classes = _size(entry.paper_size)
    text = f"{rows} rows, {inputs} inputs"
    return f"{text}, {classes} classes" if classes else text


def align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of cells as lines with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


def layout() -> list[str]:
    """Return the files that a data folder may contain, with sizes and addresses.

    Returns:
        Lines of text. Alternative forms of a dataset are joined by `or`; one is enough.
    """
    lines = []
    for entry in CATALOGUE:
        lines.append(f"{entry.name}: {entry.publisher}")
        for position, source in enumerate(entry.sources):
            if position:
                lines.append("  or" + (f", {source.note}" if source.note else ""))
            if source.package:
                lines.append(f"  the package {source.package}")
            for file in source.files:
                size = "" if file.size is None else f"  {file.size} bytes"
                lines.append(f"  {file.path}{size}")
                lines.extend(f"    {url}" for url in file.urls)
    return lines


def describe(dataset: Dataset) -> list[str]:
    """Return a summary of a dataset: classes, ranges and distributions.

    Args:
        dataset: The dataset.

    Returns:
        Lines of text.
    """
    lines = [repr(dataset), f"source: {dataset.source}", f"SHA-256: {dataset.checksum}"]
    if dataset.class_names is not None:
        lines += ["", *align(_class_rows(dataset))]
    header = ["input", "min", "mean", "max", "missing", "distribution", "note"]
    if dataset.x.ndim > 2:
        rows = [_column_row("all pixels", dataset.x.reshape(-1))]
    else:
        rows = [
            _column_row(name, dataset.x[:, column], dataset.categories.get(column, ()))
            for column, name in enumerate(dataset.feature_names)
        ]
    if dataset.class_names is None:
        rows.append(_column_row("(target)", dataset.y))
    return [*lines, "", *align([header, *rows])]


def describe_entry(entry: Entry) -> list[str]:
    """Return the origin of a dataset, and its differences from the paper.

    Args:
        entry: The catalogue entry of the dataset.

    Returns:
        Lines of text.

    Example:

    >>> from keras_vaf.datasets import find
    >>> describe_entry(find("wine"))[1]
    'licence: CC BY 4.0'
    """
    lines = [
        f"publisher: {entry.publisher}",
        f"licence: {entry.licence}",
        f"citation: {entry.citation}",
    ]
    for column, reason in entry.left_out.items():
        lines.append(f"left out: {column}, {reason}")
    if entry.difference:
        lines.append(f"difference from the paper: {entry.difference}")
    return lines


def _class_rows(dataset: Dataset) -> list[list[str]]:
    names = dataset.class_names or ()
    counts = np.bincount(dataset.y, minlength=len(names))
    return [["class", "rows", "share"]] + [
        [name, str(count), f"{count / len(dataset.y):.1%}"]
        for name, count in zip(names, counts, strict=True)
    ]


def _column_row(
    name: str, values: np.ndarray, categories: Sequence[str] = ()
) -> list[str]:
    observed = values[~np.isnan(values)]
    missing = len(values) - len(observed)
    if categories:
        counts = np.bincount(observed.astype(int), minlength=len(categories))
        note = f"categories {', '.join(categories)}"
        return [name, "", "", "", str(missing or ""), bars(counts), note]
    low, mean, high = observed.min(), observed.mean(dtype=np.float64), observed.max()
    counts, _ = np.histogram(observed.astype(np.float64), bins=_BINS)
    numbers = [f"{number:.5g}" for number in (low, mean, high)]
    note = "constant" if low == high else ""
    return [name, *numbers, str(missing or ""), bars(counts), note]


def bars(counts: np.ndarray) -> str:
    """Draw counts as a row of bars, in which the smallest count above 0 is visible.

    Args:
        counts: Numbers of rows.

    Returns:
        One character per count. On a terminal without block characters, denser ASCII
        characters represent higher bars.

    Example:

    >>> bars(np.array([0, 1, 50, 100]))
    ' ▁▄█'
    """
    heights = np.ceil(counts / max(counts.max(), 1) * len(_BARS)).astype(int)
    return "".join((" " + _characters())[height] for height in heights)


def _characters() -> str:
    try:
        _BARS.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return _ASCII_BARS
    return _BARS


def plot_distributions(dataset: Dataset) -> bytes:
    """Draw a histogram of each input and of the target.

    Args:
        dataset: The dataset. All pixels of images are drawn as one histogram.

    Returns:
        The picture, as PNG.

    Raises:
        ImportError: If Matplotlib is not installed.
    """
    if dataset.x.ndim > 2:
        panels = {"all pixels": dataset.x.reshape(-1)}
    else:
        panels = dict(zip(dataset.feature_names, dataset.x.T, strict=True))
    rows = math.ceil((len(panels) + 1) / _COLUMNS)
    figure = require("matplotlib.figure", extra="plot").Figure(
        figsize=(2.2 * _COLUMNS, 1.8 * rows), layout="constrained"
    )
    figure.suptitle(repr(dataset), fontsize="medium")
    axes = list(figure.subplots(rows, _COLUMNS, squeeze=False).flat)
    for axis, (name, values) in zip(axes, panels.items(), strict=False):
        axis.hist(values[~np.isnan(values)], bins=_PICTURE_BINS)
        axis.set_title(name, fontsize="small")
    _draw_target(axes[len(panels)], dataset)
    for axis in axes:
        axis.tick_params(labelsize="x-small")
    for axis in axes[len(panels) + 1 :]:
        axis.set_axis_off()
    return png_bytes(figure)


def _draw_target(axis: Any, dataset: Dataset) -> None:
    axis.set_title("target", fontsize="small")
    if dataset.class_names is None:
        axis.hist(dataset.y, bins=_PICTURE_BINS, color="tab:orange")
    else:
        counts = np.bincount(dataset.y, minlength=len(dataset.class_names))
        axis.bar(range(len(counts)), counts, color="tab:orange")
