"""`catalogue_table` and `layout`, which list the datasets and their files."""

from collections.abc import Sequence

from keras_vaf.datasets.catalogue import CATALOGUE, Entry, Size


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
