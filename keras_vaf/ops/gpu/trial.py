"""`unusable` and `refusal`, which tell why kernels do not run on a GPU."""

import importlib
import os
from collections.abc import Callable, Hashable

from keras_vaf.ops.native.library import warn

OLDEST = 8.0
"""Compute capability of an A100. The kernels were not tried on older GPUs."""
TRIALS = 3
"""Failures in a row after which a kernel is not called again."""
_errors: dict[Hashable, list[str]] = {}


def unusable(capability: float, kernels: str) -> str:
    """Return why a GPU cannot run the kernels of a module, or `""`."""
    if os.environ.get("KERAS_VAF_KERNELS") == "0":
        return "the environment variable KERAS_VAF_KERNELS is 0"
    if capability < OLDEST:
        older = f"the GPU is older than compute capability {OLDEST}"
        return older if capability else "there is no GPU of NVIDIA"
    try:
        importlib.import_module(kernels)
    except ImportError as error:
        return f"their compiler cannot be imported: {error}"
    return ""


def refusal(kernel: Hashable, run: Callable[[], object], captured: bool = False) -> str:
    """Call `run`, which starts a kernel. Return why it does not work, or `""`.

    The first call of a kernel cannot be `captured` in a graph.
    """
    if captured and _errors.get(kernel) != []:
        return "a graph is captured"
    errors = _errors.setdefault(kernel, [])
    if len(errors) < TRIALS:
        try:
            run()
            errors.clear()
            return ""
        except Exception as error:
            errors.append(str(error))
            warn(f"a kernel for GPUs does not work: {error}")
    return errors[-1]
