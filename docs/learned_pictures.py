"""The learned functions of all datasets of the paper's tables in one picture.

`KERAS_BACKEND=jax python docs/learned_pictures.py` draws it from the reports of
`keras-vaf reproduce curves`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from keras_vaf.experiments import read_reports
from keras_vaf.experiments.reports.report import Report, validation_loss
from keras_vaf.experiments.results.learned import inputs_of, learned_layers
from keras_vaf.research.paper.curves import DATASETS
from keras_vaf.utils import png_bytes, write_atomically
from keras_vaf.visualization import style

FOLDER = Path(__file__).parent / "reports/reproduction/curves"
SHOWN = ("vaf-relu", "vaf-relu-specific-layer-5")
"""The VAFs that start as ReLU; the second one is that of Sensorless."""

COLUMNS = 4
COLORS = (style.BLUE, style.ORANGE)


def reports_by_dataset() -> dict[str, list[Report]]:
    """Return the reports of the VAFs that start as ReLU, by dataset."""
    found: dict[str, list[Report]] = {name: [] for name in DATASETS}
    for file in sorted(FOLDER.glob("*.json.xz")):
        for report in read_reports(file):
            if report.protocol.variant.name in SHOWN:
                found[report.protocol.dataset].append(report)
    return {name: own for name, own in found.items() if own}


@style.styled
def picture(reports: dict[str, list[Report]]) -> Figure:
    """Return a panel for each dataset, with a colour for each hidden layer."""
    rows = -(-len(reports) // COLUMNS)
    figure, axes = plt.subplots(rows, COLUMNS, figsize=(10, 1.75 * rows), squeeze=False)
    for ax, (name, own) in zip(axes.flat, reports.items(), strict=False):
        draw(own, ax)
        ax.set_title(name, fontsize=9)
    for ax in axes.flat[len(reports) :]:
        ax.set_axis_off()
    style.legend_below(figure, axes.flat[: len(reports)])
    return figure


def draw(reports: Sequence[Report], ax: Axes) -> None:
    """Draw the functions of the fold with the lowest loss and, faintly, the others."""
    best = min(reports, key=validation_loss)
    layers = [learned_layers(report) for report in reports]
    chosen = layers[reports.index(best)]
    for place, own in enumerate(zip(*layers, strict=True)):
        color = COLORS[place]
        x = np.linspace(*np.quantile(inputs_of(best, place), (0.005, 0.995)), 300)
        for layer in own:
            ax.plot(x, layer.function(x), color=color, linewidth=0.5, alpha=0.3)
        y = chosen[place].function(x)
        ax.plot(x, y, color=color, label=f"hidden layer {place + 1}")
    x = np.linspace(*ax.get_xlim(), 300)
    ax.plot(
        x, np.maximum(x, 0), "--", color=style.DARK, linewidth=1, label="start: ReLU"
    )


if __name__ == "__main__":
    content = png_bytes(picture(reports_by_dataset()))
    write_atomically(FOLDER / "learned.png", content)
