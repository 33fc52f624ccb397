"""Calls of the library on NumPy arrays, and their results in float64."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import ml_dtypes
import numpy as np

from keras_vaf.ops.activations import IN_KERNELS
from keras_vaf.ops.case import TYPES
from keras_vaf.ops.native.library import ARRAYS as NAMES
from keras_vaf.ops.native.library import Call, check
from tests import reference

DTYPES = {"float32": np.float32, "bfloat16": ml_dtypes.bfloat16, "float16": np.float16}
EPSILON = 2.0**-23
# Shapes `(networks, outer, units, inner)` of each way in which a call is divided.
SHAPES = {
    "layer": (1, 3001, 1, 1),
    "layer, many blocks": (1, 70_001, 1, 1),
    "channels last": (1, 130, 192, 1),
    "few channels": (1, 701, 5, 1),
    "many channels": (1, 3, 2100, 1),
    "channels first, small images": (1, 70, 5, 4),
    "channels first, large images": (1, 17, 5, 37),
    "several networks, layer": (3, 211, 1, 1),
    "several networks, channels": (3, 37, 6, 1),
}


class Arrays(NamedTuple):
    """Float64 arrays whose values are exact in the dtype of the call."""

    upstream: np.ndarray
    x: np.ndarray
    alpha: np.ndarray
    alpha_bias: np.ndarray
    beta: np.ndarray
    beta_bias: np.ndarray

    def hidden(self):
        """Alpha x + alpha_bias, and how large its terms are."""
        a, b = (p[:, None, :, None, :] for p in (self.alpha, self.alpha_bias))
        x = self.x[..., None]
        return a * x + b, abs(a * x) + abs(b)


def python(*arguments, **variables):
    """Run Python in another process, and return what it prints."""
    root = str(Path(__file__).parents[3])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *arguments],
        cwd=root,
        env=os.environ | {"PYTHONPATH": root} | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-200:] + done.stderr[-2000:]
    return done.stdout


def draw(shape, k, dtype="float32", seed=0):
    """Draw arrays. An element next to a knot gets no upstream gradient.

    There rounding decides on which side of the knot the element is.
    """
    rng = np.random.default_rng(seed)
    networks, _, units, _ = shape

    def normal(*sizes, dtype="float32"):
        return rng.standard_normal(sizes).astype(DTYPES[dtype]).astype("float64")

    x = 2 * normal(*shape, dtype=dtype)
    upstream = normal(*shape, dtype=dtype)
    weights = [normal(networks, units, k) for _ in range(3)]
    if k > 2:  # as in a start: no slope, or no weight
        weights[0][..., 1] = 0
        weights[2][..., 2] = 0
    arrays = Arrays(upstream, x, *weights, normal(networks, units))
    hidden, size = arrays.hidden()
    arrays.upstream[np.any(abs(hidden) <= 4 * EPSILON * size, axis=-1)] = 0
    return arrays


def call_of(held, **settings):
    """Return a pointer to a call with the given arrays."""
    places = {name: array.ctypes.data for name, array in held.items()}
    sizes = tuple(held[name].nbytes if name in held else 0 for name in NAMES)
    return ctypes.byref(Call(bytes=sizes, **settings, **places))


def run(library, arrays, g, dtype="float32", threads=2, packed=False):
    """Return f(x), the gradients of x and of the parameters, in float64.

    Packed parameters are one array, as a VAF of PyTorch has them.
    """
    number, slope = IN_KERNELS[g]
    upstream, x = (a.astype(DTYPES[dtype]) for a in arrays[:2])
    parameters = [p.astype("float32") for p in arrays[2:]]
    k = parameters[0].shape[-1]
    if packed:
        columns = *parameters[:3], parameters[3][..., None]
        parameters = [np.concatenate(columns, -1)]
    y, x_gradient = np.empty_like(x), np.empty_like(x)
    gradients = [np.full_like(p, np.nan) for p in parameters]
    count = len(parameters)
    names = *NAMES[:3], *NAMES[3 : 3 + count], *NAMES[7 : 7 + count]
    held = dict(zip(names, (x, upstream, y, *parameters, *gradients), strict=True))
    settings = {
        "function": number,
        "type": TYPES[dtype],
        "slope": slope,
        "k": k,
        "packed": packed,
        **dict(zip(("networks", "outer", "units", "inner"), x.shape, strict=True)),
    }
    check(library.vaf_forward(call_of(held, **settings), threads))
    held["out"] = x_gradient
    check(library.vaf_backward(call_of(held, **settings), threads))
    if packed:
        gradients = np.split(gradients[0], (k, 2 * k, 3 * k), -1)
    return [a.astype("float64") for a in (y, x_gradient, *gradients)]


def expected(arrays, g):
    """Return the same in float64, each with the sum of its absolute terms."""
    value, derivative = reference.FUNCTIONS[g]
    upstream, x, alpha, _, beta, beta_bias = arrays
    hidden, size = arrays.hidden()
    y, slope = value(hidden), derivative(hidden)
    a, w = alpha[:, None, :, None, :], beta[:, None, :, None, :]
    d, x = upstream[..., None], x[..., None]
    # Of a smooth g, rounding of h moves g(h) and g'(h) by up to about its own size.
    near = 0 if g in ("relu", "leaky_relu") else size
    f = (w * y).sum(-1) + beta_bias[:, None, :, None]
    f_size = (abs(w) * (abs(y) + size)).sum(-1) + abs(beta_bias[:, None, :, None])
    terms = {
        "alpha": (d * x * w * slope, abs(d * x * w) * (abs(slope) + near)),
        "alpha_bias": (d * w * slope, abs(d * w) * (abs(slope) + near)),
        "beta": (d * y, abs(d) * (abs(y) + size)),
        "beta_bias": (upstream, abs(upstream)),
    }
    x_terms = d * a * w * slope, abs(d * a * w) * (abs(slope) + near)
    sums = [tuple(t.sum((1, 3)) for t in pair) for pair in terms.values()]
    return [(f, f_size), tuple(t.sum(-1) for t in x_terms), *sums]


def assert_close(results, arrays, g, dtype="float32"):
    """Compare results, in any shape, with the expected ones."""
    rounding = {"float32": 0, "bfloat16": 2.0**-8, "float16": 2.0**-11}[dtype]
    for i, (have, (want, size)) in enumerate(
        zip(results, expected(arrays, g), strict=True)
    ):
        error = 8 * EPSILON * size
        if i < 2:  # those of the dtype of x
            error = error + rounding * abs(want) + (dtype == "float16") * 2.0**-25
        have = np.asarray(have, "float64").reshape(want.shape)
        assert np.all(abs(have - want) <= error), (i, dtype, arrays.alpha.shape)
