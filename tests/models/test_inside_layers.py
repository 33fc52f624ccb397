"""Activations inside other layers and inside subclassed models are replaced too."""

import keras
import numpy as np
import pytest
from keras import layers, ops

from keras_vaf.layers import KAF, VAFActivation
from keras_vaf.layers.activation_inputs import activation_inputs
from keras_vaf.layers.traversal import find_layers
from keras_vaf.models import convert, freeze, report, simplify
from tests.models import blocks
from tests.models.networks import outputs_of

X = np.random.default_rng(0).normal(size=(3, 5, 4)).astype("float32")


def around(*inside):
    """A model of five steps of four numbers, with another layer at its end."""
    model = keras.Sequential([keras.Input((5, 4)), *inside, layers.Dense(2)])
    random = np.random.default_rng(1)
    model.set_weights([w + random.normal(0, 0.3, w.shape) for w in model.get_weights()])
    return model


def backbone(**arguments):
    keras.utils.clear_session()
    return blocks.Backbone(4, **arguments)


def replaced(model):
    return [each.layer for each in report(model).replaced]


def reasons(model):
    return {kept.layer: kept.reason for kept in report(model).kept}


def assert_equal(one, other, tolerance=1e-6):
    (expected,), (y,) = outputs_of(one, X), outputs_of(other, X)
    np.testing.assert_allclose(y, expected, rtol=tolerance, atol=tolerance)


def dense(activation):
    return layers.Dense(3, activation=activation, name="dense")


def lstm():
    return layers.LSTM(3, return_sequences=True, name="lstm")


PLACES = {
    "handed on": (lambda: blocks.Feedforward(6, name="block"), ["block"]),
    "own function": (lambda: blocks.Feedforward(6, blocks.cube, name="a"), ["a"]),
    "called": (lambda: blocks.Gated(6, "silu", name="gated"), ["gated"]),
    "other names": (
        lambda: blocks.TwoActivations(4, name="two"),
        ["two", "two"],
    ),
    "wrapper": (
        lambda: layers.TimeDistributed(dense("relu"), name="time"),
        ["time/dense"],
    ),
    "wrapped activation": (
        lambda: layers.TimeDistributed(layers.LeakyReLU(0.1, name="leaky"), name="t"),
        ["t/leaky"],
    ),
    "wrapped block": (
        lambda: layers.TimeDistributed(
            keras.Sequential([dense("gelu"), layers.ReLU(name="relu")], name="net"),
            name="t",
        ),
        ["t/net/dense", "t/net/relu"],
    ),
}


@pytest.mark.parametrize("name", PLACES)
class TestLayerWithAnActivation:
    def converted(self, name):
        make, paths = PLACES[name]
        model = around(make())
        each = name in ("handed on", "wrapper")
        found = convert(model, sharing="channel" if each else "layer")
        assert replaced(found) == paths
        return model, found

    def test_is_made_again_with_its_weights(self, name, tmp_path):
        model, found = self.converted(name)
        assert_equal(model, found)
        assert report(found).parameters == found.count_params() - model.count_params()
        assert report(found).parameters > 0
        found.compile("sgd", "mse")
        vafs = find_layers(found, VAFActivation).values()
        before = [layer.get_weights() for layer in vafs]
        found.fit(X, np.ones((3, 5, 2)), verbose=0)
        for layer, old in zip(vafs, before, strict=True):
            pairs = zip(layer.get_weights(), old, strict=True)
            assert any(np.any(new != weight) for new, weight in pairs)
        found.save(tmp_path / "model.keras")
        assert_equal(found, keras.saving.load_model(tmp_path / "model.keras"))

    def test_is_found_by_the_others(self, name):
        model, found = self.converted(name)
        small = simplify(found, 1e-4, data=X)
        assert small.count_params() < found.count_params()
        assert_equal(model, small, 1e-3)
        assert len(activation_inputs(found, X)) == len(report(found).replaced)

    def test_is_frozen(self, name, tmp_path):
        _, found = self.converted(name)
        frozen = freeze(found, data=X)
        assert report(frozen).deviation < 1e-5
        frozen.save(tmp_path / "frozen.keras")
        loaded = keras.saving.load_model(tmp_path / "frozen.keras")
        assert "keras_vaf" not in loaded.to_json()
        assert_equal(found, loaded, 1e-5)


