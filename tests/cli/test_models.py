"""`keras-vaf convert`, `simplify`, `freeze`, `to-relu`, `inspect`: file to file."""

import os

import keras
import numpy as np
import pytest

from keras_vaf import layers
from tests.models.networks import inputs_of, outputs_of

pytestmark = pytest.mark.backend("tensorflow")

COMMANDS = (
    "convert model.keras -o",
    "simplify vaf.keras -o",
    "freeze vaf.keras -o",
    "to-relu model.keras -o",
    "inspect vaf.keras --picture",
)


@pytest.fixture
def vaf(run, model):
    """A model with VAFs of five hidden units, saved as vaf.keras."""
    code, output, _ = run("convert model.keras -o vaf.keras --k 5")
    assert code == 0
    assert "fused: relu -> VAFActivation" in output
    assert output.endswith("Written to vaf.keras.\n")
    return keras.saving.load_model("vaf.keras")


def test_options_of_convert_arrive(run, model):
    line = "convert model.keras -o vaf.keras --layers fused,capped --sharing channel"
    assert run(f"{line} --g relu --k 4")[0] == 0
    converted = keras.saving.load_model("vaf.keras").layers
    found = [each for each in converted if isinstance(each, layers.VAFActivation)]
    assert [layer.name for layer in found] == ["fused_activation", "capped"]
    assert found[0].alpha.shape == (5, 4)

    assert run("convert model.keras -o kaf.keras --to KAF")[0] == 0
    assert isinstance(keras.saving.load_model("kaf.keras").layers[1], layers.KAF)


def test_a_simplified_model_is_smaller(run, vaf):
    code, output, _ = run("simplify vaf.keras -o small.keras")

    assert code == 0
    assert "VAFActivation(k=5) -> VAFActivation(k=1)" in output
    small = keras.saving.load_model("small.keras")
    assert small.count_params() < vaf.count_params()


def test_a_frozen_model_computes_the_same(run, model, vaf):
    code, output, _ = run("freeze vaf.keras -o frozen.keras")

    assert code == 0
    assert "largest deviation of an output" in output
    frozen, x = keras.saving.load_model("frozen.keras"), inputs_of(model)
    expected, found = outputs_of(model, x)[0], outputs_of(frozen, x)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_a_network_with_relu_alone_is_written(run, refusal):
    parts = keras.layers.Dense(5, "elu"), keras.layers.Dense(2)
    smooth = keras.Sequential([keras.Input((4,)), *parts])
    x = inputs_of(smooth)
    smooth.save("smooth.keras")
    np.save("x.npy", x)
    line = "to-relu smooth.keras -o relu.keras --data"
    code, output, _ = run(f"{line} x.npy --k 3 --widen")

    assert code == 0 and "elu -> 3 units of ReLU" in output
    found = keras.saving.load_model("relu.keras")
    gap = np.max(np.abs(outputs_of(found, x)[0] - outputs_of(smooth, x)[0]))
    assert f"largest deviation of an output {gap:.2g}" in output
    np.savez("x.npz", x)
    for name in ("x.npz", "smooth.keras"):
        message = f"an array that `numpy.save` wrote. Received: {name}"
        assert message in refusal(f"{line} {name} --force")


def test_inspect_lists_draws_and_prints_formulas_and_reasons(run, vaf, tmp_path):
    code, output, _ = run("inspect vaf.keras --picture functions.png")
    assert code == 0
    assert "fused_activation" in output and "LeakyReLU(0.3)" in output
    assert (tmp_path / "functions.png").read_bytes()[:4] == b"\x89PNG"
    assert run("inspect vaf.keras --picture functions.pdf")[0] == 0
    assert (tmp_path / "functions.pdf").read_bytes()[:4] == b"%PDF"

    leaky = layers.VAFActivation(initialization="leaky_relu", name="leaky")
    parts = [keras.Input((2,)), leaky, layers.Snake(name="snake")]
    keras.Sequential(parts).save(tmp_path / "both.keras")
    _, output, _ = run("inspect both.keras --formula")
    assert "leaky:\nf(a) = 0.2 a for a <= 0; a for a > 0\n6 digits:" in output
    assert "snake:\nno formula: A Snake cannot be written as a VAF" in output
    assert r"0.2\,a & a \le 0" in run("inspect both.keras --formula latex")[1]


@pytest.mark.parametrize("command", COMMANDS)
def test_existing_files_and_inputs_are_kept(
    run, refusal, vaf, tmp_path, monkeypatch, command
):
    name = "out.png" if "picture" in command else "out.keras"
    path, source = tmp_path / name, command.split()[1]
    path.write_text("old")
    before = (tmp_path / source).read_bytes()

    early = command.replace(source, "absent.keras")  # refused before it is read
    assert f"{name} exists" in refusal(f"{early} {name}")
    assert path.read_text() == "old"
    picture = "picture" in command
    suffix = "must be one of '.png'" if picture else "must end in .keras"
    assert suffix in refusal(f"{command} out.h5")
    said = suffix if picture else "same file as an input"
    assert said in refusal(f"{command} {source} --force")
    assert (tmp_path / source).read_bytes() == before
    assert "absent does not exist" in refusal(f"{command} absent/{name}")
    assert not (tmp_path / "absent").exists()
    assert run(f"{command} {name} --force")[0] == 0
    assert (tmp_path / source).read_bytes() == before
    assert path.read_bytes() != b"old"

    path.unlink()
    monkeypatch.setattr(os, "fsync", lambda _: path.write_text("of another process"))
    assert f"{name} exists" in refusal(f"{command} {name}")
    assert path.read_text() == "of another process"
