"""`BatchLoop`, which trains many networks as one JAX program with `jax.vmap`."""

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np

from keras_vaf.training.data import order_of_rows
from keras_vaf.training.history import History, StoppingRule
from keras_vaf.training.loops.jax_loop import State, make_epoch, make_program, scanned
from keras_vaf.training.loops.run_epochs import run_epochs
from keras_vaf.training.runs import NetworkRun, TooLittleMemory


class BatchLoop:
    """The training loop of networks that differ only in the values of their variables.

    Networks that have stopped are frozen while the others continue. Every batch has the
    same width, so that all batches run the same program.

    Args:
        model: One of the networks, compiled and built.
        rule: Rule that selects the best epoch and stops the training.
        batch_size: Rows per update; `None` uses all rows at once.
        width: Number of networks in a batch.
    """

    def __init__(
        self,
        model: keras.Model,
        rule: StoppingRule,
        batch_size: int | None,
        width: int,
    ) -> None:
        self._model = model
        self.rule = rule
        self.width = width
        self.batch_size = batch_size
        program = make_program(make_epoch(model, rule, scanned(batch_size)))
        many = jax.vmap(program, in_axes=(0, 1, None, 0, None, None))
        self._program = jax.jit(many, donate_argnums=0)
        self._compiled: dict[Any, Any] = {}
        self.memory = 0  # bytes that the last compiled program needs

    def train(
        self,
        states: Sequence[State],
        runs: Sequence[NetworkRun],
        data: Any,
        epochs: int,
    ) -> list[tuple[History, State]]:
        """Train one batch of networks.

        Args:
            states: The initial state of each run.
            runs: The runs, at most `width`, with equal numbers of rows.
            data: The arrays to which all row indices refer.
            epochs: Largest number of epochs.

        Returns:
            The history and the last state of each run.
        """
        started = time.perf_counter()
        self._begin(states, np.stack([run.validation for run in runs]), data)
        rows = len(runs[0].training)

        def order(epoch: int) -> np.ndarray:
            orders = np.zeros((self.width, rows), "int32")
            for i, run in enumerate(runs):
                order = order_of_rows(rows, self.batch_size, run.seed, epoch)
                orders[i] = np.asarray(run.training)[order]
            return orders

        metrics, _ = run_epochs(self.run, epochs, order, None)
        seconds = (time.perf_counter() - started) / len(runs)
        last = jax.device_get(self._state)
        trained = []
        for i in range(len(runs)):
            state = jax.tree.map(lambda values, i=i: values[i], last)
            own = {name: log[: self.epochs[i], i] for name, log in metrics.items()}
            history = self.rule.history(own, bool(state.verdict[-1]), seconds)
            trained.append((history, state))
        return trained

    def _begin(self, states: Sequence[State], rows: np.ndarray, data: Any) -> None:
        """Set the networks, of which there are at most `width`, and their data."""
        idle = self.width - len(states)
        state = jax.tree.map(
            lambda *values: jnp.stack(values + values[:1] * idle), *states
        )
        best, waited, _ = state.verdict
        busy = jnp.arange(self.width) < len(states)
        self._state = state._replace(verdict=(best, waited, busy))
        self._rows = jnp.asarray(np.pad(rows, ((0, idle), (0, 0))))
        self._data = jax.tree.map(jnp.asarray, data)
        self.epochs = np.zeros(self.width, int)

    def run(self, orders: np.ndarray, count: int) -> tuple[dict[str, np.ndarray], bool]:
        """Run `count` epochs, or fewer if all networks stop.

        Args:
            orders: The order of the training rows, by epoch and by network.
            count: Number of epochs to run.

        Returns:
            The metrics, by epoch and by network, and whether any network continues.
        """
        arguments = self._state, orders, count, self._rows, self._data, self._data
        program = self._compile(arguments)
        try:
            epochs, self._state, logs = program(*arguments)
            epochs = np.asarray(epochs)
        except jax.errors.JaxRuntimeError as error:
            if "RESOURCE_EXHAUSTED" not in str(error):
                raise
            raise TooLittleMemory(str(error)) from error
        self.epochs += epochs
        logs = {
            name: np.swapaxes(np.asarray(log), 0, 1)[: epochs.max()]
            for name, log in logs.items()
        }
        return logs, bool(np.any(self._state.verdict[-1]))

    def _compile(self, arguments: Any) -> Any:
        """Compile once for each shape of the arguments, if there is enough memory."""
        shapes = tuple(np.shape(leaf) for leaf in jax.tree.leaves(arguments))
        if shapes not in self._compiled:
            with as_reason(self._model):
                program = self._program.lower(*arguments).compile()
            self.memory = memory_of(program)
            self._check_memory(self.memory)
            self._compiled[shapes] = program
        return self._compiled[shapes]

    def _check_memory(self, needed: int) -> None:
        free = free_memory()
        if self.width > 1 and needed > free:
            raise TooLittleMemory(
                f"needs {needed / 2**20:.0f} MiB, and {free / 2**20:.0f} MiB are free"
            )


@contextlib.contextmanager
def as_reason(model: keras.Model) -> Iterator[None]:
    """Replace JAX errors by an error that names the model."""
    try:
        yield
    except (TypeError, IndexError, NotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"The model {model.name!r} cannot be trained in a batch: use `width=1`. "
            f"Received: {type(error).__name__}: {reason}"
        ) from error


def memory_of(program: Any) -> int:
    """Return the bytes that a compiled program needs, including its data."""
    analysis = program.memory_analysis()
    return (
        analysis.argument_size_in_bytes
        + analysis.output_size_in_bytes
        + analysis.temp_size_in_bytes
        - analysis.alias_size_in_bytes
    )


def free_memory() -> float:
    """Return the free bytes of the device, or infinity if they are unknown."""
    statistics = jax.devices()[0].memory_stats()
    if statistics is not None:
        return statistics["bytes_limit"] - statistics["bytes_in_use"]
    if "SC_AVPHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return float("inf")
