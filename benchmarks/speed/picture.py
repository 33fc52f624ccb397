"""A picture of results: what each activation costs, in ReLUs."""

from pathlib import Path
from typing import Any

from benchmarks.speed.aims import Values
from benchmarks.speed.cases import MODES, OPERATION, Activation
from benchmarks.speed.report import TABLES, median_ratio, values_of
from keras_vaf.utils import require
from keras_vaf.visualization.style import BLUE, GREY, styled


@styled
def draw(document: dict[str, Any], path: Path) -> None:
    """Draw forward and backward pass of the operation, one panel a mode.

    Args:
        document: As for `benchmarks.speed.report.markdown`.
        path: File to write; its suffix is the format. Nothing is written if the
            operation was not measured.
    """
    values = values_of(document["results"])
    panels = [
        (mode.name, bars)
        for mode in MODES
        if (bars := _bars(values, mode.name, OPERATION.activations))
    ]
    if not panels:
        return
    pyplot = require("matplotlib.pyplot", extra="plot")
    figure, axes = pyplot.subplots(
        1, len(panels), figsize=(2 + 2.4 * len(panels), 5), sharey=True, squeeze=False
    )
    for axis, (title, bars) in zip(axes[0], panels, strict=True):
        labels, ratios = zip(*bars, strict=True)
        ours = [label.startswith(("VAF, k=", "VAF, kernels")) for label in labels]
        axis.barh(labels, ratios, color=[BLUE if own else GREY for own in ours])
        axis.set(title=title, xscale="log", xlabel="time, ReLU = 1")
        axis.xaxis.set_major_formatter("{x:g}")
        axis.xaxis.set_minor_formatter("")
        axis.bar_label(axis.containers[0], fmt="%.1f", padding=2, fontsize=7)
        axis.margins(x=0.25)
    axes[0, 0].invert_yaxis()
    figure.suptitle("Forward and backward pass, output and all gradients kept")
    figure.savefig(path)
    pyplot.close(figure)


def _bars(
    values: Values, mode: str, activations: tuple[Activation, ...]
) -> list[tuple[str, float]]:
    table = TABLES[0]
    ratios = ((a.label, median_ratio(values, table, mode, a)) for a in activations)
    return [(label, ratio) for label, ratio in ratios if ratio is not None]
