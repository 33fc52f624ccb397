"""Registered names are in users' files, so released names never change."""

import keras
import pytest

from tests.harness import package_modules

pytestmark = pytest.mark.backend("tensorflow")

NAMES = (
    "keras_vaf.experiments>CopiesStart",
    "keras_vaf.experiments>MaxMin",
    "keras_vaf.experiments>Staf",
    "keras_vaf.experiments>finer",
    "keras_vaf>ABU",
    "keras_vaf>APL",
    "keras_vaf>ActivationEnsemble",
    "keras_vaf>ActivationsApart",
    "keras_vaf>AdaptiveSigmoid",
    "keras_vaf>AdaptiveTanh",
    "keras_vaf>ConvertedModel",
    "keras_vaf>CurveStart",
    "keras_vaf>Damping",
    "keras_vaf>Derf",
    "keras_vaf>DyT",
    "keras_vaf>FunctionStart",
    "keras_vaf>GStart",
    "keras_vaf>Interval",
    "keras_vaf>KAF",
    "keras_vaf>Lipschitz",
    "keras_vaf>MLPConv",
    "keras_vaf>Maxout",
    "keras_vaf>MixedActivation",
    "keras_vaf>Monotone",
    "keras_vaf>NActivation",
    "keras_vaf>Orthogonal",
    "keras_vaf>PELU",
    "keras_vaf>PiecewiseLinearStart",
    "keras_vaf>PolyReLU",
    "keras_vaf>PolynomialActivation",
    "keras_vaf>PortableGlorotUniform",
    "keras_vaf>RandomStart",
    "keras_vaf>Rational",
    "keras_vaf>Rprop",
    "keras_vaf>SReLU",
    "keras_vaf>Simplex",
    "keras_vaf>SirenKernel",
    "keras_vaf>SlopeBound",
    "keras_vaf>SlopeVariation",
    "keras_vaf>Snake",
    "keras_vaf>SnakeBeta",
    "keras_vaf>SpectralNorm",
    "keras_vaf>SplineActivation",
    "keras_vaf>TableEncoder",
    "keras_vaf>VAFActivation",
    "keras_vaf>XIELU",
    "keras_vaf>approximate_gelu",
    "keras_vaf>gaussian",
)


def registered():
    """Return the registered names of every module of the package."""
    package_modules()
    return {
        name
        for name, value in keras.saving.get_custom_objects().items()
        if value.__module__.startswith("keras_vaf.")
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_pinned_name_is_registered(name):
    assert name in registered()
    value = keras.saving.get_registered_object(name)
    assert keras.saving.get_registered_name(value) == name


def test_every_registered_name_is_pinned():
    missing = sorted(registered() - {*NAMES})
    assert not missing, (
        f"Add to NAMES in tests/saving/test_registered_names.py: {missing}"
    )
