"""Infinite numbers and NaN: the kernels give them where the formula does."""

import functools
import itertools

import numpy as np
import pytest

from keras_vaf.ops.activations import IN_KERNELS
from tests import reference
from tests.ops.native.harness import Arrays, run

pytestmark = pytest.mark.backend("tensorflow")
VALUES = {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}
# Results of the kernels that may be of another kind, as docs/records/kernels.md says.
RESULTS = ("f", "x", "alpha", "alpha_bias", "beta", "beta_bias")
FINITE, NAN = 0, 2


def arguments(units, name, value):
    """Arrays with one special number, which meets units of slope 0 and others."""
    rng = np.random.default_rng(1)
    shapes = [(1, 200 // units, units, 1)] * 2 + [(1, units, 3)] * 3 + [(1, units)]
    arrays = [rng.normal(size=size).astype("float32") for size in shapes]
    arrays[Arrays._fields.index(name)].flat[-1] = VALUES[value]
    return Arrays(*(array.astype("float64") for array in arrays))


def kinds(arrays):
    """Whether each number is finite, infinite or NaN."""
    return [np.isnan(a) * 2 + np.isinf(a) for a in arrays]


@functools.cache  # once for all instruction sets
def formula(g, units, name, value):
    """Evaluate f and its gradients by the sums of docs/records/speed.md, in NumPy."""
    arrays = arguments(units, name, value)
    function, slope_of = reference.FUNCTIONS[g]
    d, x = arrays.upstream[..., None], arrays.x[..., None]
    alpha, alpha_bias, beta, beta_bias = arrays[2:]
    a, w = alpha[:, None, :, None], beta[:, None, :, None]
    with np.errstate(all="ignore"):
        h = arrays.hidden()[0]
        y, slope = function(h), slope_of(h)
        moved, moved_x = d * slope, d * x * slope
        if g == "relu":  # a hidden unit that is 0 takes no part
            moved, moved_x = np.where(h > 0, d, 0), np.where(h > 0, d * x, 0)
        sum_0, sum_1 = moved.sum((1, 3)), moved_x.sum((1, 3))
        lines = g in ("relu", "leaky_relu")
        of_beta = alpha * sum_1 + alpha_bias * sum_0 if lines else (d * y).sum((1, 3))
        f = (w * y).sum(-1) + beta_bias[:, None, :, None]
        of_x = d[..., 0] * (a * w * slope).sum(-1)
        sums = beta * sum_1, beta * sum_0, of_beta, arrays.upstream.sum((1, 3))
    return kinds((f, of_x, *sums))


def is_documented(g, name, result, have, want):
    """Return whether the documentation names a difference."""
    if g in ("silu", "gelu"):  # the limit at -inf instead of inf times 0
        return np.all(want == NAN) and np.all(have == FINITE)
    masked = g == "relu" and name == "x" and result in ("alpha", "beta")
    return masked and np.all(have == NAN)


@pytest.mark.parametrize("units", [1, 5])
@pytest.mark.parametrize("g", IN_KERNELS)
def test_special_values_are_of_the_same_kind(library, level, g, units):
    other = []
    for name, value in itertools.product(Arrays._fields, VALUES):
        found = kinds(run(library, arguments(units, name, value), g))
        wanted = formula(g, units, name, value)
        for result, have, want in zip(RESULTS, found, wanted, strict=True):
            have, want = have[have != want], want[have != want]
            if have.size and not is_documented(g, name, result, have, want):
                other.append((name, value, result, have, want))
    assert other == []
