"""`loss_of`, the loss of every network of a classification or a regression."""

import keras


def loss_of(classes: bool) -> keras.Loss:
    """Return the loss of a task.

    Args:
        classes: Whether the task is a classification. The outputs of its network are
            logits, and the targets are class indices.

    Returns:
        The cross-entropy, or the mean squared error.
    """
    if classes:
        return keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    return keras.losses.MeanSquaredError()
