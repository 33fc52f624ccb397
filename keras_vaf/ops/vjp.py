"""`vjp`, reverse-mode differentiation of a function of tensors, on each backend."""

from collections.abc import Callable
from typing import Any

import keras

from keras_vaf.types import Tensor


def vjp(
    function: Callable[..., Tensor], arguments: tuple[Any, ...], upstream: Tensor
) -> tuple[Any, ...]:
    """Return the gradient of `sum(upstream * function(*arguments))`.

    Args:
        function: A differentiable function; its value has the shape of `upstream`.
        arguments: Tensors, or lists of tensors.
        upstream: Weight of each element of the value.

    Returns:
        One entry for each argument, of the same structure; zeros where the value does
        not depend on it.
    """
    backend = keras.backend.backend()
    if backend == "jax":
        import jax

        return jax.vjp(function, *arguments)[1](upstream)
    if backend == "tensorflow":
        import tensorflow as tf

        with tf.GradientTape() as tape:
            tape.watch(arguments)
            value = function(*arguments)
        return tape.gradient(value, arguments, upstream, unconnected_gradients="zero")
    import torch

    return torch.func.vjp(function, *arguments)[1](upstream)
