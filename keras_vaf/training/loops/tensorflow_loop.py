"""`Loop` for TensorFlow: Algorithm 1 as a `tf.while_loop` in one `tf.function`."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from keras_vaf.training.history import StoppingRule, metrics_of


class Loop:
    """The training loop of a model."""

    def __init__(
        self, model: keras.Model, rule: StoppingRule, batch_size: int | None
    ) -> None:
        self._model = model
        self._rule = rule
        self._batch_size = batch_size
        self._best = [
            tf.Variable(variable.value, trainable=False) for variable in model.variables
        ]
        self._compiled: Any = None

    def begin(self, train: Any, validation: Any) -> None:
        """Set the data, and read the current variables of the model."""
        self._data = keras.tree.map_structure(tf.convert_to_tensor, (train, validation))
        self._verdict = self._rule.start()
        for best, variable in zip(self._best, self._model.variables, strict=True):
            best.assign(variable.value)
        if self._compiled is None:
            self._compiled = self._compile()

    def run(self, orders: np.ndarray, count: int) -> tuple[dict[str, np.ndarray], bool]:
        """Run `count` epochs, or fewer if the verdict is to stop."""
        logs, self._verdict = self._compiled(
            tf.constant(orders[:count]), self._verdict, self._data
        )
        logs = {name: log.numpy() for name, log in logs.items()}
        return logs, bool(self._verdict[-1])

    def finish(self) -> None:
        """Set the model to its best variables. The optimizer keeps its last ones."""
        for variable, best in zip(self._model.variables, self._best, strict=True):
            variable.assign(best)
        del self._data  # from the device, while the compiled program is kept

    def _compile(self) -> Any:
        """Trace the epochs once, for any number of epochs and rows."""

        def any_length(array: tf.Tensor) -> tf.TensorSpec:
            return tf.TensorSpec([None, *array.shape[1:]], array.dtype)

        signature = (
            tf.TensorSpec([None, None], tf.int32),
            tuple(tf.TensorSpec([], value.dtype) for value in self._verdict),
            keras.tree.map_structure(any_length, self._data),
        )
        return tf.function(self._epochs, input_signature=signature, autograph=False)

    def _epochs(self, orders: tf.Tensor, verdict: Any, data: Any) -> Any:
        """Run epochs until no orders are left or the verdict is to stop."""
        count = tf.shape(orders)[0]
        results = metrics_of(self._model)
        results |= {f"val_{name}": value for name, value in results.items()}
        arrays = {
            name: tf.TensorArray(tf.convert_to_tensor(value).dtype, count)
            for name, value in results.items()
        }

        def goes_on(done: Any, verdict: Any, arrays: Any) -> Any:
            return (done < count) & verdict[-1]

        def run(done: Any, verdict: Any, arrays: Any) -> Any:
            logs = self._epoch(orders[done], *data)
            better, verdict = self._rule.judge(verdict, logs)
            for best, variable in zip(self._best, self._model.variables, strict=True):
                best.assign(tf.where(better, variable.value, best))
            arrays = {n: array.write(done, logs[n]) for n, array in arrays.items()}
            return done + 1, verdict, arrays

        done, verdict, arrays = tf.while_loop(goes_on, run, (0, verdict, arrays))
        return {n: array.stack()[:done] for n, array in arrays.items()}, verdict

    def _epoch(self, order: tf.Tensor, train: Any, validation: Any) -> dict[str, Any]:
        """Train on all batches, then evaluate."""
        logs = self._sweep(self._model.train_step, train, order)
        rows = tf.range(tf.shape(keras.tree.flatten(validation)[0])[0])
        validation_logs = self._sweep(self._model.test_step, validation, rows)
        return logs | {f"val_{name}": v for name, v in validation_logs.items()}

    def _sweep(
        self, step: Callable[[Any], Any], data: Any, rows: tf.Tensor
    ) -> dict[str, Any]:
        """Apply a step to all rows, batch by batch, and return the metrics."""
        self._model.reset_metrics()
        size = tf.shape(rows)[0] if self._batch_size is None else self._batch_size

        def run(start: Any) -> Any:
            batch = rows[start : start + size]
            step(keras.tree.map_structure(lambda array: tf.gather(array, batch), data))
            return (start + size,)

        if self._batch_size is None:
            run(0)
        else:
            tf.while_loop(lambda start: start < tf.shape(rows)[0], run, (0,))
        return metrics_of(self._model)