def test_any_of_the_family_goes_inside():
    model = around(blocks.Feedforward(6, name="block"))
    assert isinstance(convert(model, to=KAF).layers[0].activation, KAF)


@pytest.mark.parametrize("wrap", [lambda x: x, layers.Bidirectional])
def test_recurrent_activations_are_replaced_when_named(wrap):
    model = around(wrap(lstm()), layers.ReLU(name="relu"))
    name = model.layers[0].name
    assert replaced(convert(model)) == ["relu"]
    found = convert(model, layers=name)
    assert_equal(model, found, 1e-5)
    cells = len(find_layers(found, layers.LSTM))
    assert len(find_layers(found, VAFActivation)) == cells


def test_what_a_configuration_does_not_name_is_kept():
    inside = [blocks.Fixed(name="fixed"), blocks.Inline(name="inline")]
    found = convert(around(*inside, layers.ReLU(name="relu")))
    assert replaced(found) == ["relu"]
    expected = "no argument of Fixed with 'act' in its name holds it"
    assert reasons(found)["fixed/dense"] == expected
    assert reasons(found)["fixed/last"] == expected
    assert reasons(found)["inline"] == "the code of Inline calls it"
    assert report(found).not_searched == 0


def test_an_argument_without_act_in_its_name_is_not_searched():
    found = convert(around(blocks.OtherName(3, name="block"), layers.ReLU(name="relu")))
    assert replaced(found) == ["relu"]
    expected = "no argument of OtherName with 'act' in its name holds it"
    assert reasons(found) == {"block/inner": expected}


def test_a_function_of_a_lambda_is_reported():
    calls = layers.Lambda(keras.activations.gelu, name="lambda")
    found = convert(around(calls, layers.ReLU()))
    assert reasons(found)["lambda"] == "the code of Lambda calls it"


def test_code_that_cannot_be_followed_is_counted():
    class Opaque(layers.Layer):
        def call(self, inputs):
            if isinstance(inputs, keras.KerasTensor):
                raise TypeError("no symbols")
            return inputs

        def compute_output_spec(self, inputs):
            return keras.KerasTensor(inputs.shape, inputs.dtype)

    found = convert(around(Opaque(), layers.ReLU()))
    text = "1 layer has custom code and was not searched"
    assert str(report(found)).endswith(text)
    found = convert(around(Opaque(), Opaque(), layers.ReLU()))
    text = "2 layers have custom code and were not searched"
    assert str(report(found)).endswith(text)


def test_a_layer_that_takes_no_other_activation_is_kept():
    @keras.saving.register_keras_serializable(package="blocks")
    class Named(blocks.Feedforward):
        def __init__(self, units, activation="gelu", **kwargs):
            assert isinstance(activation, str)
            super().__init__(units, activation, **kwargs)

    found = convert(around(Named(3, name="named"), layers.ReLU(name="relu")))
    assert replaced(found) == ["relu"]
    assert "a Named takes no other" in reasons(found)["named"]


BACKBONE = ["block_0", "block_1", "fixed/dense", "fixed/last", "act"]


