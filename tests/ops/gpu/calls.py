"""Calls of the kernels for GPUs, and their comparison with float64."""

import itertools

import numpy as np

from keras_vaf.ops.activations import IN_KERNELS
from tests.ops.native.harness import DTYPES, SHAPES, draw

PROGRAMS = 8  # so few in the interpreters that each walks over many tiles
PLACES = tuple(name for name in SHAPES if "networks" not in name)
FEW = (
    *itertools.product(PLACES, ("relu",), (3,), ("float32",)),
    *itertools.product(("channels last",), IN_KERNELS, (3,), ("float16",)),
    *(("layer", "gelu", k, "float16") for k in (1, 9, 15)),
    ("few channels", "gelu", 9, "float32"),
    ("many channels", "tanh", 3, "float16"),  # with small alpha_bias where alpha is 0
)
ALL = tuple(itertools.product(PLACES, IN_KERNELS, (1, 3, 9, 15), DTYPES))
NIGHTLY = ALL[::5]  # each g, k, place and dtype meets each other one
SPECIAL = tuple(itertools.product(IN_KERNELS, (np.nan, np.inf, -np.inf)))


def arguments(place, k, dtype):
    """Return drawn arrays, the sizes of x, and the parameters."""
    arrays = draw(SHAPES[place], k, dtype)
    return arrays, SHAPES[place][1:], [p[0].astype("float32") for p in arrays[2:]]


def special(value):
    """Return an upstream gradient, an input with one special number, and a weight."""
    rng = np.random.default_rng(1)
    shapes = (8, 5), (8, 5), (5, 10)
    upstream, x, weight = (rng.normal(size=s).astype("float32") for s in shapes)
    x[-1, -1] = value
    return upstream, x, weight


def assert_same_kinds(found, want, g):
    """Compare kinds. Infinity times 0 is NaN or left out (docs/records/kernels.md)."""
    for pair in zip(found, want, strict=True):
        have, wanted = (np.isnan(a) * 2 + np.isinf(a) for a in map(np.asarray, pair))
        either = (g in ("relu", "silu", "gelu")) & ((have == 2) | (wanted == 2))
        assert np.all((have == wanted) | either), g
