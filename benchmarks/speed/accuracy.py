"""Accuracy of the gradients of parameters that many elements share."""

from collections.abc import Iterator

import keras
import numpy as np

from benchmarks.speed.activations import layer
from benchmarks.speed.cases import Activation, Mode
from benchmarks.speed.programs import program

CHUNK = 10**6
# g(h) and g'(h)
FUNCTIONS = {
    "relu": lambda h: (np.maximum(h, 0), (h > 0).astype(h.dtype)),
    "tanh": lambda h: (np.tanh(h), 1 - np.tanh(h) ** 2),
}


def gradient_error(activation: Activation, mode: Mode, count: int) -> float:
    """Largest error of a parameter's gradient over `count` elements.

    The reference is summed in float64; the error is relative to the sum of the terms'
    absolute values. All upstream gradients are positive, so that sums grow.
    """
    random = np.random.default_rng(0)
    x = random.standard_normal((count // 100, 100), "float32")
    upstream = random.random(x.shape, "float32")
    subject = layer(activation, rank=2)
    _, _, gradients = program(mode, subject, x, upstream).forward_backward()
    found = np.concatenate(
        [np.ravel(keras.ops.convert_to_numpy(gradient)) for gradient in gradients]
    )
    weights = [keras.ops.convert_to_numpy(w) for w in subject.trainable_variables]
    exact, absolute = 0.0, 0.0
    for terms in _terms(activation.g, weights, x.ravel(), upstream.ravel()):
        exact = exact + terms.sum(axis=1)
        absolute = absolute + np.abs(terms).sum(axis=1)
    return float(np.max(np.abs(found - exact) / absolute))


def _terms(
    g: str, weights: list[np.ndarray], x: np.ndarray, upstream: np.ndarray
) -> Iterator[np.ndarray]:
    """Yield the terms of the gradients, parameter by element, in chunks of elements."""
    alpha, alpha_bias, beta, _ = (w.astype("float64")[..., None] for w in weights)
    for start in range(0, x.size, CHUNK):
        a = x[start : start + CHUNK].astype("float64")
        d = upstream[start : start + CHUNK].astype("float64")
        y, slope = FUNCTIONS[g](alpha * a + alpha_bias)
        yield np.concatenate(
            [d * beta * slope * a, d * beta * slope, d * y, d[None]], axis=0
        )
