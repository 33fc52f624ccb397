"""The command: `python -m benchmarks [--gpu] [--only PATTERN] [--missing]`."""

import argparse
import fnmatch
import json
import math
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.environment import environment, gpu
from benchmarks.speed.cases import GPU_STUDIES, STUDIES, Case, Mode, Study, cases
from benchmarks.speed.picture import draw
from benchmarks.speed.report import markdown
from benchmarks.speed.runner import measure
from keras_vaf.utils import write_atomically

QUICK_REPETITIONS = 2
UNFINISHED = 3
"""Exit code if cases are left when the time is over."""
# Keys that may differ between the parts of a report. Each result has its values.
VARYING = ("date", "native kernels")


Group = tuple[Study, Mode, list[Case]]


def main(argv: Sequence[str] | None = None) -> int:
    parser = _parser()
    arguments = parser.parse_args(argv)
    path = arguments.output / ("gpu.json" if arguments.gpu else "cpu.json")
    left = 0
    if not arguments.tables:
        groups = _chosen(arguments)
        if not groups:
            parser.error(
                "--only must match a case, such as 'operation/jax/ReLU'. "
                f"Received: --only {' '.join(arguments.only)}"
            )
        if arguments.gpu and not arguments.quick and not gpu():
            parser.error("--gpu needs a GPU that `nvidia-smi` lists.")
        left = _measure_all(arguments, groups, path)
    if not path.exists():
        return UNFINISHED
    document = json.loads(path.read_text(encoding="utf-8"))
    write_atomically(path.with_suffix(".md"), markdown(document))
    draw(document, path.with_suffix(".png"))
    print(f"Wrote {path}, and a table and a picture next to it.")
    return UNFINISHED if left else 0


def _measure_all(arguments: argparse.Namespace, groups: list[Group], path: Path) -> int:
    """Measure until the time is over, and return how many studies and modes are left.

    The file is written after each of them.
    """
    if not arguments.gpu:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    end = time.monotonic() + arguments.seconds
    document = _document(path, arguments)
    if arguments.missing:
        groups = [group for group in groups if not _holds(document, *group[:2])]
    for done, group in enumerate(groups):
        if time.monotonic() >= end:
            left = len(groups) - done
            print(f"{left} studies are left. Run the command again, with --missing.")
            return left
        _measure(document, *group, arguments.quick)
        write_atomically(path, json.dumps(document) + "\n")
    return 0


def _holds(document: dict[str, Any], study: Study, mode: Mode) -> bool:
    return any(
        (result["study"], result["mode"]) == (study.name, mode.name)
        for result in document["results"]
    )


def _chosen(arguments: argparse.Namespace) -> list[Group]:
    """The cases to measure, those that are measured side by side together."""
    groups = []
    for study in GPU_STUDIES if arguments.gpu else STUDIES:
        for mode in study.modes:
            chosen = [
                case
                for case in cases(study, mode, arguments.quick)
                if any(fnmatch.fnmatchcase(case.name, part) for part in arguments.only)
            ]
            if chosen:
                groups.append((study, mode, chosen))
    return groups


def _document(path: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the content of the file if it is from the same environment.

    Results may be of another day, or of other native kernels, and then say so.
    """
    here = environment() | {"inputs": "small" if arguments.quick else "full"}
    if arguments.gpu:
        here["GPU"] = gpu() or "none"
    results = []
    if path.exists():
        document = json.loads(path.read_text(encoding="utf-8"))
        before = document["environment"]
        of_then = {name: before[name] for name in VARYING if name in before}
        if before | {name: here[name] for name in VARYING} == here:
            results = [of_then | result for result in document["results"]]
    return {"environment": here, "results": results}


def _measure(
    document: dict[str, Any], study: Study, mode: Mode, chosen: list[Case], quick: bool
) -> None:
    """Measure a study in one mode, in place of what the document holds of it."""
    print(f"{study.name}, {mode.name}: {len(chosen)} cases", end=", ", flush=True)
    start = time.monotonic()
    repetitions = study.repetitions
    if quick:
        repetitions = min(repetitions, QUICK_REPETITIONS)
    others = [
        result
        for result in document["results"]
        if (result["study"], result["mode"]) != (study.name, mode.name)
    ]
    measured = [
        result
        for _ in range(1 if quick else study.runs)
        for result in measure(chosen, repetitions, fresh=bool(study.processes))
    ]
    of_now = {name: document["environment"][name] for name in VARYING}
    document["results"] = others + [of_now | result for result in measured]
    print(f"{time.monotonic() - start:.0f} s", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure the cost of a VAF relative to a fixed activation.",
        epilog="Example: python -m benchmarks --only 'operation/jax/*' --output runs",
    )
    parser.add_argument(
        "--gpu",
        action="store_true",
        help="measure on the GPU, in float32 and bfloat16; the results go to gpu.json",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=math.inf,
        metavar="S",
        help="start no study after this time; the exit code is 3 if some are left",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="small inputs, to see that everything runs; its numbers mean nothing",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        default=["*"],
        metavar="PATTERN",
        help="cases to measure, as STUDY/MODE/ACTIVATION with wildcards; the JSON file "
        "keeps its other studies and modes, if its environment is this one",
    )
    parser.add_argument(
        "--missing",
        action="store_true",
        help="measure only what the JSON file does not hold, to go on after an "
        "interruption",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("docs/reports/benchmarks"),
        metavar="FOLDER",
        help="where cpu.json, cpu.md and cpu.png go (default: %(default)s)",
    )
    parser.add_argument(
        "--tables",
        action="store_true",
        help="only make the table and the picture again from the JSON file",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
