"""`run` and other functions that run a model, and `read`, which finds its VAFs."""

from typing import Any

import keras
import numpy as np

from keras_vaf.layers import TrainableActivation, activation_inputs
from keras_vaf.layers.activation_inputs import check_finite_inputs
from keras_vaf.models.graphs.checks import functions_on_torch, is_graph


def run(model: keras.Model, data: Any = None) -> Any:
    """Return the outputs of a model on data, or else on samples of its inputs.

    A graph gets four random samples, or zeros for integers. Axes of unknown size get 32
    entries for images and volumes, and 8 otherwise. A model whose class defines `call`
    gets zeros of the shape that built it, and `data` may be a tuple of arguments.

    Raises:
        ValueError: If data do not fit the model, or if it cannot be called on samples.
    """
    if data is None:
        return _run_on_samples(model)
    shapes = check_data(data)
    several = isinstance(data, tuple) and not is_graph(model)
    try:
        return model(*(data if several else (data,)), training=False)
    except (TypeError, ValueError) as error:  # of shapes; others have other reasons
        shape = getattr(model, "input_shape", None)
        raise ValueError(
            f"`data` must be inputs of the model, of shape {shape}. Received: arrays "
            f"of shapes {shapes}"
        ) from error


def check_data(data: Any) -> str:
    """Return the shapes of data, which must be finite numbers, in one row at least."""
    arrays = [keras.ops.convert_to_numpy(each) for each in keras.tree.flatten(data)]
    shapes = ", ".join(str(each.shape) for each in arrays)
    finite = all(a.dtype.kind not in "OSU" and np.isfinite(a).all() for a in arrays)
    if finite and any(each.size for each in arrays):
        return shapes
    found = "no rows" if finite else "text, NaN or infinite values"
    raise ValueError(
        "`data` must be finite numbers, in at least one row: leave out rows with "
        f"missing entries. Received: {found} in arrays of shapes {shapes}"
    )


def _run_on_samples(model: keras.Model) -> Any:
    random = np.random.default_rng(0)

    def sample(entry: Any) -> np.ndarray:
        unknown = 32 if len(entry.shape) > 3 else 8
        shape = (4, *(size or unknown for size in entry.shape[1:]))
        if keras.backend.is_float_dtype(entry.dtype):
            return random.normal(size=shape).astype("float32")
        return np.zeros(shape, entry.dtype)

    try:
        if is_graph(model):
            # A Sequential model has no `input` before its first call.
            sequential = isinstance(model, keras.Sequential)
            inputs = model.inputs[0] if sequential else model.input
            samples = keras.tree.map_structure(sample, inputs)
        else:
            samples = keras.tree.map_shape_structure(
                lambda shape: keras.ops.zeros([size or 2 for size in shape]),
                model.get_build_config()["input_shape"],
            )
        return model(samples, training=False)
    except Exception as error:  # each backend raises other errors
        reason = str(error).strip().partition("\n")[0]
        raise ValueError(
            "The model cannot be called on samples of a size chosen here: give inputs "
            f"of the model as `data=`. Received: {model.name!r} ({reason})"
        ) from error


def outputs_of(model: keras.Model, data: Any) -> np.ndarray:
    """Return all outputs of a model in one float64 vector (see `run`)."""
    outputs = keras.tree.flatten(run(model, data))
    arrays = [keras.ops.convert_to_numpy(each) for each in outputs]
    return np.concatenate([each.astype("float64").ravel() for each in arrays])


def largest_gap(model: keras.Model, data: Any, expected: np.ndarray) -> float:
    """Return the largest difference of the outputs of a model from others."""
    gaps = np.abs(outputs_of(model, data) - expected)
    return float(np.max(gaps, initial=0.0))


def read(
    model: Any, data: Any = None, *options: Any
) -> tuple[dict[str, TrainableActivation], dict[str, np.ndarray]]:
    """Return trainable activations by their paths, and with data their inputs.

    Those of a module of PyTorch are layers with the functions of its VAFs. The options
    are further arguments of `activation_inputs`.

    Raises:
        ValueError: If it has no trainable activation, or if an input is not finite.
    """
    reader = functions_on_torch(model) or activation_inputs
    layers = reader.trainable_activations(model)
    if data is None:
        return layers, {}
    graph = is_graph(model)
    if graph:
        check_data(data)
    try:
        inputs = reader.activation_inputs(model, data, *options)
    except (TypeError, ValueError):
        if graph:
            run(model, data)  # says what is expected, if data are the reason
        raise
    check_finite_inputs(inputs)
    return layers, inputs
