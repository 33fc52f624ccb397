"""`map_summary`, which shows the chosen activations of each dataset in one line."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from keras_vaf.experiments.results.table import Table
from keras_vaf.research.map.arm import Kind
from keras_vaf.research.map.results import MapRow, best_of, gain
from keras_vaf.research.map.running import Budget
from keras_vaf.research.map.task import Task

_COLUMNS = (
    *("task", "dataset", "fixed function", "VAF", "rival"),
    *("gain of VAF, equal steps", "gain of VAF, equal time"),
    *("gain of rival, equal steps", "gain of rival, equal time"),
)


def map_summary(
    rows: Mapping[Budget, Sequence[MapRow]], tasks: Sequence[Task]
) -> Table:
    """Return the table of the fixed function, VAF and rival chosen on each dataset.

    Validation data select the three arms at each budget. Their names are those at equal
    time, or at equal steps where no result at equal time exists.

    Args:
        rows: Rows by budget.
        tasks: The tasks, for their titles and their order.
    """
    lines = []
    for task in tasks:
        for dataset in task.datasets:
            own = {
                budget: [r for r in each if (r.task, r.dataset) == (task.name, dataset)]
                for budget, each in rows.items()
            }
            if any(own.values()):
                lines.append(_cells(task.title, dataset, own))
    return Table.of("Chosen activations", _COLUMNS, lines, [])


def _cells(
    title: str, dataset: str, own: Mapping[Budget, Sequence[MapRow]]
) -> dict[str, str]:
    chosen = own.get("time") or own["steps"]
    return {
        "task": title,
        "dataset": dataset,
        "fixed function": _title(chosen, "fixed"),
        "VAF": _title(chosen, "vaf"),
        "rival": _title(chosen, "rival"),
        "gain of VAF, equal steps": _gain(own.get("steps", ()), "vaf"),
        "gain of VAF, equal time": _gain(own.get("time", ()), "vaf"),
        "gain of rival, equal steps": _gain(own.get("steps", ()), "rival"),
        "gain of rival, equal time": _gain(own.get("time", ()), "rival"),
    }


def _title(rows: Sequence[MapRow], kind: Kind) -> str:
    best = best_of(rows, kind)
    return "" if best is None else best.arm.title


def _gain(rows: Sequence[MapRow], kind: Kind) -> str:
    best, fixed = best_of(rows, kind), best_of(rows, "fixed")
    if best is None or fixed is None:
        return ""
    each = gain(best, fixed)
    width = f" ± {each.half_width:.2f}" if math.isfinite(each.half_width) else ""
    return f"{each.mean:+.2f}{width}"
