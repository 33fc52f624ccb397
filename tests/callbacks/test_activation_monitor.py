"""Records, files and warnings of the monitor."""

import warnings

import keras
import matplotlib.image
import numpy as np
import pytest

from keras_vaf.callbacks import ActivationMonitor
from keras_vaf.layers import KAF, VAFActivation

X = np.random.default_rng(0).normal(size=(64, 2)).astype("float32")
Y = np.abs(X).sum(axis=1, keepdims=True)


def model_of(*layers):
    model = keras.Sequential([keras.Input((2,)), *layers, keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.05), "mse")
    return model


def vaf(alpha, alpha_bias, beta, **arguments):
    """A VAF with given weights, named `vaf`."""
    layer = VAFActivation(k=len(alpha), name="vaf", **arguments)
    layer.set_weights(
        [np.float32(alpha), np.float32(alpha_bias), np.float32(beta), np.float32(0)]
    )
    return layer


def watched(model, epochs=0, data=X, **arguments):
    """Train with a monitor, and return it."""
    monitor = ActivationMonitor(data, **arguments)
    if epochs:
        model.fit(X, Y, epochs=epochs, batch_size=32, verbose=0, callbacks=[monitor])
    else:
        monitor.set_model(model)
        monitor.on_train_begin()
        monitor.on_train_end()
    return monitor


def first_record(layer, **arguments):
    (records,) = watched(model_of(layer), **arguments).records.values()
    return records[0]


def test_records_each_layer_before_training_and_after_each_epoch():
    first, inner = (
        VAFActivation(name=n, initialization="random") for n in ("first", "inner")
    )
    hidden = keras.layers.Dense(3, activation=KAF(name="kaf"), name="hidden")
    model = model_of(first, keras.Sequential([inner], name="block"), hidden)
    functions = []
    keep = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda *_: functions.append(first.function([0.5])[0])
    )
    monitor = ActivationMonitor(X)
    model.fit(X, Y, epochs=2, verbose=0, callbacks=[monitor, keep])

    assert list(monitor.records) == ["first", "block/inner", "hidden/kaf"]
    for records in monitor.records.values():
        assert [record.epoch for record in records] == [0, 1, 2]
    curves = [
        np.interp(0.5, record.x, record.curves[:, 0])
        for record in monitor.records["first"][1:]
    ]
    np.testing.assert_allclose(curves, functions, atol=0.02)
    assert curves[0] != curves[1]


def test_leaves_the_training_as_it_is():
    def weights(callbacks):
        keras.utils.set_random_seed(1)
        vaf = VAFActivation(initialization="random")
        model = model_of(vaf, keras.layers.Dropout(0.5))
        model.fit(X, Y, epochs=2, verbose=0, callbacks=callbacks)
        assert "call" not in vars(model.layers[0])
        return model.get_weights()

    for one, other in zip(weights([]), weights([ActivationMonitor(X)]), strict=True):
        np.testing.assert_array_equal(one, other)


def test_records_what_enters_each_layer():
    record = first_record(VAFActivation(initialization="random"))
    counts, _ = np.histogram(X, bins=record.edges)
    np.testing.assert_array_equal(record.counts, counts)
    assert record.counts.sum() >= 0.99 * X.size
    assert record.x[0] == pytest.approx(record.edges[0])


@pytest.mark.parametrize("sharing, shape", [("channel", (3, 3, 4)), ("neuron", (5, 4))])
def test_many_functions_are_recorded_one_by_one(sharing, shape):
    x = np.random.default_rng(1).normal(size=(8, *shape)).astype("float32")
    layer = VAFActivation(
        sharing=sharing, k=2, data_format="channels_last", initialization="random"
    )
    model = keras.Sequential([keras.Input(shape), layer])
    model.compile("sgd", "mse")
    (record,) = watched(model, data=x).records[layer.name]
    expected = layer.function(record.x).reshape(len(record.x), -1)
    np.testing.assert_allclose(record.curves, expected, atol=1e-6)


