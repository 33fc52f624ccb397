"""`curves_table`, the pictures of activations before and after training."""

from collections.abc import Iterator, Sequence

import keras
import numpy as np
import pandas
from matplotlib.figure import Figure

from keras_vaf.datasets import Dataset
from keras_vaf.experiments.networks import refit
from keras_vaf.experiments.results import Selection, select, settings_of
from keras_vaf.experiments.tables import Text
from keras_vaf.layers import TrainableActivation
from keras_vaf.paper.parts import Part, Reproduction, Trained, fully_connected, lines_of
from keras_vaf.paper.sensorless import sensorless
from keras_vaf.visualization import style

HIDDEN = (25, 10)  # widths of the network whose activations are drawn
_COLUMNS = ["dataset", "activation", "layer", "change", "unlike"]
_NOTE = (
    "Each network is trained again on all rows, for the median of the best epochs of "
    "the folds. Change: root mean square difference between the learned function and "
    "its start over its inputs, in standard deviations of the start. Unlike: share of "
    "the variance that no leaky ReLU explains, with any two slopes and offset."
)


def curves(dataset: Dataset, quick: bool) -> list[Part]:
    """Return the part whose activations are drawn.

    They are VAFs of all starts in the network 25-10, and on Sensorless those of five
    hidden units, shared by layer, in a network of 10 (in the quick form, of 5). Other
    experiments train them too, so that nothing is trained again in their folder.
    """
    if dataset.name == "sensorless":
        part = sensorless(dataset, quick)[0 if quick else 1]
        arms = [arm for arm in part.arms if arm.name.endswith("-layer-5")]
    else:
        parts = fully_connected(dataset, quick)
        [part] = (each for each in parts if each.recipe.hidden == HIDDEN)
        arms = [arm for arm in part.arms if arm.layer == "VAFActivation"]
    return [Part("curves", tuple(arms), part.recipe)]


def curves_table(trained: Sequence[Trained], selection: Selection) -> Reproduction:
    """Return a picture of each dataset, and a row for each hidden layer.

    Columns are `dataset`, `activation`, `layer` (counted from 1), `change`, `unlike`.
    """
    rows, figures = [], {}
    for dataset, part, records in trained:
        drawn = []
        for arm in part.arms:
            own = select(records[records["activation"] == arm.name], selection)
            network = refit(dataset, arm, part.recipe, *settings_of(own))
            for place, each in enumerate(learned_layers(network, dataset.x), start=1):
                drawn.append((f"{arm.title}, layer {place}", *each))
                numbers = change(*each), unlike(*each)
                rows.append([dataset.name, arm.name, place, *numbers])
        figures[dataset.name] = picture(drawn, len(part.recipe.hidden))
    table = pandas.DataFrame(rows, columns=_COLUMNS)
    return Reproduction(table, Text("", *lines_of(table), [_NOTE]), figures)


def learned_layers(
    network: keras.Model, x: np.ndarray
) -> Iterator[tuple[TrainableActivation, np.ndarray]]:
    """Yield each trainable activation of a sequential network, and its inputs."""
    for layer in network.layers:
        if isinstance(layer, TrainableActivation):
            yield layer, keras.ops.convert_to_numpy(x)
        x = layer(x)


def start_of(learned: TrainableActivation) -> TrainableActivation:
    """Return a shared activation before its training, from the seed of its start."""
    return type(learned).from_config(learned.get_config())


def change(learned: TrainableActivation, inputs: np.ndarray) -> float:
    """Return how far a function is from its start, in deviations of the start."""
    before, after = (f.function(inputs) for f in (start_of(learned), learned))
    return float(np.sqrt(np.mean((after - before) ** 2)) / (before.std() or 1.0))


def unlike(learned: TrainableActivation, inputs: np.ndarray) -> float:
    """Return the share of the variance that no a max(x, 0) + b min(x, 0) + c has."""
    x = np.ravel(inputs)
    y = learned.function(x)
    parts = np.stack([np.maximum(x, 0), np.minimum(x, 0), np.ones_like(x)], axis=1)
    rest = y - parts @ np.linalg.lstsq(parts, y, rcond=None)[0]
    return float(np.mean(rest**2) / (y.var() or 1.0))


@style.styled
def picture(
    drawn: Sequence[tuple[str, TrainableActivation, np.ndarray]], columns: int
) -> Figure:
    """Draw functions and their starts, from title, activation and inputs of each."""
    rows = -(-len(drawn) // columns)
    figure = Figure((5 * columns, 2 * rows))
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax, (title, learned, inputs) in zip(axes, drawn, strict=True):
        x = np.linspace(*style.range_of(np.ravel(inputs)), 300)
        ax.plot(x, learned.function(x), color=style.BLUE, label="f")
        style.draw_start(x, start_of(learned).function(x), ax)
        ax.set_title(title, fontsize=9)
    style.legend_below(figure, [*axes])
    return figure
