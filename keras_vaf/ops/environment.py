"""`info`, which describes the environment: versions, devices and native kernels."""

import importlib
import platform
import sys
from importlib import metadata

import keras

from keras_vaf.ops.native.case import FUNCTIONS, MOST_UNITS, TYPES
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
    others = [
        f"{title} {version}"
        for name, title in BACKENDS.items()
        if name != backend and (version := _version(name))
    ]
    facts = {
        "keras_vaf": _version("keras-vaf"),
        "keras": keras.__version__,
        "numpy": _version("numpy"),
        "python": f"{platform.python_version()}, {platform.platform()}",
        "backend": f"{BACKENDS.get(backend, backend)} {_version(backend)}",
        "other backends": ", ".join(others) or "none",
        "devices": ", ".join(_devices(backend)),
        "processors": str(processors()),
        "kernels for GPUs": _on_gpus(backend),
    }
    reason = _inactive(backend)
    if reason:
        return facts | {"native kernels": f"not active: {reason}"}
    return facts | {
        "native kernels": f"active: {find().instruction_set}",
        "kernels support": f"{', '.join(FUNCTIONS)} as g; k up to {MOST_UNITS}; "
        f"layer, channel and neuron sharing; {', '.join(TYPES)}",
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
    names = {"jax": "Pallas", "torch": "Triton"}
    if backend not in names:
        return "not active: there are none for this backend, which uses its operators"
    module = importlib.import_module(f"keras_vaf.ops.gpu.on_{backend}")
    reason = module.inactive()
    if reason:
        return f"not active: {reason}; the backend uses its operators"
    return f"active: {names[backend]} {_version(backend.replace('torch', 'triton'))}"


def _inactive(backend: str) -> str:
    """Return the reason why the native kernels are not active, or `""` if they are."""
    if backend not in BACKENDS:
        return f"the backend {backend} computes the formula with its own operators"
    if kernels_are_off():
        return "plain_operators() is in effect"
    native = importlib.import_module(f"keras_vaf.ops.on_{backend}")
    reason: str = native.inactive()
    return reason


def _version(package: str) -> str:
    """Return the version of a package, or `""` if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:  # or another name, such as `tensorflow-cpu`
        module = sys.modules.get(package.replace("-", "_"))
        return str(getattr(module, "__version__", ""))
