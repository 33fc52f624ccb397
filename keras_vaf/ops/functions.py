"""`get_function` and other functions that find, name and evaluate functions."""

import contextlib
import functools
import operator
import warnings
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_vaf.ops.activations import ALIASES, BY_NAME, NAMES, Function, name_of
from keras_vaf.types import Tensor
from keras_vaf.utils import did_you_mean

HOW_TO_REGISTER = (
    "Register it with `@keras.saving.register_keras_serializable(package='my_package')`"
)
GRID = np.concatenate([np.sinh(np.linspace(-3, 3, 801)), (-1000, -30, 30, 1000)])
"""Functions with equal values at these points are treated as equal."""
_FRAMEWORKS = ("jax", "keras", "numpy", "scipy", "tensorflow", "torch")


@keras.saving.register_keras_serializable(package="keras_vaf")
def approximate_gelu(x: Tensor) -> Tensor:
    """Return `keras.ops.gelu(x, approximate=True)`, under a name for saved models."""
    return ops.gelu(x, approximate=True)


def get_function(
    identifier: str | Function,
    argument: str,
    others: tuple[str, ...] = (),
    saved: bool = True,
) -> Function:
    """Find a function of one variable by its name, or raise a `ValueError`.

    A function of a framework, such as `torch.relu` or `keras.ops.relu`, is recognized
    by its values and becomes the named function. So does any other callable object
    that is not registered, such as a `functools.partial`. If it must be `saved` with a
    model, it is refused otherwise. Errors name the `argument` and its `others` values.
    """
    if isinstance(identifier, str):
        function = get_registered(ALIASES.get(identifier, identifier))
        if callable(function) and not isinstance(function, type):
            return function
    elif callable(identifier) and not isinstance(identifier, type | keras.layers.Layer):
        if name_of(identifier) or registered_name(identifier) or _is_own(identifier):
            return identifier
        of_keras = getattr(keras.activations, getattr(identifier, "__name__", ""), None)
        unknown = identifier if not saved and of_keras is not identifier else None
        if found := recognize(identifier, tolerance=1e-6) or unknown:
            return found
    names = (*others, *NAMES)
    raise ValueError(
        f"`{argument}` must be a function that acts on each element alone: one of "
        f"{', '.join(names)}; or a registered function, itself or its registered name. "
        f"{HOW_TO_REGISTER}.{did_you_mean(identifier, (*names, *ALIASES))} "
        f"Received: {argument}={identifier!r}"
    )


def stored_form(
    identifier: str | Function, argument: str, others: tuple[str, ...] = ()
) -> str | Function:
    """Return a name as it is, and a function as `get_function` finds it."""
    if isinstance(identifier, str) and identifier in others:
        return identifier
    function = get_function(identifier, argument, others)
    return identifier if isinstance(identifier, str) else function


def _is_own(function: Any) -> bool:
    """Return whether a callable is a Python function of the user."""
    package = str(getattr(function, "__module__", "")).partition(".")[0]
    written = isinstance(function, FunctionType | MethodType)
    return written and package not in _FRAMEWORKS


def recognize(function: Function, tolerance: float = 0.0) -> Function | None:
    """Return the known function that has the values of a function, or `None`."""
    try:
        with warnings.catch_warnings(action="ignore"):
            y = evaluate(function, GRID)
    except Exception:  # a function of another framework may raise any error
        return None
    known_functions = [*(each.value for each in BY_NAME.values()), approximate_gelu]
    name = getattr(function, "__name__", "")
    known_functions.sort(key=lambda each: each.__name__ != name)
    for known in known_functions if y.shape == GRID.shape else ():
        if np.allclose(y, _known_values(known), tolerance, tolerance, equal_nan=True):
            return known
    return None


@functools.lru_cache(maxsize=256)
def _known_values(function: Function) -> np.ndarray:
    return evaluate(function, GRID)


def function_identifier(function: str | Function, argument: str) -> str:
    """Return the name under which a saved model finds a function again."""
    if isinstance(function, str):
        return function
    name = name_of(function) or registered_name(function)
    if name is None:
        raise ValueError(
            f"`{argument}` cannot be saved: only named activations and registered "
            f"functions can be found again. {HOW_TO_REGISTER}, outside of any "
            f"other function. Received: {argument}={function!r}"
        )
    return name


def check_can_be_found(value: Any, argument: str) -> None:
    """Raise a `ValueError` for a callable that a saved model could never find again."""
    allowed = value is None or hasattr(value, "get_config") or _is_own(value)
    if not allowed and registered_name(value) is None:
        raise ValueError(
            f"`{argument}` must be an object with a `get_config`, or a function that a "
            f"saved model can find again. {HOW_TO_REGISTER}. "
            f"Received: {argument}={value!r}"
        )


def registered_name(function: Any) -> str | None:
    """Return the name under which Keras finds a function again, or `None`."""
    try:
        name = keras.saving.get_registered_name(function)
    except (AttributeError, TypeError):  # it has no name, or it has no hash
        return None
    return name if keras.saving.get_registered_object(name) is function else None


def get_registered(name: str) -> Any:
    """Return the activation or registered object with a given name, or `None`."""
    known = BY_NAME.get(name)
    return known.value if known else keras.saving.get_registered_object(name)


def evaluate(function: Callable[..., Any], *arrays: Any) -> np.ndarray:
    """Return a tensor function of arrays in float64, also while a model is traced."""
    with _double_precision() as run:
        tensors = [ops.convert_to_tensor(np.asarray(a, "float64")) for a in arrays]
        y = run(function, *tensors) if arrays else function()
        return np.asarray(ops.convert_to_numpy(y), "float64")


@contextlib.contextmanager
def _double_precision() -> Iterator[Callable[..., Any]]:
    """Yield a function that calls a function of float64 tensors."""
    backend, call = keras.backend.backend(), operator.call
    if backend == "jax":
        import jax

        from keras_vaf.ops.float64_on_jax import in_float64

        with jax.ensure_compile_time_eval(), jax.enable_x64(True):
            yield in_float64
    elif backend == "tensorflow":
        import tensorflow as tf

        with tf.init_scope():
            yield call
    elif backend == "torch":
        import torch

        with torch.no_grad(), keras.device("cpu"):
            yield call
    else:
        yield call
