"""Algorithm 1: against `Model.fit`, and its own promises."""

import keras
import numpy as np
import pytest

from keras_vaf.initializers import PortableGlorotUniform
from keras_vaf.optimizers import Rprop
from keras_vaf.training import Trainer, train, trainer
from keras_vaf.training.data import to_arrays
from tests.reference_training import trained_by_batches

DECAY = 0.01


def regression_data(rows=23, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 3))
    return x, np.tanh(x @ rng.normal(size=(3, 2))) + 0.1 * rng.normal(size=(rows, 2))


def tiny_model(optimizer, units=4, outputs=2, **arguments):
    """Return a 3-4-2 network, with a penalty on its first weights."""
    hidden = keras.layers.Dense(
        units,
        "tanh",
        kernel_initializer=PortableGlorotUniform(1),
        kernel_regularizer=keras.regularizers.L2(DECAY),
    )
    output = keras.layers.Dense(outputs, kernel_initializer=PortableGlorotUniform(2))
    model = keras.Sequential([keras.Input((3,)), hidden, output])
    model.compile(**{"optimizer": optimizer, "loss": "mse", **arguments})
    return model


def rich_model():
    """Return a classifier that has a bit of everything."""
    inputs = {"a": keras.Input((3,), name="a"), "b": keras.Input((2,), name="b")}
    x = keras.layers.Concatenate()([inputs["a"], inputs["b"]])
    # A bias would get no gradient but rounding errors, which Adam blows up.
    x = keras.layers.Dense(
        6, use_bias=False, kernel_initializer=PortableGlorotUniform(1)
    )(x)
    x = keras.layers.BatchNormalization()(x)
    x = keras.layers.Dropout(0.3, seed=5)(keras.layers.ReLU()(x))
    x = keras.layers.ActivityRegularization(l2=0.1)(x)
    outputs = keras.layers.Dense(
        3, "softmax", kernel_initializer=PortableGlorotUniform(2)
    )(x)
    model = keras.Model(inputs, outputs)
    model.compile(
        keras.optimizers.Adam(0.05),
        "sparse_categorical_crossentropy",
        metrics=["accuracy"],
        weighted_metrics=["sparse_categorical_crossentropy"],
    )
    return model


def classification_data(rows, seed):
    rng = np.random.default_rng(seed)
    x = {"a": rng.normal(size=(rows, 3)), "b": rng.normal(size=(rows, 2))}
    return x, rng.integers(3, size=rows)


def fit(model, data, validation_data, epochs, batch_size, weights=None):
    """Return the metrics of the same training with `Model.fit`."""
    x, y = data
    logs = []
    for epoch in range(epochs):
        # The order of the rows that the documentation promises.
        order = np.random.default_rng([0, epoch]).permutation(21)
        order = order if batch_size else np.arange(21)
        fitted = model.fit(
            keras.tree.map_structure(lambda array, order=order: array[order], x),
            y[order],
            batch_size=batch_size or 21,
            shuffle=False,
            sample_weight=None if weights is None else weights[order],
            validation_data=validation_data,
            validation_batch_size=batch_size or 21,
            verbose=0,
        )
        logs.append({name: values[0] for name, values in fitted.history.items()})
    return {name: [log[name] for log in logs] for name in logs[0]}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("batch_size", [None, 8])
def test_it_does_what_fit_does(batch_size, weighted):
    rows, held = classification_data(21, seed=0), classification_data(10, seed=1)
    weights = np.linspace(0, 2, 21) if weighted else None
    held = (*held, np.linspace(0, 3, 10)) if weighted else held
    words = {"batch_size": batch_size, "sample_weight": weights}
    history = train(rich_model(), *rows, held, 4, **words)
    expected = fit(rich_model(), rows, held, 4, batch_size, weights)
    assert set(history.metrics) == set(expected)
    for name, values in history.metrics.items():
        np.testing.assert_allclose(values, expected[name], atol=1e-4, err_msg=name)


