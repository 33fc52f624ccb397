"""`markdown` writes the table of the models that were converted."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from keras_vaf.utils import markdown_table

_COLUMNS = (
    *("model", "replaced / exist", "kept", "not searched", "deviation"),
    *("trained", "reloaded", "frozen"),
)
_INTRODUCTION = """\
# Models of other packages, converted

`convert(model)` without options, random weights, one step of training.

- replaced / exist: elementwise activation functions that the backend computes. Its
  functions are wrapped, and count before and after the conversion. Softmax is left out.
- kept: activations that stay. A second table has the reasons, and each report the
  layers.
- not searched: layers whose code cannot be followed.
- deviation: largest difference of an output before training, divided by its largest
  value.
- trained: VAFs whose weights changed, of all VAFs, after a step on a batch of 4.
  Reports without `batch` had two steps on batches of 1.
- reloaded: the saved model, loaded in a new process: deviation of its outputs. kimm
  does not register its models with Keras. Reports since 2026-11-23 pass its classes as
  `custom_objects`.
- frozen: the same for the frozen model. The new process cannot import `keras_vaf`.
"""


def markdown(folder: Path) -> str:
    """Return the tables of all backends that have reports.

    Args:
        folder: The folder above `conversions`.
    """
    parts = [_INTRODUCTION]
    for backend in sorted((folder / "conversions").glob("*")):
        documents = [json.loads(p.read_text()) for p in sorted(backend.glob("*.json"))]
        versions = documents[0]["environment"]
        reasons: dict[str, int] = {}
        rows = [_row(each["result"], reasons) for each in documents]
        notes = [f"{number}. {reason}" for reason, number in reasons.items()]
        parts += [
            f"## {backend.name}\n",
            f"{len(rows)} models. Keras {versions['keras']}, keras-hub "
            f"{versions.get('keras-hub')}, kimm {versions.get('kimm')}, "
            f"{versions['date']}.\n",
            markdown_table(_COLUMNS, rows, text_columns=len(_COLUMNS)) + "\n",
            _kept(each["result"] for each in documents),
            *(["\n".join(notes) + "\n"] if notes else []),
        ]
    return "\n".join(parts)


def _row(result: dict[str, Any], reasons: dict[str, int]) -> list[str]:
    counted = f"{result['replaced']} / {result['exist']}"
    if result.get("reported", result["replaced"]) != result["replaced"]:
        counted += f" (report: {result['reported']})"
    if "reason" in result:
        kept = result["reason"].partition("a model with ")[2].split("; ")
        kept = [each for each in kept if "softmax" not in each.lower()]
        note = _note(f"Nothing was replaced. {'; '.join(kept)}", reasons)
        return [result["name"], counted, note, *[""] * 5]
    trained = result["trained"]
    if isinstance(trained, dict):
        trained = f"{sum(trained['changed'])} of {trained['activations']}"
    else:
        trained = _note(trained, reasons)
    return [
        result["name"],
        counted,
        str(len(result["left"])),
        str(result["not_searched"]),
        f"{result['deviation']:.1e}",
        trained,
        *(_number(result[stage], reasons) for stage in ("reloaded", "frozen")),
    ]


def _kept(results: Iterable[dict[str, Any]]) -> str:
    """Return a table of the kept activations that the models compute."""
    models: dict[tuple[str, str], Counter[str]] = {}
    for result in results:
        for line in result.get("kept", ()):
            activation, _, reason = line.partition(": ")[2].partition(" kept, ")
            if "softmax" not in activation.lower() and "does not call" not in reason:
                kept = models.setdefault((activation, reason), Counter())
                kept[result["name"]] += 1
    rows = [
        [*key, ", ".join(f"{name} ({n})" for name, n in found.items())]
        for key, found in sorted(models.items())
    ]
    columns = ("kept activation", "reason", "models and numbers")
    return markdown_table(columns, rows, text_columns=3) + "\n" if rows else ""


def _number(value: float | str, reasons: dict[str, int]) -> str:
    return _note(value, reasons) if isinstance(value, str) else f"{value:.1e}"


def _note(reason: str, reasons: dict[str, int]) -> str:
    reason = " ".join(reason.split())
    return f"see {reasons.setdefault(reason, len(reasons) + 1)}"
