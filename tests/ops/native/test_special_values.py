"""Infinite numbers and NaN: the kernels give them where the formula does."""

import functools
import importlib
import itertools

import numpy as np
import pytest

from keras_vaf.ops import VAF, gradient
from keras_vaf.ops.functions import get_function
from keras_vaf.ops.layout import Layout
from keras_vaf.ops.native.case import FUNCTIONS, Case
from tests.harness import to_arrays, to_tensors

pytestmark = pytest.mark.backend("tensorflow")
NAMES = ("upstream", "x", "alpha", "alpha_bias", "beta", "beta_bias")
VALUES = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}
LAYOUTS = {"layer": ((40, 5), ()), "channel": ((40, 5), (1,))}
PLACES = [*itertools.product(NAMES, VALUES)]


def arguments(shape, unshared, name, value):
    """Arrays with one special number, which meets units of slope 0 and others."""
    rng = np.random.default_rng(1)
    sizes = tuple(shape[axis] for axis in unshared)
    shapes = [shape, shape, *[(*sizes, 3)] * 3, sizes]
    arrays = [rng.normal(size=size).astype("float32") for size in shapes]
    arrays[NAMES.index(name)].flat[-1] = VALUES[value]
    return to_tensors(arrays)


def kinds(tensors):
    """Whether each number is finite, infinite or NaN."""
    return [np.isnan(a) * 2 + np.isinf(a) for a in to_arrays(tensors)]


@functools.cache  # once for all instruction sets
def formula(g, layout, name, value):
    """Evaluate f and its gradients by the equations of the package."""
    shape, unshared = LAYOUTS[layout]
    upstream, *tensors = arguments(shape, unshared, name, value)
    function, axes = VAF(get_function(g, "g")), Layout(2, unshared)
    y = gradient.plain_forward(function, axes, *tensors)
    return kinds([y, *gradient.blockwise_gradients(function, axes, upstream, *tensors)])


def kernels(g, unshared, upstream, x, *parameters):
    native = importlib.import_module("keras_vaf.ops.native.on_tensorflow")
    case = Case(g, "float32", 3, unshared)
    y = native.forward(case, x, *parameters)
    return kinds([y, *native.gradients(case, upstream, x, *parameters)])


# Results of the kernels that may be of another kind, as docs/records/kernels.md says.
RESULTS = ("f", "x", "alpha", "alpha_bias", "beta", "beta_bias")
FINITE, NAN = 0, 2


def is_documented(g, name, result, have, want):
    """Return whether the documentation names a difference."""
    if g in ("silu", "gelu"):  # the limit at -inf instead of inf times 0
        return np.all(want == NAN) and np.all(have == FINITE)
    masked = g == "relu" and name == "x" and result in ("alpha", "beta")
    return masked and np.all(have == NAN)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("g", FUNCTIONS)
def test_special_values_are_of_the_same_kind(level, g, layout):
    shape, unshared = LAYOUTS[layout]
    other = []
    for name, value in PLACES:
        tensors = arguments(shape, unshared, name, value)
        found = kernels(g, unshared, *tensors), formula(g, layout, name, value)
        for result, have, want in zip(RESULTS, *found, strict=True):
            have, want = have[have != want], want[have != want]
            if have.size and not is_documented(g, name, result, have, want):
                other.append((name, value, result, have, want))
    assert other == []
