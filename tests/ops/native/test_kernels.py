"""The library itself, against NumPy in float64, with each instruction set."""

import ctypes
import os

import numpy as np
import pytest

from keras_vaf.ops.activations import IN_KERNELS
from tests.ops.native.harness import DTYPES, SHAPES, assert_close, draw, expected, run

pytestmark = pytest.mark.backend("tensorflow")

# Lines take up to 15 hidden units of relu; what is left after whole groups differs.
HIDDEN_UNITS = (1, 3, 7, 15, 18)


def start_as_g(x, dtype="float32"):
    """Return arrays of one hidden unit with which f is g."""
    one, zero = np.ones((1, 1, 1)), np.zeros((1, 1, 1))
    weights = {"alpha": one, "alpha_bias": zero, "beta": one, "beta_bias": zero[0]}
    x = x.reshape(1, -1, 1, 1)
    return draw(x.shape, 1, dtype)._replace(x=x, **weights)


def assert_right(library, arrays, g, dtype="float32", threads=2, packed=False):
    assert_close(run(library, arrays, g, dtype, threads, packed), arrays, g, dtype)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
@pytest.mark.parametrize("g", IN_KERNELS)
@pytest.mark.parametrize("packed", [False, True])
def test_values_and_gradients(library, level, g, shape, packed):
    for k in HIDDEN_UNITS:
        assert_right(library, draw(shape, k), g, packed=packed)


@pytest.mark.parametrize("dtype", list(DTYPES)[1:])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
def test_half_precision(library, level, shape, dtype):
    for g, k in (("relu", 3), ("tanh", 3)):
        assert_right(library, draw(shape, k, dtype), g, dtype)


@pytest.mark.parametrize("threads", [1, 3, 8])
def test_any_number_of_threads(library, threads):
    for shape in ((1, 200_003, 1, 1), (1, 2000, 70, 1), (1, 8, 11_000, 1)):
        assert_right(library, draw(shape, 2), "relu", threads=threads)


def test_a_process_can_fork_after_the_threads_started(library):
    arrays = draw((1, 200_003, 1, 1), 2)
    before = run(library, arrays, "relu")
    child = os.fork()
    if not child:
        after = run(library, arrays, "relu")
        os._exit(int(not np.array_equal(before[0], after[0])))
    assert os.waitpid(child, 0)[1] == 0


def test_sums_of_a_million_elements_are_accurate(library, level):
    arrays = draw((1, 1_000_000, 1, 1), 3)
    assert_right(library, arrays, "relu")
    assert_right(library, draw((1, 30_000, 35, 1), 3), "relu")


def test_half_precision_takes_every_number(library, level):
    bits = np.arange(2**16, dtype="uint16")
    for dtype in ("float16", "bfloat16"):
        with np.errstate(invalid="ignore"):  # signalling NaNs
            x = bits.view(DTYPES[dtype]).astype("float64")
        start = start_as_g(np.where(np.isfinite(x), x, 0), dtype)
        y = run(library, start, "relu", dtype)[0]
        np.testing.assert_array_equal(y, np.maximum(start.x, 0))


@pytest.mark.parametrize("g", ["relu", "leaky_relu"])
@pytest.mark.parametrize("k", [1, 3, 15, 18])
def test_a_start_as_g_is_g_bit_for_bit(library, level, g, k):
    for shape in SHAPES.values():
        arrays = draw(shape, k)
        for parameter, first in zip(arrays[2:5], (1, 0, 1), strict=True):
            parameter[..., 0] = first
        arrays.beta[..., 1:] = 0
        arrays.beta_bias[...] = 0
        x = arrays.x.astype("float32")
        slope = np.float32(IN_KERNELS[g][1])
        np.testing.assert_array_equal(
            run(library, arrays, g)[0].astype("float32"), np.where(x > 0, x, slope * x)
        )


@pytest.mark.parametrize("g", list(IN_KERNELS)[2:])
def test_smooth_functions_are_accurate_to_4_ulp(library, level, g):
    x = [
        *(np.linspace(0, 110, 50_001), np.geomspace(1e-20, 3e38, 50_001)),
        np.arange(1, 5216) * (np.pi / 2),
    ]
    x = np.concatenate(x).astype("float32").astype("float64")
    arrays = start_as_g(np.append(x, -x))
    with np.errstate(over="ignore", invalid="ignore"):
        (want, _), *_ = expected(arrays, g)
    ulp = np.spacing(abs(want).astype("float32"))
    assert np.max(abs(run(library, arrays, g)[0] - want) / ulp) <= 4


def test_the_library_has_the_functions_by_their_numbers(library):
    """The numbers never change, because saved programs hold them."""
    library.vaf_function.restype = ctypes.c_char_p
    for g, (number, _) in IN_KERNELS.items():
        name = library.vaf_function(number).decode()
        assert name == ("leaky_relu" if g == "relu" else g)
