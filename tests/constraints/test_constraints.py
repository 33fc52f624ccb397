"""Weights stay where their layers need them, however large the steps are."""

import itertools

import keras
import numpy as np
import pytest
from keras import ops

from keras_vaf import layers
from keras_vaf.constraints import Interval, Simplex
from tests.harness import check_serialization
from tests.layers.family import fresh, sample


def project(values):
    """Nearest point of the simplex: the best over all sets of weights that stay."""
    best = None
    for count in range(1, len(values) + 1):
        for kept in itertools.combinations(range(len(values)), count):
            kept = list(kept)
            point = np.zeros(len(values))
            point[kept] = values[kept] - (values[kept].sum() - 1) / count
            distance = np.sum((point - values) ** 2)
            if point.min() >= 0 and (best is None or distance < best[0]):
                best = (distance, point)
    return best[1]


def test_simplex_takes_the_nearest_point():
    values = 2 * np.random.default_rng(0).normal(size=(5, 2, 4))
    projected = ops.convert_to_numpy(
        Simplex()(ops.convert_to_tensor(values, "float32"))
    )
    expected = np.apply_along_axis(project, -1, values)
    np.testing.assert_allclose(projected, expected, atol=1e-6)
    check_serialization(Simplex())


@pytest.mark.parametrize(
    "bounds, expected",
    [
        ({"minimum": 0.1}, [0.1, 0.5, 9]),
        ({"maximum": 1}, [-3, 0.5, 1]),
        ({"minimum": 0, "maximum": 1}, [0, 0.5, 1]),
    ],
)
def test_interval_takes_the_nearest_number(bounds, expected):
    values = Interval(**bounds)(ops.array([-3, 0.5, 9]))
    np.testing.assert_allclose(values, expected, rtol=1e-6)
    check_serialization(Interval(**bounds))


@pytest.mark.nightly("tensorflow", "jax")  # which compile each training
@pytest.mark.parametrize(
    "layer, inside",
    [
        (layers.PELU(), lambda alpha, beta: min(alpha.min(), beta.min()) >= 0.1),
        (layers.KAF(train_gamma=True), lambda alpha, gamma: gamma.min() >= 0.001),
        (
            layers.MixedActivation(),
            lambda mixing: 0 <= mixing.min() <= mixing.max() <= 1,
        ),
        (
            layers.ActivationEnsemble(),
            lambda alpha, *rest: (
                alpha.min() >= 0 and np.allclose(alpha.sum(-1), 1, atol=1e-5)
            ),
        ),
    ],
    ids=lambda value: getattr(value, "name", None),
)
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_large_learning_rate_leads_nowhere_else(layer, inside, sign):
    layer = fresh(layer, sharing="channel")
    model = keras.Sequential([keras.Input((3,)), layer])
    model.compile(
        keras.optimizers.SGD(1e3, clipvalue=1.0), lambda y, p: sign * ops.mean(p)
    )
    x = sample((8, 3))
    for _ in range(3):
        model.train_on_batch(x, x)
        weights = layer.get_weights()
        assert all(np.isfinite(weight).all() for weight in weights)
        assert inside(*weights)
        assert np.isfinite(layer.function(x)).all()
