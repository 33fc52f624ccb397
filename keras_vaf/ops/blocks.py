"""Sums over all elements, formed in blocks: `blockwise`.

The gradient of a function with k hidden units needs about 2k + 1 sums over all
elements, and a compiler makes a pass over the memory for each. Here the elements are
cut into blocks. The terms of all sums are formed while a block is in the cache, and
added to running sums. Each place in a block has its own running sum, so that additions
are vectorized and the rounding error does not grow with the number of elements.
"""

from collections.abc import Callable, Iterable

import keras
from keras import ops

from keras_vaf.types import Tensor

BLOCK = 16_384
"""Elements of a block, which stays in the cache with its running sums."""
TURN = 2
"""Blocks in a turn of the loop. The running sums are read and written once a turn."""

Size = int | Tensor
Total = Callable[[Tensor], Tensor]
Sums = Callable[[Tensor, Tensor, Total], list[Tensor]]


def blockwise(sums: Sums, x: Tensor, upstream: Tensor) -> list[Tensor]:
    """Return sums over all elements, formed block by block.

    Args:
        sums: `sums(x, upstream, total)` gives the sums over one block, whose shape is
            `(rows, unshared, strides, columns)`; `total` sums a tensor of that shape
            over all axes but `unshared`, or leaves a part of it for the end. Parameters
            broadcast along `unshared`.
        x: The input, of shape `(before, unshared, after)`.
        upstream: The upstream gradient, of the same shape.

    Returns:
        The sums over all elements, each of shape `(unshared,)`.
    """
    before, unshared, after = ops.shape(x)
    columns = _columns(unshared, after)
    # Sizes that are unknown while a program is traced (dynamic axes) are tensors here.
    # One of them may be 0, and then the only block is empty.
    rows = _at_least_1(BLOCK // _at_least_1(unshared * after))
    rows = _at_most(_at_most(rows, _at_least_1(before // TURN)), before)
    if _on_accelerator():
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


def _on_accelerator() -> bool:
    """Tell whether the device has thousands of cores, which need no blocks."""
    return not keras.distribution.list_devices()[0].startswith("cpu")


def _cut(
    start: Size, length: Size, view: tuple[Size, ...], *flat: Tensor
) -> tuple[Tensor, ...]:
    # XLA may copy an array with more than one axis whole to reorder it.
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
