"""`is_small` and `is_medium`: which calls a backend differentiates by itself.

Each backend has three forms: native kernels, this package's gradient, and the plain
formula that the backend differentiates. The first that takes a call computes it. The
limits were measured on two processors.
"""

import math
from collections.abc import Sequence
from typing import TypeGuard

from keras_vaf.ops.activations import elementwise
from keras_vaf.ops.equation import Pointwise
from keras_vaf.ops.vaf import VAF
from keras_vaf.types import Tensor

SMALL = 65_536
"""Elements of an input, times hidden units, up to which TensorFlow and PyTorch do so.

The number of operations determines the time of such a call. A step of three layers with
128 x 128 elements takes TensorFlow 1.85 ms of processor time by the plain formula and
1.95 ms by this package's gradient (relu, k = 3, without kernels); with 32 x 16 elements
1.41 and 1.60 ms. A fourth form, all hidden units in one tensor, took 6 and 10 % less
time for relu, and between 6 % less and 9 % more for tanh. It was left out.

With a smooth g, native kernels take less time in training: an LSTM takes 1.66 instead
of 1.84 times that of tanh on PyTorch, and 1.14 instead of 1.44 times on TensorFlow. If
the second derivatives of a small network are trained, PyTorch takes 1.03 times as long
by the kernels, and TensorFlow 1.3 to 2.2 times. Only PyTorch uses them therefore.
"""
MEDIUM = 32_768
"""Elements up to which JAX differentiates a homogeneous g, as relu is, by itself.

The step of a network takes less time so with 32,768 elements in each layer, and more
with 65,536.
"""
MEDIUM_SMOOTH = 131_072
"""Elements up to which JAX keeps the values of a smooth g.

With tanh, JAX's own differentiation takes less time than this package's gradient at all
sizes from 4,096 to 262,144 elements. The limit is for memory: the kept values take k
times the memory of the input.
"""
ONE_PRODUCT = 16_384
"""Elements up to which PyTorch computes all hidden units by one product of matrices.

Above, a product and a sum are faster, because PyTorch vectorizes them.
"""
MOST_KEPT = 5
"""Tensors of the size of x up to which PyTorch keeps what it needs for the gradient.

The time of value and gradient, with this package's gradient and with PyTorch's own, in
ms of processor time for 8 x 32 x 32 x 32 elements: PELU (keeps 3) 1.6 and 0.8, SReLU
(4) 7.2 and 6.0, Snake (4) 3.5 and 2.3, ABU (5) 5.1 and 2.5; but KAF keeps 40 tensors
and `SplineActivation` 176.
"""
USUAL_SIZE = 128
"""Elements for which an unknown size counts. Batches are seldom much larger."""


def is_small(
    function: Pointwise,
    shape: Sequence[int | None],
    parameters: Sequence[Tensor],
    covered: bool = False,
) -> TypeGuard[VAF]:
    """Return whether TensorFlow or PyTorch differentiates a call by itself.

    Args:
        function: The function f.
        shape: Shape of the input. Unknown sizes count as 128.
        parameters: Parameters of f. The last axis of the first one are hidden units.
        covered: Whether TensorFlow's native kernels take the call. They are as fast if
            g is homogeneous, as relu is, and slower in gradients of gradients if not.
    """
    if not isinstance(function, VAF):
        return False
    if covered and is_homogeneous(function):
        return False
    sizes = (size if isinstance(size, int) else USUAL_SIZE for size in shape)
    return math.prod(sizes) * parameters[0].shape[-1] <= SMALL


def is_medium(function: Pointwise, elements: int) -> bool:
    """Return whether JAX differentiates a call without kernels by itself.

    The compiler then merges the operation with its neighbours.

    Args:
        function: The function f.
        elements: Elements of the input.
    """
    if not isinstance(function, VAF):
        return False
    return elements <= (MEDIUM if is_homogeneous(function) else MEDIUM_SMOOTH)


def is_homogeneous(function: Pointwise) -> bool:
    """Return whether f is a VAF whose g is homogeneous, as relu is."""
    return isinstance(function, VAF) and elementwise(function.g).homogeneous
