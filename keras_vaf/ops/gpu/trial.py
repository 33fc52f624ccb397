"""`works`, which tries the kernels on a GPU before they are used."""

from collections.abc import Callable
from typing import Any

from keras_vaf.ops.native.library import warn

TRIALS = 3
"""Failures after which a GPU counts as one on which the kernels do not work."""
_failures: dict[Any, int] = {}


def works(device: Any, run: Callable[[Any], None]) -> bool:
    """Return whether `run` computes on a GPU without an error. One is not the last."""
    failures = _failures.get(device, -1)
    if 0 < failures < TRIALS or failures == -1:
        try:
            run(device)
            _failures[device] = 0
        except Exception as error:
            _failures[device] = max(0, failures) + 1
            warn(f"the kernels for GPUs do not work on {device}: {error}")
    return _failures[device] == 0
