"""`PaddedLoop` for JAX, whose few programs train on any number of rows.

JAX compiles a program for each number of rows, which for a small network takes longer
than the training. Here, the arrays are filled up to one of a few sizes. A row index of
-1 marks a place without a row: its sample weight is 0, and batches without any row are
left out.
"""

from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np

from keras_vaf.training.data import fill_up, number_of_rows
from keras_vaf.training.history import StoppingRule
from keras_vaf.training.loops.jax_loop import (
    Loop,
    Sweep,
    make_epoch,
    make_program,
    take,
)

_SIZES = (1024, 4096, 16384, 65536)
_SIZES_OF_ONE_BATCH = (32, 64, 128, 256, 512, 1024, 2048, 4096)
"""Without mini-batches, each place without a row costs as much as a row."""


class PaddedLoop(Loop):
    """A `Loop` whose results differ from those of `Loop` by rounding.

    The outputs of the model for a row must not depend on other rows, its loss must be
    the mean of those of the rows, and it must not have other metrics.
    """

    def __init__(
        self, model: keras.Model, rule: StoppingRule, batch_size: int | None
    ) -> None:
        super().__init__(model, rule, batch_size)
        self._epoch = make_epoch(model, rule, padded(batch_size), take_weighted)
        self._run_compiled = jax.jit(make_program(self._epoch))
        self._in_steps = False
        self._sizes = _SIZES if batch_size else _SIZES_OF_ONE_BATCH

    def begin(self, train: Any, validation: Any) -> None:
        """Set the data, and read the current variables of the model."""
        rows = np.arange(number_of_rows(validation))
        super().begin(*jax.tree.map(self._fill, (train, validation)))
        self._data = jnp.asarray(self._fill(rows, -1)), *self._data[1:]

    def run(self, orders: np.ndarray, count: int) -> tuple[dict[str, np.ndarray], bool]:
        """Run `count` epochs, or fewer if the verdict is to stop."""
        return super().run(self._fill(orders.T, -1).T, count)

    def _fill(self, rows: np.ndarray, value: int = 0) -> np.ndarray:
        return fill_up(rows, self._sizes, value)


def take_weighted(data: Any, rows: Any) -> Any:
    """Return some rows of inputs and targets, and their sample weights.

    With them, the mean over the batch is the mean over its rows.

    Args:
        data: Inputs and targets.
        rows: The indices of the rows, or -1.
    """
    real = rows >= 0
    return *take(data, rows), real * (len(rows) / real.sum())


def padded(batch_size: int | None) -> Sweep:
    """Return a sweep as `scanned` does, over rows that end with any number of -1.

    Args:
        batch_size: Rows per step; `None` uses all rows.
    """

    def sweep(step: Any, variables: Any, rows: Any, data: Any) -> Any:
        size = min(batch_size or len(rows), len(rows))
        rows = jnp.pad(rows, (0, -len(rows) % size), constant_values=-1)
        batches = rows.reshape(-1, size)

        def run(i: Any, variables: Any) -> Any:
            *others, metrics = step(variables, batches[i], data)
            # In its mean of the losses, Keras also counts the places without a row.
            share = (batches[i] >= 0).mean()
            metrics = jax.tree.map(
                lambda old, new: old + share * (new - old), variables[-1], metrics
            )
            return *others, metrics

        count = (batches[:, 0] >= 0).sum()
        return jax.lax.fori_loop(0, count, run, tuple(variables))

    return sweep
