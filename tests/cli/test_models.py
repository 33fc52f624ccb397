"""`keras-vaf convert`, `inspect`, `simplify` and `freeze`: from file to file."""

import keras
import numpy as np
import pytest

from keras_vaf.cli import main
from keras_vaf.layers import KAF, VAFActivation
from tests.models.networks import inputs_of, outputs_of, sequential

pytestmark = pytest.mark.backend("tensorflow")


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Function that runs a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    sequential().save("model.keras")

    def run_command(*words):
        code = main(words)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run_command


def test_a_model_goes_through_all_commands(run, tmp_path):
    code, output, _ = run("convert", "model.keras", "-o", "out/vaf.keras", "--k", "5")
    assert code == 0
    assert "fused: relu -> VAFActivation" in output and "out/vaf.keras" in output

    code, output, _ = run("inspect", "out/vaf.keras", "--picture", "functions.png")
    assert code == 0
    assert "fused_activation" in output and "LeakyReLU(0.3)" in output
    assert (tmp_path / "functions.png").read_bytes()[:4] == b"\x89PNG"

    code, output, _ = run("simplify", "out/vaf.keras", "-o", "small.keras")
    assert code == 0 and "VAFActivation(k=5) -> VAFActivation(k=1)" in output

    code, output, _ = run("freeze", "small.keras", "-o", "frozen.keras")
    assert code == 0 and "largest deviation of an output" in output

    first, last = (
        keras.saving.load_model(name) for name in ("model.keras", "frozen.keras")
    )
    x = inputs_of(first)
    np.testing.assert_allclose(
        outputs_of(last, x)[0], outputs_of(first, x)[0], rtol=1e-4, atol=1e-5
    )


def test_the_options_of_convert_arrive(run):
    code, _, _ = run(
        *("convert", "model.keras", "-o", "vaf.keras", "--layers", "fused,capped"),
        *("--sharing", "channel", "--g", "same", "--k", "4"),
    )
    assert code == 0
    model = keras.saving.load_model("vaf.keras")
    found = [layer for layer in model.layers if isinstance(layer, VAFActivation)]
    assert [layer.name for layer in found] == ["fused_activation", "capped"]
    assert found[0].alpha.shape == (5, 4)
    assert run("convert", "model.keras", "-o", "kaf.keras", "--to", "KAF")[0] == 0
    assert isinstance(keras.saving.load_model("kaf.keras").layers[1], KAF)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("convert none.keras -o out.keras", "no model at none.keras"),
        ("convert text.keras -o out.keras", "cannot load text.keras"),
        ("convert model.keras -o out.h5", "must end in .keras"),
        ("convert model.keras -o model.keras", "another file"),
        ("convert model.keras -o out.keras --k 1", "k >= 2"),
        ("convert model.keras -o out.keras --layers conv", "names no layer"),
        ("inspect model.keras", "trainable activation"),
        ("simplify model.keras -o out.keras", "trainable activation"),
        ("simplify model.keras -o out.keras --tolerance -1", "tolerance=-1"),
        ("freeze model.keras -o out.keras", "trainable activation"),
    ],
)
def test_bad_input_is_one_sentence(run, tmp_path, words, message):
    (tmp_path / "text.keras").write_text("no model")
    code, _, errors = run(*words.split())
    assert code == 2
    assert message in errors and errors.startswith("keras-vaf: ")
    assert not (tmp_path / "out.keras").exists()


@pytest.mark.parametrize("command", ["convert", "inspect", "simplify", "freeze"])
def test_help_ends_with_an_example(command, capsys):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    example = capsys.readouterr().out.lower().partition("example")[2]
    assert f"keras-vaf {command} model.keras" in example
