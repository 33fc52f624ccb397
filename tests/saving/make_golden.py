"""Writes the small model files that every later version must load.

    KERAS_BACKEND=jax python -m tests.saving.make_golden

Run once per release: the files of a version are never written again. What a file must
predict is computed by `tests/reference.py` from the weights, not by the package.
"""

import json
from pathlib import Path

import keras
import numpy as np

import keras_vaf
from keras_vaf.initializers import FunctionStart, PiecewiseLinearStart, RandomStart
from keras_vaf.layers import VAFActivation
from tests import reference

FOLDER = Path(__file__).parent / "golden"

CASES = {
    "layer": ((5,), {"initialization": RandomStart(seed=1)}),
    "channel": (
        (3, 4),
        {"sharing": "channel", "g": "tanh", "initialization": RandomStart(seed=2)},
    ),
    "channels_first": (
        (4, 3, 2),
        {
            "sharing": "channel",
            "data_format": "channels_first",
            "initialization": RandomStart(seed=3),
        },
    ),
    "neuron": (
        (2, 3),
        {"sharing": "neuron", "k": 5, "g": "silu", "initialization": RandomStart(4)},
    ),
    "axes": ((3, 4), {"sharing": (1,), "k": 4, "initialization": FunctionStart("elu")}),
    "line": (
        (4,),
        {
            "initialization": PiecewiseLinearStart([0], [0.3, 1]),
            "alpha_regularizer": keras.regularizers.L1(0.01),
            "beta_constraint": keras.constraints.MaxNorm(2.0),
            "function_regularizer": keras_vaf.regularizers.SlopeVariation(0.1),
        },
    ),
}


def sample(shape):
    """Input on which the files are compared: two samples of that shape."""
    return np.sin(np.arange(2 * np.prod(shape))).reshape(2, *shape).astype("float32")


def expected(layer, x):
    """Prediction of a layer's weights by the reference."""
    weights = [np.asarray(weight, "float64") for weight in layer.get_weights()]
    unshared = tuple(
        axis
        for axis in range(1, x.ndim)
        if axis in getattr(layer.input_spec, "axes", {})
    )
    g = layer.get_config()["g"]
    return reference.vaf(x.astype("float64"), *weights, g, unshared)


def main():
    """Write the files of this version and what they predict."""
    folder = FOLDER / keras_vaf.__version__
    folder.mkdir(parents=True)
    predictions = {}
    for name, (shape, arguments) in CASES.items():
        model = keras.Sequential([keras.Input(shape), VAFActivation(**arguments)])
        model.save(folder / f"{name}.keras")
        y = expected(model.layers[0], sample(shape))
        predictions[name] = {"shape": shape, "prediction": y.tolist()}
    (folder / "predictions.json").write_text(json.dumps(predictions, indent=1) + "\n")


if __name__ == "__main__":
    main()
