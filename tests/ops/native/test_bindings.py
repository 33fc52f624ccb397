"""The kernels in the terms of each backend, through the operation of the package."""

import functools

import numpy as np
import pytest
from keras import ops

from keras_vaf.ops import VAF, plain_operators, pointwise
from keras_vaf.ops.activations import IN_KERNELS
from keras_vaf.ops.case import Case
from keras_vaf.ops.functions import get_function
from tests.harness import grad, to_arrays, to_tensors, vjp
from tests.ops.native.harness import DTYPES, assert_close, draw

LAYOUTS = {
    "layer": ((6, 5, 4, 7), ()),
    "channel": ((6, 5, 4, 7), (3,)),
    "channel first": ((6, 7, 5, 8), (1,)),
    "neuron": ((6, 5, 4, 3), (1, 2, 3)),
}


@functools.cache  # so that a compiler runs once for all instruction sets
def operation(g, unshared):
    function = VAF(get_function(g, "g"))
    return lambda x, *parameters: pointwise(
        function, x, parameters, unshared, training=True
    )


def arguments(shape, unshared, dtype="float32", k=3, g="relu"):
    """Arrays for the reference, and the same as tensors of a layer."""
    case = Case(g, dtype, k, unshared)
    arrays = draw((1, *case.sizes(shape)), k, dtype)
    sizes = tuple(shape[axis] for axis in unshared)
    shapes = [shape, shape, *[(*sizes, k)] * 3, sizes]
    dtypes = [DTYPES[dtype]] * 2 + [np.float32] * 4
    shaped = [
        array.reshape(shape).astype(dtype)
        for array, shape, dtype in zip(arrays, shapes, dtypes, strict=True)
    ]
    return arrays, to_tensors(shaped)


def assert_allclose(have, want):
    for a, b in zip(have, to_arrays(want), strict=True):
        np.testing.assert_allclose(a, b, 2e-5, 2e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape, unshared", LAYOUTS.values(), ids=list(LAYOUTS))
@pytest.mark.parametrize("g", IN_KERNELS)
def test_values_and_gradients(level, used, g, shape, unshared, dtype):
    arrays, (upstream, *tensors) = arguments(shape, unshared, dtype, g=g)
    y, gradients = vjp(operation(g, unshared), tensors, upstream)
    found = [t.float() if hasattr(t, "float") else t for t in (y, *gradients)]
    found = to_arrays(found)  # JAX waits for the kernel here
    assert used()
    assert_close(found, arrays, g, dtype)


def test_plain_operators_leave_the_kernels_out(library, used):
    arrays, (upstream, *tensors) = arguments(*LAYOUTS["channel"])
    with plain_operators():
        y, gradients = vjp(operation.__wrapped__("relu", (3,)), tensors, upstream)
    assert not used()
    assert_close(to_arrays([y, *gradients]), arrays, "relu")


def test_second_derivatives_follow_the_plain_formula(library, used):
    _, (_, *tensors) = arguments(*LAYOUTS["channel"])

    def second():
        function = operation.__wrapped__("tanh", (3,))

        def first(*inner):  # of larger angles, rounding shows
            found = grad(lambda *a: ops.sum(function(*a) ** 2), inner)
            return sum(ops.sum(ops.sin(each / 64)) for each in found)

        return grad(first, tensors)

    found = to_arrays(second())
    assert used()
    with plain_operators():
        assert_allclose(found, second())


@pytest.mark.backend("jax", "tensorflow")
def test_a_library_that_the_framework_refuses_is_left_out(
    library, used, binding, monkeypatch, tmp_path
):
    monkeypatch.setattr(binding, "FOLDER", tmp_path)
    arrays, (upstream, *tensors) = arguments(*LAYOUTS["channel"])
    with pytest.warns(RuntimeWarning, match="cannot load the native kernels"):
        y, gradients = vjp(operation.__wrapped__("relu", (3,)), tensors, upstream)
    assert not used()
    assert_close(to_arrays([y, *gradients]), arrays, "relu")
