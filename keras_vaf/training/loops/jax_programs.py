"""`program_text`, the text of the program that JAX compiles for a model."""

import contextlib
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import keras

from keras_vaf.training.history import StoppingRule
from keras_vaf.training.loops.jax_loop import make_epoch, scanned, state_of


def program_text(
    model: keras.Model, rule: StoppingRule, batch_size: int | None, rows: Any, data: Any
) -> str:
    """Return the text of the program that XLA compiles for one epoch.

    Models with equal texts share a program, because the text does not contain the
    values of variables.

    Args:
        model: A compiled and built model.
        rule: Rule that selects the best epoch and stops the training.
        batch_size: Rows per update; `None` uses all rows at once.
        rows: Training and validation rows.
        data: The arrays to which the row indices refer.
    """
    epoch = make_epoch(model, rule, scanned(batch_size))
    training, validation = map(jnp.asarray, rows)
    data = jax.tree.map(jnp.asarray, data)
    state = state_of(model, rule)
    with as_reason(model):
        return jax.jit(epoch).lower(state, training, validation, data, data).as_text()


@contextlib.contextmanager
def as_reason(model: keras.Model) -> Iterator[None]:
    """Replace JAX errors by an error that names the model."""
    try:
        yield
    except (TypeError, IndexError, NotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"The model {model.name!r} cannot be trained in a batch: use `replicas=1`. "
            f"Received: {type(error).__name__}: {reason}"
        ) from error
