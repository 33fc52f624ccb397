"""The formula and its gradients, against the reference in NumPy."""

import functools
import importlib

import keras
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras import ops

from keras_vaf.ops import NAMES, VAF, pointwise
from keras_vaf.ops.functions import get_function
from tests import reference
from tests.harness import double_precision, to_arrays, to_tensors, vjp

# Shape of the input and the axes along which the functions differ. At each rank:
# layer, channel (last and first), neuron, and axes that do not stand side by side.
LAYOUTS = [
    ((6, 3), ()),
    ((6, 3), (1,)),
    ((3, 4, 5), (1,)),
    ((3, 4, 5), (1, 2)),
    ((2, 3, 4, 5), ()),
    ((2, 3, 4, 5), (1,)),
    ((2, 3, 4, 5), (3,)),
    ((2, 3, 4, 5), (1, 3)),
    ((2, 3, 4, 5), (1, 2, 3)),
    ((2, 3, 2, 3, 2), (4,)),
    ((2, 3, 2, 3, 2), (1, 3)),
]

# One layout for the tests of every g: JAX compiles each operation once for it.
SHAPE, UNSHARED = (3, 4, 5), (1,)


def draw(shape, unshared, k, g, seed=0, dtype="float64"):
    """An upstream gradient, an input and parameters, with no unit near a kink of g."""
    random = np.random.default_rng(seed)
    sizes = tuple(shape[axis] for axis in unshared)
    upstream, x = random.normal(size=(2, *shape))
    alpha, alpha_bias, beta = random.normal(size=(3, *sizes, k))
    hidden = reference.aligned(alpha, x, unshared) * x[..., None]
    hidden += reference.aligned(alpha_bias, x, unshared)
    upstream *= np.all(reference.away_from_kinks(hidden, g, 1e-3), axis=-1)
    arrays = (upstream, x, alpha, alpha_bias, beta, random.normal(size=sizes))
    return [np.asarray(array, dtype) for array in arrays]


def case(shape=(5, 4), unshared=(1,)):
    """An upstream gradient and arguments; the operation as a function of them."""
    upstream, *arguments = draw(shape, unshared, k=3, g="sigmoid")
    sigmoid = VAF(keras.activations.sigmoid)
    return upstream, arguments, lambda x, *p: pointwise(sigmoid, x, p, unshared)


@functools.cache  # so that JAX compiles it once for the tests that share a layout
def operation(g, unshared):
    function = VAF(get_function(g, "g"))
    return lambda x, *parameters: pointwise(
        function, x, parameters, unshared, training=True
    )


def compute(g, unshared, arrays):
    """Output and gradients of the package, as arrays."""
    upstream, *arguments = to_tensors(arrays)
    y, gradients = vjp(operation(g, unshared), arguments, upstream)
    return to_arrays([y, *gradients])


def expect(g, unshared, arrays):
    """The same of the reference."""
    upstream, *arguments = (np.asarray(array, "float64") for array in arrays)
    y = reference.vaf(*arguments, g, unshared)
    return [y, *reference.vaf_gradients(upstream, *arguments, g, unshared)]


def check(g, unshared, arrays, tolerance=3e-6):
    """Compare them. Keras's tanh on JAX and gelu on TensorFlow have float32 errors."""
    names = ("f", "x", "alpha", "alpha_bias", "beta", "beta_bias")
    computed, expected = compute(g, unshared, arrays), expect(g, unshared, arrays)
    for name, have, want in zip(names, computed, expected, strict=True):
        assert have.shape == want.shape, name
        scale = max(1, abs(want).max(initial=0))
        np.testing.assert_allclose(have, want, 0, tolerance * scale, err_msg=name)


@pytest.mark.parametrize("g", NAMES)
def test_every_g_matches_the_reference(g):
    with double_precision():
        check(g, UNSHARED, draw(SHAPE, UNSHARED, k=3, g=g))


@pytest.mark.parametrize("shape, unshared", LAYOUTS)
@pytest.mark.parametrize("g", ["relu", "tanh"])
def test_every_layout_matches_the_reference(g, shape, unshared):
    with double_precision():
        check(g, unshared, draw(shape, unshared, k=2, g=g))


@pytest.mark.backend("jax", "torch")
def test_vmap_of_gradients():
    framework = importlib.import_module(keras.backend.backend())
    func = getattr(framework, "func", framework)  # of PyTorch
    upstream, arguments, f = case()
    stacked = [np.stack([a, 2 * a, -a]) for a in arguments]
    with double_precision():
        (weights, *tensors) = to_tensors([upstream, *stacked])
        gradient = func.grad(lambda *a: (weights * f(*a)).sum(), tuple(range(5)))
        mapped = to_arrays(func.vmap(gradient)(*tensors))
    for i in range(3):
        want = expect("sigmoid", (1,), [upstream, *(each[i] for each in stacked)])[1:]
        for one, other in zip(mapped, want, strict=True):
            np.testing.assert_allclose(one[i], other, 1e-10, 1e-12)


@settings(max_examples=100 if keras.backend.backend() == "torch" else 6, deadline=None)
@given(data=st.data())
def test_any_shape_k_sharing_and_dtype(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 5), min_size=2, max_size=5)))
    # Each new shape is compiled on JAX and TensorFlow; PyTorch tries many.
    axes = st.sets(st.integers(1, len(shape) - 1))
    unshared = tuple(sorted(data.draw(axes, label="unshared")))
    k = data.draw(st.integers(1, 5), label="k")
    g = data.draw(st.sampled_from(NAMES), label="g")
    dtype = data.draw(st.sampled_from(["float32", "float64"]), label="dtype")
    arrays = draw(shape, unshared, k, g, data.draw(st.integers(0, 99)), dtype)
    with double_precision():
        check(g, unshared, arrays, 1e-4 if dtype == "float32" else 3e-6)


@pytest.mark.parametrize("g", ["relu", "tanh"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_in_and_out_with_sums_in_single(g, dtype):
    # 70,000 ones: a sum in float16 would end at infinity, one in bfloat16 at 256.
    x = ops.ones((70_000, 1), dtype)
    parameters = [ops.array(v, "float32") for v in ([1.0], [0.0], [0.5], 0.0)]
    function = VAF(getattr(keras.activations, g))
    y, gradients = vjp(
        lambda x, *p: pointwise(function, x, p), [x, *parameters], ops.ones_like(x)
    )
    dtypes = [keras.backend.standardize_dtype(t.dtype) for t in (y, *gradients)]
    assert dtypes == [dtype, dtype, "float32", "float32", "float32", "float32"]
    value, slope = (f(np.float64(1)) for f in reference.FUNCTIONS[g])
    *_, beta, beta_bias = to_arrays(gradients)
    assert to_arrays(gradients)[1] == pytest.approx(35_000 * slope, 1e-3)
    assert beta == pytest.approx(70_000 * value, 1e-3)
    assert beta_bias == 70_000


# Keras's own hard_shrink and soft_shrink take NaN for a small number.
PASSES_NAN = [name for name in NAMES if not name.endswith("_shrink")]


@pytest.mark.parametrize("g", [*PASSES_NAN, "tanh_shrink"])
def test_nan_comes_out_where_it_went_in_and_nowhere_else(g):
    upstream, x, *parameters = draw(SHAPE, UNSHARED, k=3, g=g)
    x[1, 2, 3] = np.nan
    with double_precision():
        y, *_ = compute(g, UNSHARED, (upstream, x, *parameters))
    np.testing.assert_array_equal(np.isnan(y), np.isnan(x))
