"""`keras-vaf freeze`: from file to file."""

import keras
import numpy as np
import pytest

from tests.models.networks import inputs_of, outputs_of

pytestmark = pytest.mark.backend("tensorflow")


def test_the_frozen_model_computes_the_same(run, model):
    run("convert model.keras -o vaf.keras")

    code, output, _ = run("freeze vaf.keras -o frozen.keras")

    assert code == 0
    assert "largest deviation of an output" in output
    frozen = keras.saving.load_model("frozen.keras")
    x = inputs_of(model)
    np.testing.assert_allclose(
        outputs_of(frozen, x)[0], outputs_of(model, x)[0], rtol=1e-4, atol=1e-5
    )


def test_a_model_without_trainable_activations_is_refused(refusal, model):
    assert "trainable activation" in refusal("freeze model.keras -o out.keras")