class TestSubclassedModel:
    @pytest.mark.parametrize("sharing", ["layer", "channel"])
    def test_keeps_its_class(self, sharing, tmp_path):
        model = backbone()
        found = convert(model, sharing=sharing)
        assert replaced(found) == BACKBONE
        assert isinstance(found, blocks.Backbone) and found.width == 4
        assert type(model) is blocks.Backbone
        assert "shapes an output" in reasons(found)["pooled"]
        assert "the code of Backbone calls it" in reasons(found).values()
        assert_equal(model, found)
        assert report(found).parameters == found.count_params() - model.count_params()
        found.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        assert type(loaded) is type(found)
        assert_equal(found, loaded)
        assert len(loaded.trainable_variables) == len(found.trainable_variables)

    def test_learns_and_is_used_by_the_others(self, tmp_path):
        found = convert(backbone())
        found.compile("sgd", "mse")
        before = [v.get_weights() for v in find_layers(found, VAFActivation).values()]
        found.fit(X, np.ones((3, 5, 4)), verbose=0)
        after = [v.get_weights() for v in find_layers(found, VAFActivation).values()]
        assert len(after) == len(BACKBONE)
        for old, new in zip(before, after, strict=True):
            assert any(np.any(a != b) for a, b in zip(old, new, strict=True))
        found.save(tmp_path / "model.keras")
        assert_equal(found, keras.saving.load_model(tmp_path / "model.keras"))
        assert_equal(found, simplify(found, 1e-4), 1e-2)
        assert len(activation_inputs(found, X)) == len(BACKBONE)

    def test_is_converted_again(self):
        once = convert(backbone(), layers="block_0")
        twice = convert(once, layers="block_1")
        assert len(find_layers(twice, VAFActivation)) == 2
        assert_equal(once, twice)

    def test_is_converted_in_place(self):
        model = backbone()
        variables = {id(v) for v in model.variables}
        expected = outputs_of(model, X)[0]
        found = convert(model, inplace=True)
        assert found is model
        assert variables <= {id(v) for v in found.variables}
        np.testing.assert_allclose(outputs_of(found, X)[0], expected, atol=1e-6)

    def test_inside_another_one(self, tmp_path):
        words = keras.layers.Lambda(lambda x: x)  # stands for a tokenizer
        model = blocks.Classifier(backbone(depth=1), words, name="classifier")
        model.backbone.get_layer("block_0").trainable = False
        found = convert(model)
        paths = [path for path in replaced(found) if path.startswith("backbone/")]
        assert len(paths) == 5 and "hidden" in replaced(found)
        assert found.preprocessor is words
        assert found.compiled
        assert found.backbone is found.get_layer("backbone")
        assert not found.backbone.get_layer("block_0").trainable_weights
        assert_equal(model, found)
        # The configuration of a Backbone holds no frozen layers.
        found.backbone.get_layer("block_0").trainable = True
        found.compile("adam", "mse")
        found.fit(X, np.ones((3, 2)), verbose=0)
        found.preprocessor = None
        found.save(tmp_path / "model.keras")
        assert_equal(found, keras.saving.load_model(tmp_path / "model.keras"))

    def test_with_a_compile_method_of_its_own(self):
        @keras.saving.register_keras_serializable(package="blocks")
        class Compiled(blocks.Backbone):
            def compile(self, *args, **kwargs):
                super().compile(*args, **kwargs)

        model = Compiled(4)
        model.compile(keras.optimizers.SGD(0.25), "mse")
        found = convert(model)
        assert float(found.optimizer.learning_rate) == 0.25
        assert found.optimizer is not model.optimizer

    def test_inside_a_plain_model(self, tmp_path):
        model = keras.Sequential([keras.Input((5, 4)), backbone(), layers.Dense(2)])
        found = convert(model)
        assert "backbone/block_0" in replaced(found) and len(replaced(found)) == 6
        assert_equal(model, found)
        found.save(tmp_path / "model.keras")
        assert_equal(found, keras.saving.load_model(tmp_path / "model.keras"))

    def test_refuses_to_save_what_its_configuration_does_not_hold(self, tmp_path):
        found = convert(backbone(), layers="block_0")
        dense = found.get_layer("block_1").inner
        dense._tracker.unlock()
        dense.activation = VAFActivation()
        with pytest.raises(ValueError, match="put into one of its layers by hand"):
            found.save(tmp_path / "model.keras")

    def test_is_frozen_where_configurations_hold_all(self, tmp_path):
        found = convert(backbone(), layers=["block_*", "act"])
        frozen = freeze(found, data=X)
        assert "Backbone" not in type(frozen).__name__
        frozen.save(tmp_path / "frozen.keras")
        loaded = keras.saving.load_model(tmp_path / "frozen.keras")
        assert "keras_vaf" not in loaded.to_json()
        assert_equal(found, loaded, 1e-5)

    def test_names_the_layer_that_cannot_be_frozen(self):
        with pytest.raises(ValueError, match="'fixed' of class Fixed cannot be copied"):
            freeze(convert(backbone()))


