"""Trainable activation functions for Keras 3.

`keras_vaf` is the reference implementation of *A simple and efficient architecture
for trainable activation functions* (Apicella, Isgrò, Prevete, Neurocomputing 2019).
Importing it registers every serialisable class, so that saved models load with
nothing else said.
"""

try:
    import keras  # noqa: F401
except ModuleNotFoundError as error:
    if error.name not in ("tensorflow", "jax", "torch"):
        raise
    raise ImportError(
        f"Keras is set to use the backend {error.name!r}, which is not installed. "
        f"Install it with: pip install 'keras-vaf[{error.name}]', or name an installed "
        "one in the environment variable KERAS_BACKEND (tensorflow, jax or torch).",
        name=error.name,
    ) from error

from keras_vaf import (
    constraints,
    initializers,
    layers,
    models,
    ops,
    optimizers,
    regularizers,
)

__all__ = [
    "constraints",
    "initializers",
    "layers",
    "models",
    "ops",
    "optimizers",
    "regularizers",
]
__version__ = "0.1.0"
