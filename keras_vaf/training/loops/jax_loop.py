"""`Loop` for JAX: Algorithm 1 with epochs as pure functions of their state."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import keras
import numpy as np

from keras_vaf.training.data import number_of_rows, take
from keras_vaf.training.history import StoppingRule, metrics_of

Epoch = Callable[..., tuple["State", dict[str, Any]]]


class State(NamedTuple):
    """The values that an epoch changes: the variables and the verdict."""

    trainable: list[Any]
    non_trainable: list[Any]
    optimizer: list[Any]
    best: tuple[list[Any], list[Any]]
    verdict: tuple[Any, Any, Any]


class Loop:
    """The training loop of a model."""

    def __init__(
        self, model: keras.Model, rule: StoppingRule, batch_size: int | None
    ) -> None:
        self._model = model
        self._rule = rule
        self._epoch = make_epoch(model, rule, batch_size)
        self._epoch_in_steps = make_epoch(model, rule, batch_size, in_steps=True)
        self._run_compiled = jax.jit(make_program(self._epoch))
        self._in_steps: bool | None = None

    def begin(self, train: Any, validation: Any) -> None:
        """Set the data, and read the current variables of the model."""
        train, validation = jax.tree.map(jnp.asarray, (train, validation))
        self._data = jnp.arange(number_of_rows(validation)), train, validation
        self._state = state_of(self._model, self._rule)
        if self._in_steps is None and jax.default_backend() == "cpu":
            # There, XLA compiles gradients of convolutions efficiently only outside of
            # loops. Inside of loops they take nine times as long
            # (https://github.com/jax-ml/jax/issues/12868).
            order = jnp.arange(number_of_rows(train))
            program = jax.make_jaxpr(self._epoch)(self._state, order, *self._data)
            self._in_steps = "conv_general_dilated" in str(program)

    def run(self, orders: np.ndarray, count: int) -> tuple[dict[str, np.ndarray], bool]:
        """Run `count` epochs, or fewer if the verdict is to stop."""
        run = self._run_in_steps if self._in_steps else self._run_compiled
        done, self._state, logs = run(self._state, orders, count, *self._data)
        logs = {name: np.asarray(log)[: int(done)] for name, log in logs.items()}
        return logs, bool(self._state.verdict[-1])

    def finish(self) -> None:
        """Set the model to its best variables, and the optimizer to its last ones."""
        assign_best(self._model, self._state)
        assign(self._model.optimizer.variables, self._state.optimizer)
        del self._data  # from the device, while the compiled program is kept

    def _run_in_steps(
        self, state: State, orders: np.ndarray, count: int, *data: Any
    ) -> tuple[int, State, dict[str, np.ndarray]]:
        """Run the same epochs as the compiled program, with one call per update."""
        logs = []
        for order in orders[:count]:
            state, log = self._epoch_in_steps(state, jnp.asarray(order), *data)
            logs.append(jax.device_get(log))
            if not state.verdict[-1]:
                break
        return len(logs), state, jax.tree.map(lambda *log: np.stack(log), *logs)


def make_program(epoch: Epoch) -> Callable[..., tuple[Any, State, dict[str, Any]]]:
    """Return many epochs as one pure function.

    It takes the state, the orders of the training rows (one row per epoch), the number
    of epochs to run, and the other arguments of the epoch. It returns the number of
    epochs that were run, the new state and the stacked metrics.
    """

    def program(
        state: State, orders: Any, count: Any, *data: Any
    ) -> tuple[Any, State, dict[str, Any]]:
        def goes_on(carry: Any) -> Any:
            done, state, _ = carry
            return (done < count) & state.verdict[-1]

        def run(carry: Any) -> Any:
            done, state, logs = carry
            state, log = epoch(state, orders[done], *data)
            logs = {name: logs[name].at[done].set(log[name]) for name in logs}
            return done + 1, state, logs

        _, log = jax.eval_shape(epoch, state, orders[0], *data)
        logs = {name: jnp.zeros((len(orders), *log[name].shape)) for name in log}
        return jax.lax.while_loop(goes_on, run, (0, state, logs))

    return program


def make_epoch(
    model: keras.Model,
    rule: StoppingRule,
    batch_size: int | None,
    in_steps: bool = False,
) -> Epoch:
    """Return an epoch as a pure function: train, evaluate, judge, keep the best.

    It takes the state, the order of the training rows, the validation rows, and the
    arrays to which the row indices refer. It returns the new state and the metrics.

    Args:
        model: A compiled and built model.
        rule: Rule that selects the best epoch and stops the training.
        batch_size: Rows per step; the last step may have fewer. `None` uses all rows.
        in_steps: Whether each step is a separate call, and not a part of a loop.
    """
    model.reset_metrics()
    zero = values(model.metrics_variables)

    @jax.jit
    def update(variables: Any, rows: Any, data: Any) -> Any:
        return model.train_step(variables, take(data, rows))[1]

    @jax.jit
    def evaluate(variables: Any, rows: Any, data: Any) -> Any:
        return model.test_step(variables, take(data, rows))[1]

    def sweep(step: Any, variables: Any, rows: Any, data: Any) -> Any:
        size = batch_size or len(rows)
        whole = 0 if in_steps else len(rows) // size * size
        if whole:
            variables, _ = jax.lax.scan(
                lambda variables, batch: (step(variables, batch, data), None),
                variables,
                rows[:whole].reshape(-1, size),
            )
        for start in range(whole, len(rows), size):
            variables = step(variables, rows[start : start + size], data)
        return variables

    def epoch(
        state: State, order: Any, rows: Any, train: Any, validation: Any
    ) -> tuple[State, dict[str, Any]]:
        trainable, non_trainable, optimizer, metrics = sweep(
            update, (*state[:3], zero), order, train
        )
        logs = results(model, metrics)
        trainable, non_trainable, metrics = sweep(
            evaluate, (trainable, non_trainable, zero), rows, validation
        )
        for name, value in results(model, metrics).items():
            logs[f"val_{name}"] = value
        better, verdict = rule.judge(state.verdict, logs)
        new = trainable, non_trainable
        best = jax.tree.map(lambda *pair: jnp.where(better, *pair), new, state.best)
        return State(trainable, non_trainable, optimizer, best, verdict), logs

    return epoch


def results(model: keras.Model, metrics_variables: Any) -> dict[str, Any]:
    """Return the values of the metrics from their variables."""
    mapping = zip(model.metrics_variables, metrics_variables, strict=True)
    with keras.StatelessScope(state_mapping=mapping):
        return metrics_of(model)


def state_of(model: keras.Model, rule: StoppingRule) -> State:
    """Return the state of a model before its first epoch."""
    best = values(model.trainable_variables), values(model.non_trainable_variables)
    return State(*best, values(model.optimizer.variables), best, rule.start())


def values(variables: list[keras.Variable]) -> list[Any]:
    """Return the values of variables."""
    return [variable.value for variable in variables]


def assign_best(model: keras.Model, state: State) -> None:
    """Set a model to the weights of its best epoch."""
    variables = model.trainable_variables, model.non_trainable_variables
    for own, best in zip(variables, state.best, strict=True):
        assign(own, best)


def assign(variables: list[keras.Variable], new: list[Any]) -> None:
    """Assign new values to variables."""
    for variable, value in zip(variables, new, strict=True):
        variable.assign(value)
