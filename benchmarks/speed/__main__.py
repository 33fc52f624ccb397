"""The command: `python -m benchmarks.speed`.

Each setting (a backend, with or without the native kernels) is measured in a separate
process. The record is written after each setting.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from benchmarks.speed.cases import SETTINGS
from benchmarks.speed.record import Row, measured, save

OUTPUT = Path("docs/reports/speed/cpu.csv.xz")
# glibc keeps freed memory. Otherwise the next array pays a page fault for each 4 KiB,
# and an activation pays for the one that was measured before.
VARIABLES = {
    "MALLOC_MMAP_THRESHOLD_": "8589934592",
    "MALLOC_TRIM_THRESHOLD_": "8589934592",
    "MALLOC_TOP_PAD_": "1073741824",
    "CUDA_VISIBLE_DEVICES": "",
    "TF_CPP_MIN_LOG_LEVEL": "3",
}


def main(argv: Sequence[str] | None = None) -> None:
    """Measure all settings of some backends."""
    backends = list(dict.fromkeys(setting.backend for setting in SETTINGS))
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.speed",
        description="Measure the time of a VAF relative to the fixed function.",
    )
    parser.add_argument("--backends", nargs="+", choices=backends, default=backends)
    parser.add_argument("--quick", action="store_true", help="to see that it runs")
    parser.add_argument("--output", type=Path, default=OUTPUT, metavar="FILE")
    arguments = parser.parse_args(argv)
    rows: list[Row] = []
    for setting in SETTINGS:
        if setting.backend in arguments.backends:
            task = json.dumps([setting, arguments.quick])
            variables = {
                "KERAS_BACKEND": setting.backend,
                "KERAS_VAF_KERNELS": str(int(setting.kernels)),
            }
            rows += measured("worker", [task], VARIABLES | variables)
            save(arguments.output, parser.prog, "", rows)


if __name__ == "__main__":
    main()
