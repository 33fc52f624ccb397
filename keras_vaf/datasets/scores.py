"""`score`, the score of predictions for some rows of a dataset."""

from typing import Any, NamedTuple

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


def score(
    dataset: Dataset, fitted: FittedPreprocessing, rows: np.ndarray, predicted: Any
) -> float:
    """Return the accuracy of class indices, or the RMSE of predicted scaled targets.

    It is in the units of the dataset, except for targets with the scaling `"min-max"`.
    """
    y, scale = dataset.y[rows], fitted.target_scale
    if scale is None:
        return float(np.mean(predicted == y))
    scaled = (y.astype(np.float64) - scale.center) / scale.spread
    errors = np.asarray(predicted, np.float64).reshape(scaled.shape) - scaled
    unit = 1.0 if fitted.targets == "min-max" else float(scale.spread[0])
    return float(np.sqrt(np.mean(errors**2))) * unit


def constant_score(dataset: Dataset, fitted: FittedPreprocessing, rows: Rows) -> float:
    """Return the test score of the best constant prediction for the training rows."""
    y = dataset.y[rows.train]
    if dataset.task == "classification":
        return score(dataset, fitted, rows.test, np.bincount(y).argmax())
    constant = fitted.transform_targets(y.mean(keepdims=True, dtype=np.float64))
    return score(dataset, fitted, rows.test, np.repeat(constant, len(rows.test)))


def network_score(
    model: keras.Model, dataset: Dataset, fitted: FittedPreprocessing, rows: np.ndarray
) -> float:
    """Return the score of a network whose inputs `fitted` transforms."""
    size = len(rows) if dataset.x.ndim == 2 else _IMAGES_AT_ONCE
    parts = [rows[start : start + size] for start in range(0, len(rows), size)]
    inputs = (fitted.transform_inputs(dataset.x[part]) for part in parts)
    outputs = np.concatenate(
        [keras.ops.convert_to_numpy(model(x, training=False)) for x in inputs]
    )
    classes = dataset.task == "classification"
    return score(dataset, fitted, rows, outputs.argmax(axis=1) if classes else outputs)
