"""Scores of a network, and of the best constant, on some rows of a dataset."""

from __future__ import annotations

from typing import NamedTuple

import keras
import numpy as np

from keras_vaf.datasets.dataset import Dataset
from keras_vaf.datasets.preprocessing import FittedPreprocessing

_IMAGES_AT_ONCE = 200  # a convolution of all of them may need more memory than there is


class Rows(NamedTuple):
    """Indices of the rows that one cell trains on, validates on and tests on."""

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray


def network_scores(
    model: keras.Model, dataset: Dataset, fitted: FittedPreprocessing, rows: np.ndarray
) -> dict[str, float]:
    """Score a network.

    Args:
        model: A network of inputs as `fitted` makes them.
        dataset: The data.
        fitted: The preprocessing, fitted on the network's training rows.
        rows: The rows to score it on.

    Returns:
        `"accuracy"` and `"balanced_accuracy"`, or `"rmse"` and `"scaled_rmse"`, which
        is in the units of the preprocessed targets.
    """
    size = len(rows) if dataset.x.ndim == 2 else _IMAGES_AT_ONCE
    parts = [rows[start : start + size] for start in range(0, len(rows), size)]
    outputs = np.concatenate(
        [_outputs(model, fitted.transform_inputs(dataset.x[part])) for part in parts]
    )
    if dataset.task == "regression":
        return regression_scores(dataset.y[rows], outputs, fitted)
    return class_scores(dataset.y[rows], outputs.argmax(axis=1))


def _outputs(model: keras.Model, x: np.ndarray) -> np.ndarray:
    return keras.ops.convert_to_numpy(model(x, training=False))


def baseline_scores(
    dataset: Dataset, fitted: FittedPreprocessing, rows: Rows
) -> dict[str, float]:
    """Score the best constant of the training rows on the test rows.

    Args:
        dataset: The data.
        fitted: The preprocessing, fitted on the training rows.
        rows: Training and test rows.

    Returns:
        Scores as those of a network.
    """
    train, test = dataset.y[rows.train], dataset.y[rows.test]
    if dataset.task == "classification":
        return class_scores(test, np.full_like(test, np.bincount(train).argmax()))
    constant = np.full(len(test), train.astype(np.float64).mean())
    return regression_scores(test, fitted.transform_targets(constant), fitted)


def class_scores(y: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """Return accuracy, and balanced accuracy: the mean share found of each class.

    Args:
        y: The classes.
        predicted: The predicted classes.

    Returns:
        The scores by name.
    """
    shares = [float(np.mean(predicted[y == label] == label)) for label in np.unique(y)]
    accuracy = float(np.mean(predicted == y))
    return {"accuracy": accuracy, "balanced_accuracy": float(np.mean(shares))}


def regression_scores(
    y: np.ndarray, outputs: np.ndarray, fitted: FittedPreprocessing
) -> dict[str, float]:
    """Return the root mean square error, in the target's units and as it was scaled.

    Args:
        y: Targets as they are in the dataset.
        outputs: Outputs of a network trained on preprocessed targets.
        fitted: The preprocessing.

    Returns:
        The scores by name.
    """
    return {
        "rmse": fitted.rmse(y, outputs),
        "scaled_rmse": fitted.rmse(y, outputs, units="scaled"),
    }
