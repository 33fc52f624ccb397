"""The equation of a VAF and its gradients in NumPy, in float64.

Written from the paper and from Keras's definitions of the activations, with nothing of
the package, and with the hidden units as an additional axis: slow and plain.
"""

import math

import numpy as np
from scipy.special import erf, ndtr
from scipy.special import expit as sigmoid


def softplus(x):
    return np.logaddexp(0, x)


def density(x):
    return np.exp(-0.5 * x**2) / math.sqrt(2 * math.pi)


def within(x, low, high):
    return np.where((x > low) & (x < high), 1.0, 0.0)


SCALE, NEGATIVE = 1.05070098735548049342, 1.67326324235437728482  # of selu

# name: (g, g'). At a kink g' is one of the two adjacent slopes.
FUNCTIONS = {
    "celu": (
        lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
        lambda x: np.where(x > 0, 1, np.exp(np.minimum(x, 0))),
    ),
    "cos": (np.cos, lambda x: -np.sin(x)),
    "elu": (
        lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
        lambda x: np.where(x > 0, 1, np.exp(np.minimum(x, 0))),
    ),
    "erf": (erf, lambda x: 2 / math.sqrt(math.pi) * np.exp(-(x**2))),
    "exponential": (np.exp, np.exp),
    "gelu": (lambda x: x * ndtr(x), lambda x: ndtr(x) + x * density(x)),
    "hard_shrink": (
        lambda x: np.where(abs(x) > 0.5, x, 0),
        lambda x: np.where(abs(x) > 0.5, 1, 0),
    ),
    "hard_sigmoid": (
        lambda x: np.clip(x / 6 + 0.5, 0, 1),
        lambda x: within(x, -3, 3) / 6,
    ),
    "hard_silu": (
        lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
        lambda x: np.where(x >= 3, 1, within(x, -3, 3) * (x / 3 + 0.5)),
    ),
    "hard_tanh": (lambda x: np.clip(x, -1, 1), lambda x: within(x, -1, 1)),
    "leaky_relu": (
        lambda x: np.where(x > 0, x, 0.2 * x),
        lambda x: np.where(x > 0, 1, 0.2),
    ),
    "linear": (lambda x: x, lambda x: np.ones_like(x)),
    "log_sigmoid": (lambda x: -softplus(-x), lambda x: sigmoid(-x)),
    "mish": (
        lambda x: x * np.tanh(softplus(x)),
        lambda x: (
            np.tanh(softplus(x))
            + x * sigmoid(x) / np.cosh(np.minimum(softplus(x), 300)) ** 2
        ),
    ),
    "relu": (lambda x: np.maximum(x, 0), lambda x: np.where(x > 0, 1, 0)),
    "relu6": (lambda x: np.clip(x, 0, 6), lambda x: within(x, 0, 6)),
    "relu_squared": (
        lambda x: np.where(x > 0, x**2, 0),
        lambda x: np.where(x > 0, 2 * x, 0),
    ),
    "selu": (
        lambda x: SCALE * np.where(x > 0, x, NEGATIVE * np.expm1(np.minimum(x, 0))),
        lambda x: SCALE * np.where(x > 0, 1, NEGATIVE * np.exp(np.minimum(x, 0))),
    ),
    "sigmoid": (sigmoid, lambda x: sigmoid(x) * sigmoid(-x)),
    "silu": (lambda x: x * sigmoid(x), lambda x: sigmoid(x) * (1 + x * sigmoid(-x))),
    "sin": (np.sin, np.cos),
    "soft_shrink": (
        lambda x: np.sign(x) * np.maximum(abs(x) - 0.5, 0),
        lambda x: np.where(abs(x) > 0.5, 1, 0),
    ),
    "softplus": (softplus, sigmoid),
    "softsign": (lambda x: x / (1 + abs(x)), lambda x: (1 + abs(x)) ** -2.0),
    "sparse_plus": (
        lambda x: np.where(x >= 1, x, np.clip(x + 1, 0, 2) ** 2 / 4),
        lambda x: np.clip(x + 1, 0, 2) / 2,
    ),
    "sparse_sigmoid": (
        lambda x: np.clip((x + 1) / 2, 0, 1),
        lambda x: within(x, -1, 1) / 2,
    ),
    "square": (lambda x: x**2, lambda x: 2 * x),
    "squareplus": (
        lambda x: (x + np.sqrt(x**2 + 4)) / 2,
        lambda x: (1 + x / np.sqrt(x**2 + 4)) / 2,
    ),
    "tanh": (np.tanh, lambda x: 1 - np.tanh(x) ** 2),
    "tanh_shrink": (lambda x: x - np.tanh(x), lambda x: np.tanh(x) ** 2),
}

# Kinks and jumps of g, which finite differences and comparisons avoid.
KINKS = {
    "hard_shrink": (-0.5, 0.5),
    "hard_sigmoid": (-3, 3),
    "hard_silu": (-3, 3),
    "hard_tanh": (-1, 1),
    "leaky_relu": (0,),
    "relu": (0,),
    "relu6": (0, 6),
    "selu": (0,),
    "soft_shrink": (-0.5, 0.5),
    "sparse_sigmoid": (-1, 1),
}


def vaf(x, alpha, alpha_bias, beta, beta_bias, g, unshared=()):
    """f(x) for parameters that differ along the axes `unshared` of x."""
    hidden = aligned(alpha, x, unshared) * x[..., None]
    hidden = FUNCTIONS[g][0](hidden + aligned(alpha_bias, x, unshared))
    y = np.sum(aligned(beta, x, unshared) * hidden, axis=-1)
    return y + aligned(beta_bias[..., None], x, unshared)[..., 0]


def vaf_gradients(upstream, x, alpha, alpha_bias, beta, beta_bias, g, unshared=()):
    """Gradients of sum(upstream * f(x)): of x and of the four parameters."""
    value, derivative = FUNCTIONS[g]
    a, b, weight = (aligned(p, x, unshared) for p in (alpha, alpha_bias, beta))
    hidden = a * x[..., None] + b
    shared = tuple(axis for axis in range(x.ndim) if axis not in unshared)
    each = upstream[..., None] * weight * derivative(hidden)
    return (
        np.sum(each * a, axis=-1),
        np.sum(each * x[..., None], axis=shared),
        np.sum(each, axis=shared),
        np.sum(upstream[..., None] * value(hidden), axis=shared),
        np.sum(upstream, axis=shared),
    )


def aligned(parameter, x, unshared):
    """Give a parameter of shape `(*unshared, k)` the axes of x, and k behind them."""
    shape = [1] * x.ndim + [parameter.shape[-1]]
    for axis in unshared:
        shape[axis] = x.shape[axis]
    return parameter.reshape(shape)


def away_from_kinks(hidden, g, distance):
    """Return whether each hidden pre-activation is that far from any kink of g."""
    far = np.ones(np.shape(hidden), bool)
    for kink in KINKS.get(g, ()):
        far &= abs(hidden - kink) > distance
    return far
