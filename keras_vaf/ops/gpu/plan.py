"""`plan`, which divides the elements of an input among the programs of a GPU."""

from typing import NamedTuple

MOST_UNITS = 16
"""Hidden units up to which the sums of a program fit in registers."""
PROGRAMS = 8
"""Programs of four warps for each multiprocessor."""
SHORT = 64
"""Elements of one function in a row, up to which each is a column."""


class Plan(NamedTuple):
    """The division of an input, read as `(outer, units, inner)` in memory.

    Each unit has its own function. A tile has rows of `width` elements. These belong to
    one function, or each is a column (`columns`), and `blocks` tiles make up a row.
    """

    outer: int
    units: int
    inner: int
    columns: bool
    rows: int
    width: int
    blocks: int  # of columns, or functions
    tiles: int  # of each block, which its programs share
    programs: int
    warps: int


def plan(
    sizes: tuple[int, int, int], k: int, bytes_each: int, processors: int, sums: bool
) -> Plan:
    """Divide an input. The sizes of tiles were the fastest on an H200.

    With `sums`, programs keep running sums, for the gradient. Otherwise each computes
    one tile of a long row.
    """
    outer, units, inner = sizes
    if units == 1:
        outer, inner = 1, outer * inner
    columns = units > 1 and inner <= SHORT
    if columns:
        width = min(64, power_of_2(units * inner))
        rows, warps = max(1, (512 if k <= 4 else 256) // width), 4
        blocks, tiles = -(units * inner // -width), -(outer // -rows)
        programs = PROGRAMS * processors * (1 if sums else 4) // blocks
    else:
        width = 16 // bytes_each  # each thread loads 16 bytes
        rows = 2048 // width
        if sums:
            rows = 256 if k <= 4 and bytes_each < 4 else 128
        if units > 1:
            rows = max(32, min(rows, power_of_2(-(inner // -width))))
        blocks, tiles = units, outer * -(inner // -(rows * width))
        warps = min(4, rows // 32)
        programs = PROGRAMS * processors * (4 // warps) // blocks if sums else tiles
    programs = max(1, min(tiles, programs))
    return Plan(
        outer, units, inner, columns, rows, width, blocks, tiles, programs, warps
    )


def power_of_2(number: int) -> int:
    """Return the smallest power of 2 that is not below a number."""
    return 1 << max(0, number - 1).bit_length()
