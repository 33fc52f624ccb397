"""`measured` and `save`: rows that another process measures, and their record."""

import json
import lzma
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.environment import PACKAGES, environment

Row = dict[str, Any]


def measured(
    module: str, arguments: list[str], variables: dict[str, str]
) -> Iterator[Row]:
    """Yield the rows that a process prints, each as a line of JSON."""
    command = [sys.executable, "-m", f"benchmarks.speed.{module}", *arguments]
    variables = {**os.environ, **variables}
    with subprocess.Popen(
        command, env=variables, stdout=subprocess.PIPE, text=True
    ) as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            yield json.loads(line)
    if process.returncode:
        raise SystemExit(f"This command failed: {' '.join(command)}")


def save(path: Path, command: str, device: str, rows: list[Row]) -> None:
    """Write rows as a compressed table, below a line that says where they come from."""
    here = environment()
    asked = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(asked, capture_output=True, text=True).stdout.strip()
    names = ("Python", *PACKAGES, "native kernels")
    first = (
        f"# command: {command}; commit: {commit}; "
        f"versions: {', '.join(f'{name} {here[name]}' for name in names)}; "
        f"device: {device or here['processor']}, {here['cores']} cores, "
        f"on {here['date']}, load {os.getloadavg()[0]:.1f}\n"
    )
    table = pd.DataFrame(rows).to_csv(index=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress((first + table).encode()))
