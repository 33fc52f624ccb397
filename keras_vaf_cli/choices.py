"""Names that the help texts list, so that they can be shown without `keras_vaf`.

`tests/membership/test_commands.py` holds them equal to the tuples of the package.
"""

COMPARED = ("relu", "vaf-random", "vaf-relu")
"""Activations that `compare` trains by default: `keras_vaf.experiments.VARIANTS`."""

FAMILY = (
    "prelu",
    "elu",
    "swish",
    "kaf",
    "apl",
    "pelu",
    "srelu",
    "abu",
    "ensemble",
    "mixed",
    "gated",
    "sigmoid",
    "tanh",
    "spline",
    "polynomial",
)
"""Further activations that `compare` knows: `keras_vaf.experiments.FAMILY`."""

LAYERS = (
    "VAFActivation",
    "ABU",
    "APL",
    "ActivationEnsemble",
    "AdaptiveSigmoid",
    "AdaptiveTanh",
    "KAF",
    "MixedActivation",
    "PELU",
    "PolynomialActivation",
    "SReLU",
    "SplineActivation",
)
"""Classes that `convert` can put into a model, the default first."""

OPTIMIZERS = ("careful", "paper")
"""Settings of Rprop: `keras_vaf.experiments.comparison_protocols.OPTIMIZERS`."""

EXPERIMENTS = (
    "sensorless",
    "regression",
    "classification",
    "curves",
    "choices-regression",
    "choices-classification",
    "convolution-a",
    "convolution-b",
)
"""The paper's experiments: `keras_vaf.paper.EXPERIMENTS`."""

TUNERS = ("random", "bayesian", "grid", "hyperband")
"""Ways in which `search` draws trials: `keras_vaf.tuners.search_settings.TUNERS`."""
