"""`markdown` writes the table of the models that were converted."""

import itertools
import textwrap
from collections import Counter
from collections.abc import Iterable

from keras_vaf.utils import markdown_table
from tests.zoo.conversions.records import SEPARATOR, Row

_COLUMNS = (
    *("model", "replaced / exist", "kept", "deviation"),
    *("trained", "reloaded", "frozen"),
)
_INTRODUCTION = """\
# Models of other packages, converted

`convert(model)` without options, random weights, one step of training.

- replaced / exist: elementwise activation functions that the backend computes. Its
  functions are wrapped, and count before and after the conversion. Softmax is left out.
- kept: activations that stay. A second table has the reasons, and `conversions.csv.xz`
  the layers.
- deviation: largest difference of an output before training, divided by its largest
  value.
- trained: VAFs whose weights changed, of all VAFs, after a step on a batch of 4.
- reloaded: the saved model, loaded again: deviation of its outputs.
- frozen: the same for the frozen model.
"""


def markdown(records: Iterable[Row]) -> str:
    """Return the tables of all backends.

    Args:
        records: The rows of the models, in the order of their backends.
    """
    parts = [_INTRODUCTION]
    for backend, group in itertools.groupby(records, lambda each: each["backend"]):
        own = [*group]
        versions = own[0]
        reasons: dict[str, int] = {}
        rows = [_row(each, reasons) for each in own]
        notes = [f"{number}. {reason}" for reason, number in reasons.items()]
        parts += [
            f"## {backend}\n",
            f"{len(rows)} models. Keras {versions['keras']}, keras-hub "
            f"{versions['keras-hub']}, {versions['date']}.\n",
            markdown_table(_COLUMNS, rows, text_columns=len(_COLUMNS)) + "\n",
            _kept(own),
            *(["\n".join(notes) + "\n"] if notes else []),
        ]
    return "\n".join(parts)


def _row(result: Row, reasons: dict[str, int]) -> list[str]:
    counted = f"{result['replaced']} / {result['exist']}"
    if result["reported"] not in ("", result["replaced"]):
        counted += f" (report: {result['reported']})"
    if result["reason"]:
        _, found, kept = result["reason"].partition("a model with ")
        own = [each for each in kept.split("; ") if "softmax" not in each.lower()]
        text = f"Nothing was replaced. {'; '.join(own)}" if found else result["reason"]
        note = _note(textwrap.shorten(text, 500), reasons)
        return [result["model"], counted, note, *[""] * 4]
    trained = f"{result['changed']} of {result['activations']}"
    if result["trained"]:
        trained = _note(result["trained"], reasons)
    return [
        result["model"],
        counted,
        str(len(_parts(result["left"]))),
        f"{float(result['deviation']):.1e}",
        trained,
        *(_number(result[stage], reasons) for stage in ("reloaded", "frozen")),
    ]


def _parts(cell: str) -> list[str]:
    return cell.split(SEPARATOR) if cell else []


def _kept(results: Iterable[Row]) -> str:
    """Return a table of the kept activations that the models compute."""
    models: dict[tuple[str, str], Counter[str]] = {}
    for result in results:
        for line in _parts(result["kept"]):
            activation, _, reason = line.partition(": ")[2].partition(" kept, ")
            if "softmax" not in activation.lower():
                kept = models.setdefault((activation, reason), Counter())
                kept[result["model"]] += 1
    rows = [
        [*key, ", ".join(f"{name} ({n})" for name, n in found.items())]
        for key, found in sorted(models.items())
    ]
    columns = ("kept activation", "reason", "models and numbers")
    return markdown_table(columns, rows, text_columns=3) + "\n" if rows else ""


def _number(value: str, reasons: dict[str, int]) -> str:
    try:
        return f"{float(value):.1e}"
    except ValueError:  # the message of an error
        return _note(value, reasons)


def _note(reason: str, reasons: dict[str, int]) -> str:
    reason = " ".join(reason.split())
    return f"see {reasons.setdefault(reason, len(reasons) + 1)}"
