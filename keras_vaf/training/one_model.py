"""`train`, Algorithm 1 of the paper, which trains one model."""

from typing import Any

import keras

from keras_vaf.training.data import take, to_arrays
from keras_vaf.training.history import History
from keras_vaf.training.trainer import Trainer
from keras_vaf.utils import check_integer


def train(
    model: keras.Model,
    x: Any,
    y: Any,
    validation_data: tuple[Any, ...] | None,
    epochs: int,
    batch_size: int | None = None,
    patience: int | None = None,
    monitor: str = "val_loss",
    mode: str = "min",
    seed: int = 0,
    sample_weight: Any = None,
) -> History:
    """Train a model and set it to the weights of its best epoch.

    This is Algorithm 1 of the paper. A compiled program runs many epochs per call,
    which for small networks is ten to a hundred times faster than `keras.Model.fit`.
    Loss, optimizer and metrics are those with which the model was compiled. Training
    continues from the current weights of the model and the current state of the
    optimizer. The weights of an epoch are not averaged by `use_ema` of an optimizer.

    Args:
        model: A compiled Keras model.
        x: Inputs: an array, or a list or dictionary of arrays of equal length.
        y: Targets, in the same forms.
        validation_data: Pair `(x, y)`, or triple with the weights of the rows, that
            selects the best epoch. With `None`, `mode` is `"last"`, and the validation
            metrics are those of the first training row.
        epochs: Largest number of epochs.
        batch_size: Rows per update; `None` uses all rows at once (full batch). NumPy
            shuffles the rows in each epoch, in the same way on every backend.
        patience: Number of consecutive epochs without improvement after which training
            stops. `None` and `mode="last"` never stop early.
        monitor: The metric that selects the best epoch.
        mode: `"min"` if lower values of `monitor` are better, `"max"` if higher values
            are better, `"last"` if the last finite epoch is kept.
        seed: Seed of the shuffling.
        sample_weight: The weight of each training row in the loss, as in
            `keras.Model.fit`.

    Returns:
        The metrics of each epoch, and the best epoch.

    Raises:
        ValueError: If the model is not compiled, if an argument is out of its range, or
            if the data are empty, have unequal lengths, or do not fit the model.

    Example:

    >>> x, y = np.random.normal(size=(20, 3)), np.arange(20) % 2
    >>> model = keras.Sequential([keras.layers.Dense(1, activation="sigmoid")])
    >>> model.compile(optimizer="adam", loss="binary_crossentropy")
    >>> history = train(model, x[:15], y[:15], (x[15:], y[15:]), epochs=3)
    >>> history.epochs, history.stopped
    (3, 'epochs')
    """
    check_integer("epochs", epochs)
    check_integer("seed", seed, minimum=0)
    weights = () if sample_weight is None else (sample_weight,)
    data = to_arrays("`(x, y)`", (x, y, *weights))
    if validation_data is None:
        # The loops evaluate at least one row.
        mode, validation = "last", take(data, slice(1))
    else:
        validation = to_arrays("`validation_data`", validation_data)
    trainer = Trainer(model, batch_size, patience, monitor, mode)
    return trainer.train(data, validation, epochs, seed)
