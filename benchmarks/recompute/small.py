"""Tables of small layers, and of fine-tuning with few labels."""

import numpy as np
from pandas import Series

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


def chosen(names: tuple[str, ...], units: tuple[int, ...]) -> Series:
    """Return errors of what validation rows choose of activations and units."""
    asked = "question in @units and activation in @names"
    frame = read("evidence/few-units").query(asked)
    return best(frame, ["dataset", "seed"], BY_RATE).groupby("dataset").test.mean()


def on_small() -> dict[str, Lines]:
    """Return the ratios of small layers, and the mean errors by units."""
    pairs = [((units,), (units,)) for units in UNITS] + [(UNITS, UNITS), ((16,), UNITS)]
    rows, all_means = Lines(), Lines()
    for place, (own, others) in enumerate(pairs):
        e = ratio(chosen(("vaf-silu",), own), chosen(RIVALS, others))
        free = "free" if len(own) > 1 else str(own[0])
        rival = "as many numbers" if place < len(UNITS) else "free"
        rows.append([free, rival, *e.cells(), f"{e.below}, {e.above}", f"{e.p:.4f}"])
    for units in UNITS:
        logs = [np.log(chosen((each,), (units,))) for each in (*RIVALS, "vaf-silu")]
        all_means.append([str(units), *(f"{np.exp(each.mean()):.4f}" for each in logs)])
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
