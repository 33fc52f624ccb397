"""`keras-vaf inspect`: what it lists and draws."""

import pytest

pytestmark = pytest.mark.backend("tensorflow")


def test_lists_and_draws(run, model, tmp_path):
    run("convert model.keras -o vaf.keras")

    code, output, _ = run("inspect vaf.keras --picture functions.png")

    assert code == 0
    assert "fused_activation" in output and "LeakyReLU(0.3)" in output
    assert (tmp_path / "functions.png").read_bytes()[:4] == b"\x89PNG"


def test_a_model_without_trainable_activations_is_refused(refusal, model):
    assert "trainable activation" in refusal("inspect model.keras")
