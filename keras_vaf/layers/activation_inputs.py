"""`activation_inputs`, which samples the inputs of a model's trainable activations."""

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import keras
import numpy as np

from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.layers.traversal import find_layers

FUNCTIONS, _VALUES = 64, 50_000  # most that are sampled of a layer, evenly spaced
_EACH = 500  # values of each function, if more functions are sampled
_BATCH = 256


def trainable_activations(model: keras.Model) -> dict[str, TrainableActivation]:
    """Return the trainable activations of a model by their paths.

    Raises:
        ValueError: If `model` is not a model, or has no trainable activation.
    """
    if not isinstance(model, keras.layers.Layer):
        raise ValueError(
            "Expected a model. Load a file with keras.saving.load_model first. "
            f"Received: model={model!r}"
        )
    found = find_layers(model, TrainableActivation)
    if not found:
        raise ValueError(
            "Expected a model with a trainable activation of keras_vaf.layers. "
            "`keras_vaf.models.convert` puts such activations into a model. "
            f"Received: model={model.name!r} with none"
        )
    return found


def activation_inputs(
    model: keras.Model,
    data: Any,
    functions: int = FUNCTIONS,
    instead: Mapping[int, Callable[[Any], Any]] | None = None,
) -> dict[str, np.ndarray]:
    """Run a model and return a sample of the inputs of each trainable activation.

    Activations are found anywhere in the model: in nested models, in other layers, and
    in layers that the code of a subclassed model calls. An activation may be used
    several times.

    Args:
        model: Any model.
        data: Inputs of the model, as arrays in the structure that the model takes.
        functions: Largest number of functions of a layer that are sampled.
        instead: Functions that are computed in place of layers, by the `id` of these.

    Returns:
        A dictionary from the path of each layer (see `find_layers`) to a float32 array
        of shape `(values, functions)`. A layer with several functions has one column
        per function. An array has about 50,000 values at most, or 500 per function.
        Layers that the model did not call are left out.
    """
    data = arrays_of(data)
    rows = len(keras.tree.flatten(data)[0])

    def run(start: int, stop: int) -> None:
        part = keras.tree.map_structure(lambda array: array[start:stop], data)
        model(part, training=False)

    with _eagerly(model):
        if not model.built:
            run(0, 1)
        layers = find_layers(model, TrainableActivation)
        seen: dict[str, list[np.ndarray]] = {path: [] for path in layers}
        count = math.ceil(rows / _BATCH)
        size = rows // count  # equal batches, because JAX compiles for each size

        def sample(values: np.ndarray, unshared: Sequence[int]) -> np.ndarray:
            return thinned(by_function(values, unshared, functions), count)

        with _recording(layers, seen, sample, instead or {}):
            for start in range(0, count * size, size):
                run(start, start + size)
    return {
        path: thinned(np.concatenate(values)) for path, values in seen.items() if values
    }


def arrays_of(data: Any) -> Any:
    """Return inputs of a model as NumPy arrays with the same number of rows."""
    leaves = keras.tree.flatten(data)
    if all(np.ndim(leaf) == 0 for leaf in leaves):  # the rows of a single array
        data = np.asarray(data)
    arrays = keras.tree.map_structure(keras.ops.convert_to_numpy, data)
    shapes = [array.shape for array in keras.tree.flatten(arrays)]
    if len({shape[:1] for shape in shapes}) != 1 or shapes[0][:1] in ((), (0,)):
        raise ValueError(
            "`data` must be arrays with the same number of rows, at least one. "
            f"Received: a {type(data).__name__} with arrays of shapes {shapes}"
        )
    return arrays


def check_finite_inputs(inputs: dict[str, np.ndarray]) -> None:
    """Raise a `ValueError` that names an activation whose inputs are not finite."""
    for path, values in inputs.items():
        if not np.isfinite(values).all():
            raise ValueError(
                "The inputs of an activation must be finite: check `data`. Received: "
                f"NaN or infinite inputs of {path}"
            )


def chosen_functions(count: int, most: int = FUNCTIONS) -> np.ndarray:
    """Return the indices of the functions that are sampled, of a number of them."""
    return np.linspace(0, count - 1, min(count, most)).round().astype(int)


@contextlib.contextmanager
def _recording(
    layers: dict[str, TrainableActivation],
    seen: dict[str, list[np.ndarray]],
    sample: Callable[[np.ndarray, Sequence[int]], np.ndarray],
    instead: Mapping[int, Callable[[Any], Any]],
) -> Iterator[None]:
    """Record samples of the inputs of the layers while the model is called."""

    def recording(layer: TrainableActivation, values: list[np.ndarray]) -> Callable:
        call = instead.get(id(layer))

        def record_and_call(x: Any, *args: Any, **kwargs: Any) -> Any:
            # While Keras builds a layer, tensors do not have values yet.
            with contextlib.suppress(TypeError, ValueError, NotImplementedError):
                array = keras.ops.convert_to_numpy(x).astype("float32")
                values.append(sample(array, layer._unshared_axes))
            return call(x) if call else type(layer).call(layer, x, *args, **kwargs)

        return record_and_call

    for path, layer in layers.items():
        layer.call = recording(layer, seen[path])  # type: ignore[method-assign]
    try:
        yield
    finally:
        for layer in layers.values():
            del layer.call


def by_function(
    values: np.ndarray, unshared: Sequence[int], most: int = FUNCTIONS
) -> np.ndarray:
    """Return inputs as `(values, functions)`: a column for each chosen function."""
    last = range(values.ndim - len(unshared), values.ndim)
    count = math.prod(values.shape[axis] for axis in unshared)
    values = np.moveaxis(values, unshared, last).reshape(-1, count)
    return values[:, chosen_functions(count, most)]


def thinned(values: np.ndarray, parts: int = 1) -> np.ndarray:
    """Return evenly spaced rows of one of several equal parts of a sample."""
    most = max(_VALUES, _EACH * values.shape[1]) // parts
    step = max(1, math.ceil(values.size / most))
    while math.gcd(step, len(values)) > 1:  # it would leave some channels out
        step += 1
    return values[::step]


@contextlib.contextmanager
def _eagerly(model: keras.Model) -> Iterator[None]:
    """Run a model without gradients, and run its loops over time steps eagerly."""
    backend = keras.backend.backend()
    if backend == "jax" and find_layers(model, keras.layers.RNN):
        import jax

        with jax.disable_jit():
            yield
    elif backend == "torch":
        import torch

        with torch.no_grad():
            yield
    else:
        yield
