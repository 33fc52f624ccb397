"""With g = relu, the error of a fit is at most 1.5 times that of the best lines."""

import pytest

from keras_vaf.initializers import FunctionStart

pytestmark = pytest.mark.backend("tensorflow")

# The least errors at k = 3 and k = 5, and a lower bound at k = 8: the error of nine
# lines that need not meet, found without a search for knots.
BEST = {
    "gelu": (0.085, 0.0153, 0.00786),
    "silu": (0.1394, 0.0240, 0.01365),
    "tanh": (0.0824, 0.0291, 0.00889),
    "sigmoid": (0.0413, 0.0146, 0.00444),
    "elu": (0.0248, 0.0093, 0.00372),
    "softplus": (0.0549, 0.0215, 0.00879),
}


@pytest.mark.parametrize("name", BEST)
def test_the_error_is_near_the_best_possible_one(name):
    for k, best in zip((3, 5, 8), BEST[name], strict=True):
        assert 0.99 * best <= FunctionStart(name).error(k).largest <= 1.5 * best
