"""`pictures`, which draws each activation layer at its start and elsewhere."""

import keras
import numpy as np
from small_pictures import picture_of

from keras_vaf import layers
from keras_vaf.models.formulas.formula import short_formula
from keras_vaf.visualization import style

# Places, and functions drawn of each layer.
_X = np.linspace(-4, 4, 401)
_FUNCTIONS = 4

# Names and colours of curves.
Labels = list[tuple[str, str]]


def pictures() -> dict[str, bytes]:
    """Return a PNG for each activation layer, by the name of its class."""
    return {member.layer.__name__: _draw(member) for member in layers.ACTIVATIONS}


def _draw(member: layers.Member) -> bytes:
    curves, labels = _curves(member)
    drawn = [
        (
            curve,
            {"label": label, "color": color, "lw": 2.5 if label == "start" else 1.2},
        )
        for curve, (label, color) in zip(curves.T, labels, strict=True)
    ]
    texts = {"xlabel": "pre-activation a", "ylabel": "f(a)"}
    return picture_of(drawn, _X, title=start_formula(member), **texts)


def start_formula(member: layers.Member) -> str:
    """Return the formula of the start of a layer, or "" if it is long."""
    if not issubclass(member.layer, layers.TrainableActivation):
        return ""
    text = short_formula(member.layer(sharing="layer", **member.picture))
    return f"start: {text}" if text else ""


def _curves(member: layers.Member) -> tuple[np.ndarray, Labels]:
    if issubclass(member.layer, layers.TrainableActivation):
        return _trainable(member)
    layer = member.layer(**member.picture)
    if isinstance(layer, layers.Maxout):
        return _network(keras.layers.Dense(3 * layer.k), layer)
    return _network(layer)


def _trainable(member: layers.Member) -> tuple[np.ndarray, Labels]:
    """Return the function that a layer starts as, and random others."""
    layer = member.layer(sharing="channel", **member.picture)
    layer.build((None, _FUNCTIONS))
    generator = np.random.default_rng(2)
    for weight in layer.trainable_variables:
        value = keras.ops.convert_to_numpy(weight).copy()
        value[1:] = value[0] + member.spread * generator.normal(size=value[1:].shape)
        weight.assign(weight.constraint(value) if weight.constraint else value)
    others = [
        ("other parameters", style.ORANGE),
        *[("_", style.ORANGE)] * (_FUNCTIONS - 2),
    ]
    return layer.function(_X), [("start", style.BLUE), *others]


def _network(*parts: keras.layers.Layer) -> tuple[np.ndarray, Labels]:
    """Return the outputs of layers with random weights, for one number."""
    model = keras.Sequential([keras.Input((1, 1, 1)), *parts])
    generator = np.random.default_rng(1)
    model.set_weights(
        [0.7 * generator.normal(size=each.shape) for each in model.get_weights()]
    )
    outputs = model(_X.reshape(-1, 1, 1, 1))
    curves = keras.ops.convert_to_numpy(outputs).reshape(len(_X), -1)
    names = (f"unit {i + 1}" for i in range(curves.shape[1]))
    return curves, list(zip(names, style.CYCLE, strict=False))
