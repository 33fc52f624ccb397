"""Registered names are in users' files, so released names never change."""

import keras
import pytest

from tests.harness import package_modules

pytestmark = pytest.mark.backend("tensorflow")

OWN = """
ABU APL ActivationEnsemble ActivationsApart AdaptiveSigmoid AdaptiveTanh ConvertedModel
CurveStart Damping Derf DyT FunctionStart GStart Interval KAF Lipschitz MLPConv Maxout
MixedActivation Monotone NActivation Orthogonal PELU PiecewiseLinearStart PolyReLU
PolynomialActivation PortableGlorotUniform RandomStart Rational Rprop SReLU Simplex
SirenKernel SlopeBound SlopeVariation Snake SnakeBeta SpectralNorm SplineActivation
TableEncoder VAFActivation XIELU approximate_gelu gaussian
"""
OF_EXPERIMENTS = "CopiesStart MaxMin Staf finer"
NAMES = [
    *(f"keras_vaf>{name}" for name in OWN.split()),
    *(f"keras_vaf.experiments>{name}" for name in OF_EXPERIMENTS.split()),
]


def registered():
    """Return the registered names of every module of the package."""
    package_modules()
    return {
        name
        for name, value in keras.saving.get_custom_objects().items()
        if value.__module__.startswith("keras_vaf.")
    }


def test_the_registered_names_are_those_that_are_pinned():
    found = registered()
    missing = sorted(found - {*NAMES})
    assert not missing, f"Add to tests/saving/test_registered_names.py: {missing}"
    assert found == {*NAMES}
    for name in NAMES:
        value = keras.saving.get_registered_object(name)
        assert keras.saving.get_registered_name(value) == name
