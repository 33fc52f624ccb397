"""`STARTS`, which lists every start of a VAF with an example."""

from keras_vaf.initializers.curve_start import CurveStart
from keras_vaf.initializers.function_start import FunctionStart
from keras_vaf.initializers.g_start import GStart
from keras_vaf.initializers.piecewise_linear_start import PiecewiseLinearStart
from keras_vaf.initializers.random_start import RandomStart
from keras_vaf.initializers.start import Start

STARTS: tuple[Start, ...] = (
    GStart(),
    RandomStart(seed=0),
    FunctionStart("tanh"),
    PiecewiseLinearStart(knots=(0,), slopes=(0.3, 1)),
    CurveStart("relu", alpha=(1, -1), alpha_bias=(0, 0), beta=(1, 1)),
)
"""One example of each start, used by the contract tests."""
