"""The kernels under what JAX does with an operation."""

import numpy as np
import pytest

from keras_vaf.layers import VAFActivation
from keras_vaf.ops import VAF, plain_operators, pointwise
from keras_vaf.ops.functions import get_function
from tests.ops.native.test_bindings import arguments, operation

pytestmark = pytest.mark.backend("jax")
SHAPE, UNSHARED = (3, 4, 5), (2,)


@pytest.fixture
def tensors(library):
    return arguments(SHAPE, UNSHARED)[1]


def loss(x, *parameters):
    return (operation("gelu", UNSHARED)(x, *parameters) ** 2).sum()


def held(function, *tensors):
    """Number of native kernels in a program."""
    import jax

    return jax.jit(function).lower(*tensors).as_text().count("@keras_vaf_")


def close(have, want):
    import jax

    pairs = zip(jax.tree.leaves(have), jax.tree.leaves(want), strict=True)
    for a, b in pairs:
        np.testing.assert_allclose(a, b, 2e-5, 2e-5)


@pytest.mark.parametrize("g", ["relu", "tanh", "gelu"])
def test_kernels_are_in_programs_for_training_alone(tensors, g):
    function = VAF(get_function(g, "g"))
    for training in (True, False):

        def run(x, *p, training=training):
            return pointwise(function, x, p, UNSHARED, training).sum()

        assert held(run, *tensors[1:]) == training


def test_exports_of_inference_hold_plain_operators(tensors):
    """Those of training steps do inside `plain_operators`."""
    import jax
    from jax import export

    layer = VAFActivation()
    symbolic = jax.ShapeDtypeStruct(export.symbolic_shape("b, 3"), "float32")
    for shape in (symbolic, jax.ShapeDtypeStruct((2, 3), "float32")):
        program = export.export(jax.jit(lambda x: layer(x, training=False)))(shape)
        assert "@keras_vaf" not in program.mlir_module()
    with plain_operators():
        step = export.export(jax.jit(jax.grad(lambda *a: loss(*a))))(*tensors[1:])
    here = jax.grad(loss)(*tensors[1:])
    np.testing.assert_allclose(step.call(*tensors[1:]), here, 2e-5, 2e-5)


def test_other_derivatives_follow_the_plain_formula(tensors):
    import jax

    for derivative in (
        lambda f: lambda *a: jax.jvp(f, a, a),
        lambda f: jax.hessian(f, (0, 1)),
        lambda f: jax.jacrev(jax.grad(f, 1), (0, 1)),
    ):
        found = jax.jit(derivative(loss))(*tensors[1:])
        with plain_operators():
            plain = jax.jit(derivative(lambda *a: loss(*a)))
            close(found, plain(*tensors[1:]))


def test_vmap_runs_several_networks_at_once(tensors, library):
    import jax

    _, x, *parameters = tensors
    stacked = [jax.numpy.stack([p, -2 * p, p + 1]) for p in parameters]
    step = jax.grad(loss, (0, 1, 2, 3, 4))
    before = library.vaf_calls()
    found = jax.jit(jax.vmap(step, (None, 0, 0, 0, 0)))(x, *stacked)
    assert library.vaf_calls() == before + 2
    for i in range(3):
        close([f[i] for f in found], step(x, *(p[i] for p in stacked)))
    nested = jax.vmap(jax.vmap(step, (None, 0, 0, 0, 0)), (0, None, None, None, None))
    twice = nested(jax.numpy.stack([x, 2 * x]), *stacked)
    close([f[0] for f in twice], found)


def test_several_devices_use_plain_operators(tensors, monkeypatch):
    import jax

    devices = 2 * jax.devices()
    monkeypatch.setattr(jax, "devices", lambda *_: devices)
    assert held(jax.grad(lambda *a: loss(*a)), *tensors[1:]) == 0
