"""Names for the help texts, available without importing `keras_vaf`.

`tests/membership/test_commands.py` compares them with the names in the package.
"""

COMPARED = ("relu", "gelu", "silu", "tanh", "prelu", "vaf-relu", "vaf-silu")
"""Activations that `compare` trains: those of `keras_vaf.training.recipe`."""

OTHERS = (
    *("vaf-random", "kaf", "apl", "pelu", "srelu", "abu", "ensemble", "mixed", "gated"),
    *("adaptive-sigmoid", "adaptive-tanh", "spline", "polynomial", "rational", "snake"),
    *("snake-beta", "xielu", "vaf-random-rescaled", "elu"),
)
"""Other activations that `compare` can train."""

LEARNING_RATES = (0.0003, 0.001, 0.003, 0.01)
"""Learning rates of the recipe."""

LAYERS = (
    *("VAFActivation", "KAF", "APL", "PELU", "SReLU", "ABU", "ActivationEnsemble"),
    *("MixedActivation", "AdaptiveSigmoid", "AdaptiveTanh", "SplineActivation"),
    *("PolynomialActivation", "Rational", "Snake", "SnakeBeta", "XIELU"),
)
"""Classes that `convert` can put into a model, default first."""

EXPERIMENTS = ("regression", "classification", "convolution", "sensorless", "curves")
"""The paper's experiments: `keras_vaf.paper.reproduction.EXPERIMENTS`."""

TUNERS = ("random", "bayesian", "grid", "hyperband")
"""Tuners of `search`: `keras_vaf.tuners.table_search.TUNERS`."""
