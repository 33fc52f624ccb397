"""`pointwise`, the operation behind every trainable activation, on each backend."""

from collections.abc import Sequence

import keras
from keras import ops

from keras_vaf.ops.equation import Pointwise
from keras_vaf.ops.gradient import plain_forward
from keras_vaf.ops.layout import Layout
from keras_vaf.ops.switches import is_plain
from keras_vaf.types import Tensor


def pointwise(
    function: Pointwise,
    x: Tensor,
    parameters: Sequence[Tensor],
    unshared: Sequence[int] = (),
    training: bool = False,
) -> Tensor:
    """Apply f(x; parameters) to every element of x, and store only x for the gradient.

    Args:
        function: The function f.
        x: Tensor of floats, of any rank.
        parameters: Tensors of shape `(*sizes of the unshared axes, ...)`, with at most
            one further axis, all of one dtype.
        unshared: Axes of x along which the parameters differ, ascending.
        training: Whether this call is part of training. Only TensorFlow uses this: no
            graph knows whether it will be exported, so those of inference consist of
            standard operators.

    Returns:
        f(x), of the shape and dtype of x.
    """
    layout = Layout(len(x.shape), tuple(unshared))
    backend = keras.backend.backend()
    if is_plain() or backend not in ("jax", "tensorflow", "torch"):  # also symbolic
        return plain_forward(function, layout, x, *parameters)
    tensors = [  # the value of a variable is less work than a conversion
        p.value if isinstance(p, keras.Variable) else ops.convert_to_tensor(p)
        for p in (x, *parameters)
    ]
    if backend == "jax":
        from keras_vaf.ops.backends import on_jax

        return on_jax.apply(function, layout, training, *tensors)
    if backend == "tensorflow":
        from keras_vaf.ops.backends import on_tensorflow

        return on_tensorflow.apply(function, layout, training, *tensors)
    from keras_vaf.ops.backends import on_torch

    return on_torch.apply(function, layout, training, *tensors)
