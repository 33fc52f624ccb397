"""Reports without curves and learned functions: small files, enough for tables."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from keras_vaf.experiments.reports.report import FORMAT, Report
from keras_vaf.utils import write_atomically

_LEFT_OUT: dict[str, Any] = {"curves": {}, "activations": []}
_COMPRESSED = ".gz"
_UNREADABLE = (
    *(gzip.BadGzipFile, EOFError, zlib.error),
    *(TypeError, KeyError, IndexError, ValueError),
)
_SHARED = ("protocol", "environment")


def write_compact(
    path: str | os.PathLike[str], reports: Sequence[Report], functions: bool = False
) -> None:
    """Write reports into one small file, each protocol and environment only once.

    Args:
        path: The file, which is replaced as a whole or not at all. It is compressed if
            its name ends in .gz, to about a twentieth.
        reports: The reports. Their curves and activations are left out.
        functions: Whether to keep the activations all the same.
    """
    shared: list[str] = []
    cells = []
    for report in reports:
        fields = asdict(report)
        for name in _LEFT_OUT:
            if not (functions and name == "activations"):
                del fields[name]
        for name in _SHARED:
            text = json.dumps(fields[name])
            if text not in shared:
                shared.append(text)
            fields[name] = shared.index(text)
        cells.append(json.dumps(fields))
    parts = {
        "format": str(FORMAT),
        "shared": "[\n" + ",\n".join(shared) + "\n]",
        "reports": "[\n" + ",\n".join(cells) + "\n]",
    }
    body = ",\n".join(f'"{name}": {text}' for name, text in parts.items())
    content = f"{{\n{body}\n}}\n".encode()
    if Path(path).suffix == _COMPRESSED:
        content = gzip.compress(content, mtime=0)  # the same bytes every time
    write_atomically(path, content)


def read_compact(path: str | os.PathLike[str]) -> list[Report]:
    """Read what `write_compact` wrote.

    Args:
        path: The file.

    Returns:
        The reports, without curves, and without activations unless they were kept.

    Raises:
        ValueError: If the file is torn, or something else.
        FileNotFoundError: If there is no such file.
    """
    content = Path(path).read_bytes()
    try:
        if Path(path).suffix == _COMPRESSED:
            content = gzip.decompress(content)
        data = json.loads(content)
        return [
            Report.from_dict(
                {
                    "format": data["format"],
                    **_LEFT_OUT,
                    **fields,
                    **{name: data["shared"][fields[name]] for name in _SHARED},
                }
            )
            for fields in data["reports"]
        ]
    except _UNREADABLE as error:
        raise ValueError(
            f"Expected a file that `write_compact` wrote. Received: {path}"
        ) from error
