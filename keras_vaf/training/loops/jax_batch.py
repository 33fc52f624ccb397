"""`BatchLoop`, which trains many networks as one JAX program with `jax.vmap`."""

import time
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np

from keras_vaf.training.data import order_of_rows
from keras_vaf.training.history import History, NetworkRun, StoppingRule
from keras_vaf.training.loops.jax_loop import State, make_epoch, make_program
from keras_vaf.training.loops.run_epochs import run_epochs


class BatchLoop:
    """The training loop of networks that differ only in the values of their variables.

    Networks that have stopped are frozen while the others continue. Every batch has the
    same `width`, a number of networks, so that all batches run the same program.
    """

    def __init__(
        self,
        model: keras.Model,
        rule: StoppingRule,
        batch_size: int | None,
        width: int,
    ) -> None:
        self._rule, self._batch_size, self._width = rule, batch_size, width
        program = make_program(make_epoch(model, rule, batch_size))
        many = jax.vmap(program, in_axes=(0, 1, None, 0, None, None))
        self._program = jax.jit(many, donate_argnums=0)

    def train(
        self,
        states: Sequence[State],
        runs: Sequence[NetworkRun],
        data: Any,
        epochs: int,
    ) -> list[tuple[History, State]]:
        """Train at most `width` networks, and return their histories and last states.

        `states` has the initial state of each run. The runs have equal numbers of rows,
        and their indices refer to the arrays of `data`. Raises a `MemoryError` if the
        memory of the device is too small.
        """
        started = time.perf_counter()
        self._begin(states, np.stack([run.validation for run in runs]), data)
        rows = len(runs[0].training)

        def order(epoch: int) -> np.ndarray:
            orders = np.zeros((self._width, rows), "int32")
            for i, run in enumerate(runs):
                order = order_of_rows(rows, self._batch_size, run.seed, epoch)
                orders[i] = np.asarray(run.training)[order]
            return orders

        metrics, _ = run_epochs(self.run, epochs, order)
        seconds = (time.perf_counter() - started) / len(runs)
        last = jax.device_get(self._state)
        del self._data  # from the device, while the compiled program is kept
        trained = []
        for i in range(len(runs)):
            state = jax.tree.map(lambda values, i=i: values[i], last)
            own = {name: log[: self._epochs[i], i] for name, log in metrics.items()}
            history = self._rule.history(own, bool(state.verdict[-1]), seconds)
            trained.append((history, state))
        return trained

    def _begin(self, states: Sequence[State], rows: np.ndarray, data: Any) -> None:
        """Set the networks, of which there are at most `width`, and their data."""
        idle = self._width - len(states)
        state = jax.tree.map(
            lambda *values: jnp.stack(values + values[:1] * idle), *states
        )
        best, waited, _ = state.verdict
        busy = jnp.arange(self._width) < len(states)
        self._state = state._replace(verdict=(best, waited, busy))
        self._rows = jnp.asarray(np.pad(rows, ((0, idle), (0, 0))))
        self._data = jax.tree.map(jnp.asarray, data)
        self._epochs = np.zeros(self._width, int)

    def run(self, orders: np.ndarray, count: int) -> tuple[dict[str, np.ndarray], bool]:
        """Run `count` epochs, or fewer if all networks stop.

        `orders` are the training rows by epoch and by network. The metrics, too, are by
        epoch and by network. The other result is whether any network continues.
        """
        arguments = self._state, orders, count, self._rows, self._data, self._data
        try:
            epochs, self._state, logs = self._program(*arguments)
            epochs = np.asarray(epochs)
        except jax.errors.JaxRuntimeError as error:
            if "RESOURCE_EXHAUSTED" not in str(error):
                raise
            raise MemoryError(str(error)) from error
        self._epochs += epochs
        logs = {
            name: np.swapaxes(np.asarray(log), 0, 1)[: epochs.max()]
            for name, log in logs.items()
        }
        return logs, bool(np.any(self._state.verdict[-1]))
