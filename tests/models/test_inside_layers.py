"""Activations inside other layers and inside subclassed models are replaced too."""

import keras
import numpy as np
import pytest
from keras import layers, ops

from keras_vaf.layers import VAFActivation
from keras_vaf.layers.activation_inputs import activation_inputs
from keras_vaf.layers.traversal import find_layers
from keras_vaf.models import (
    convert,
    freeze,
    report,
    simplify,
    train_only_activations,
)
from tests.models import blocks
from tests.models.networks import (
    assert_equal_outputs,
    outputs_of,
    reasons,
    replaced,
    trained,
)

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


def dense(activation):
    return layers.Dense(3, activation=activation, name="dense")


def over_time(layer):
    return layers.TimeDistributed(layer, name="time")


def relu():
    return layers.ReLU(name="relu")


PLACES = {
    "handed on": (lambda: blocks.Feedforward(6, name="block"), ["block"]),
    "other names": (lambda: blocks.TwoActivations(4, name="two"), ["two", "two"]),
    "wrapper": (lambda: over_time(dense("relu")), ["time/dense"]),
    "wrapped block": (
        lambda: over_time(keras.Sequential([dense("gelu"), relu()], name="net")),
        ["time/net/dense", "time/net/relu"],
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
        assert_equal_outputs(model, found)
        assert report(found).parameters == found.count_params() - model.count_params()
        assert report(found).parameters > 0
        assert len(trained(found, X)) == len(replaced(found))
        found.save(tmp_path / "model.keras")
        assert_equal_outputs(found, keras.saving.load_model(tmp_path / "model.keras"))

    def test_is_read_simplified_and_frozen(self, name, tmp_path):
        model, found = self.converted(name)
        assert len(activation_inputs(found, X)) == len(report(found).replaced)
        small = simplify(found, 1e-4, data=X)
        assert small.count_params() < found.count_params()
        assert_equal_outputs(model, small, X, 1e-3)
        frozen = freeze(found, data=X)
        assert report(frozen).deviation < 1e-5
        frozen.save(tmp_path / "frozen.keras")
        loaded = keras.saving.load_model(tmp_path / "frozen.keras")
        assert "keras_vaf" not in loaded.to_json()
        assert_equal_outputs(found, loaded, X, 1e-5)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("wrap", [lambda x: x, layers.Bidirectional])
def test_recurrent_activations_are_replaced_when_named(wrap, activation):
    lstm = layers.LSTM(3, activation, return_sequences=True, name="lstm")
    model = around(wrap(lstm), relu())
    name = model.layers[0].name
    assert replaced(convert(model)) == ["relu"]
    found = convert(model, layers=name)
    assert_equal_outputs(model, found, X, 1e-5)
    cells = len(find_layers(found, layers.LSTM))
    assert len(find_layers(found, VAFActivation)) == cells


def test_what_no_argument_with_act_in_its_name_holds_is_kept():
    inside = [blocks.Fixed(name="fixed"), blocks.Inline(name="inline")]
    found = convert(around(*inside, relu()))
    assert replaced(found) == ["relu"]
    reason = "no argument of Fixed with 'act' in its name holds it"
    assert reasons(found) == {"fixed/dense": reason, "fixed/last": reason}


def test_a_layer_that_takes_no_other_activation_is_kept():
    @keras.saving.register_keras_serializable(package="blocks")
    class Named(blocks.Feedforward):
        def __init__(self, units, activation="gelu", **kwargs):
            assert isinstance(activation, str)
            super().__init__(units, activation, **kwargs)

    found = convert(around(Named(3, name="named"), relu()))
    assert replaced(found) == ["relu"]
    assert "a Named takes no other" in reasons(found)["named"]


BACKBONE = ["block_0", "block_1", "act", "relu"]


class TestClassDerivedFromAFunctionalModel:
    @pytest.mark.parametrize("sharing", ["layer", "channel"])
    def test_becomes_a_plain_functional_model(self, sharing, tmp_path):
        model = backbone()
        found = convert(model, sharing=sharing)
        assert replaced(found) == BACKBONE
        assert type(found) is type(keras.Model(model.inputs, model.outputs))
        assert type(model) is blocks.Backbone
        assert "shapes an output" in reasons(found)["pooled"]
        assert_equal_outputs(model, found)
        assert report(found).parameters == found.count_params() - model.count_params()
        found.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        assert_equal_outputs(found, loaded)
        assert len(loaded.trainable_variables) == len(found.trainable_variables)

    def test_inside_another_one(self, tmp_path):
        inner = backbone(depth=1, name="backbone")
        inner.get_layer("block_0").trainable = False
        x = layers.GlobalAveragePooling1D()(inner(inner.input))
        x = layers.Dense(2)(layers.Dense(4, activation="relu", name="hidden")(x))
        model = keras.Model(inner.input, x)
        model.compile("adam", "mse")
        found = convert(model)
        paths = [path for path in replaced(found) if path.startswith("backbone/")]
        assert len(paths) == 4 and "hidden" in replaced(found)
        assert found.compiled
        assert not found.get_layer("backbone").get_layer("block_0").trainable_weights
        assert_equal_outputs(model, found)
        found.fit(X, np.ones((3, 2)), verbose=0)
        found.save(tmp_path / "model.keras")
        assert_equal_outputs(found, keras.saving.load_model(tmp_path / "model.keras"))

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


def test_layers_that_a_model_inside_shares_stay_shared(tmp_path):
    entry, table = keras.Input((5, 4)), layers.Dense(4, name="table")
    block = blocks.Feedforward(6, name="block")
    inside = keras.Model(entry, block(table(entry)), name="inside")
    model = keras.Model(entry, table(inside(entry)))
    found = convert(model)
    assert replaced(found) == ["inside/block"]
    assert report(found).parameters == found.count_params() - model.count_params()
    assert_equal_outputs(model, found)
    for each in (found, freeze(found, data=X)):
        each.save(tmp_path / "model.keras")
        loaded = keras.saving.load_model(tmp_path / "model.keras")
        assert_equal_outputs(found, loaded, X, 1e-5)


def test_a_model_that_its_first_call_builds():
    model = keras.Sequential([keras.Input((5, 4))])  # Keras cannot infer its shapes
    model.add(layers.TimeDistributed(blocks.TwoActivations(4)))
    model.add(layers.Dense(2))
    model(X)
    found = convert(model)
    assert len(replaced(found)) == 2
    assert_equal_outputs(model, found, X)
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
    def test_is_converted_in_place(self, sharing):
        model = self.network()
        model.compile("adam", "mse")
        (expected,), count = outputs_of(model, X), model.count_params()
        variables = {id(v) for v in model.variables}
        found = convert(model, sharing=sharing, inplace=True)
        assert found is model
        assert sorted(replaced(found)) == ["block", "dense", "leaky"]
        assert "may be a gate" in reasons(found)["gate"]
        assert "shapes an output" in reasons(found)["last"]
        np.testing.assert_allclose(outputs_of(found, X)[0], expected, atol=1e-6)
        assert report(found).parameters == found.count_params() - count
        assert not found.block.trainable_weights and found.dense.trainable_weights
        assert variables <= {id(v) for v in found.variables}
        names = {path.partition("/")[0] for path in trained(found, X)}
        assert names == {"dense", "leaky"}  # the block is frozen
        tuned = train_only_activations(found, inplace=True)
        assert tuned is model and len(tuned.trainable_weights) == 3 * 4

    def test_is_saved_by_its_weights(self, tmp_path):
        found, other = (convert(self.network(), inplace=True) for _ in range(2))
        found.set_weights([w + 0.1 for w in found.get_weights()])
        with pytest.raises(ValueError, match="Save the model by its weights"):
            found.save(tmp_path / "model.keras")
        found.save_weights(tmp_path / "model.weights.h5")
        other.load_weights(tmp_path / "model.weights.h5")
        assert_equal_outputs(found, other, X)

    @pytest.mark.parametrize("kind", ["list", "tuple", "dict", "nested", "attribute"])
    def test_whatever_holds_a_layer_is_changed(self, kind):
        relu = layers.ReLU(name="held")
        held = {
            "list": lambda: [layers.Dense(3), relu],
            "tuple": lambda: (layers.Dense(3), relu),
            "dict": lambda: {"z": layers.Dense(3), "a": relu},
            "nested": lambda: [{"z": (layers.Dense(3), relu)}],
            "attribute": lambda: relu,
        }

        class Around(keras.Model):
            def __init__(self):
                super().__init__()
                self.inner = around(layers.ReLU(name="relu"))
                self.several = held[kind]()
                self.again = layers.TimeDistributed(relu)  # shares its function
                self.head = layers.Dense(2)

            def call(self, inputs):
                x = self.inner(inputs)
                for layer in blocks.in_order(self.several):
                    x = layer(x)
                return self.head(self.again(x))

        model = Around()
        model.inner.layers[-1].trainable = False
        expected = ops.convert_to_numpy(model(X))
        for arguments in ({"layers": "no*"}, {"sharing": (9,)}):
            with pytest.raises(ValueError):
                convert(model, inplace=True, **arguments)
            assert not find_layers(model, VAFActivation)
        found = convert(model, inplace=True)
        name = model.inner.name
        assert sorted(replaced(found)) == ["held", f"{name}/relu"]
        np.testing.assert_allclose(outputs_of(found, X)[0], expected, atol=1e-6)
        assert len(find_layers(found, VAFActivation)) == 2
        assert not find_layers(found, layers.ReLU)
        assert [layer.trainable for layer in found.inner.layers] == [True, False]

    @pytest.mark.parametrize("layers_", [None, "net"])
    def test_a_function_of_the_model_itself_may_shape_its_output(self, layers_):
        class Net(keras.Model):
            def __init__(self):
                super().__init__(name="net")
                self.dense = layers.Dense(3, "relu", name="dense")
                self.act = keras.activations.relu
                self.head = layers.Dense(2)

            def call(self, x):
                return self.act(self.head(self.dense(x)))

        model = Net()
        expected = ops.convert_to_numpy(model(X))
        found = convert(model, layers_, inplace=True)
        assert replaced(found) == [layers_ or "dense"]
        assert [*reasons(found)] == ["dense" if layers_ else "net"]
        np.testing.assert_allclose(outputs_of(found, X)[0], expected, atol=1e-6)

    def test_several_arguments_are_given_as_data(self):
        class Product(keras.Model):
            def __init__(self):
                super().__init__()
                self.dense, self.head = layers.Dense(4, "relu"), layers.Dense(2)

            def call(self, x, y):
                return self.head(self.dense(x) * y)

        model, data = Product(), (X, X)
        expected = ops.convert_to_numpy(model(*data))
        with pytest.raises(ValueError, match="give inputs of the model as `data=`"):
            convert(model, inplace=True, sharing="channel")
        np.testing.assert_array_equal(ops.convert_to_numpy(model(*data)), expected)
        found = convert(model, inplace=True, sharing="channel", data=data)
        assert report(found).parameters == 40
        after = ops.convert_to_numpy(model(*data))
        np.testing.assert_allclose(after, expected, atol=1e-6)

    @pytest.mark.parametrize(
        ("change", "advice"),
        [
            (convert, "cannot be copied.*pass `inplace=True`.*save it by its weights"),
            (train_only_activations, "pass `inplace=True`"),
            (freeze, "cannot be frozen.*`model.export` writes it without keras_vaf"),
            (lambda model: simplify(model, 0.1), "cannot be made smaller"),
        ],
    )
    def test_is_refused_with_what_the_function_needs(self, change, advice):
        model = convert(self.network(), inplace=True)
        with pytest.raises(ValueError, match=advice):
            change(model)


def test_a_model_that_no_sample_of_open_sizes_fits_takes_data():
    inputs = keras.Input((None, 4))
    x = layers.TimeDistributed(layers.Dense(4, "relu"))(inputs)
    model = keras.Model(inputs, layers.Dense(2)(layers.Reshape((48,))(x)))
    data = np.ones((1, 12, 4), "float32")
    with pytest.raises(ValueError, match="give inputs of the model as `data=`"):
        convert(model, sharing="channel")
    found = convert(model, sharing="channel", data=data)
    np.testing.assert_allclose(
        outputs_of(found, data)[0], outputs_of(model, data)[0], atol=1e-6
    )
