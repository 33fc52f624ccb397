"""A learned function goes to another model by way of a file."""

import json

import keras
import numpy as np
import pytest

from keras_vaf.initializers import RandomStart
from keras_vaf.layers import ABU, KAF, VAFActivation
from keras_vaf.models import load_curve, save_curve

X = np.linspace(-5, 5, 101)


def learned(**arguments):
    layer = VAFActivation(k=4, initialization=RandomStart(seed=0), **arguments)
    layer.build((None, 3))
    return layer


@pytest.mark.parametrize("g", ["relu", "tanh"])
def test_another_layer_starts_there(g, tmp_path):
    layer = learned(g=g)
    path = save_curve(layer, tmp_path / "curve.json")
    start = load_curve(path)
    for k in (4, 6):
        other = VAFActivation(k=k, g=g, sharing="channel", initialization=start)
        other.build((None, 2))
        expected = np.stack([layer.function(X)] * 2, axis=1)
        np.testing.assert_allclose(other.function(X), expected, rtol=1e-5, atol=1e-6)


def test_one_of_several_functions(tmp_path):
    layer = learned(sharing="channel")
    path = save_curve(layer, tmp_path / "curve.json", index=(2,))
    np.testing.assert_allclose(
        load_curve(path).target(X), layer.function(X)[:, 2], rtol=1e-6, atol=1e-6
    )


def test_other_activations_that_are_vafs(tmp_path):
    layer = KAF(D=5, sharing="layer", seed=0)
    start = load_curve(save_curve(layer, tmp_path / "kaf.json"))
    np.testing.assert_allclose(start.target(X), layer.function(X), atol=1e-5)


@pytest.mark.parametrize(
    ("layer", "index", "message"),
    [
        (learned(sharing="channel"), (), "index=\\(\\)"),
        (learned(sharing="channel"), (3,), "index=\\(3,\\)"),
        (learned(), (0,), "index=\\(0,\\)"),
        (ABU(), (), "cannot be written as a VAF"),
        (VAFActivation(sharing="channel"), (), "no weights yet"),
        (learned(g=lambda x: x), (), "cannot be saved"),
    ],
    ids=["none", "too large", "too many", "ABU", "unbuilt", "lambda"],
)
def test_refuses_what_is_no_curve(layer, index, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        save_curve(layer, tmp_path / "curve.json", index)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.pop("alpha"),
        lambda content: content.update(format="other"),
        lambda content: content.update(beta=[1, "two", 3, 4]),
        lambda content: content.update(beta=[1, 2, 3]),
        lambda content: content.update(beta_bias=float("nan")),
        lambda content: content.update(beta_bias=1e300),
        lambda content: content.update(beta_bias=10**400),
        lambda content: content.update(alpha=[1e300, 1, 1, 1]),
        lambda content: content.update(g="my_package>unknown"),
        lambda content: content.update(more=1),
    ],
    ids=[
        "missing",
        "format",
        "text",
        "length",
        "nan",
        "1e300",
        "10**400",
        "alpha",
        "g",
        "unknown",
    ],
)
def test_a_wrong_file_is_told(change, tmp_path):
    path = save_curve(learned(), tmp_path / "curve.json")
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=r"save_curve wrote\. Received: .*json"):
        load_curve(path)


def test_no_json_is_told(tmp_path):
    (tmp_path / "curve.json").write_text("alpha: 1")
    with pytest.raises(ValueError, match="save_curve wrote"):
        load_curve(tmp_path / "curve.json")
    with pytest.raises(FileNotFoundError):
        load_curve(tmp_path / "none.json")


def test_a_model_that_started_there_is_saved(tmp_path):
    start = load_curve(save_curve(learned(), tmp_path / "curve.json"))
    model = keras.Sequential(
        [keras.Input((2,)), VAFActivation(k=5, initialization=start)]
    )
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(
        loaded.layers[0].function(X), model.layers[0].function(X)
    )


@pytest.mark.backend("torch")
@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[" * 2**18, b" " * 2**21])
def test_another_file_is_told(content, tmp_path):
    path = tmp_path / "curve.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="Expected a file that keras_vaf"):
        load_curve(path)
