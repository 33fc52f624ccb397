"""Networks of the map that are trained together, and the time of one alone."""

import keras
import pytest

from keras_vaf.research.map.own import find_arms, find_tasks

pytestmark = pytest.mark.skipif(keras.backend.backend() != "jax", reason="needs JAX")


@pytest.fixture(scope="module")
def trainer():
    from keras_vaf.research.map.training_on_jax import Trainer

    (task,) = find_tasks(["oscillating"])
    (arm,) = find_arms(task, ["vaf-relu"])
    problem = task.make(task.datasets[0], task.quick)
    return Trainer(problem, arm, task.quick)


def test_networks_do_not_depend_on_those_they_are_trained_with(trainer):
    from keras_vaf.research.map.training_on_jax import Lane

    lanes = [Lane(0, 0.001), Lane(1, 0.001), Lane(0, 0.01)]
    together = trainer.train(lanes, 20)
    assert len({each.error for each in together}) == 3
    for lane, expected in zip(lanes, together, strict=True):
        (alone,) = trainer.train([lane], 20)
        assert alone.error == pytest.approx(expected.error, rel=1e-4)
        alone = trainer.train_alone(lane, 20)
        assert alone.error == pytest.approx(expected.error, rel=1e-4)
        assert alone.validation == pytest.approx(expected.validation, rel=1e-4)


def test_the_time_of_a_step_is_that_of_a_network_alone(trainer, monkeypatch):
    monkeypatch.delattr(trainer, "_many")
    assert trainer.seconds(3) > 0
    assert trainer.compiled_in > 0
