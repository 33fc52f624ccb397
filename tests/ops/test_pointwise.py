"""Functions of which only the value is given, and gradients of gradients."""

import dataclasses

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaf.ops import VAF, Pointwise, pointwise
from tests import reference
from tests.harness import double_precision, grad, to_arrays, to_tensors, vjp
from tests.ops.test_vaf import draw


@dataclasses.dataclass(frozen=True)
class Waves(Pointwise):
    """offset + sum_j height_j sin(rate_j x): a list of entries and a single one."""

    def value(self, x, height, rate, offset):
        y = offset
        for h, r in zip(height, rate, strict=True):
            y = y + h * ops.sin(r * x)
        return y


@pytest.mark.parametrize(
    "shape, unshared", [((7, 3), ()), ((4, 3, 2), (1,)), ((40_000, 1), ())]
)
def test_derivatives_follow_from_the_value(shape, unshared):
    random = np.random.default_rng(0)
    sizes = tuple(shape[axis] for axis in unshared)
    upstream, x = random.normal(size=(2, *shape)).astype("float32")
    height, rate = random.normal(size=(2, *sizes, 2)).astype("float32")
    offset = random.normal(size=sizes).astype("float32")
    tensors = to_tensors([upstream, x, height, rate, offset])
    y, gradients = vjp(
        lambda x, *p: pointwise(Waves(), x, p, unshared), tensors[1:], tensors[0]
    )

    h, r, o = (
        reference.aligned(p, x, unshared) for p in (height, rate, offset[..., None])
    )
    shared = tuple(axis for axis in range(x.ndim) if axis not in unshared)
    sine, cosine = np.sin(r * x[..., None]), np.cos(r * x[..., None])
    expected = [
        o[..., 0] + np.sum(h * sine, -1),
        upstream * np.sum(h * r * cosine, -1),
        np.sum(upstream[..., None] * sine, shared),
        np.sum((upstream * x)[..., None] * h * cosine, shared),
        np.sum(upstream, shared),
    ]
    for have, want in zip(to_arrays([y, *gradients]), expected, strict=True):
        np.testing.assert_allclose(have, want, 0, 1e-5 * max(1, abs(want).max()))


@pytest.mark.parametrize("g", ["relu", "sigmoid"])
@pytest.mark.parametrize(
    "shape, unshared", [((5, 4), ()), ((3, 4, 2), (1,)), ((40_000, 1), ())]
)
def test_gradients_of_gradients_are_finite_differences(g, shape, unshared):
    upstream, *arrays = draw(shape, unshared, k=2, g=g)
    random = np.random.default_rng(1)
    directions = [random.normal(size=array.shape) for array in arrays]
    function = VAF(getattr(keras.activations, g))

    def loss(x, *parameters):
        return ops.sum(weights * pointwise(function, x, parameters, unshared))

    def along_directions(*arguments):
        gradients = grad(loss, arguments)
        return sum(ops.sum(d * g) for d, g in zip(steps, gradients, strict=True))

    with double_precision():
        weights, *arguments = to_tensors([upstream, *arrays])
        steps = to_tensors(directions)
        second = to_arrays(grad(along_directions, arguments))

    ahead, behind = (
        reference.vaf_gradients(
            upstream,
            *(a + sign * 1e-6 * d for a, d in zip(arrays, directions, strict=True)),
            g,
            unshared,
        )
        for sign in (1, -1)
    )
    for have, plus, minus in zip(second, ahead, behind, strict=True):
        difference = (plus - minus) / 2e-6
        scale = max(1, abs(difference).max())
        np.testing.assert_allclose(have, difference, 0, 1e-5 * scale)
