"""`write_reports` and `read_reports`, for files with many reports."""

from __future__ import annotations

import json
import lzma
import os
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from keras_vaf.experiments.protocol import Protocol
from keras_vaf.experiments.reports.columns import from_columns, to_columns
from keras_vaf.experiments.reports.report import FORMAT, Report
from keras_vaf.utils import parse_json, write_atomically

COMPRESSED = ".xz"
_SHARED = ("protocol", "environment")
_LEFT_OUT: dict[str, Any] = {"curves": {}, "activations": []}
_UNREADABLE = (
    *(lzma.LZMAError, EOFError, AttributeError),
    *(TypeError, KeyError, IndexError, ValueError),
)


def write_reports(
    path: str | os.PathLike[str],
    reports: Sequence[Report],
    curves: bool = True,
    activations: bool = True,
) -> None:
    """Write reports into one file, with each protocol and environment stored once.

    Args:
        path: Path of the file. If it ends in .xz, the file is compressed to about 5 %
            of its size, and losses have nine significant digits.
        reports: The reports.
        curves: Whether to write the losses of all epochs.
        activations: Whether to write the learned activations.
    """
    shared: list[str] = []
    cells = []
    for report in reports:
        fields = asdict(report)
        for name, wanted in (("curves", curves), ("activations", activations)):
            if not wanted:
                del fields[name]
        for name in _SHARED:
            text = json.dumps(fields[name])
            if text not in shared:
                shared.append(text)
            fields[name] = shared.index(text)
        cells.append(fields)
    compressed = Path(path).suffix == COMPRESSED
    written = [to_columns(cells)] if compressed else cells
    content = (
        f'{{\n"format": {FORMAT},\n"shared": [\n' + ",\n".join(shared) + "\n],\n"
        '"reports": [\n' + ",\n".join(map(json.dumps, written)) + "\n]\n}\n"
    ).encode()
    write_atomically(path, lzma.compress(content) if compressed else content)


def read_reports(path: str | os.PathLike[str]) -> list[Report]:
    """Read a file of many reports, such as the `report.json` of a comparison.

    Args:
        path: Path of a file written by `write_reports`.

    Returns:
        The reports. Curves and activations that were not written are empty.

    A report with wrong values is left out, and a warning names it.

    Raises:
        ValueError: If the file is incomplete, was not written by `write_reports`, or
            contains only invalid reports.
        FileNotFoundError: If the file does not exist.
    """
    content = Path(path).read_bytes()
    try:
        compressed = Path(path).suffix == COMPRESSED
        data = parse_json(lzma.decompress(content) if compressed else content)
        head = {"format": data["format"], **_LEFT_OUT}
        listed, shared = list(data["reports"]), list(data["shared"])
        if compressed:
            listed = from_columns(*listed)
    except _UNREADABLE as error:
        raise ValueError(
            f"Expected a file that `write_reports` wrote. Received: {path}"
        ) from error
    reports, refused = [], []
    protocols: dict[int, Protocol] = {}
    for number, fields in enumerate(listed):
        try:
            place, own = fields["protocol"], shared[fields["environment"]]
            if place not in protocols:
                protocols[place] = Protocol.from_dict(shared[place])
            own = {"protocol": protocols[place], "environment": own}
            reports.append(Report.from_dict({**head, **fields, **own}))
        except _UNREADABLE as error:
            refused.append(f"report {number + 1} of {path}: {error}")
    if refused and not reports:
        raise ValueError(
            "Expected a file that `write_reports` wrote, with at least one complete "
            f"report. Received: {refused[0]}"
        )
    for text in refused:
        warnings.warn(f"Left out: {text}", stacklevel=2)
    return reports
