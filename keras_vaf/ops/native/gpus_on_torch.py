"""`functions`, which finds out whether PyTorch's GPUs run the Triton kernels."""

import functools
import importlib
import os
from types import ModuleType

import torch

from keras_vaf.ops.native.case import FUNCTIONS, Case
from keras_vaf.ops.native.library import warn

OLDEST = (8, 0)
"""Compute capability, that of the A100."""


@functools.lru_cache(maxsize=64)
def functions(device: torch.device) -> tuple[str, ...]:
    """Return the names of the fixed functions that the kernels have on a GPU.

    Without Triton, as on Windows, and on GPUs on which they were never tried, there are
    none: AMD's and old ones. If Triton cannot compile, a warning says why.
    """
    off = os.environ.get("KERAS_VAF_KERNELS") == "0" or not torch.cuda.is_available()
    if off or torch.version.hip or torch.cuda.get_device_capability(device) < OLDEST:
        return ()
    try:
        made = kernels()
    except ImportError:
        return ()
    try:
        x = torch.ones(1, device=device)
        made.forward(Case("relu", "float32", 1, ()), x, *x.expand(3, 1), x.sum())
    except Exception as error:
        warn(f"Triton cannot compile the kernels for GPUs: {error}")
        return ()
    return tuple(name for name, _ in FUNCTIONS.values())


def kernels() -> ModuleType:
    """Return the module of the kernels, which needs Triton."""
    return importlib.import_module("keras_vaf.ops.native.triton_on_torch")
