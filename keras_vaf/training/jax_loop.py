"""Algorithm 1 on JAX: epochs in a `while_loop` under `jit`, all state passed along."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import keras
import numpy as np

from keras_vaf.training.history import Rule


class State(NamedTuple):
    """All that an epoch changes: the values of the variables, and the verdict."""

    trainable: list[Any]
    non_trainable: list[Any]
    optimizer: list[Any]
    best: tuple[list[Any], list[Any]]
    verdict: tuple[Any, Any, Any]


class Loop:
    """The loop of one model; see `keras_vaf.training.loop.Loop`."""

    def __init__(self, model: keras.Model, rule: Rule, batch_size: int | None) -> None:
        self._model = model
        self._rule = rule
        self._epoch = make_epoch(model, rule, batch_size)
        self._compiled = jax.jit(self._epochs)

    def begin(self, train: Any, validation: Any) -> None:
        """Take the data, and the model's variables as they are now."""
        self._data = jax.tree.map(jnp.asarray, (train, validation))
        trainable = values(self._model.trainable_variables)
        non_trainable = values(self._model.non_trainable_variables)
        self._state = State(
            trainable=trainable,
            non_trainable=non_trainable,
            optimizer=values(self._model.optimizer.variables),
            best=(trainable, non_trainable),
            verdict=self._rule.start(),
        )

    def run(self, orders: np.ndarray, count: int) -> tuple[dict[str, np.ndarray], bool]:
        """Run `count` epochs, or fewer if the verdict is to stop."""
        done, self._state, logs = self._compiled(self._state, orders, count, self._data)
        logs = {name: np.asarray(log)[: int(done)] for name, log in logs.items()}
        return logs, bool(self._state.verdict[-1])

    def finish(self) -> None:
        """Give the model its best variables, and the optimizer its last ones."""
        trainable, non_trainable = self._state.best
        assign(self._model.trainable_variables, trainable)
        assign(self._model.non_trainable_variables, non_trainable)
        assign(self._model.optimizer.variables, self._state.optimizer)

    def _epochs(
        self, state: State, orders: Any, count: Any, data: Any
    ) -> tuple[Any, State, dict[str, Any]]:
        """Run epochs, and write their metrics one below the other."""

        def goes_on(carry: Any) -> Any:
            done, state, _ = carry
            return (done < count) & state.verdict[-1]

        def run(carry: Any) -> Any:
            done, state, logs = carry
            state, log = self._epoch(state, orders[done], data)
            logs = {name: logs[name].at[done].set(log[name]) for name in logs}
            return done + 1, state, logs

        _, log = jax.eval_shape(self._epoch, state, orders[0], data)
        logs = {name: jnp.zeros((len(orders), *log[name].shape)) for name in log}
        return jax.lax.while_loop(goes_on, run, (0, state, logs))


def make_epoch(
    model: keras.Model, rule: Rule, batch_size: int | None
) -> Callable[[State, Any, Any], tuple[State, dict[str, Any]]]:
    """Return one epoch as a pure function: train, evaluate, judge, keep the best.

    Args:
        model: A compiled and built model.
        rule: Which epoch is best, and when to stop.
        batch_size: Rows per update; `None` takes all rows at once.

    Returns:
        A function of the state, the order of the training rows and the data, which
        returns the new state and the metrics.
    """
    model.reset_metrics()
    zero = values(model.metrics_variables)

    def epoch(state: State, order: Any, data: Any) -> tuple[State, dict[str, Any]]:
        train, validation = data

        def update(variables: Any, rows: Any) -> Any:
            return model.train_step(variables, take(train, rows))[1]

        def evaluate(variables: Any, rows: Any) -> Any:
            return model.test_step(variables, take(validation, rows))[1]

        trainable, non_trainable, optimizer, metrics = sweep(
            update, (*state[:3], zero), order, batch_size
        )
        logs = results(model, metrics)
        rows = jnp.arange(len(jax.tree.leaves(validation)[0]))
        trainable, non_trainable, metrics = sweep(
            evaluate, (trainable, non_trainable, zero), rows, batch_size
        )
        for name, value in results(model, metrics).items():
            logs[f"val_{name}"] = value

        better, verdict = rule.judge(state.verdict, logs)
        best = jax.tree.map(
            lambda new, old: jnp.where(better, new, old),
            (trainable, non_trainable),
            state.best,
        )
        return State(trainable, non_trainable, optimizer, best, verdict), logs

    return epoch


def sweep(
    step: Callable[[Any, Any], Any], variables: Any, rows: Any, batch_size: int | None
) -> Any:
    """Apply a step to all rows, batch by batch; the last batch may be smaller."""
    batch_size = batch_size or len(rows)
    whole = len(rows) // batch_size * batch_size
    if whole == batch_size:
        variables = step(variables, rows[:whole])
    elif whole:
        variables, _ = jax.lax.scan(
            lambda variables, batch: (step(variables, batch), None),
            variables,
            rows[:whole].reshape(-1, batch_size),
        )
    return step(variables, rows[whole:]) if whole < len(rows) else variables


def results(model: keras.Model, metrics_variables: Any) -> dict[str, Any]:
    """Return the values of the metrics from their variables."""
    mapping = zip(model.metrics_variables, metrics_variables, strict=True)
    with keras.StatelessScope(state_mapping=mapping):
        return dict(model.get_metrics_result())


def take(data: Any, rows: Any) -> Any:
    """Return some rows of each array."""
    return jax.tree.map(lambda array: array[rows], data)


def values(variables: list[keras.Variable]) -> list[Any]:
    """Return the values of variables."""
    return [variable.value for variable in variables]


def assign(variables: list[keras.Variable], new: list[Any]) -> None:
    """Give variables new values."""
    for variable, value in zip(variables, new, strict=True):
        variable.assign(value)
