"""The command: what converting and freezing does to whole models.

    KERAS_BACKEND=jax python -m benchmarks.whole_models applications [--steps]
    KERAS_BACKEND=tensorflow python -m benchmarks.whole_models frozen
    KERAS_BACKEND=jax python -m benchmarks.whole_models finetune
    python -m benchmarks.whole_models tables

Each study writes a JSON file under `docs/reports/models`, and makes `models.md` again
from all such files; `tables` only makes `models.md`. `finetune` reads Fashion-MNIST
(KERAS_VAF_DATA_DIR), `frozen` needs `keras-vaf[tensorflow,export]`.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import keras

from benchmarks.environment import environment
from benchmarks.whole_models import studies
from keras_vaf.utils import deviation, markdown_table, write_atomically


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    backend = keras.backend.backend()
    if arguments.study == "applications":
        names = arguments.only or (_all() if arguments.all else studies.TEN)
        results = studies.applications(list(names), arguments.steps)
    elif arguments.study != "tables":
        results = getattr(studies, arguments.study)()
    if arguments.study != "tables":
        document = {"environment": environment() | {"backend": backend}}
        path = arguments.output / f"{arguments.study}_{backend}.json"
        text = json.dumps(document | {"results": results}, indent=1)
        write_atomically(path, text + "\n")
    write_atomically(arguments.output / "models.md", markdown(arguments.output))
    return 0


def _all() -> list[str]:
    return [name for name in dir(keras.applications) if name[0].isupper()]


def markdown(folder: Path) -> str:
    """Tables of all the studies in a folder."""
    parts = ["# Whole models, converted and frozen\n"]
    for path in sorted(folder.glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        study, _, backend = path.stem.partition("_")
        title, table = _TABLES[study]
        versions = document["environment"]
        parts += [
            f"## {title}, {backend}\n",
            f"{_table(*table(document['results']))}\n",
            f"Keras {versions['keras']}, {versions['processor']}, "
            f"{versions['cores']} cores, {versions['date']}.\n",
        ]
    return "\n".join(parts)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return markdown_table(columns, rows, text_columns=len(columns))


def _applications(results: Any) -> tuple[list[str], list[list[str]]]:
    columns = ["network", "replaced", "parameters", "added", "deviation"]
    columns += ["deviation, g = relu", "error of a start, g = relu", "convert / clone"]
    columns += ["step, ms", "step converted, ms"]
    rows = [
        [
            result["name"],
            str(result["replaced"]),
            str(result["parameters"]),
            str(result["added"]),
            f"{result['deviation_same']:.1e}",
            f"{result['deviation_relu']:.1e}",
            f"{result['error_relu']:.1e}",
            f"{result['convert_seconds'] / result['clone_seconds']:.2f}",
            _milliseconds(result.get("step_before")),
            _milliseconds(result.get("step_after")),
        ]
        for result in results
    ]
    return columns, rows


def _milliseconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{1000 * seconds:.0f}"


def _frozen(results: Any) -> tuple[list[str], list[list[str]]]:
    columns = ["format", "network", "bytes", "operators", "one sample, ms", "deviation"]
    rows = [
        [
            result["format"],
            result["model"],
            str(result["bytes"]),
            str(result["operators"]),
            f"{result['milliseconds']:.3f}",
            f"{result['deviation']:.1e}",
        ]
        for result in results
    ]
    return columns, rows


def _finetune(results: Any) -> tuple[list[str], list[list[str]]]:
    columns = ["network", "mean accuracy", "standard deviation", "by seed"]
    rows = []
    for name in ("before", "ReLU", "VAF"):
        scores = [result[name] for result in results]
        listed = ", ".join(f"{score:.4f}" for score in scores)
        mean, spread = statistics.mean(scores), deviation(scores)
        rows.append([name, f"{mean:.4f}", f"{spread:.4f}", listed])
    return columns, rows


_TABLES = {
    "applications": ("Networks of keras.applications, random weights", _applications),
    "finetune": (
        f"Fashion-MNIST, {studies.TRAINED_ON} training images: a ReLU network trained "
        f"{studies.EPOCHS} epochs, then {studies.EXTRA} more as it is or converted",
        _finetune,
    ),
    "frozen": ("Exported files of a small convolutional network", _frozen),
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.whole_models")
    parser.add_argument(
        "study", choices=("applications", "frozen", "finetune", "tables")
    )
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these networks")
    parser.add_argument("--all", action="store_true", help="all networks, not ten")
    parser.add_argument("--steps", action="store_true", help="time training steps too")
    parser.add_argument(
        "--output", type=Path, default=Path("docs/reports/models"), metavar="FOLDER"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
