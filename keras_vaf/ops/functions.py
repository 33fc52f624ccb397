"""`get_function` and other functions that find, name and evaluate functions."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_vaf.ops.activations import ALIASES, BY_NAME, NAMES, name_of
from keras_vaf.ops.fixed_function import Function
from keras_vaf.utils import did_you_mean

HOW_TO_REGISTER = (
    "Register it with `@keras.saving.register_keras_serializable(package='my_package')`"
)


def get_function(
    identifier: str | Function, argument: str, others: tuple[str, ...] = ()
) -> Function:
    """Find a function of one variable.

    Args:
        identifier: Name of an element-wise Keras activation (`"relu"`), `"cos"`,
            `"erf"`, `"relu_squared"`, `"sin"`, `"square"`, registered name of a
            function (`"my_package>bump"`), or a function.
        argument: Name of the argument, for the error message.
        others: Further names that the argument may have, for the error message.

    Returns:
        A callable that maps a tensor to one of the same shape.

    Raises:
        ValueError: If the function is unknown or does not act on each element alone.
    """
    if isinstance(identifier, str):
        function = get_registered(ALIASES.get(identifier, identifier))
        if callable(function) and not isinstance(function, type):
            return function
    elif isinstance(identifier, keras.layers.Layer):
        raise ValueError(
            f"`{argument}` must be a function or its name, such as 'relu' in place of "
            f"keras.layers.ReLU(). Received: {argument}={identifier!r}"
        )
    elif callable(identifier) and not isinstance(identifier, type):
        name = getattr(identifier, "__name__", "")
        if getattr(keras.activations, name, None) is not identifier or name in NAMES:
            return identifier
    names = (*others, *NAMES)
    raise ValueError(
        f"`{argument}` must be a function that acts on each element alone: one of "
        f"{', '.join(names)}; or a registered function, itself or its registered name. "
        f"{HOW_TO_REGISTER}.{did_you_mean(identifier, (*names, *ALIASES))} "
        f"Received: {argument}={identifier!r}"
    )


def function_identifier(function: str | Function, argument: str) -> str:
    """Return the name under which a saved model finds a function again.

    Raises:
        ValueError: If the function is a lambda or not registered: its code is never
            stored.
    """
    if isinstance(function, str):
        return function
    name = name_of(function) or keras.saving.get_registered_name(function)
    if get_registered(name) is not function:
        raise ValueError(
            f"`{argument}` cannot be saved: only named activations and registered "
            f"functions can be found again. {HOW_TO_REGISTER}, outside of any "
            f"other function. Received: {argument}={function!r}"
        )
    return name


def get_registered(name: str) -> Any:
    """Return the activation or registered object with a given name, or `None`."""
    if name in BY_NAME:
        return BY_NAME[name].value
    return keras.saving.get_registered_object(name)


def evaluate(function: Callable[..., Any], *arrays: Any) -> np.ndarray:
    """Return the value of a tensor function on NumPy arrays, in double precision.

    This also works while a model is traced or compiled, when tensors are symbolic.

    Args:
        function: A function of tensors.
        *arrays: Numbers or arrays.

    Returns:
        A float64 array.
    """
    with _double_precision():
        tensors = [ops.convert_to_tensor(np.asarray(a, "float64")) for a in arrays]
        return np.asarray(ops.convert_to_numpy(function(*tensors)), "float64")


@contextlib.contextmanager
def _double_precision() -> Iterator[None]:
    backend = keras.backend.backend()
    with contextlib.ExitStack() as stack:
        if backend == "jax":
            import jax

            stack.enter_context(jax.ensure_compile_time_eval())
            stack.enter_context(jax.enable_x64(True))
        elif backend == "tensorflow":
            import tensorflow as tf

            stack.enter_context(tf.init_scope())
        elif backend == "torch":
            import torch

            stack.enter_context(torch.no_grad())
            stack.enter_context(keras.device("cpu"))
        yield
