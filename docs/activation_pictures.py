"""A picture of each activation layer: its start, and what else it can become."""

import io

import keras
import numpy as np
from matplotlib import pyplot

from keras_vaf import layers
from keras_vaf.visualization import style

# Places, and functions drawn of each layer.
_X = np.linspace(-4, 4, 401)
_FUNCTIONS = 4

_ARGUMENTS = {
    "VAFActivation": {"k": 5, "initialization": "relu"},
    "APL": {"seed": 0},
    "KAF": {"initialization": "tanh"},
    "PolynomialActivation": {"degree": 3},
}
# How far from the start the other functions are, where 0.5 is too far or too near.
_SPREAD = {"PELU": 0.25, "PolynomialActivation": 0.08, "SplineActivation": 0.15}

# Names and colours of curves.
Labels = list[tuple[str, str]]


def pictures() -> dict[str, bytes]:
    """Return a PNG for each activation layer, by the name of its class."""
    return {name: _draw(name) for name in drawn()}


def drawn() -> list[str]:
    """Return the names of the layers that have a picture: all but their base."""
    return [name for name in layers.__all__ if name != "TrainableActivation"]


@style.styled
def _draw(name: str) -> bytes:
    curves, labels = _curves(name)
    figure, ax = pyplot.subplots(figsize=(7, 2.8))
    for curve, (label, color) in zip(curves.T, labels, strict=True):
        width = 2.5 if label == "start" else 1.2
        ax.plot(_X, curve, color=color, lw=width, label=label)
    ax.set_xlabel("pre-activation a")
    ax.set_ylabel("f(a)")
    ax.set_xlim(_X[0], _X[-1])
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=100)
    pyplot.close(figure)
    return file.getvalue()


def _curves(name: str) -> tuple[np.ndarray, Labels]:
    if name == "Maxout":
        return _network(keras.layers.Dense(3 * 4), layers.Maxout(k=4))
    if name == "MLPConv":
        return _network(layers.MLPConv(filters=(8, 8, 3), kernel_size=1))
    return _trainable(name)


def _trainable(name: str) -> tuple[np.ndarray, Labels]:
    """Return the function that a layer starts as and others, by chance."""
    layer = getattr(layers, name)(sharing="channel", **_ARGUMENTS.get(name, {}))
    layer.build((None, _FUNCTIONS))
    generator = np.random.default_rng(2)
    for weight in layer.trainable_variables:
        value = keras.ops.convert_to_numpy(weight).copy()
        value[1:] = value[0] + _SPREAD.get(name, 0.5) * generator.normal(
            size=value[1:].shape
        )
        weight.assign(weight.constraint(value) if weight.constraint else value)
    others = [
        ("other parameters", style.ORANGE),
        *[("_", style.ORANGE)] * (_FUNCTIONS - 2),
    ]
    return layer.function(_X), [("start", style.BLUE), *others]


def _network(*parts: keras.layers.Layer) -> tuple[np.ndarray, Labels]:
    """Return what random layers compute of one number."""
    model = keras.Sequential([keras.Input((1, 1, 1)), *parts])
    generator = np.random.default_rng(1)
    model.set_weights(
        [0.7 * generator.normal(size=each.shape) for each in model.get_weights()]
    )
    outputs = model(_X.reshape(-1, 1, 1, 1))
    curves = keras.ops.convert_to_numpy(outputs).reshape(len(_X), -1)
    names = (f"unit {i + 1}" for i in range(curves.shape[1]))
    return curves, list(zip(names, style.CYCLE, strict=False))
