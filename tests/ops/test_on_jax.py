"""The operation under JAX's transformations."""

import keras
import numpy as np
import pytest

from keras_vaf.ops import VAF, pointwise
from tests import reference
from tests.harness import double_precision, to_tensors
from tests.ops.test_vaf import case, draw

pytestmark = pytest.mark.backend("jax")


@pytest.fixture(autouse=True)
def float64():
    with double_precision():
        yield


@pytest.mark.parametrize("shape", [(5, 4), (400, 400)], ids=["small", "large"])
def test_forward_mode(shape):
    import jax

    _, arguments, f = case(shape)
    tensors = to_tensors(arguments)
    value, tangent = jax.jit(jax.jvp, static_argnums=0)(f, tensors, tensors)
    ahead, behind = (
        reference.vaf(*(a * (1 + h) for a in arguments), "sigmoid", (1,))
        for h in (1e-6, -1e-6)
    )
    expected = reference.vaf(*arguments, "sigmoid", (1,))
    np.testing.assert_allclose(value, expected, 1e-10)
    np.testing.assert_allclose(tangent, (ahead - behind) / 2e-6, 1e-6, 1e-8)


@pytest.mark.parametrize("unshared", [(), (1,)])
@pytest.mark.parametrize("g", ["relu", "gelu"])
def test_a_compiled_step_keeps_two_arrays_of_each_layer(g, unshared):
    """The input and the output of a VAF, as of ReLU, and none of its hidden units."""
    import jax

    f = VAF(getattr(keras.activations, g))
    parameters = to_tensors(draw((64, 64), unshared, k=9, g="relu")[2:])
    x = np.ones((64, 64), "float32")

    def memory(layers):
        def loss(kernels, parameters):
            y = x
            for kernel in kernels:
                y = pointwise(f, y @ kernel, parameters, unshared, True)
            return y.sum()

        step = jax.jit(jax.grad(loss, argnums=(0, 1)))
        kernels = [np.ones((64, 64), "float32")] * layers
        program = step.lower(kernels, parameters).compile()
        return program.memory_analysis().temp_size_in_bytes

    assert memory(8) - memory(4) <= 4 * 2.1 * x.nbytes
