"""The command: `python -m benchmarks [--quick] [--only PATTERN] [--missing]`."""

import argparse
import fnmatch
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.environment import environment
from benchmarks.speed.cases import STUDIES, Case, Mode, Study, cases
from benchmarks.speed.picture import draw
from benchmarks.speed.report import markdown
from benchmarks.speed.runner import measure
from keras_vaf.utils import write_atomically

QUICK_REPETITIONS = 2


def main(argv: Sequence[str] | None = None) -> int:
    parser = _parser()
    arguments = parser.parse_args(argv)
    path = arguments.output / "cpu.json"
    if not arguments.tables:
        groups = _chosen(arguments.only, arguments.quick)
        if not groups:
            parser.error(
                "--only must match a case, such as 'operation/jax/ReLU'. "
                f"Received: --only {' '.join(arguments.only)}"
            )
        document = _document(path, arguments.quick)
        for study, mode, chosen in groups:
            if arguments.missing and _holds(document, study, mode):
                continue
            _measure(document, study, mode, chosen, arguments.quick)
            write_atomically(path, json.dumps(document, indent=1) + "\n")
    document = json.loads(path.read_text(encoding="utf-8"))
    write_atomically(path.with_suffix(".md"), markdown(document))
    draw(document, path.with_suffix(".png"))
    print(f"Wrote {path}, and a table and a picture next to it.")
    return 0


def _holds(document: dict[str, Any], study: Study, mode: Mode) -> bool:
    return any(
        (result["study"], result["mode"]) == (study.name, mode.name)
        for result in document["results"]
    )


def _chosen(
    patterns: Sequence[str], quick: bool
) -> list[tuple[Study, Mode, list[Case]]]:
    """The cases to measure, those that are measured side by side together."""
    groups = []
    for study in STUDIES:
        for mode in study.modes:
            chosen = [
                case
                for case in cases(study, mode, quick)
                if any(fnmatch.fnmatchcase(case.name, pattern) for pattern in patterns)
            ]
            if chosen:
                groups.append((study, mode, chosen))
    return groups


def _document(path: Path, quick: bool) -> dict[str, Any]:
    """Return the content of the file if it is from the same environment on any day."""
    here = environment() | {"inputs": "small" if quick else "full"}
    results = []
    if path.exists():
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["environment"] | {"date": here["date"]} == here:
            results = document["results"]
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
    measured = measure(chosen, repetitions, fresh=bool(study.processes))
    document["results"] = others + measured
    print(f"{time.monotonic() - start:.0f} s", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure the cost of a VAF relative to a fixed activation.",
        epilog="Example: python -m benchmarks --only 'operation/jax/*' --output runs",
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
