"""The operation under JAX's transformations."""

import functools

import keras
import numpy as np
import pytest

from keras_vaf.ops import VAF, pointwise
from keras_vaf.ops.equation import Layout, formula
from tests import reference
from tests.harness import double_precision, to_tensors
from tests.ops.test_vaf import draw

pytestmark = pytest.mark.backend("jax")

SIGMOID = VAF(keras.activations.sigmoid)


@pytest.fixture(autouse=True)
def float64():
    with double_precision():
        yield


def case(shape=(5, 4), unshared=(1,)):
    """An upstream gradient and arguments; the operation as a function of them."""
    upstream, *arguments = draw(shape, unshared, k=3, g="sigmoid")
    return upstream, arguments, lambda x, *p: pointwise(SIGMOID, x, p, unshared)


def test_vmap_of_gradients():
    import jax

    upstream, arguments, f = case()
    stacked = [np.stack([a, 2 * a, -a]) for a in arguments]
    gradient = jax.grad(lambda *a: (upstream * f(*a)).sum(), argnums=range(5))
    mapped = jax.jit(jax.vmap(gradient))(*to_tensors(stacked))
    for i in range(3):
        expected = reference.vaf_gradients(
            upstream, *(a[i] for a in stacked), "sigmoid", (1,)
        )
        for have, want in zip(mapped, expected, strict=True):
            np.testing.assert_allclose(have[i], want, 1e-10, 1e-12)


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


def test_any_order_of_forward_and_reverse_mode():
    """The second derivative along x, and the gradient of it by the parameters."""
    import jax

    _, arguments, f = case((400, 400), ())
    x, *parameters = to_tensors(arguments)
    plain = functools.partial(formula, SIGMOID, Layout(2, ()))
    ones = np.ones((400, 400))

    def along(function):
        return lambda x: jax.jvp(function, (x,), (ones,))[1]

    def back(function):
        return lambda x: jax.vjp(function, x)[1](ones)[0]

    def total(f, outer, inner, *p):
        return (outer(inner(lambda x: f(x, *p)))(x) ** 2).sum()

    expected = jax.grad(functools.partial(total, plain, along, along), range(4))
    expected = expected(*parameters)
    for outer in (along, back):
        for inner in (along, back):
            have = jax.grad(functools.partial(total, f, outer, inner), range(4))
            for a, b in zip(have(*parameters), expected, strict=True):
                np.testing.assert_allclose(a, b, 1e-8, 1e-8)


def test_vmap_of_forward_mode_and_of_large_gradients():
    import jax

    upstream, arguments, f = case((400, 400), ())
    x, *parameters = to_tensors(arguments)
    stacked = [np.stack([p, 2 * p]) for p in parameters]
    gradient = jax.grad(lambda *a: (upstream * f(*a)).sum(), argnums=range(5))
    axes = (None, 0, 0, 0, 0)
    mapped = jax.jit(jax.vmap(gradient, axes))(x, *stacked)
    total = jax.grad(lambda *p: (upstream * jax.vmap(f, axes)(x, *p)).sum(), range(4))
    for i in range(2):
        expected = gradient(x, *(p[i] for p in stacked))
        for have, want in zip(mapped, expected, strict=True):
            np.testing.assert_allclose(have[i], want, 1e-10, 1e-12)
        for have, want in zip(total(*stacked), expected[1:], strict=True):
            np.testing.assert_allclose(have[i], want, 1e-10, 1e-12)
    _, tangent = jax.vmap(lambda *p: jax.jvp(f, (x, *p), (x, *p)))(*stacked)
    np.testing.assert_allclose(
        tangent[0], jax.jvp(f, (x, *parameters), (x, *parameters))[1]
    )