class TestModelWhoseLayersAreNotDescribed:
    def converted(self, own=True):
        found = convert(blocks.Undescribed(own=own))
        random = np.random.default_rng(1)
        weights = [w + random.normal(0, 0.3, w.shape) for w in found.get_weights()]
        found.set_weights(weights)
        return found

    def test_is_frozen(self, tmp_path):
        found = self.converted()
        frozen = freeze(found, data=X)
        assert len(report(frozen).replaced) == 2
        assert report(frozen).deviation < 1e-5
        frozen.save(tmp_path / "frozen.keras")
        loaded = keras.saving.load_model(tmp_path / "frozen.keras")
        assert "keras_vaf" not in str(frozen.get_config())
        assert_equal(found, loaded, 1e-5)

    def test_is_as_it_was(self):
        found = self.converted()
        layer = next(each for each in found.layers if isinstance(each, blocks.Silent))
        freeze(found, data=X)
        assert "get_config" not in vars(layer)
        assert isinstance(layer.inner.activation, VAFActivation)

    def test_names_the_activation_that_has_no_argument(self):
        found = self.converted(own=False)
        with pytest.raises(ValueError, match="no argument for the activation 'expert/"):
            freeze(found, data=X)


def test_a_class_as_an_argument_is_not_written_to_a_file():
    class Norm(layers.Layer):
        def __init__(self, kind=layers.LayerNormalization, **kwargs):
            super().__init__(**kwargs)
            self.norm = kind()

        def call(self, inputs):
            return self.norm(inputs)

    class Model(keras.Model):
        def __init__(self, **kwargs):
            entry = keras.Input((5, 4))
            x = layers.ReLU()(Norm(layers.LayerNormalization, name="norm")(entry))
            super().__init__(entry, layers.Dense(2)(x), **kwargs)

        def get_config(self):
            return {}

        @classmethod
        def from_config(cls, config, custom_objects=None):
            return cls()

    found = convert(Model())
    with pytest.raises(ValueError, match="'norm' of class Norm cannot be copied"):
        freeze(found, data=X)


def test_activations_under_other_names_are_found_past_calls_without_symbols(tmp_path):
    model = blocks.Encoders()
    found = convert(model)
    assert replaced(found) == ["encoder_0", "encoder_1"]
    assert report(found).not_searched == 0
    assert_equal(model, found)
    found.save(tmp_path / "model.keras")
    assert_equal(found, keras.saving.load_model(tmp_path / "model.keras"))


def test_an_activation_that_nothing_calls_is_kept():
    @keras.saving.register_keras_serializable(package="test_inside_layers")
    class Norm(layers.Layer):
        def __init__(self, activation="gelu", **kwargs):
            super().__init__(**kwargs)
            self.activation = keras.activations.get(activation)

        def call(self, inputs):
            return ops.tanh(inputs)

        def get_config(self):
            return {**super().get_config(), "activation": "gelu"}

    found = convert(around(Norm(name="norm"), layers.ReLU(name="relu")))
    assert replaced(found) == ["relu"]
    kept = {each.activation: each.reason for each in report(found).kept}
    assert kept["gelu"] == "its layer does not call it"
    assert kept["tanh"] == "the code of Norm calls it"


def test_a_frozen_model_keeps_layers_that_a_model_inside_shares(tmp_path):
    found = convert(blocks.Tied())
    assert replaced(found) == ["inside/block"]
    frozen = freeze(found, data=X)
    assert frozen.count_params() < found.count_params()
    frozen.save(tmp_path / "frozen.keras")
    assert_equal(found, keras.saving.load_model(tmp_path / "frozen.keras"), 1e-5)


