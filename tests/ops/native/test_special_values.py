"""Infinite numbers and NaN: the kernels give them where the formula does."""

import functools
import itertools

import numpy as np
import pytest

from keras_vaf.ops import VAF, pointwise
from keras_vaf.ops.functions import get_function
from keras_vaf.ops.native.case import FUNCTIONS
from tests import reference
from tests.harness import to_arrays, to_tensors, vjp

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
    """Evaluate f and its gradients by the sums of docs/speed.md, in NumPy."""
    shape, unshared = LAYOUTS[layout]
    d, x, *parameters, c = to_arrays(arguments(shape, unshared, name, value))
    function, slope_of = reference.FUNCTIONS[g]
    d, x, (a, b, w) = d[..., None], x[..., None], parameters
    axes = tuple(axis for axis in range(2) if axis not in unshared)
    with np.errstate(all="ignore"):
        h = a * x + b
        y, slope = function(h), slope_of(h)
        moved, moved_x = d * slope, d * x * slope
        if g == "relu":  # a hidden unit that is 0 takes no part
            moved, moved_x = np.where(h > 0, d, 0), np.where(h > 0, d * x, 0)
        sum_0, sum_1 = moved.sum(axes), moved_x.sum(axes)
        lines = g in ("relu", "leaky_relu")
        for_beta = a * sum_1 + b * sum_0 if lines else (d * y).sum(axes)
        f = (w * y).sum(-1) + c
        for_x = d[..., 0] * (a * w * slope).sum(-1)
        sums = (w * sum_1, w * sum_0, for_beta, d[..., 0].sum(axes))
    return kinds((f, for_x, *sums))


def kernels(g, unshared, upstream, *tensors):
    function = VAF(get_function(g, "g"))
    y, gradients = vjp(
        lambda x, *p: pointwise(function, x, p, unshared), tensors, upstream
    )
    return kinds([y, *gradients])


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
