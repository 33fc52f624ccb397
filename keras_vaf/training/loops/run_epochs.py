"""`run_epochs`, which runs a loop in calls that are short enough to interrupt."""

import math
import time
from collections.abc import Callable

import numpy as np

_MOST_EPOCHS_PER_CALL = 64
_MOST_ROWS_PER_CALL = 2**22
_SECONDS_PER_CALL = 0.5


def run_epochs(
    run: Callable[[np.ndarray, int], tuple[dict[str, np.ndarray], bool]],
    epochs: int,
    order: Callable[[int], np.ndarray],
) -> tuple[dict[str, np.ndarray], bool]:
    """Run at most `epochs` epochs in calls that take about half a second.

    `run` is the method of a loop, and `order` returns the order of the rows in an
    epoch. Returns all metrics, and whether the last verdict was to continue.
    """
    shape = order(0).shape
    most = max(1, _MOST_ROWS_PER_CALL // math.prod(shape))
    most = min(epochs, _MOST_EPOCHS_PER_CALL, most)
    count, done, go_on, parts = 1, 0, True, []
    while go_on and done < epochs:
        orders = np.zeros((most, *shape), "int32")
        for i in range(count):
            orders[i] = order(done + i)
        started = time.perf_counter()
        logs, go_on = run(orders, count)
        elapsed = time.perf_counter() - started
        parts.append(logs)
        done += len(logs["loss"])
        count = int(count * _SECONDS_PER_CALL / elapsed)
        count = min(max(count, 1), most, epochs - done)
    return {name: np.concatenate([p[name] for p in parts]) for name in logs}, go_on
