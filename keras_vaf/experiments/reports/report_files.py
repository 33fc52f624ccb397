"""`write_reports` and `read_reports`, for files with many reports."""

from __future__ import annotations

import gzip
import json
import os
import warnings
import zlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from keras_vaf.experiments.protocol import Protocol
from keras_vaf.experiments.reports.report import FORMAT, Report
from keras_vaf.utils import parse_json, write_atomically

_COMPRESSED = ".gz"
_SHARED = ("protocol", "environment")
_LEFT_OUT: dict[str, Any] = {"curves": {}, "activations": []}
_UNREADABLE = (
    *(gzip.BadGzipFile, EOFError, zlib.error),
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
        path: Path of the file. If it ends in .gz, the file is compressed to about 5 %
            of its size.
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
        cells.append(json.dumps(fields))
    content = (
        f'{{\n"format": {FORMAT},\n"shared": [\n' + ",\n".join(shared) + "\n],\n"
        '"reports": [\n' + ",\n".join(cells) + "\n]\n}\n"
    ).encode()
    if Path(path).suffix == _COMPRESSED:
        content = gzip.compress(content, mtime=0)  # reproducible bytes
    write_atomically(path, content)


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
        if Path(path).suffix == _COMPRESSED:
            content = gzip.decompress(content)
        data = parse_json(content)
        head = {"format": data["format"], **_LEFT_OUT}
        listed, shared = list(data["reports"]), list(data["shared"])
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
