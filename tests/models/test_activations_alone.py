"""Only the activations of a model are trained, saved and loaded."""

import tracemalloc

import keras
import numpy as np
import pytest

from keras_vaf.layers import ActivationEnsemble, VAFActivation
from keras_vaf.models import (
    load_activations,
    save_activations,
    train_only_activations,
)
from tests.faults.activation_files import attack_activations, crafted

layers = keras.layers

CRAFTED = [
    *("1e300", "infinite", "nan", "float64", "float16", "complex", "dates", "text"),
    *("void", "structured", "big-endian", "short", "another shape", "no list"),
    *("zeros that expand", "a text that expands", "deep layout", "layout of numbers"),
    "another layout",
    *("layout of several texts", "a header of 8 TB", "a shorter array", "pickled"),
    "data that expand",
]


def make_model(k=3):
    inner = keras.Sequential(
        [keras.Input((6,)), layers.Dense(6), VAFActivation(k, name="vaf")], name="inner"
    )
    model = keras.Sequential(
        [
            keras.Input((4,)),
            layers.Dense(6, activation=VAFActivation(k, sharing="channel", name="a")),
            layers.BatchNormalization(),
            inner,
            ActivationEnsemble(name="ensemble"),
            layers.Dropout(0.0, name="dropout"),
            layers.Dense(2, name="head"),
        ]
    )
    model(np.zeros((1, 4), "float32"))
    return model


def trained(model):
    """Return the paths of the weights that training changes."""
    model.compile(keras.optimizers.SGD(0.1), "mse")
    before = values(model)
    x = np.random.default_rng(0).normal(size=(32, 4)).astype("float32")
    model.fit(x, np.ones((32, 2)), epochs=2, verbose=0)
    after = values(model)
    triples = zip(model.weights, before, after, strict=True)
    return {w.path for w, old, new in triples if not np.array_equal(old, new)}


def values(model):
    return [keras.ops.convert_to_numpy(w.value).copy() for w in model.weights]


def of_activations(model):
    names = ("/a/", "vaf/", "ensemble/")
    return {w.path for w in model.weights if any(n in f"/{w.path}" for n in names)}


def test_nothing_else_changes():
    model = make_model()
    assert train_only_activations(model, inplace=True) is model
    changed = trained(model)
    assert changed
    assert changed <= of_activations(model)


def test_named_layers_stay_trainable():
    model = train_only_activations(make_model(), also=["head"])
    changed = trained(model)
    head = {path for path in changed if "head" in path}
    assert len(head) == 2
    assert changed - head <= of_activations(model)


def test_one_name_needs_no_list():
    model = train_only_activations(make_model(), also="head")
    assert model.get_layer("head").trainable_weights


def test_a_model_that_was_frozen_is_trained():
    model = make_model()
    model.trainable = False
    assert trained(train_only_activations(model))


def test_a_file_carries_the_activations_and_nothing_else(tmp_path):
    model, other = make_model(), make_model()
    model = train_only_activations(model)
    trained(model)
    path = save_activations(model, tmp_path / "activations.npz")
    before = values(other)
    load_activations(other, path)
    now, learned = values(other), values(model)
    for place, weight in enumerate(other.weights):
        carried = weight.path in of_activations(other)
        expected = learned[place] if carried else before[place]
        np.testing.assert_array_equal(now[place], expected)


def test_the_file_is_small_beside_a_large_model(tmp_path):
    model = keras.Sequential([keras.Input((512,)), layers.Dense(512), VAFActivation()])
    path = save_activations(model, tmp_path / "activations.npz")
    assert path.stat().st_size < 2000 < model.count_params()


def test_many_layers_need_few_bytes_each(tmp_path):
    model = keras.Sequential([keras.Input((4,))])
    for _ in range(35):
        model.add(VAFActivation(initialization="random"))
    path = save_activations(model, tmp_path / "activations.npz")
    assert path.stat().st_size < 35 * 10 * 4 + 1500


def test_a_file_with_numbers_that_are_not_finite_is_refused(tmp_path):
    model = make_model()
    broken = make_model()
    ensemble = broken.get_layer("ensemble")
    ensemble.set_weights([w + np.nan for w in ensemble.get_weights()])
    path = save_activations(broken, tmp_path / "activations.npz")
    before = values(model)
    with pytest.raises(ValueError, match="finite"):
        load_activations(model, path)
    for old, new in zip(before, values(model), strict=True):
        np.testing.assert_array_equal(old, new)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no archive", b"text"])
def test_another_file_is_refused(tmp_path, content):
    path = tmp_path / "activations.npz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="Expected a file that `save_activations`"):
        load_activations(make_model(), path)


def test_the_file_of_another_model_is_refused(tmp_path):
    path = save_activations(make_model(k=4), tmp_path / "activations.npz")
    model = make_model()
    before = model.get_weights()
    with pytest.raises(ValueError, match="same trainable activations"):
        load_activations(model, path)
    for old, new in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


def test_a_layer_without_weights_is_named(tmp_path):
    vaf = VAFActivation(sharing="channel", name="unbuilt")
    model = keras.Sequential([layers.Dense(2), vaf])
    with pytest.raises(ValueError, match="'unbuilt' has no weights yet"):
        save_activations(model, tmp_path / "activations.npz")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_activations(make_model(), tmp_path / "none.npz")


@pytest.mark.parametrize(
    "model, also, message",
    [
        (keras.Sequential([keras.Input((2,)), layers.Dense(2)]), (), "activation"),
        (make_model(), ["haed"], "Did you mean 'head'"),
        (make_model(), ["dropout"], "layers with weights"),
        (
            keras.Sequential([VAFActivation(sharing="channel")]),
            (),
            "call it on an input first",
        ),
    ],
)
def test_wrong_arguments(model, also, message):
    with pytest.raises(ValueError, match=message):
        train_only_activations(model, also)


@pytest.mark.backend("torch")
def test_wrong_files_raise_only_a_value_error_and_change_nothing():
    counts = attack_activations(150)
    assert counts["tried"] == 174
    assert counts["stopped"] > 130
    assert counts["lost"] == counts["tracebacks"] == 0


@pytest.fixture(scope="module")
def variants(tmp_path_factory):
    model = keras.Sequential([keras.Input((4,)), VAFActivation()])
    path = tmp_path_factory.mktemp("variants") / "activations.npz"
    return crafted(save_activations(model, path).read_bytes())


@pytest.mark.backend("torch")
@pytest.mark.parametrize("name", CRAFTED)
def test_a_crafted_file_is_refused_before_its_data_are_read(name, variants, tmp_path):
    model = keras.Sequential([keras.Input((4,)), VAFActivation()])
    path = tmp_path / "activations.npz"
    path.write_bytes(variants[name])
    tracemalloc.start()
    with pytest.raises(ValueError, match="Received: "):
        load_activations(model, path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**24  # some of them expand to 128 MB or more


@pytest.mark.backend("torch")
def test_a_file_in_float64_is_not_for_a_model_in_float32(tmp_path):
    wide = keras.Sequential([keras.Input((4,)), VAFActivation(dtype="float64")])
    path = save_activations(wide, tmp_path / "activations.npz")
    load_activations(wide, path)
    narrow = keras.Sequential([keras.Input((4,)), VAFActivation()])
    with pytest.raises(ValueError, match="must hold float32"):
        load_activations(narrow, path)
