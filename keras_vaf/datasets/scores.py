"""`network_scores` and `baseline_scores`, the scores on some rows of a dataset."""

from __future__ import annotations

from typing import NamedTuple

import keras
import numpy as np

from keras_vaf.datasets.dataset import Dataset
from keras_vaf.datasets.preprocessing import FittedPreprocessing

_IMAGES_AT_ONCE = 200  # a convolution of all images may exceed the memory


class Rows(NamedTuple):
    """Indices of the training, validation and test rows of a cell."""

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray


def network_scores(
    model: keras.Model, dataset: Dataset, fitted: FittedPreprocessing, rows: np.ndarray
) -> dict[str, float]:
    """Return the scores of a network.

    Args:
        model: A network whose inputs are transformed by `fitted`.
        dataset: The data.
        fitted: The preprocessing, fitted on the network's training rows.
        rows: The rows on which the network is scored.

    Returns:
        `"accuracy"` and `"balanced_accuracy"`, or `"rmse"` in the units of the target
        and `"scaled_rmse"` in the units of the preprocessed targets.
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
    """Return the test scores of the best constant prediction for the training rows.

    Args:
        dataset: The data.
        fitted: The preprocessing, fitted on the training rows.
        rows: Training and test rows.

    Returns:
        The same scores as for a network.
    """
    train, test = dataset.y[rows.train], dataset.y[rows.test]
    if dataset.task == "classification":
        return class_scores(test, np.full_like(test, np.bincount(train).argmax()))
    constant = np.full(len(test), train.astype(np.float64).mean())
    return regression_scores(test, fitted.transform_targets(constant), fitted)


def class_scores(y: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """Return the accuracy and the balanced accuracy, which is the mean recall.

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
    """Return the root mean square error, in the units of the target and scaled.

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
