"""`effects`, which draws the starts, penalties and constraints of the reference."""

from collections.abc import Callable, Sequence

import keras
import numpy as np
from small_pictures import picture_of

from keras_vaf import constraints, initializers, regularizers
from keras_vaf.layers import SplineActivation, VAFActivation
from keras_vaf.visualization import style

_X = np.linspace(-4, 4, 401)
_BENT = np.array([[-1.0, 1, 1], [-1, 0, -1.5], [1.6, 2, -3.6]])
_STRAIGHT = np.array([[-1.0, 1, 1], [-1, 0, -1.5], [-0.3, 1, 0.2]])

# Names and values of curves.
Curves = dict[str, np.ndarray]


def effects() -> dict[str, bytes]:
    """Return a PNG for each start, penalty and constraint, by the name of its class."""
    names = ("pre-activation a", "f(a)")
    functions = {name: draw() for name, draw in _FUNCTIONS.items()}
    found = {name: _draw(_X, curves, *names) for name, curves in functions.items()}
    for name, (x, draw, *labels) in _OTHERS.items():
        found[name] = _draw(x, draw(), *labels)
    return found


def _draw(x: Sequence[float], curves: Curves, xlabel: str, ylabel: str) -> bytes:
    marker = "o" if len(x) < 9 else ""
    drawn = [
        (curve, {"label": label, "color": color, "marker": marker})
        for (label, curve), color in zip(curves.items(), style.CYCLE, strict=False)
    ]
    return picture_of(drawn, x, xlabel=xlabel, ylabel=ylabel)


def _starts(**starts: initializers.Start) -> Curves:
    """Return the functions of VAFs with k = 3 and these starts."""
    layers = {name: VAFActivation(initialization=each) for name, each in starts.items()}
    return {
        name.replace("_", " "): layer.function(_X) for name, layer in layers.items()
    }


def _with_weights(layer: VAFActivation, weights: Sequence[np.ndarray]) -> VAFActivation:
    layer.set_weights([*map(np.asarray, weights), np.zeros(())])
    return layer


def _penalized(penalty: Callable[[VAFActivation], float]) -> Curves:
    """Return two functions, named by their penalties."""
    layers = [_with_weights(VAFActivation(), each) for each in (_STRAIGHT, _BENT)]
    return {_number(penalty(each)): each.function(_X) for each in layers}


def _number(penalty: float) -> str:
    return f"penalty {float(keras.ops.convert_to_numpy(penalty)):.1f}"


def _damped() -> Curves:
    layers = [SplineActivation(sharing="layer") for _ in range(2)]
    points = layers[1].get_weights()[0]
    noise = np.random.default_rng(0).normal(size=points.shape)
    layers[1].set_weights([points + 0.5 * noise])
    penalty = regularizers.Damping(1.0)
    return {_number(penalty(each)): each.function(_X) for each in layers}


def _constrained(constraint: keras.constraints.Constraint, w: np.ndarray) -> Curves:
    after = keras.ops.convert_to_numpy(constraint(keras.ops.convert_to_tensor(w)))
    return {"before": w, "after": after}


_FUNCTIONS: dict[str, Callable[[], Curves]] = {
    "GStart": lambda: {
        f'g = "{g}"': VAFActivation(g=g).function(_X) for g in ("relu", "silu", "tanh")
    },
    "FunctionStart": lambda: _starts(
        leaky_relu=initializers.FunctionStart("leaky_relu"),
        tanh=initializers.FunctionStart("tanh"),
    ),
    "PiecewiseLinearStart": lambda: _starts(
        three_lines=initializers.PiecewiseLinearStart([-1, 1], [0.3, -0.5, 1])
    ),
    "RandomStart": lambda: _starts(
        plain=initializers.RandomStart(seed=1),
        rescaled=initializers.RandomStart(seed=1, rescale=True),
    ),
    "SlopeVariation": lambda: _penalized(regularizers.SlopeVariation(1.0)),
    "Damping": _damped,
}
_WEIGHTS = np.array([1.0, 0.7, 0.4, 0.1, -0.3], "float32")
_OTHERS = {
    "Interval": (
        _X,
        lambda: _constrained(constraints.Interval(-1, 2), _X),
        *("weight before the constraint", "weight"),
    ),
    "Simplex": (
        range(5),
        lambda: _constrained(constraints.Simplex(), _WEIGHTS),
        *("number of the weight", "weight"),
    ),
}