def test_each_function_has_its_own_knots_and_dies_without_a_warning():
    layer = VAFActivation(k=2, sharing="channel")
    layer.build((None, 2))
    ones = np.ones((2, 2), "float32")
    bias = np.float32([[1, -1], [-9, -50]])  # knots -1 and 1; 9 and 50
    layer.set_weights([ones, bias, ones, np.zeros(2, "float32")])
    record = first_record(layer)
    assert record.outside == pytest.approx(np.mean([(np.abs(X[:, 0]) > 1).mean(), 1]))
    assert record.dead == 0.5
    record = first_record(KAF())  # without knots or hidden units
    assert (record.outside, record.idle, record.equal) == (None, None, None)


def test_units_that_are_idle_or_have_become_equal():
    # The second is off for all inputs, the third saturated, the fourth constant.
    weights = [1, 1, 0.1, 0], [0, -20, 20, 1], [1, 1, 1, 1]
    assert first_record(vaf(*weights)).idle == pytest.approx(2 / 4)
    smooth = first_record(vaf(*weights, g="tanh"))
    assert (smooth.idle, smooth.outside) == (pytest.approx(3 / 4), None)
    # The second is the first by another name, the third is not, the fourth idles.
    layer = vaf([1, 2, -1, 1], [0.5, 1, 0.5, -20], [1, 0.5, 1, 1])
    record = first_record(layer)
    assert (record.equal, record.idle) == (0.25, 0.25)
    assert first_record(VAFActivation(k=5, initialization="relu")).equal == 0


def test_warns_when_a_shared_function_dies():
    layer = vaf([1, 1], [0, 0], [1, 1])
    model = model_of(layer)

    def kill(epoch, logs):
        if epoch == 1:
            weights = np.float32([[1, 1], [-50, -60], [1, 1]])
            layer.set_weights([*weights, np.float32(0)])

    monitor = ActivationMonitor(X)
    callbacks = [keras.callbacks.LambdaCallback(on_epoch_end=kill), monitor]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, Y, epochs=4, verbose=0, callbacks=callbacks)

    (warning,) = (w for w in caught if w.category is UserWarning)
    assert "'vaf' is constant after 2 epochs" in str(warning.message)
    assert [record.dead for record in monitor.records["vaf"]] == [0, 0, 1, 1, 1]


def test_a_training_that_diverges_goes_on(tmp_path):
    layer, path = vaf([1, 1], [0, 0], [1, 1]), tmp_path / "strip.png"
    model = model_of(keras.layers.Dense(2), layer)

    def diverge(epoch, logs):
        if epoch == 1:
            model.layers[0].bias.assign([np.nan, np.inf])

    monitor = ActivationMonitor(X, picture=path)
    callbacks = [keras.callbacks.LambdaCallback(on_epoch_end=diverge), monitor]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, Y, epochs=3, verbose=0, callbacks=callbacks)
    assert "not recorded after 2 epochs" in "".join(str(w.message) for w in caught)
    assert [record.epoch for record in monitor.records["vaf"]] == [0, 1]
    assert path.exists()


@pytest.mark.parametrize("data", [None, 3, "x", X[:0], [X, X[:3]], {}])
def test_data_without_rows(data):
    with pytest.raises(ValueError, match="the same number of rows, at least one"):
        ActivationMonitor(data)


def test_rows_may_be_lists_of_numbers():
    rows = [[1.0, 2.0], [3.0, 4.0]]
    monitor = watched(model_of(VAFActivation(name="vaf")), data=rows)
    assert monitor.records["vaf"][0].counts.sum() == 4


def test_every_so_many_epochs_and_at_the_end():
    monitor = watched(
        model_of(VAFActivation(name="vaf", initialization="random")), epochs=5, every=2
    )
    assert [record.epoch for record in monitor.records["vaf"]] == [0, 2, 4, 5]


def test_draws_a_picture_also_of_mixed_precision(tmp_path):
    path = tmp_path / "strip.png"
    model = model_of(
        VAFActivation(initialization="random"), KAF(dtype="mixed_bfloat16")
    )
    watched(model, epochs=1, picture=path)
    height, width, _ = matplotlib.image.imread(path).shape
    assert width > 500 and height > 700
