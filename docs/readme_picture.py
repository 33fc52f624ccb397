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
from report_files import REPORTS
from small_pictures import save_small

from keras_vaf.experiments.results.result import selected_results
from keras_vaf.layers import VAFActivation
from keras_vaf.research.paper import Form, find_experiment, read_reproduction
from keras_vaf.research.paper.tables.gains_figure import draw_gains
from keras_vaf.research.paper.tables.summaries import Results
from keras_vaf.visualization import plot_activation, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PICTURE = Path(__file__).parent / "images" / "vaf.png"
REGRESSIONS = REPORTS / "reproduction/regression-ours-jax.json.xz"
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
    found = results()
    for ax, (pair, title) in zip(axes[1:], PANELS, strict=True):
        draw_gains(found, pair, ax)
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


def results() -> Results:
    """Return the results of the regressions under protocol `ours`."""
    experiment = find_experiment("regression")
    done = read_reproduction(experiment, Form("ours"), [REGRESSIONS])
    return selected_results(
        done.reports, experiment.metric, references=experiment.references
    )


if __name__ == "__main__":
    main()
