"""`cross_validate`, cross-validation over a grid with a user's `build()` and arrays."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import keras
import numpy as np
from keras import ops

from keras_vaf.training.data import check_compiled, number_of_rows, take, to_arrays
from keras_vaf.training.folds import Preprocess, fold_rows, preprocess_folds
from keras_vaf.training.history import History, StoppingRule
from keras_vaf.training.many import Progress, train_many
from keras_vaf.training.runs import TrainingRun
from keras_vaf.training.seeds import independent_seeds


@dataclass(frozen=True)
class CrossValidation:
    """Result of `cross_validate`.

    Args:
        points: The points of the grid, which are the arguments passed to `build`.
        scores: Values of each metric on the test rows, of shape `(points, folds)`.
        histories: Histories of the trainings, by point and by fold.
        selected: Index of the point with the best validation score, for each fold.
    """

    points: tuple[dict[str, Any], ...]
    scores: dict[str, np.ndarray]
    histories: tuple[tuple[History, ...], ...]
    selected: np.ndarray

    @property
    def selected_scores(self) -> dict[str, np.ndarray]:
        """Test values of each metric in each fold, at the selected points.

        These are the numbers to report, because the test rows were not used for the
        selection.
        """
        folds = np.arange(len(self.selected))
        return {
            name: score[self.selected, folds] for name, score in self.scores.items()
        }


def cross_validate(
    build: Callable[..., keras.Model],
    x: Any,
    y: Any,
    grid: Mapping[str, Sequence[Any]] | None = None,
    folds: int = 10,
    *,
    epochs: int,
    batch_size: int | None = None,
    patience: int | None = None,
    monitor: str = "val_loss",
    mode: str = "min",
    validation_fraction: float = 0.2,
    stratify: bool = True,
    seed: int = 0,
    preprocess: Preprocess | None = None,
    replicas: int | Literal["auto"] = "auto",
    on_progress: Progress | None = None,
) -> CrossValidation:
    """Train a model at every point of a grid on every fold, and test the best point.

    This is Algorithm 2 of the paper, with a selection on validation rows: in each fold,
    a part of the rows outside of the test fold is reserved for validation. The
    validation rows select the best epoch and the best point of the grid. The test rows
    are used only at the end. On JAX, trainings with the same program run together, as
    in `train_many`.

    Args:
        build: Function that returns a new compiled model. It is called once per point
            and fold, with the point as keyword arguments. Equal points must give equal
            models except for their random weights.
        x: Inputs: an array, or a list or dictionary of arrays of equal length.
        y: Targets, in the same forms. Stratified folds need a single array of class
            labels.
        grid: Dictionary from the arguments of `build` to lists of values. Every
            combination is a point. `None` means a single point without arguments.
        folds: Number of folds, as in `fold_rows`.
        epochs: Largest number of epochs.
        batch_size: As in `train`.
        patience: As in `train`.
        monitor: As in `train`.
        mode: As in `train`.
        validation_fraction: As in `fold_rows`.
        stratify: As in `fold_rows`.
        seed: Seed of folds, splits and shuffling. It does not affect the weights that
            `build` draws; call `keras.utils.set_random_seed` first to reproduce them.
        preprocess: Function that takes the training inputs of a fold and returns a
            function, which is applied to all inputs of this fold. The preprocessing
            therefore does not use validation and test rows. `None` leaves the inputs
            unchanged.
        replicas: As in `train_many`.
        on_progress: As in `train_many`.

    Returns:
        The test scores of all points and folds, the selected points and the histories.

    Raises:
        ValueError: If an argument is out of its range, if a model is not compiled, or
            if the data have too few rows for the folds.
        ImportError: If scikit-learn is not installed.

    Example:

    >>> def build(units):
    ...     layers = [keras.layers.Dense(units), keras.layers.Dense(2, "softmax")]
    ...     model = keras.Sequential([keras.Input((3,)), *layers])
    ...     model.compile("adam", "sparse_categorical_crossentropy")
    ...     return model
    >>> x, y = np.random.normal(size=(40, 3)), np.arange(40) % 2
    >>> found = cross_validate(build, x, y, {"units": [2, 4]}, folds=2, epochs=3)
    >>> found.selected_scores["loss"].shape
    (2,)
    """
    points = grid_points(grid or {})
    data = to_arrays("`(x, y)`", (x, y))
    targets = keras.tree.flatten(data[1])[0]
    rows = fold_rows(targets, folds, seed, stratify, validation_fraction)
    if preprocess is not None:
        data, rows = preprocess_folds(data, rows, preprocess)
    seeds = [independent_seeds(seed, fold, "shuffling")[0] for fold in range(folds)]
    runs = [
        TrainingRun(_build(build, point), training, validation, seeds[fold], build=i)
        for i, point in enumerate(points)
        for fold, (training, validation, _) in enumerate(rows)
    ]
    histories = train_many(
        runs,
        *data,
        epochs=epochs,
        batch_size=batch_size,
        patience=patience,
        monitor=monitor,
        mode=mode,
        replicas=replicas,
        on_progress=on_progress,
    )
    tests = [test for _, _, test in rows] * len(points)
    scores = [
        evaluate(run.model, take(data, test), batch_size)
        for run, test in zip(runs, tests, strict=True)
    ]
    shape = len(points), folds
    values = np.array([history.best.get(monitor, np.nan) for history in histories])
    errors = StoppingRule(monitor, mode, patience).error(values)
    return CrossValidation(
        points=points,
        scores={n: np.reshape([s[n] for s in scores], shape) for n in scores[0]},
        histories=tuple(
            tuple(histories[i : i + folds]) for i in range(0, len(histories), folds)
        ),
        selected=np.nan_to_num(errors, nan=np.inf).reshape(shape).argmin(axis=0),
    )


def grid_points(grid: Mapping[str, Sequence[Any]]) -> tuple[dict[str, Any], ...]:
    """Return every combination of a grid's values.

    Args:
        grid: Dictionary from names to values.

    Returns:
        The points. The last name changes fastest.

    Raises:
        ValueError: If `grid` is not a dictionary, or if the values of a name are not
            a sequence or are empty.
    """
    if not isinstance(grid, Mapping):
        raise ValueError(
            "`grid` must be a dictionary from arguments of `build` to lists of values. "
            f"Received: grid={grid!r}"
        )
    for name, values in grid.items():
        if isinstance(values, str) or not np.iterable(values) or len(values) == 0:
            raise ValueError(
                "`grid` must have a list of at least one value for each argument of "
                f"`build`. Received: {name}={values!r}"
            )
    combinations = itertools.product(*grid.values())
    return tuple(dict(zip(grid, values, strict=True)) for values in combinations)


def evaluate(model: keras.Model, data: Any, batch_size: int | None) -> dict[str, Any]:
    """Return the loss and the metrics of a model, as `model.evaluate` would.

    `model.evaluate` compiles first, which takes longer than evaluating a test fold.

    Args:
        model: A compiled and built model.
        data: Inputs and targets.
        batch_size: Rows per step; `None` uses all rows at once.

    Returns:
        The values by name.
    """
    model.reset_metrics()
    rows = number_of_rows(data)
    size = batch_size or rows
    loss, logs = 0.0, {}
    for start in range(0, rows, size):
        batch = take(data, slice(start, start + size))
        x, y = keras.tree.map_structure(ops.convert_to_tensor, batch)
        outputs = model(x, training=False)
        mean = model.compute_loss(x, y, outputs, training=False)
        loss += float(ops.convert_to_numpy(mean)) * number_of_rows(batch) / rows
        logs = model.compute_metrics(x, y, outputs)
    return keras.tree.map_structure(ops.convert_to_numpy, {**logs, "loss": loss})


def _build(build: Callable[..., keras.Model], point: dict[str, Any]) -> keras.Model:
    model = build(**point)
    if not isinstance(model, keras.Model):
        raise ValueError(
            "`build` must return a compiled Keras model. "
            f"Received: {type(model).__name__} at the point {point}"
        )
    check_compiled(model)
    return model
