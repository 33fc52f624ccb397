"""The command: `python -m benchmarks.speed`.

Each setting (a backend, with or without the native kernels) is measured in a separate
process. The report is written after each group of activations, and the same command
goes on where it was stopped.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.environment import environment
from benchmarks.speed.cases import SETTINGS, Setting, groups
from keras_vaf.utils import write_atomically

OUTPUT = Path("docs/reports/speed")
# The time between two stops may differ, and what else ran.
VARYING = ("date", "load before")
# glibc keeps freed memory. Otherwise the next array pays a page fault for each 4 KiB,
# and an activation pays for the one that was measured before.
KEEP_MEMORY = {
    "MALLOC_MMAP_THRESHOLD_": "8589934592",
    "MALLOC_TRIM_THRESHOLD_": "8589934592",
    "MALLOC_TOP_PAD_": "1073741824",
}


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    path = arguments.output / "cpu.json"
    document = _document(path, arguments)
    for setting in SETTINGS:
        if setting.backend in arguments.backends:
            _measure(document, path, setting, arguments)
    print(f"{path} is complete for {', '.join(arguments.backends)}.")
    return 0


def _document(path: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the report so far, or an empty one if there is none of this machine."""
    here = environment() | {
        "GPU": "not used",
        "inputs": "few" if arguments.quick else "all",
        "load before": f"{os.getloadavg()[0]:.1f}",
    }
    if path.exists():
        document = json.loads(path.read_text(encoding="utf-8"))
        there = document["environment"]
        if {**there, **{name: here[name] for name in VARYING}} == here:
            return document
    return {"environment": here, "rows": []}


def _measure(
    document: dict[str, Any], path: Path, setting: Setting, arguments: Any
) -> None:
    """Measure what the document lacks of a setting; write it after each group."""
    key = {"backend": setting.name, "kernels": setting.kernels}
    have = {
        row["group"]
        for row in document["rows"]
        if {name: row[name] for name in key} == key
    }
    names = [group.name for group in groups(setting, arguments.quick)]
    missing = [name for name in names if name not in have]
    if not missing:
        return
    task = json.dumps([vars(setting), arguments.quick, missing])
    command = [sys.executable, "-m", "benchmarks.speed.worker", task]
    with subprocess.Popen(
        command,
        env=_variables(setting),
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        for name, line in zip(missing, process.stdout, strict=False):
            print(
                setting.name, f"kernels: {setting.kernels}", name, sep=", ", flush=True
            )
            rows = json.loads(line)
            document["rows"] += [key | {"group": name} | row for row in rows]
            write_atomically(path, _text(document))
    if process.returncode:
        raise SystemExit(f"The process for {setting} failed. Run the command again.")


def _variables(setting: Setting) -> dict[str, str]:
    return {
        **os.environ,
        **KEEP_MEMORY,
        "CUDA_VISIBLE_DEVICES": "",
        "KERAS_BACKEND": setting.backend,
        "KERAS_VAF_KERNELS": str(int(setting.kernels)),
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }


def _text(document: dict[str, Any]) -> str:
    """Return JSON with a line for each row, so that versions can be compared."""
    rows = ",\n".join(json.dumps(row) for row in document["rows"])
    about = json.dumps(document["environment"])
    return f'{{"environment": {about},\n"rows": [\n{rows}\n]}}\n'


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed",
        description="Measure the time of a VAF relative to the fixed function.",
    )
    backends = list(dict.fromkeys(setting.backend for setting in SETTINGS))
    parser.add_argument("--backends", nargs="+", choices=backends, default=backends)
    parser.add_argument(
        "--quick", action="store_true", help="a small part, to see that it runs"
    )
    parser.add_argument("--output", type=Path, default=OUTPUT, metavar="FOLDER")
    return parser


if __name__ == "__main__":
    sys.exit(main())
