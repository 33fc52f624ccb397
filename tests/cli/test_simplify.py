"""`keras-vaf simplify`: from file to file."""

import keras
import pytest

pytestmark = pytest.mark.backend("tensorflow")


def test_prints_what_it_removed(run, model):
    run("convert model.keras -o vaf.keras --k 5")

    code, output, _ = run("simplify vaf.keras -o small.keras")

    assert code == 0
    assert "VAFActivation(k=5) -> VAFActivation(k=1)" in output
    small, large = map(keras.saving.load_model, ("small.keras", "vaf.keras"))
    assert small.count_params() < large.count_params()


@pytest.mark.parametrize(
    ("options", "message"),
    [("", "trainable activation"), ("--tolerance -1", "tolerance=-1")],
)
def test_bad_input_is_one_sentence(refusal, model, options, message):
    assert message in refusal(f"simplify model.keras -o out.keras {options}")
