"""The report on the errors of starts at known functions: `report`."""

import time

from keras_vaf.initializers import FunctionStart
from keras_vaf.utils import markdown_table

_SIZES = (1, 2, 3, 4, 5, 7, 9, 12, 16)
_SMOOTH = ("tanh", "sigmoid", "elu", "selu", "softplus", "gelu", "silu", "mish")
_FUNCTIONS = ("relu", "leaky_relu", "relu6", "hard_sigmoid", *_SMOOTH)
_UNITS = ("relu", "gelu", "tanh")


def report(command: str) -> str:
    """Return the page.

    Args:
        command: What makes the page.
    """
    seconds = _seconds()
    return f"""# The error of starts at known functions

Made by `{command}`.

## With g = relu

<!-- --8<-- [start:relu] -->
Largest error on [-8, 8] of a start with g = relu:

{_errors("relu")}
<!-- --8<-- [end:relu] -->

A dash means that the exact start needs more hidden units.

## With g = gelu and g = tanh

Largest error on [-8, 8]. A star means that k units of g cannot have the slopes of the
function at its ends. The error then grows beyond [-8, 8].

With g = gelu:

{_errors("gelu")}

With g = tanh:

{_errors("tanh")}

## At both ends

Errors of starts with k = 3, on [-8, 8] and at -100 and 100:

{_ends()}

## Time

Seconds of processor time that the first start with k = 16 takes. Each fit is kept in
memory.

{seconds}
"""


def _errors(g: str) -> str:
    columns = ["start at", *(f"k = {k}" for k in _SIZES)]
    rows = [[name, *(_error(name, k, g) for k in _SIZES)] for name in _FUNCTIONS]
    return markdown_table(columns, rows)


def _error(name: str, k: int, g: str) -> str:
    try:
        error = FunctionStart(name).error(k=k, g=g)
    except ValueError:
        return "-"
    if max(error) < 1e-6:
        return "0"
    grows = max(error.left, error.right) > 2 * error.largest + 0.01
    return f"{error.largest:.3f}" + "*" * grows


def _ends() -> str:
    columns = ["start at", "g", "on [-8, 8]", "at -100", "at 100"]
    rows = [
        [name, g, *(f"{error:.3f}" for error in FunctionStart(name).error(3, g))]
        for g in _UNITS
        for name in _SMOOTH
    ]
    return markdown_table(columns, rows)


def _seconds() -> str:
    rows = []
    for name in _SMOOTH:
        row = [name]
        for g in _UNITS:
            began = time.process_time()
            FunctionStart(name).error(16, g)
            row.append(f"{time.process_time() - began:.1f}")
        rows.append(row)
    return markdown_table(["start at", *(f"g = {g}" for g in _UNITS)], rows)
