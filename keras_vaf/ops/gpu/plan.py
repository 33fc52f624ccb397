"""The common part of both kernels for GPUs: `plan`, `unusable` and `refusal`."""

import importlib
import os
from collections.abc import Callable, Hashable
from typing import NamedTuple

from keras_vaf.ops.native.library import warn

MOST_UNITS = 16  # up to which the sums of a program fit in registers
PROGRAMS = 1056  # of four warps: eight for each multiprocessor of an H200
_errors: dict[Hashable, list[str]] = {}


class Plan(NamedTuple):
    """The division of an input, read as `(outer, functions, inner)` in memory.

    A tile has `rows` of `width` elements. If it is divided `by_column`, each element
    has the function of its column. Otherwise they all have one function.
    """

    columns: int  # or functions
    inner: int
    limit: int  # elements that tiles divide: all, or those of one function in a row
    blocks: int  # tiles side by side, or functions
    per: int  # tiles of these elements
    tiles: int  # of each block, which its programs share
    rows: int
    width: int
    by_column: bool
    programs: int
    warps: int


def plan(sizes: tuple[int, int, int], k: int, bytes_each: int, sums: bool) -> Plan:
    """Divide an input. The sizes of tiles were the fastest on an H200.

    With `sums`, programs keep running sums. Otherwise each has one tile of a long row.
    """
    outer, columns, inner = sizes
    by_column = columns > 1 and inner <= 64
    if by_column:
        columns, limit = columns * inner, outer * columns * inner
        width = min(64, power_of_2(columns))
        rows, warps = max(1, (512 if k <= 4 else 256) // width), 4
        blocks, per = -(columns // -width), -(outer // -rows)
        tiles, most = per, PROGRAMS * (1 if sums else 4) // blocks
    else:
        outer, inner = (outer, inner) if columns > 1 else (1, outer * inner)
        width = 16 // bytes_each  # each thread loads 16 bytes
        rows = 256 if k <= 4 and bytes_each < 4 else 128
        rows = min(rows if sums else 2048 // width, power_of_2(-(inner // -width)))
        rows, warps = max(32, rows), max(1, min(4, rows // 32))
        blocks, per = columns, -(inner // -(rows * width))
        tiles, limit = outer * per, inner
        most = PROGRAMS * (4 // warps) // blocks if sums else tiles
    division = columns, inner, limit, blocks, per, tiles
    return Plan(*division, rows, width, by_column, max(1, min(tiles, most)), warps)


def power_of_2(number: int) -> int:
    """Return the smallest power of 2 that is not below a number."""
    return 1 << max(0, number - 1).bit_length()


def unusable(generation: int, kernels: str) -> str:
    """Return why a module of kernels does not run on a GPU, or `""`.

    `generation` is the first number of its compute capability. 0 means no NVIDIA GPU.
    """
    if os.environ.get("KERAS_VAF_KERNELS") == "0":
        return "the environment variable KERAS_VAF_KERNELS is 0"
    if generation < 8:  # on which the kernels were not tried
        older = "the GPU is older than compute capability 8.0"
        return older if generation else "this machine has no NVIDIA GPU"
    try:
        importlib.import_module(kernels)
    except ImportError as error:
        return f"their compiler cannot be imported: {error}"
    return ""


def refusal(kernel: Hashable, run: Callable[[], object]) -> str:
    """Call `run`, which starts a kernel. Return why it does not work, or `""`.

    After three failures in a row, a kernel is not called again.
    """
    errors = _errors.setdefault(kernel, [])
    if len(errors) < 3:
        try:
            run()
            errors.clear()
            return ""
        except Exception as error:
            errors.append(str(error))
            warn(f"a kernel for GPUs does not work: {error}")
    return errors[-1]
