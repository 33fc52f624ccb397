"""The picture of the README: `KERAS_BACKEND=jax python docs/readme_picture.py`.

The left panel shows a function that a VAF learned. The other panels show two gains on
the regressions of the paper: the VAF that starts as ReLU compared with ReLU, and the
best VAF compared with the best fixed function. They come from the committed reports.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import keras
import numpy as np
from matplotlib import pyplot
from report_files import Row, names_of, rows_of
from small_pictures import save_small
from summary_tables import arm_of

from keras_vaf.layers import VAFActivation
from keras_vaf.visualization import plot_activation, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PICTURE = Path(__file__).parent / "images" / "vaf.png"
PANELS = (
    (("vaf-relu", "relu"), "VAF against ReLU"),
    (("vaf-best", "best-fixed"), "Best VAF against best fixed"),
)
"""An activation, its reference, and the title of the panel."""


@style.styled
def main() -> None:
    """Draw the three panels and write the picture."""
    _, axes = pyplot.subplots(1, 3, figsize=(10.2, 4), width_ratios=[1.15, 1, 1])
    draw_function(axes[0])
    for ax, (pair, title) in zip(axes[1:], PANELS, strict=True):
        draw_gains(gains(*pair), ax)
        ax.set_title(title)
        ax.set_xlabel("% less error (95 % interval)")
    save_small(PICTURE, dpi=130)


def draw_function(ax: Axes) -> None:
    """Train a network of four units on a sine, and draw what its VAF learned."""
    keras.utils.set_random_seed(0)
    x = np.random.default_rng(0).normal(size=(512, 1))
    hidden = keras.layers.Dense(4)
    activation = VAFActivation(k=5, g="relu", name="vaf")
    layers = [keras.Input((1,)), hidden, activation, keras.layers.Dense(1)]
    model = keras.Sequential(layers)
    model.compile(keras.optimizers.Adam(0.01), "mse")
    model.fit(x, np.sin(3 * x), epochs=150, verbose=0)
    plot_activation(activation, data=keras.ops.convert_to_numpy(hidden(x)), ax=ax)
    ax.set_title("A learned function")


def gains(activation: str, reference: str) -> list[tuple[str, float, float, bool]]:
    """Return dataset, gain, half its interval and significance on each regression.

    Gains are in percent of the error of the reference.
    """
    [report] = names_of("reproduction/regression-ours-validation-jax.md")
    rows = rows_of(report)
    errors = {(row["dataset"], arm_of(row)): row["mean"] for row in rows if row["mean"]}
    found = []
    for row in rows:
        if (arm_of(row), row["against"]) == (activation, reference):
            error = float(errors[row["dataset"], reference])
            gain, interval = (100 * part / error for part in parts(row))
            clear = row["direction"].endswith("*")
            found.append((row["dataset"], gain, interval, clear))
    return found


def parts(row: Row) -> list[float]:
    """Return a gain and half its interval."""
    return [float(part) for part in row["gain"].split(" ± ")]


def draw_gains(found: list[tuple[str, float, float, bool]], ax: Axes) -> None:
    """Draw one dot with its interval for each dataset, filled if it is significant."""
    for place, (_, gain, interval, clear) in enumerate(found):
        color, face = (style.BLUE, style.BLUE) if clear else (style.GREY, "white")
        ax.errorbar(
            *(gain, place, None, interval),
            fmt="o",
            color=color,
            markerfacecolor=face,
            ms=5,
            capsize=2,
        )
    ax.axvline(0, color=style.DARK, lw=0.8)
    ax.set_yticks(range(len(found)), [name for name, *_ in found])
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)


if __name__ == "__main__":
    main()
