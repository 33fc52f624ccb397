"""`keras-vaf convert`: from file to file."""

import keras
import pytest

from keras_vaf.layers import KAF, VAFActivation

pytestmark = pytest.mark.backend("tensorflow")


def test_its_options_arrive_and_it_prints_what_it_replaced(run, model):
    line = "convert model.keras -o vaf.keras --layers fused,capped --sharing channel"
    code, output, _ = run(f"{line} --g relu --k 4")

    assert code == 0
    assert "fused: relu -> VAFActivation" in output
    assert output.endswith("Written to vaf.keras.\n")
    converted = keras.saving.load_model("vaf.keras")
    found = [layer for layer in converted.layers if isinstance(layer, VAFActivation)]
    assert [layer.name for layer in found] == ["fused_activation", "capped"]
    assert found[0].alpha.shape == (5, 4)


def test_other_classes_can_be_named(run, model):
    assert run("convert model.keras -o kaf.keras --to KAF")[0] == 0

    assert isinstance(keras.saving.load_model("kaf.keras").layers[1], KAF)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--k 1", "k >= 2"),
        ("--layers conv", "does not match any layer"),
        ("--to KAF --k 4", "`k` and `g` are arguments of VAFActivation"),
        ("--to kav", "Did you mean 'KAF'"),
    ],
)
def test_bad_input_is_one_sentence(refusal, model, tmp_path, options, message):
    assert message in refusal(f"convert model.keras -o out.keras {options}")
    assert not (tmp_path / "out.keras").exists()
