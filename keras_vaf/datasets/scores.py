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
    """Return the scores on some rows of a network whose inputs `fitted` transforms."""
    size = len(rows) if dataset.x.ndim == 2 else _IMAGES_AT_ONCE
    parts = [rows[start : start + size] for start in range(0, len(rows), size)]
    inputs = (fitted.transform_inputs(dataset.x[part]) for part in parts)
    outputs = np.concatenate(
        [keras.ops.convert_to_numpy(model(x, training=False)) for x in inputs]
    )
    if dataset.task == "regression":
        return regression_scores(dataset.y[rows], outputs, fitted)
    return class_scores(dataset.y[rows], outputs.argmax(axis=1))


def baseline_scores(
    dataset: Dataset, fitted: FittedPreprocessing, rows: Rows
) -> dict[str, float]:
    """Return the test scores of the best constant prediction for the training rows."""
    train, test = dataset.y[rows.train], dataset.y[rows.test]
    if dataset.task == "classification":
        return class_scores(test, np.full_like(test, np.bincount(train).argmax()))
    constant = np.full(len(test), train.astype(np.float64).mean())
    return regression_scores(test, fitted.transform_targets(constant), fitted)


def class_scores(y: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """Return the accuracy and the balanced accuracy, which is the mean recall."""
    shares = [float(np.mean(predicted[y == label] == label)) for label in np.unique(y)]
    accuracy = float(np.mean(predicted == y))
    return {"accuracy": accuracy, "balanced_accuracy": float(np.mean(shares))}


def regression_scores(
    y: np.ndarray, outputs: np.ndarray, fitted: FittedPreprocessing
) -> dict[str, float]:
    """Return the root mean square error of outputs, in the target's units too."""
    scale = fitted.target_scale
    if scale is None:
        raise ValueError("The scores need a regression. Received: a classification")
    spread = float(scale.spread[0])
    scaled = (np.asarray(y, np.float64) - scale.center[0]) / spread
    outputs = np.asarray(outputs, np.float64).reshape(scaled.shape)
    error = float(np.sqrt(np.mean((outputs - scaled) ** 2)))
    return {"rmse": error * spread, "scaled_rmse": error}
