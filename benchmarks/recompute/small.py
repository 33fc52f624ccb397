"""Tables of small layers, and of fine-tuning with few labels."""

import numpy as np
import pandas as pd
from pandas import DataFrame

from benchmarks.recompute.records import BY_RATE, Lines, best, read, wide
from benchmarks.recompute.statistics import ratio

UNITS = (2, 4, 8, 16)
RIVALS = ("relu", "silu", "tanh")
TUNED = {
    "vaf-layer": "one VAF a layer",
    "probe": "the head alone",
    "biases": "biases",
    "normalization": "normalization",
    "prelu": "PReLU per channel",
    "lora-1": "LoRA of rank 1",
    "lora-4": "LoRA of rank 4",
    "everything": "all weights",
}


def chosen(names: tuple[str, ...], units: tuple[int, ...], title: str) -> DataFrame:
    """Return what validation rows choose of some activations and numbers of units."""
    frame = read("evidence/few-units").query(
        "question in @units and activation in @names"
    )
    return best(frame, ["dataset", "seed"], BY_RATE).assign(activation=title)


def on_small() -> dict[str, Lines]:
    """Return the ratios of small layers, and the mean errors by units."""
    pairs = [((units,), (units,)) for units in UNITS] + [(UNITS, UNITS), ((16,), UNITS)]
    rows, all_means = Lines(), Lines()
    for place, (own, others) in enumerate(pairs):
        both = chosen(("vaf-silu",), own, "vaf"), chosen(RIVALS, others, "best")
        e = ratio(
            *(wide(pd.concat(both), "dataset", "test")[n] for n in ("vaf", "best"))
        )
        free = "free" if len(own) > 1 else str(own[0])
        rival = "as many numbers" if place < len(UNITS) else "free"
        rows.append([free, rival, *e.cells(), f"{e.below}, {e.above}", f"{e.p:.4f}"])
    for units in UNITS:
        means = [
            wide(chosen((name,), (units,), "own"), "dataset", "test")["own"]
            for name in (*RIVALS, "vaf-silu")
        ]
        all_means.append(
            [str(units), *(f"{np.exp(np.log(m).mean()):.4f}" for m in means)]
        )
    return {"small-layers": rows, "small-errors": all_means}


def on_fine_tuning() -> Lines:
    """Return ratios of a VAF per channel to other ways to fine-tune, at equal steps."""
    frame = read("map/trainings").query("task == 'fine_tuning' and not selects")
    frame = frame[frame.steps == frame.steps_equal_steps]
    rows, sizes = Lines(), frame.groupby("activation").parameters.first()
    errors = wide(frame, "dataset", "error")
    errors = errors[errors.index.str.endswith("-2000")]  # labels
    for name, title in TUNED.items():
        e = ratio(errors["vaf-channel"], errors[name])
        rows.append([title, f"{sizes[name]:,.0f}", *e.cells(), f"{e.below}, {e.above}"])
    return rows
