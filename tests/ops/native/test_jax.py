"""The kernels under what JAX does with an operation."""

import functools

import numpy as np
import pytest

from keras_vaf.layers import VAFActivation
from keras_vaf.ops import VAF, plain_operators, pointwise
from keras_vaf.ops.functions import get_function
from tests.ops.native.harness import python
from tests.ops.native.test_bindings import arguments, operation

pytestmark = pytest.mark.backend("jax")
SHAPE, UNSHARED = (3, 4, 5), (2,)


@pytest.fixture
def tensors(library):
    return arguments(SHAPE, UNSHARED)[1]


def loss(x, *parameters, unshared=UNSHARED):
    return (operation("gelu", unshared)(x, *parameters) ** 2).sum()


def held(function, *tensors):
    """Number of native kernels in a program."""
    import jax

    return jax.jit(function).lower(*tensors).as_text().count("@keras_vaf_")


def close(have, want):
    import jax

    pairs = zip(jax.tree.leaves(have), jax.tree.leaves(want), strict=True)
    for a, b in pairs:
        np.testing.assert_allclose(a, b, 2e-5, 2e-5)


@pytest.mark.parametrize("k", [3, 15])
@pytest.mark.parametrize("training", [False, True])
def test_kernels_act_where_a_call_is_differentiated(library, training, k):
    """The flag changes nothing, and no array of the size of x is made on the way."""
    import jax

    _, (upstream, *tensors) = arguments((64, 32, 32), (2,), k=k)
    function = VAF(get_function("gelu", "g"))

    def value(x, *p):
        return pointwise(function, x, p, (2,), training)

    def gradients(upstream, *tensors):
        return jax.vjp(value, *tensors)[1](upstream)

    assert held(value, *tensors) == 0
    assert held(gradients, upstream, *tensors) == 1
    program = jax.jit(gradients).lower(upstream, *tensors).compile()
    temporary = program.memory_analysis().temp_size_in_bytes
    assert temporary <= 0.1 * upstream.nbytes


def test_exports_of_inference_hold_plain_operators(tensors):
    """Those of gradients do inside `plain_operators`."""
    import jax
    from jax import export

    layer = VAFActivation()
    symbolic = jax.ShapeDtypeStruct(export.symbolic_shape("b, 3"), "float32")
    for shape in (symbolic, jax.ShapeDtypeStruct((2, 3), "float32")):
        program = export.export(jax.jit(lambda x: layer(x, training=True)))(shape)
        assert "@keras_vaf" not in program.mlir_module()
    with pytest.raises(ValueError, match="custom calls"):
        export.export(jax.jit(jax.grad(loss)))(*tensors[1:])
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


@pytest.mark.parametrize("unshared", [(), (2,)])
@pytest.mark.parametrize("compiled", [False, True])
def test_the_gradient_inside_shard_map(unshared, compiled):
    """Divided: the rows, or the weights, of which each device has its own."""
    import jax
    from jax.sharding import Mesh, PartitionSpec

    _, (_, *tensors) = arguments((4, 3, 5), unshared)
    mesh = Mesh(np.array(jax.devices()), "b")
    rows, whole = PartitionSpec("b"), PartitionSpec()
    first = functools.partial(loss, unshared=unshared)
    step = jax.grad(first, range(5))
    want = step(*tensors)

    def run(function, *specs):
        function = jax.shard_map(function, mesh=mesh, in_specs=specs, out_specs=specs)
        return jax.jit(function) if compiled else function

    close(run(step, rows, *[whole] * 4)(*tensors), want)
    several = [jax.numpy.stack([p] * mesh.size) for p in tensors[1:]]
    own = jax.grad(lambda x, *p: first(x, *(q[0] for q in p)), range(5))
    x, *weights = run(own, whole, *[rows] * 4)(tensors[0], *several)
    close([x / mesh.size, *(p[0] for p in weights)], want)
    mesh = jax.make_mesh((mesh.size,), ("b",), (jax.sharding.AxisType.Explicit,))
    with jax.set_mesh(mesh):
        x = jax.device_put(tensors[0], jax.NamedSharding(mesh, rows))
        close((jax.jit(step) if compiled else step)(x, *tensors[1:]), want)


@pytest.mark.nightly
def test_shard_map_on_two_devices():
    test = f"{__file__}::{test_the_gradient_inside_shard_map.__name__}"
    python(
        "-m", "pytest", "-q", test, XLA_FLAGS="--xla_force_host_platform_device_count=2"
    )