@pytest.mark.nightly("tensorflow", "jax")  # which compile each training
@pytest.mark.parametrize("mode", ["min", "max"])
def test_the_best_weights_are_kept_with_their_statistics(mode):
    validation, model = classification_data(10, seed=1), rich_model()
    name = "accuracy" if mode == "max" else "sparse_categorical_crossentropy"
    words = {"monitor": f"val_{name}", "mode": mode}
    history = train(model, *classification_data(21, 0), validation, 6, **words)
    values = history.metrics[f"val_{name}"]
    assert history.best_epoch == getattr(np, f"arg{mode}")(values) + 1
    assert history.best_epoch < 6 or mode == "max"
    scores = model.evaluate(*validation, verbose=0, return_dict=True)
    assert scores[name] == pytest.approx(history.best[f"val_{name}"], abs=1e-5)


def test_patience():
    x, y = regression_data()
    model = tiny_model("sgd")
    history = train(model, x, y, (x, -y), epochs=200, patience=7)
    assert history.stopped == "patience"
    assert history.epochs == history.best_epoch + 7
    assert history.best_epoch == np.argmin(history.metrics["val_loss"]) + 1
    error = model.evaluate(x, -y, verbose=0, return_dict=True)["loss"]
    assert error == pytest.approx(history.best["val_loss"], abs=1e-5)
    whole = train(tiny_model("sgd"), x, y, (x, -y), epochs=80)
    assert (whole.epochs, whole.stopped) == (80, "epochs")


def test_a_loss_that_is_not_finite_stops_the_training():
    x, y = regression_data()
    model = tiny_model(keras.optimizers.SGD(1e3))
    history = train(model, x, y, (x, y), epochs=500)
    assert history.stopped == "not finite"
    assert history.epochs < 500
    assert np.all(np.isfinite(history.metrics["loss"][:-1]))
    assert np.isfinite(model.evaluate(x, y, verbose=0))


