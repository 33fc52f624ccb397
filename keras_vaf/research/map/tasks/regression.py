"""`regression` and `sampled`, problems of fitting targets or a known function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from keras import ops

from keras_vaf.research.map.task import Apply, Batch, Problem
from keras_vaf.research.map.tasks.networks import Network

Function = Callable[[np.ndarray], np.ndarray]


def squared_error(apply: Apply, batch: Batch) -> Any:
    """Return the mean squared error of a batch with `x` and `y`."""
    return ops.mean(ops.square(apply(batch["x"]) - batch["y"]))


def root_of(name: str) -> Callable[[Apply, Batch], Any]:
    """Return a function for the root mean square error on `NAME_x` and `NAME_y`."""

    def error(apply: Apply, held: Batch) -> Any:
        difference = apply(held[f"{name}_x"]) - held[f"{name}_y"]
        return ops.sqrt(ops.mean(ops.square(difference)))

    return error


def regression(
    network: Network,
    training: tuple[np.ndarray, np.ndarray],
    validation: tuple[np.ndarray, np.ndarray],
    test: tuple[np.ndarray, np.ndarray],
    **fields: Any,
) -> Problem:
    """Return the problem of fitting targets by the mean squared error.

    Args:
        network: Function that builds the networks.
        training: Inputs and targets.
        validation: Inputs and targets that select the learning rate.
        test: Inputs and targets for the test error.
        **fields: Other fields of the problem.
    """
    parts = {"x": training[0], "y": training[1]}
    held = {
        "validation_x": validation[0],
        "validation_y": validation[1],
        "test_x": test[0],
        "test_y": test[1],
    }
    return Problem(
        network=network,
        loss=squared_error,
        validation=root_of("validation"),
        error=root_of("test"),
        phases=({name: array.astype("float32") for name, array in parts.items()},),
        held=({name: array.astype("float32") for name, array in held.items()},),
        **fields,
    )


def sampled(
    network: Network,
    function: Function,
    inputs: int,
    rows: tuple[int, int, int],
    seed: int,
    **fields: Any,
) -> Problem:
    """Return the problem of fitting a function on [-1, 1]^n with standardized values.

    Args:
        network: Function that builds the networks.
        function: Function from arrays of shape `(rows, inputs)` to arrays of shape
            `(rows,)`.
        inputs: Number of inputs.
        rows: Numbers of rows for training, validation and test.
        seed: Seed of the points.
        **fields: Other fields of the problem.
    """
    generator = np.random.default_rng(seed)
    points = [generator.uniform(-1, 1, (count, inputs)) for count in rows]
    targets = [function(x)[:, None] for x in points]
    mean, deviation = targets[0].mean(), targets[0].std()
    scaled = [(y - mean) / deviation for y in targets]
    return regression(network, *zip(points, scaled, strict=True), **fields)
