"""`blockwise`, which sums over all elements block by block.

The gradient of a function with k hidden units needs about 2k + 1 sums over all
elements. A compiler would make a separate pass over memory for each sum. Here the
elements are cut into blocks. While a block is in the cache, the terms of all sums are
computed and added to running sums. Each position in a block has its own running sum.
The additions are therefore vectorized, and the rounding error does not grow with the
number of elements.
"""

import functools
from collections.abc import Callable, Iterable

import keras
from keras import ops

from keras_vaf.types import Tensor

BLOCK = 16_384
"""Elements per block. A block and its running sums fit into the cache."""
TURN = 2
"""Blocks per loop iteration, which reads and writes the running sums once."""

Size = int | Tensor
Total = Callable[[Tensor], Tensor]
Sums = Callable[[Tensor, Tensor, Total], list[Tensor]]


def blockwise(sums: Sums, x: Tensor, upstream: Tensor) -> list[Tensor]:
    """Return sums over all elements, computed block by block.

    Args:
        sums: `sums(x, upstream, total)` returns the sums over one block of shape
            `(rows, unshared, strides, columns)`. It calls `total` to sum a tensor of
            this shape over all axes except `unshared`; `total` may leave a part of the
            sum for the end. Parameters broadcast along `unshared`.
        x: The input, of shape `(before, unshared, after)`.
        upstream: The upstream gradient, of the same shape.

    Returns:
        The sums over all elements, each of shape `(unshared,)`.
    """
    before, unshared, after = ops.shape(x)
    columns = _columns(unshared, after)
    # Sizes of dynamic axes are tensors here, because they are unknown during tracing.
    # If one of them is 0, the only block is empty.
    rows = _at_least_1(BLOCK // _at_least_1(unshared * after))
    rows = _at_most(_at_most(rows, _at_least_1(before // TURN)), before)
    if on_accelerator():
        rows = before
    flat_x, flat_upstream = ops.reshape(x, (-1,)), ops.reshape(upstream, (-1,))

    def partial(first: Size, rows: Size, total: Total) -> list[Tensor]:
        start, length = first * unshared * after, rows * unshared * after
        view = (rows, unshared, after // columns, columns)
        if _is(unshared, 1) and _is(after, columns):
            view = (1, 1, 1, length)
        x, upstream = _cut(start, length, view, flat_x, flat_upstream)
        return sums(x, upstream, total)

    def in_place(tensor: Tensor) -> Tensor:
        return tensor if _is(after, columns) else ops.sum(tensor, 2, keepdims=True)

    def add(i: Tensor, running: list[Tensor]) -> list[Tensor]:
        for block in range(TURN):
            found = partial((i * TURN + block) * rows, rows, in_place)
            running = [a + b for a, b in zip(running, found, strict=True)]
        return running

    count = before // _at_least_1(rows * TURN)
    rest = before - count * rows * TURN
    totals: list[Iterable[Tensor]] = []
    if not isinstance(count, int) or count > 1:
        zeros = [ops.zeros_like(block_sum) for block_sum in partial(0, rows, in_place)]
        totals.append(map(_collapse, ops.fori_loop(0, count, add, zeros)))
    else:
        rest = before
    if not totals or not _is(rest, 0):
        totals.append(partial(before - rest, rest, _collapse))
    return [ops.reshape(sum(parts), (-1,)) for parts in zip(*totals, strict=True)]


@functools.cache
def on_accelerator() -> bool:
    """Return whether the device is an accelerator, which needs no blocks."""
    return not keras.distribution.list_devices()[0].startswith("cpu")


def _cut(
    start: Size, length: Size, view: tuple[Size, ...], *flat: Tensor
) -> tuple[Tensor, ...]:
    # XLA may copy a whole array to reorder its axes, so the arrays have one axis.
    return tuple(
        ops.reshape(ops.slice(tensor, (start,), (length,)), view) for tensor in flat
    )


def _is(size: Size, value: int) -> bool:
    return isinstance(size, int) and size == value


def _at_least_1(size: Size) -> Size:
    return max(1, size) if isinstance(size, int) else ops.maximum(1, size)


def _at_most(size: Size, most: Size) -> Size:
    if isinstance(size, int) and isinstance(most, int):
        return min(size, most)
    return ops.minimum(size, most)


def _columns(unshared: Size, after: Size) -> int:
    """Return the largest divisor of a known size whose rows fit into a block."""
    if not isinstance(after, int):
        return 1
    most = max(1, BLOCK // unshared) if isinstance(unshared, int) else 1
    return max(n for n in range(1, min(after, most) + 1) if after % n == 0)


def _collapse(running: Tensor) -> Tensor:
    return ops.sum(running, axis=(0, 2, 3), keepdims=True)
