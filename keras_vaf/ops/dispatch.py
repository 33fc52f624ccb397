"""`pointwise`, the operation behind every trainable activation, on each backend.

Each backend has kernels, for the calls that `case_of` names, and the formula, which it
differentiates. Its file `on_*.py` says where each of them acts.
"""

import importlib
from collections.abc import Sequence

import keras
from keras import ops

from keras_vaf.ops.equation import Layout, Pointwise, formula
from keras_vaf.types import Tensor

_BACKEND = keras.backend.backend()
_form = (
    importlib.import_module(f"keras_vaf.ops.on_{_BACKEND}")
    if _BACKEND in ("jax", "tensorflow", "torch")
    else None
)


def pointwise(
    function: Pointwise,
    x: Tensor,
    parameters: Sequence[Tensor],
    unshared: Sequence[int] = (),
    training: bool = False,
) -> Tensor:
    """Apply f(x; parameters) to every element of x.

    Args:
        function: The function f.
        x: Tensor of floats, of any rank.
        parameters: Tensors of shape `(*sizes of the unshared axes, ...)`, with at most
            one further axis, all of one dtype.
        unshared: Axes of x along which the parameters differ, ascending.
        training: Whether this call is part of training. Only TensorFlow uses this: a
            traced program without it consists of TensorFlow's own operators, because it
            may be exported. A gradient then takes several times as long as by kernels.

    Returns:
        f(x), of the shape and dtype of x.
    """
    layout = Layout(len(x.shape), tuple(unshared))
    if _form is None or isinstance(x, keras.KerasTensor):
        return formula(function, layout, x, *parameters)
    tensors = [  # the value of a variable is less work than a conversion
        p.value if isinstance(p, keras.Variable) else ops.convert_to_tensor(p)
        for p in (x, *parameters)
    ]
    return _form.apply(function, layout, training, *tensors)
