"""The kernel in Pallas, interpreted and lowered for a GPU, and the form without it."""

import functools

import jax
import numpy as np
import pytest
from jax.experimental import pallas

from keras_vaf.layers import VAFActivation
from keras_vaf.ops import VAF, plain_operators, switches
from keras_vaf.ops.activations import BY_NAME, IN_KERNELS
from keras_vaf.ops.case import Case
from keras_vaf.ops.equation import Layout, formula
from keras_vaf.ops.gpu import on_jax, plan
from keras_vaf.ops.native.library import find
from tests.ops.gpu import calls
from tests.ops.native.harness import assert_close, expected

LATE = [pytest.param(*call, marks=pytest.mark.nightly) for call in calls.NIGHTLY]


@pytest.fixture
def interpreter(monkeypatch):
    """Interpret the kernel."""
    monkeypatch.setattr(plan, "PROGRAMS", calls.PROGRAMS)
    run = functools.partial(pallas.pallas_call, interpret=True)
    monkeypatch.setattr(pallas, "pallas_call", run)


def compare(place, g, k, dtype):
    """Compare the gradients of a call with float64. XLA computes the value."""
    arrays, sizes, parameters = calls.arguments(place, k, dtype)
    d, x = (jax.numpy.asarray(a.reshape(sizes), dtype) for a in arrays[:2])
    y = expected(arrays, g)[0][0]
    found = on_jax.by_pallas(g, sizes, d, x, *parameters)
    assert_close([y, *found], arrays, g, dtype)
    if sizes[1] == 1 and dtype == "float32":
        found = on_jax.by_xla(BY_NAME[g].value, d, x, *(p[0] for p in parameters))
        assert_close([y, *found], arrays, g, dtype)


@pytest.mark.parametrize(("place", "g", "k", "dtype"), [*calls.FEW, *LATE])
def test_the_interpreter_computes_what_float64_does(interpreter, place, g, k, dtype):
    compare(place, g, k, dtype)


def test_networks_are_computed_side_by_side(interpreter):
    d, x, weight = calls.special(0.5)
    several = np.stack([weight, -weight, 2 * weight])

    def gradients(w):
        parts = w[:, :3], w[:, 3:6], w[:, 6:9], w[:, 9]
        return on_jax.by_pallas("gelu", (8, 5, 1), d, x, *parts)

    for i, one in enumerate(jax.vmap(gradients)(several)[1]):
        np.testing.assert_allclose(one, gradients(several[i])[1], 1e-5, 1e-5)


@pytest.mark.parametrize("form", ["cuda", "default"])
@pytest.mark.parametrize(("g", "value"), calls.SPECIAL)
def test_special_numbers_are_of_the_same_kind(interpreter, monkeypatch, g, value, form):
    d, x, weight = calls.special(value)
    parts = *np.split(weight[0, :9], 3), weight[0, 9]
    plain = functools.partial(formula, VAF(BY_NAME[g].value), Layout(2, ()))
    monkeypatch.setattr(on_jax, "inactive", lambda: "")
    gradients = on_jax.forms(Case(g, "float32", 3, ()), x.shape, None)[form]
    found, want = gradients(d, x, *parts), jax.vjp(plain, x, *parts)[1](d)
    calls.assert_same_kinds(found, want, g)


def lowered(function, *tensors, platform="cuda"):
    traced = jax.jit(function).trace(*tensors)
    return traced.lower(lowering_platforms=(platform,)).as_text()


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
@pytest.mark.parametrize("sizes", [(2**20, 1, 1), (999, 250, 1), (8, 6, 3136)])
@pytest.mark.parametrize("g", IN_KERNELS)
def test_the_kernel_is_lowered_for_a_gpu(g, sizes, dtype):
    run = functools.partial(on_jax.by_pallas, g, sizes)
    x = jax.ShapeDtypeStruct(sizes, dtype)
    parameters = [np.ones((sizes[1], 3), "float32")] * 3 + [np.ones(sizes[1])]
    assert lowered(run, x, x, *parameters).count("xla.gpu.triton") == 1


@pytest.fixture
def step(monkeypatch):
    """Return a training step of a layer on a machine with a GPU, and its tensors."""
    monkeypatch.setattr(switches._without_kernels, "is_on", False)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    monkeypatch.setattr(on_jax, "inactive", lambda: "")
    layer = VAFActivation(k=2, sharing="channel", initialization="random")
    layer.build((None, 8))

    def loss(weights, x):
        y, _ = layer.stateless_call(weights, [], x, training=True)
        return (y**2).sum()

    weights = [each.value for each in layer.trainable_variables]
    return loss, weights, jax.numpy.linspace(-2, 2, 40).reshape(5, 8)


def test_only_programs_for_a_gpu_hold_the_kernel(step):
    loss, weights, x = step
    step = jax.grad(jax.checkpoint(loss))
    assert lowered(step, weights, x).count("xla.gpu.triton") == 1
    assert lowered(jax.vmap(step, (None, 0)), weights, x[None]).count("triton") > 0
    assert "keras_vaf_backward" not in lowered(step, weights, x)
    assert "triton" not in lowered(step, weights, x, platform="cpu")
    assert "triton" not in lowered(step, weights, x, platform="tpu")
    assert "triton" not in lowered(jax.jacfwd(loss, 1), weights, x)


def test_processors_keep_their_kernels_next_to_a_gpu(step):
    if find().library is None:
        pytest.skip(find().reason)
    before = find().library.vaf_calls()
    loss, weights, x = step
    found = jax.jit(jax.grad(loss))(weights, x)
    assert find().library.vaf_calls() > before
    with plain_operators():
        want = jax.grad(lambda *tensors: loss(*tensors))(weights, x)
    for one, other in zip(found, want, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4)
