"""`check_finite_weights`, which raises for models with NaN or infinite weights."""

import keras
import numpy as np


def check_finite_weights(model: keras.Model) -> None:
    """Raise a `ValueError` for a model with weights that are not finite.

    Args:
        model: The model.

    Raises:
        ValueError: If a weight is NaN or infinite. The message names up to three of
            them.
    """
    paths = [
        weight.path
        for weight in model.weights
        if keras.backend.is_float_dtype(weight.dtype)
        and not np.isfinite(keras.ops.convert_to_numpy(weight.value)).all()
    ]
    if paths:
        more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
        raise ValueError(
            "Every weight must be finite: train the model again, with a lower "
            f"learning rate. Received: the model {model.name!r} with NaN or infinite "
            f"values in {', '.join(paths[:3])}{more}"
        )
