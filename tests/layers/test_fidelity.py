"""The layers compute what their papers say: small transcriptions in NumPy, in float64.

The contract compares their gradients with finite differences.
"""

import keras
import numpy as np
import pytest

from keras_vaf import layers
from keras_vaf.ops import pointwise
from tests.harness import to_arrays, to_tensors, vjp
from tests.layers.family import fresh, sample
from tests.reference import FUNCTIONS

X = sample((40,), "float64")


sigmoid, elu = (FUNCTIONS[name][0] for name in ("sigmoid", "elu"))


def kaf(x, alpha):
    """Gaussians of the rule-of-thumb width at D = 6 points from -3 to 3."""
    points = -3 + 1.2 * np.arange(6)
    return np.exp(-((x[:, None] - points) ** 2) / (6 * 1.2**2)) @ alpha


def pelu(x, alpha, beta):
    return np.where(x >= 0, alpha / beta * x, alpha * np.expm1(np.minimum(x, 0) / beta))


def apl(x, slopes, hinges):
    left_of = x[:, None] < hinges
    return np.maximum(x, 0) + np.where(left_of, slopes * (hinges - x[:, None]), 0).sum(
        -1
    )


def srelu(x, left, left_slope, right, right_slope):
    outside = [left + left_slope * (x - left), right + right_slope * (x - right)]
    return np.select([x <= left, x >= right], outside, x)


def blended(x):
    """tanh, ELU, ReLU, identity and swish."""
    return np.stack([np.tanh(x), elu(x), np.maximum(x, 0), x, x * sigmoid(x)], -1)


# The weights of a blend, by normalization.
SHARES = {
    None: lambda a: a,
    "softmax": lambda a: np.exp(a) / np.exp(a).sum(),
    "sum": lambda a: a / a.sum(),
    "absolute": lambda a: a / np.abs(a).sum(),
    "positive": lambda a: np.maximum(a, 1e-4) / np.maximum(a, 1e-4).sum(),
}


def snake(x, frequency):
    return x + np.sin(frequency * x) ** 2 / frequency


def xielu(x, alpha_p, alpha_n):
    """With beta = 1/2; log(1 + exp(alpha)) keeps p above 0 and n above beta."""
    p, n = np.log1p(np.exp(alpha_p)), 0.5 + np.log1p(np.exp(alpha_n))
    return np.where(x > 0, p * x**2, n * elu(x) - n * x) + 0.5 * x


def snake_beta(x, alpha, beta):
    return x + np.sin(np.exp(alpha) * x) ** 2 / np.exp(beta)


SIGNED = [np.array([0.5, -0.3, 0.2, 0.4, 0.1])]


def ensemble(x, alpha, eta, delta, minimum, maximum):
    functions = np.stack([sigmoid(x), np.tanh(x), np.maximum(x, 0), elu(x)], -1)
    h = (functions - minimum) / (maximum - minimum)
    return (eta * h + delta) @ alpha


def mixed(x, p):
    return p * np.where(x > 0, x, 0.01 * x) + (1 - p) * elu(x)


def gated(x, weight):
    return mixed(x, sigmoid(weight * x))


def spline(x, points):
    """Five control points from -2 to 2, by Hermite's formula; lines outside."""
    extended = np.array(
        [2 * points[0] - points[1], *points, 2 * points[-1] - points[-2]]
    )
    slopes = (extended[2:] - extended[:-2]) / 2
    i = np.clip(np.floor(x + 2), 0, 3).astype(int)
    t = x + 2 - i
    inside = (
        (2 * t**3 - 3 * t**2 + 1) * points[i]
        + (t**3 - 2 * t**2 + t) * slopes[i]
        + (3 * t**2 - 2 * t**3) * points[i + 1]
        + (t**3 - t**2) * slopes[i + 1]
    )
    left, right = points[0] + slopes[0] * (x + 2), points[-1] + slopes[-1] * (x - 2)
    return np.where(x < -2, left, np.where(x > 2, right, inside))


FOUR = np.array([0.1, 0.2, 0.3, 0.4])


