"""`info`, which describes the environment: versions, devices and native kernels."""

import importlib
import platform
import sys

import keras
import numpy as np

from keras_vaf.ops.native.library import find, processors
from keras_vaf.ops.switches import kernels_are_off

BACKENDS = {"tensorflow": "TensorFlow", "jax": "JAX", "torch": "PyTorch"}


def info() -> dict[str, str]:
    """Return versions, the backend, its devices, and whether native kernels are active.

    The command `keras-vaf info` prints the same.

    Returns:
        A dictionary from labels to values.

    Example:

    >>> keras_vaf.ops.info()["keras"] == keras.__version__
    True
    """
    backend = keras.backend.backend()
    version = importlib.import_module(backend).__version__
    reason = _inactive(backend)
    return {
        "keras_vaf": sys.modules["keras_vaf"].__version__,
        "keras": keras.__version__,
        "numpy": np.__version__,
        "python": f"{platform.python_version()}, {platform.platform()}",
        "backend": f"{BACKENDS.get(backend, backend)} {version}",
        "devices": ", ".join(_devices(backend)),
        "processors": str(processors()),
        "kernels for GPUs": _on_gpus(backend),
        "native kernels": f"not active: {reason}"
        if reason
        else f"active: {find().instruction_set}",
    }


def _devices(backend: str) -> list[str]:
    if backend in ("jax", "tensorflow"):
        found: list[str] = keras.distribution.list_devices()
        return found
    if backend != "torch":
        return ["cpu"]
    import torch

    return [f"cuda:{i}" for i in range(torch.cuda.device_count())] or ["cpu"]


def _on_gpus(backend: str) -> str:
    """Return what computes a VAF on a GPU."""
    kernels = {"jax": "Pallas", "torch": "Triton"}.get(backend)
    if kernels is None:
        return "not active: there are none for this backend, which uses its operators"
    reason = importlib.import_module(f"keras_vaf.ops.gpu.on_{backend}").inactive()
    if reason:
        return f"not active: {reason}; the backend uses its operators"
    return f"active: {kernels}"


def _inactive(backend: str) -> str:
    """Return the reason why the native kernels are not active, or `""` if they are."""
    if backend not in BACKENDS:
        return f"the backend {backend} computes the formula with its own operators"
    if kernels_are_off():
        return "plain_operators() is in effect"
    reason: str = importlib.import_module(f"keras_vaf.ops.on_{backend}").inactive()
    return reason
