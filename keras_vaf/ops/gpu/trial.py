"""`works`, which tries the kernels on a GPU before they are used."""

from collections.abc import Callable
from typing import Any

from keras_vaf.ops.native.library import warn

TRIALS = 3
"""Failures after which a GPU counts as one on which the kernels do not work."""
_failures: dict[Any, int] = {}


def works(device: Any, run: Callable[[Any], None]) -> bool:
    """Return whether a GPU computes right numbers. One failure is not the last word.

    Args:
        device: The GPU.
        run: Computes on it, and raises an error if that fails.
    """
    failures = _failures.get(device, -1)
    if failures == 0 or failures >= TRIALS:
        return failures == 0
    try:
        run(device)
        _failures[device] = 0
    except Exception as error:
        _failures[device] = max(0, failures) + 1
        warn(f"the kernels for GPUs do not work on {device}: {error}")
    return _failures[device] == 0
