"""Trainable activation functions for Keras 3.

`keras_vaf` is an implementation of *A simple and efficient architecture for
trainable activation functions* (Apicella, Isgrò, Prevete, Neurocomputing 2019).
Importing the package registers its serialisable classes, so that saved models load
without further arguments. Subpackages such as `keras_vaf.layers` load on first use.
"""

import importlib
from typing import TYPE_CHECKING, Any

try:
    import keras  # noqa: F401
except ModuleNotFoundError as error:
    if error.name not in ("tensorflow", "jax", "torch"):
        raise
    raise ImportError(
        f"Keras is set to use the backend {error.name!r}, which is not installed. "
        f"Install it with: pip install 'keras-vaf[{error.name}]', or set the "
        "environment variable KERAS_BACKEND to an installed backend (tensorflow, jax "
        "or torch).",
        name=error.name,
    ) from error

from keras_vaf import (
    constraints,
    datasets,
    initializers,
    layers,
    models,
    ops,
    optimizers,
    regularizers,
)
from keras_vaf import removed as _removed  # noqa: F401 (registers names)
from keras_vaf.layers import VAFActivation
from keras_vaf.models import convert, formula

if TYPE_CHECKING:
    from keras_vaf import (
        callbacks,
        experiments,
        paper,
        sklearn,
        torch,
        training,
        tuners,
        utils,
        visualization,
    )

__all__ = [
    "VAFActivation",
    "callbacks",
    "constraints",
    "convert",
    "datasets",
    "experiments",
    "formula",
    "initializers",
    "layers",
    "models",
    "ops",
    "optimizers",
    "paper",
    "regularizers",
    "sklearn",
    "torch",
    "training",
    "tuners",
    "utils",
    "visualization",
]
__version__ = "0.4.0"


def __getattr__(name: str) -> Any:
    """Import a subpackage on first use."""
    if name in __all__:
        return importlib.import_module("keras_vaf." + name)
    from keras_vaf.utils import did_you_mean

    raise AttributeError(
        f"module 'keras_vaf' has no attribute {name!r}.{did_you_mean(name, __all__)}"
    )


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
