"""Sums over the elements that share a function, in blocks that stay in the cache.

The gradient of a function with k hidden units is some 2k + 1 sums over all elements,
and compilers make one pass over the memory for each. Here the elements are cut into
blocks; all the sums of a block are formed while it lies in the cache, and added to
running sums. There are many of those ("lanes"), so that adding is vectorised and the
rounding error does not grow with the number of elements.
"""

from collections.abc import Callable

from keras import ops

from keras_vaf.types import Tensor

BLOCK = 16_384
"""Elements of a block: x, the upstream gradient and a temporary fit in the cache."""
LANES = 256
"""Running sums a function has, where the layout of the elements allows it."""

Sums = Callable[[Tensor, Tensor, Callable[[Tensor], Tensor]], list[Tensor]]


def blockwise(sums: Sums, x: Tensor, upstream: Tensor) -> list[Tensor]:
    """Sums over all elements, formed block by block.

    Args:
        sums: `sums(x, upstream, total)` gives the sums over one block, whose shape is
            `(rows, lanes, unshared, strides, columns)`; `total` sums a tensor of that
            shape over rows and strides. Parameters broadcast along `unshared`.
        x: The input, of shape `(before, unshared, after)`.
        upstream: The upstream gradient, of the same shape.

    Returns:
        The sums over all elements, each of shape `(unshared,)`.
    """
    before, unshared, after = ops.shape(x)
    columns = _columns(after)
    # Sizes that are unknown while a program is traced (dynamic axes) are tensors here.
    wanted = max(1, LANES // unshared) if _is(after, 1) else 1
    lanes = _at_most(wanted, before)
    slab = wanted * unshared * (after if isinstance(after, int) else BLOCK)
    rows = _at_most(max(1, BLOCK // slab), before // lanes)
    size = rows * lanes

    def partial(
        start: Tensor | int, rows: Tensor | int, lanes: Tensor | int
    ) -> list[Tensor]:
        cut = (rows * lanes, unshared, after)
        view = (rows, lanes, unshared, after // columns, columns)
        block = (
            ops.reshape(ops.slice(t, (start, 0, 0), cut), view) for t in (x, upstream)
        )
        return sums(*block, _total)

    def add(i: Tensor, running: list[Tensor]) -> list[Tensor]:
        return [
            a + b for a, b in zip(running, partial(i * size, rows, lanes), strict=True)
        ]

    count = before // size
    rest = before - count * size
    totals = []
    if not isinstance(count, int) or count > 1:
        zeros = partial(0, 0, lanes)
        totals.append(ops.fori_loop(0, count, add, zeros))
    else:
        rest = before
    if not totals or not _is(rest, 0):  # an empty batch has sums too: 0
        totals.append(partial(before - rest, rest, 1))
    return [
        sum(_collapse(part) for part in parts) for parts in zip(*totals, strict=True)
    ]


def _is(size: Tensor | int, value: int) -> bool:
    return isinstance(size, int) and size == value


def _at_most(limit: int, size: Tensor | int) -> Tensor | int:
    if isinstance(size, int):
        return max(1, min(limit, size))
    return ops.clip(size, 1, limit)


def _columns(after: Tensor | int) -> int:
    """Largest divisor of a known size that is no more than the lanes wanted."""
    if not isinstance(after, int):
        return 1
    return max(n for n in range(1, LANES + 1) if after % n == 0)


def _total(tensor: Tensor) -> Tensor:
    return ops.sum(tensor, axis=(0, 3), keepdims=True)


def _collapse(lanes: Tensor) -> Tensor:
    return ops.sum(lanes, axis=(0, 1, 3, 4))