@pytest.mark.parametrize(
    "layer, weights, transcription",
    [
        (
            layers.ActivationEnsemble(),
            [FOUR, FOUR + 1, FOUR - 1, -2 * FOUR, FOUR * 3],
            ensemble,
        ),
        (layers.KAF(D=6), [np.linspace(-1, 2, 6) ** 2], kaf),
        (layers.PELU(), [1.3, 0.7], pelu),
        (layers.APL(S=3), [SIGNED[0][:3], np.array([-1.0, 0.2, 2.0])], apl),
        (layers.SReLU(), [-1.1, 0.3, 0.9, 2.0], srelu),
        (layers.Snake(), [1.7], snake),
        (layers.Snake(), [-0.4], snake),
        (layers.XIELU(), [0.3, -0.9], xielu),
        *(
            (layers.ABU(normalization=n), SIGNED, lambda x, a, f=f: blended(x) @ f(a))
            for n, f in SHARES.items()
        ),
        (layers.AdaptiveSigmoid(), [2.0, 0.7], lambda x, a, b: a * sigmoid(b * x)),
        (layers.AdaptiveTanh(), [2.0, 0.7], lambda x, a, b: a * np.tanh(b * x)),
        (layers.MixedActivation(), [0.3], mixed),
        (layers.MixedActivation(gated=True), [0.3], gated),
        (
            layers.PolynomialActivation(),
            [FOUR],
            lambda x, c: x[:, None] ** range(4) @ c,
        ),
        (layers.SplineActivation(q=5), [SIGNED[0]], spline),
        (layers.SnakeBeta(), [0.3, -0.6], snake_beta),
        (
            layers.SnakeBeta(log_scale=False),
            [1.3, 0.6],
            lambda x, a, b: x + np.sin(a * x) ** 2 / b,
        ),
    ],
)
def test_value(layer, weights, transcription):
    layer = fresh(layer, sharing="layer")
    layer.set_weights([np.array(weight) for weight in weights])
    # The weights are rounded to float32.
    np.testing.assert_allclose(
        layer.function(X), transcription(X, *weights), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize(
    "layer, start",
    [
        (layers.PELU(), elu),
        (layers.SReLU(), lambda x: np.where(x > 0, x, 0.2 * x)),
        (layers.ABU(), lambda x: blended(x).mean(-1)),
        (layers.ABU(normalization="softmax"), lambda x: blended(x).mean(-1)),
        (layers.AdaptiveSigmoid(), sigmoid),
        (layers.AdaptiveTanh(), np.tanh),
        (layers.MixedActivation(), lambda x: mixed(x, 0.5)),
        (layers.MixedActivation(gated=True), lambda x: mixed(x, 0.5)),
        (layers.PolynomialActivation(), lambda x: x),
        (layers.SnakeBeta(), lambda x: x + np.sin(x) ** 2),
        (layers.Snake(), lambda x: x + 2 * np.sin(x / 2) ** 2),
        (layers.Snake(initial_frequency=5), lambda x: x + np.sin(5 * x) ** 2 / 5),
        (layers.XIELU(), lambda x: x / 2 + 0.8 * np.where(x > 0, x**2, elu(x) - x)),
    ],
)
def test_start(layer, start):
    layer = fresh(layer, sharing="layer")
    np.testing.assert_allclose(layer.function(X), start(X), rtol=1e-5, atol=1e-6)


def test_kaf_starts_at_random_with_the_published_spread():
    layer = layers.KAF(seed=3)
    layer.build((None, 500))
    (alpha,) = layer.get_weights()
    assert alpha.shape == (500, 20)
    assert abs(alpha.mean()) < 0.01
    assert abs(alpha.std() - 0.3) < 0.01
    np.testing.assert_allclose(layer.dictionary, np.linspace(-3, 3, 20))
    assert layer.gamma == pytest.approx(1 / (6 * (6 / 19) ** 2))


def test_kaf_starts_by_kernel_ridge_regression():
    layer = layers.KAF(initialization="tanh", sharing="layer")
    points = np.linspace(-3, 3, 20)
    kernel = np.exp(-layer.gamma * (points[:, None] - points) ** 2)
    alpha = np.linalg.inv(kernel + 1e-5 * np.eye(20)) @ np.tanh(points)
    np.testing.assert_allclose(layer.get_weights()[0], alpha, rtol=1e-3)
    np.testing.assert_allclose(layer.function(points), np.tanh(points), atol=1e-3)


def test_apl_starts_as_its_code_does():
    layer = layers.APL(seed=3)
    layer.build((None, 2000))
    slopes, hinges = layer.get_weights()
    assert slopes.shape == hinges.shape == (2000, 5)
    assert 0.199 < slopes.max() <= 0.2 and -0.2 <= slopes.min() < -0.199
    assert abs(hinges.mean()) < 0.02 and abs(hinges.std() - 0.5) < 0.02


def test_a_seed_means_the_same_start_and_none_follows_the_global_seed():
    def start(seed):
        layer = layers.KAF(seed=seed, sharing="layer")
        return layer.get_weights()[0].tolist()

    assert start(1) == start(1) != start(2)
    keras.utils.set_random_seed(5)
    first, second = start(None), start(None)
    keras.utils.set_random_seed(5)
    assert [start(None), start(None)] == [first, second]
    assert first != second


def test_the_spline_starts_on_its_function():
    layer = layers.SplineActivation(sharing="layer")
    points = np.linspace(-2, 2, 21)
    np.testing.assert_allclose(layer.get_weights()[0], np.tanh(points), atol=1e-6)
    np.testing.assert_allclose(layer.function(points), np.tanh(points), atol=1e-6)
    x = np.linspace(-2, 2, 400)
    np.testing.assert_allclose(layer.function(x), np.tanh(x), atol=1e-2)


def test_an_ensemble_starts_with_equal_shares_on_0_to_1():
    layer = layers.ActivationEnsemble(functions=("tanh", "relu"), sharing="layer")
    alpha, eta, delta, minimum, maximum = layer.get_weights()
    np.testing.assert_array_equal([alpha, eta, delta], [[0.5, 0.5], [1, 1], [0, 0]])
    np.testing.assert_allclose(minimum, [np.tanh(-3), 0], rtol=1e-6)
    np.testing.assert_allclose(maximum, [np.tanh(3), 3], rtol=1e-6)
    np.testing.assert_allclose(layer.function([-3, 3]), [0, 1], atol=1e-5)


@pytest.mark.parametrize("frequency", [0.0, 1e-30, -1e-9, 1.1e-8, -1e-6])
def test_snake_is_the_identity_at_frequency_0_and_can_leave_it(frequency):
    layer = layers.Snake()
    x, upstream = to_tensors([X.astype("float32"), np.ones(X.shape, "float32")])
    value, gradients = vjp(
        lambda x, frequency: pointwise(layer.equation, x, [frequency]),
        (x, *to_tensors([np.array(frequency, "float32")])),
        upstream,
    )
    y, slope, of_frequency = to_arrays([value, *gradients])
    np.testing.assert_allclose(y, X, atol=1e-4)
    np.testing.assert_allclose(slope, 1, atol=1e-4)
    np.testing.assert_allclose(of_frequency, np.sum(X**2), rtol=1e-4)