@pytest.mark.nightly("tensorflow", "jax")  # which compile each training
def test_without_a_finite_epoch_the_first_weights_stay():
    x, y = regression_data()
    model = tiny_model(keras.optimizers.SGD(0.1))
    weights = model.get_weights()
    history = train(model, x * np.nan, y, (x, y), epochs=5)
    assert (history.epochs, history.best_epoch, history.best) == (1, 0, {})
    for one, other in zip(model.get_weights(), weights, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.nightly("tensorflow", "jax")  # which compile each training
def test_training_goes_on_where_it_ended():
    x, y = regression_data()
    whole, parts = tiny_model(Rprop(0.01)), tiny_model(Rprop(0.01))
    train(whole, x, y, (x, y), epochs=8)
    one = Trainer(parts)
    for _ in range(2):
        history = one.train(*[to_arrays("data", (x, y))] * 2, epochs=4)
        assert history.best_epoch == 4
    for one, other in zip(whole.get_weights(), parts.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.nightly("tensorflow", "jax")  # which compile each training
def test_a_model_without_input_shape_learns_one_label_per_row():
    x, _ = regression_data()
    y = (x[:, 0] > 0).astype(int)
    model = keras.Sequential([keras.layers.Dense(1, "sigmoid")])
    model.compile("adam", "binary_crossentropy", metrics=["mae"])
    history = train(model, x, y, (x, y), epochs=2)
    assert list(history.best) == list(history.metrics)


def test_an_interrupted_training_leaves_its_best_weights(monkeypatch):
    x, y = regression_data()
    model = tiny_model(keras.optimizers.SGD(0.1))
    before = model.evaluate(x, y, verbose=0)

    def interrupt(rows, batch_size, seed, epoch):
        if epoch == 3:
            raise KeyboardInterrupt
        return np.arange(rows)

    monkeypatch.setattr(trainer, "order_of_rows", interrupt)
    with pytest.raises(KeyboardInterrupt):
        train(model, x, y, (x, y), epochs=100)
    assert model.evaluate(x, y, verbose=0) < before


@pytest.mark.parametrize(("batch_size", "rate"), [(None, 0.6), (4, 0.2)])
def test_without_validation_rows_the_last_epoch_is_kept(batch_size, rate):
    """It is that of batches in the same order, and not the best one."""
    x, y = (each.astype("float32") for each in regression_data(21))
    models = [tiny_model(keras.optimizers.SGD(rate)) for _ in range(2)]
    expected = trained_by_batches(models[0], x, y, 6, batch_size, seed=3)

    history = train(models[1], x, y, None, 6, batch_size, seed=3)

    assert (history.epochs, history.best_epoch, history.stopped) == (6, 6, "epochs")
    for one, other in zip(models[1].get_weights(), expected.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=1e-5)


def test_without_validation_rows_the_last_finite_epoch_is_kept():
    model = tiny_model(keras.optimizers.SGD(1e6))
    history = train(model, *regression_data(), None, 50)
    assert history.stopped == "not finite"
    assert history.best_epoch == history.epochs - 1
    assert all(np.isfinite(weight).all() for weight in model.get_weights())


@pytest.mark.backend("tensorflow")  # JAX has no float64 by default
@pytest.mark.parametrize("floatx", ["float16", "float64"])
def test_another_precision(floatx):
    try:
        keras.config.set_floatx(floatx)
        keras.config.set_dtype_policy(floatx)
        history = train(tiny_model("sgd"), *regression_data(), None, 2)
    finally:
        keras.config.set_floatx("float32")
        keras.config.set_dtype_policy("float32")
    assert history.metrics["loss"].dtype == floatx
    assert history.best_epoch == 2


class Extremes(keras.metrics.MeanMetricWrapper):
    """A metric with a dictionary of results."""

    def result(self):
        return {"middle": super().result(), "rows": 1 * self.count}


@pytest.mark.nightly("tensorflow")  # which compiles each training
def test_a_metric_may_have_many_values():
    x, y = classification_data(21, seed=0)
    x, y = x["a"], np.eye(3)[y]

    def model():
        metrics = [keras.metrics.F1Score(name="f1")]
        metrics += [Extremes(keras.losses.mean_squared_error, name="extremes")]
        return tiny_model("sgd", outputs=3, metrics=metrics)

    models = model(), model()
    history = train(models[0], x, y, (x, y), epochs=2)
    assert history.metrics["val_f1"].shape == (2, 3)
    assert "val_f1" not in history.best
    fitted = models[1].fit(x, y, batch_size=21, validation_data=(x, y), verbose=0)
    assert {*history.metrics} == {*fitted.history}
    for name in ("middle", "val_middle", "rows", "val_rows"):
        assert history.metrics[name][0] == pytest.approx(fitted.history[name][0])
    with pytest.raises(ValueError, match=r"metrics: .*middle, rows, .*val_loss"):
        train(models[0], x, y, (x, y), epochs=2, monitor="val_f1")


@pytest.mark.backend("tensorflow")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epochs": 0}, "`epochs` must be .* of at least 1. Received: epochs=0"),
        ({"batch_size": 0}, "Received: batch_size=0"),
        ({"mode": "auto"}, "Received: mode='auto'"),
        ({"monitor": "accuracy"}, "one of the model's metrics: loss, val_loss"),
        ({"x": np.zeros((4, 3))}, r"same number of rows.*\(4, 3\), \(23, 2\)"),
        ({"validation_data": (np.zeros((0, 3)), np.zeros((0, 2)))}, "at least one"),
        ({"x": [[0.0] * 3] * 23}, r"^.{,400}$"),  # not the shape of each number
        ({"validation_data": 3}, "`validation_data` must be a pair"),
        ({"y": np.array(["a"] * 23)}, "must be arrays of numbers. Received"),
    ],
)
def test_bad_arguments(arguments, message):
    x, y = regression_data()
    arguments = {"x": x, "y": y, "validation_data": (x, y), "epochs": 2, **arguments}
    with pytest.raises(ValueError, match=message):
        train(tiny_model("sgd"), **arguments)


@pytest.mark.backend("tensorflow")
def test_a_model_that_is_not_compiled():
    with pytest.raises(ValueError, match=r"call `model.compile\(...\)` first"):
        Trainer(keras.Sequential([keras.layers.Dense(1)]))
