"""`keras-vaf inspect`: what it lists and draws."""

import keras
import pytest

from keras_vaf import layers

pytestmark = pytest.mark.backend("tensorflow")


def test_lists_and_draws(run, model, tmp_path):
    run("convert model.keras -o vaf.keras")

    code, output, _ = run("inspect vaf.keras --picture functions.png")

    assert code == 0
    assert "fused_activation" in output and "LeakyReLU(0.3)" in output
    assert (tmp_path / "functions.png").read_bytes()[:4] == b"\x89PNG"


def test_prints_formulas_and_reasons(run, tmp_path):
    vaf = layers.VAFActivation(initialization="leaky_relu", name="vaf")
    parts = [keras.Input((2,)), vaf, layers.Snake(name="snake")]
    keras.Sequential(parts).save(tmp_path / "both.keras")

    code, output, _ = run("inspect both.keras --formula")
    assert code == 0
    assert "vaf:\nf(a) = 0.2 a for a <= 0; a for a > 0\n6 digits:" in output
    assert "snake:\nno formula: A Snake cannot be written as a VAF" in output

    _, output, _ = run("inspect both.keras --formula python")
    assert "def f(a):" in output


def test_a_model_without_trainable_activations_is_refused(refusal, model):
    assert "trainable activation" in refusal("inspect model.keras")
