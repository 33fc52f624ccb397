"""`is_graph`, `check_graph` and other checks of a model, before anything is done."""

from typing import Any

import keras
import numpy as np

INPLACE = (
    "A model whose class defines `call` cannot be copied. Build it by a call, and pass "
    "`inplace=True` to change the model itself; save it by its weights."
)


def functions_on_torch(model: Any) -> Any:
    """Return `modules_on_torch` for a module of PyTorch, and `None` for any other."""
    if keras.backend.backend() != "torch" or isinstance(model, keras.layers.Layer):
        return None
    import torch

    from keras_vaf.models import modules_on_torch

    return modules_on_torch if isinstance(model, torch.nn.Module) else None


def is_graph(layer: Any) -> bool:
    """Return whether a layer is a Sequential or Functional model."""
    of_keras = isinstance(layer, keras.Sequential | keras.Function)
    return of_keras and isinstance(layer, keras.Model)


def check_graph(model: Any, advice: str = INPLACE) -> None:
    """Raise an error with the way to go if a model has no graph."""
    if is_graph(model):
        return
    hint = "Load files by keras.saving.load_model; PyTorch needs KERAS_BACKEND=torch."
    if isinstance(model, keras.layers.Layer):
        hint = advice
    raise ValueError(
        f"Expected one Sequential or Functional model. {hint} Received: {model!r}"
    )


def check_model(model: Any, advice: str = INPLACE) -> None:
    """Raise an error if a model has no graph, is not built, or is not finite."""
    check_graph(model, advice)
    check_built(model, getattr(model, "inputs", None))
    check_finite_weights(model)


def check_built(model: keras.Model, built: Any) -> None:
    """Raise an error if a model has not been built."""
    if not built:
        raise ValueError(
            "A model needs its weights first: call it on an input. If that does not "
            "help, a layer inside needs a `compute_output_shape`. Received: the model "
            f"{model.name!r}, which is not built"
        )


def check_finite_weights(model: Any) -> None:
    """Raise a `ValueError` that names a weight that is not finite."""
    if functions_on_torch(model):
        weights = list(model.named_parameters())
    else:
        weights = [(weight.path, weight.value) for weight in model.weights]
    for path, weight in weights:
        if not np.isfinite(keras.ops.convert_to_numpy(weight)).all():
            raise ValueError(
                "Every weight must be finite: train the model again, with a lower "
                "learning rate. Received: a model with NaN or infinite values in "
                f"{path}"
            )