def test_a_model_that_its_first_call_builds():
    model = keras.Sequential([keras.Input((5, 4))])  # Keras cannot infer its shapes
    model.add(layers.TimeDistributed(blocks.TwoActivations(4)))
    model.add(layers.Dense(2))
    model(X)
    found = convert(model)
    assert len(replaced(found)) == 2
    assert_equal(model, found)
    with pytest.raises(ValueError, match="a layer inside needs a `compute_output_shap"):
        freeze(found)


@pytest.mark.filterwarnings("ignore:Layer InputLayer does not have:UserWarning")
@pytest.mark.parametrize("mode", ["int8", "float8"])
def test_a_quantized_model_is_converted(mode):
    model = keras.Sequential(
        [keras.Input((8,)), layers.Dense(8, "relu"), layers.Dense(8), layers.Dense(2)]
    )
    model.quantize(mode)
    x = np.random.default_rng(0).normal(size=(4, 8)).astype("float32")
    found = convert(model)
    np.testing.assert_allclose(
        outputs_of(found, x)[0], outputs_of(model, x)[0], atol=1e-6
    )
    assert found.layers[1].dtype_policy.name == "float32"
    assert ops.shape(found(x)) == (4, 2)


class TestModelWithItsOwnCall:
    def network(self):
        model = blocks.Network()
        model(X)
        model.block.trainable = False
        random = np.random.default_rng(1)
        weights = [w + random.uniform(0, 0.3, w.shape) for w in model.get_weights()]
        model.set_weights(weights)
        return model

    @pytest.mark.parametrize("sharing", ["layer", "channel"])
    def test_is_copied_and_saved(self, sharing, tmp_path):
        model = self.network()
        config, count = model.get_config(), model.count_params()
        found = convert(model, sharing=sharing)
        assert sorted(replaced(found)) == ["block", "dense", "leaky"]
        assert "is a gate" in reasons(found)["gate"]
        assert "shapes an output" in reasons(found)["last"]
        assert isinstance(found, blocks.Network) and found.width == 6
        assert_equal(model, found)
        assert not found.block.trainable_weights and found.dense.trainable_weights
        assert report(found).parameters == found.count_params() - count
        assert type(model) is blocks.Network and model.get_config() == config
        assert model.count_params() == count
        found.block.trainable = True  # no configuration contains frozen layers
        found.compile("adam", "mse")
        found.fit(X, np.ones((3, 5, 2)), verbose=0)
        found.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        assert_equal(found, loaded)

    def test_is_changed_by_the_others(self):
        model = self.network()
        assert_equal(model, simplify(convert(model), 1e-5), 1e-3)

    def test_is_converted_in_place(self):
        model = self.network()
        (expected,) = outputs_of(model, X)
        found = convert(model, inplace=True)
        assert found is model
        np.testing.assert_allclose(outputs_of(found, X)[0], expected, atol=1e-6)

    def test_is_not_frozen(self):
        with pytest.raises(ValueError, match="can be converted, but not frozen"):
            freeze(convert(self.network()))

    # Elsewhere such a model makes no copy, and another sentence says so.
    @pytest.mark.backend("torch")
    def test_code_without_symbols_keeps_what_is_not_named(self):
        class Opaque(blocks.Network):
            def call(self, inputs, training=False):
                np.asarray(keras.ops.convert_to_numpy(inputs))
                return super().call(inputs, training)

        model = Opaque()
        model(X)
        with pytest.raises(ValueError, match=r"Nothing to replace.*shapes an output"):
            convert(model)
        assert replaced(convert(model, layers="dense", inplace=True)) == ["dense"]


def test_a_converted_model_has_the_attributes_of_its_file(tmp_path):
    """The test of keras-hub for its own models compares the two lists."""
    found = convert(backbone())
    revived = type(found).from_config(found.get_config())
    assert set(dir(revived)) == set(dir(found))
    found.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert not hasattr(loaded, "report") and not hasattr(found, "report")
    with pytest.raises(ValueError, match="A loaded model has no report"):
        report(loaded)
