"""Networks trained as one program on JAX: width, neighbours, memory."""

import keras
import numpy as np
import pytest

from keras_vaf.training import Member, train_many
from tests.training.members import (
    check_equal_histories,
    check_equal_weights,
    data,
    member,
    network,
    rows,
)

pytestmark = pytest.mark.backend("jax")


def train_members(seeds, width, epochs=8):
    """Train members of these seeds together, and return models and histories."""
    members = [member(seed) for seed in seeds]
    histories = train_many(members, *data(), epochs, batch_size=6, replicas=width)
    return [(one.model, h) for one, h in zip(members, histories, strict=True)]


@pytest.fixture(scope="module")
def pairs():
    """Four networks, trained two at a time."""
    return train_members(range(4), width=2)


def check_equal_trainings(trained, expected, **tolerance):
    for (model, history), (other, expectation) in zip(trained, expected, strict=True):
        check_equal_histories(history, expectation, **tolerance)
        check_equal_weights(model, other, **tolerance)


def test_a_training_repeats_bit_for_bit_whatever_its_neighbours(pairs):
    swapped = train_members([1, 7, 2, 9], width=2)
    check_equal_trainings(swapped[::2], pairs[1:3], rtol=0, atol=0)


def test_widths_differ_by_rounding_only(pairs):
    wide = train_members(range(4), width=3)
    assert {history.replicas for _, history in pairs} == {2}
    assert {history.replicas for _, history in wide} == {3}
    check_equal_trainings(wide, pairs, atol=1e-5)


@pytest.mark.parametrize(("number", "width"), [(3, 3), (17, 16)])
def test_the_automatic_width_is_bounded(number, width):
    trained = train_members(range(number), "auto", epochs=1)
    assert {history.replicas for _, history in trained} == {width}


def test_convolutions_on_the_cpu_are_trained_one_by_one():
    def convolution():
        layers = [keras.Input((3,)), keras.layers.Reshape((3, 1))]
        layers += [keras.layers.Conv1D(4, 2), keras.layers.Flatten()]
        model = keras.Sequential([*layers, keras.layers.Dense(2)])
        model.compile("sgd", "mse")
        return Member(model, *rows())

    histories = train_many([convolution() for _ in range(2)], *data(), epochs=1)
    assert [history.replicas for history in histories] == [1, 1]


def test_dropout_is_the_members_own():
    def dropout(seed):
        layers = [keras.Input((3,)), keras.layers.Dropout(0.5, seed=seed)]
        model = keras.Sequential([*layers, keras.layers.Dense(2, use_bias=False)])
        model.compile(keras.optimizers.SGD(0.1), "mse")
        model.set_weights([np.ones((3, 2))])
        return Member(model, *rows())

    one, other, again = [dropout(seed) for seed in (1, 2, 1)]
    together = train_many([one, other, again], *data(), epochs=4, replicas=3)
    check_equal_histories(together[0], together[2], rtol=0, atol=0)
    assert not np.array_equal(*(h.metrics["loss"] for h in together[:2]))
    [alone] = train_many([dropout(2)], *data(), epochs=4, replicas=1)
    check_equal_histories(together[1], alone, atol=1e-5)


def test_too_little_memory_lowers_the_width_and_says_so(pairs, monkeypatch):
    from keras_vaf.training.loops import jax_batch

    free = iter([0, 0])
    monkeypatch.setattr(jax_batch, "free_memory", lambda: next(free, np.inf))
    with pytest.warns(UserWarning, match=r"networks needs \d+ MiB, and 0 MiB") as said:
        narrowed = train_members(range(4), width=8)
    ends = [str(warning.message).rpartition(": ")[2] for warning in said]
    assert ends == ["training 4 at a time.", "training 2 at a time."]
    check_equal_trainings(narrowed, pairs, rtol=0, atol=0)


def test_memory_that_runs_out_lowers_the_width(monkeypatch):
    import jax

    from keras_vaf.training.loops import jax_batch

    run = jax_batch.BatchLoop.run

    def run_out(self, orders, count):
        if self.width > 2:
            self._compile = lambda arguments: fail
        return run(self, orders, count)

    def fail(*arguments):
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory")

    monkeypatch.setattr(jax_batch.BatchLoop, "run", run_out)
    with pytest.warns(UserWarning, match="training 2 at a time"):
        assert train_members(range(4), width=4)[0][1].replicas == 2


def test_other_failures_are_not_taken_for_it(monkeypatch):
    import jax

    from keras_vaf.training.loops import jax_batch

    def fail(self, orders, count):
        self._compile = lambda arguments: internal
        return run(self, orders, count)

    def internal(*arguments):
        raise jax.errors.JaxRuntimeError("INTERNAL: broken")

    run = jax_batch.BatchLoop.run
    monkeypatch.setattr(jax_batch.BatchLoop, "run", fail)
    with pytest.raises(jax.errors.JaxRuntimeError, match="INTERNAL"):
        train_members(range(2), width=2)


def test_the_memory_of_a_program_grows_with_its_width(monkeypatch):
    from keras_vaf.training.loops import jax_batch

    needed = []
    monkeypatch.setattr(
        jax_batch.BatchLoop,
        "_check_memory",
        lambda loop, bytes_needed: needed.append(bytes_needed),
    )
    for width in (2, 4, 8):
        train_members(range(2), width, epochs=1)
    weights = 4 * network().count_params()
    assert needed[1] - needed[0] > 2 * 3 * weights  # variables, best, gradients
    assert needed[2] - needed[1] == pytest.approx(2 * (needed[1] - needed[0]), rel=0.3)


def test_a_stateful_layer_is_named():
    layers = [
        keras.Input(batch_shape=(5, 4, 2)),
        keras.layers.SimpleRNN(3, stateful=True, name="memory"),
        keras.layers.Dense(1),
    ]
    model = keras.Sequential(layers)
    model.compile("sgd", "mse")
    x, y = np.zeros((10, 4, 2)), np.zeros((10, 1))
    one = Member(model, np.arange(5), np.arange(5, 10))
    with pytest.raises(ValueError, match="its layer 'memory' is stateful"):
        train_many([one], x, y, epochs=1, batch_size=5, replicas=2)


class SumOfPositives(keras.layers.Layer):
    """A layer with an array inside whose size depends on the inputs."""

    def call(self, inputs):
        return inputs + keras.ops.sum(inputs[inputs > 0])

    def compute_output_shape(self, input_shape):
        return input_shape


def test_a_model_with_random_shapes_is_named():
    layers = [keras.Input((3,)), SumOfPositives(), keras.layers.Dense(2)]
    model = keras.Sequential(layers, name="random")
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="'random' cannot be trained in a batch: use"):
        train_many([Member(model, *rows())], *data(), epochs=1)
