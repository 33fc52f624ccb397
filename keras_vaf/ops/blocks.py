"""The two passes of the gradient over all elements, in blocks.

The gradient of a function with k hidden units is one pass for the input, and some
2k + 1 sums over all elements for the parameters, for each of which a compiler makes a
pass over the memory. Here the elements are cut into blocks. All the sums of a block are
formed while it lies in the cache, and added to running sums. There are many of those
("lanes"), so that adding is vectorised and the rounding error does not grow with the
number of elements. The loop over blocks also keeps compilers from sharing intermediate
results between the forward and the backward pass, and so from keeping them.
"""

from collections.abc import Callable

from keras import ops

from keras_vaf.types import Tensor

BLOCK = 16_384
"""Elements of a block of sums, which stays in the cache with its temporaries."""
LANES = 256
"""Running sums a function has, where the layout of the elements allows it."""
PIECE = 262_144
"""Elements of a block without sums, which all cores work on."""

Size = int | Tensor
Total = Callable[[Tensor], Tensor]
Sums = Callable[[Tensor, Tensor, Total], list[Tensor]]


def piecewise(
    compute: Callable[[Tensor, Tensor], Tensor], x: Tensor, upstream: Tensor
) -> Tensor:
    """`compute(x, upstream)`, element by element, in pieces.

    Args:
        compute: Gives a tensor of the shape of its arguments,
            `(rows, 1, unshared, 1, after)`.
        x: The input, of shape `(before, unshared, after)`.
        upstream: The upstream gradient, of the same shape.

    Returns:
        A tensor of the shape and dtype of x.
    """
    before, unshared, after = ops.shape(x)
    if isinstance(before, int) and before * unshared * after <= PIECE:
        view = (before, 1, unshared, 1, after)
        return ops.reshape(
            compute(ops.reshape(x, view), ops.reshape(upstream, view)), ops.shape(x)
        )
    rows = _between(1, PIECE // (unshared * after), before)
    flat_x, flat_upstream = ops.reshape(x, (-1,)), ops.reshape(upstream, (-1,))

    def add(i: Tensor, result: Tensor) -> Tensor:
        # The last piece ends with the last row, and may do some rows again.
        start = ops.minimum(i * rows, before - rows) * unshared * after
        view = (rows, 1, unshared, 1, after)
        pieces = _cut(start, rows * unshared * after, view, flat_x, flat_upstream)
        piece = ops.reshape(compute(*pieces), (-1,))
        return ops.slice_update(result, (start,), piece)

    count = (before + rows - 1) // rows
    return ops.reshape(
        ops.fori_loop(0, count, add, ops.zeros_like(flat_x)), ops.shape(x)
    )


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
    lanes = _between(1, wanted, before)
    rows = _between(1, BLOCK // (wanted * unshared * after), before // lanes)
    size = rows * lanes
    flat_x, flat_upstream = ops.reshape(x, (-1,)), ops.reshape(upstream, (-1,))

    def partial(start: Size, rows: Size, lanes: Size) -> list[Tensor]:
        view = (rows, lanes, unshared, after // columns, columns)
        first, length = start * unshared * after, rows * lanes * unshared * after
        x, upstream = _cut(first, length, view, flat_x, flat_upstream)
        return sums(x, upstream, _total)

    def add(i: Tensor, running: list[Tensor]) -> list[Tensor]:
        block = partial(i * size, rows, lanes)
        return [a + b for a, b in zip(running, block, strict=True)]

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
    return [sum(map(_collapse, parts)) for parts in zip(*totals, strict=True)]


def _cut(
    start: Size, length: Size, view: tuple[Size, ...], *flat: Tensor
) -> tuple[Tensor, ...]:
    # Of arrays with one axis: with more, XLA may copy them whole to order them anew.
    return tuple(
        ops.reshape(ops.slice(tensor, (start,), (length,)), view) for tensor in flat
    )


def _is(size: Size, value: int) -> bool:
    return isinstance(size, int) and size == value


def _between(least: int, wanted: Size, most: Size) -> Size:
    if isinstance(wanted, int) and isinstance(most, int):
        return max(least, min(wanted, most))
    return ops.maximum(least, ops.minimum(wanted, most))


def _columns(after: Size) -> int:
    """Largest divisor of a known size that is no more than the lanes wanted."""
    if not isinstance(after, int):
        return 1
    return max(n for n in range(1, LANES + 1) if after % n == 0)


def _total(tensor: Tensor) -> Tensor:
    return ops.sum(tensor, axis=(0, 3), keepdims=True)


def _collapse(lanes: Tensor) -> Tensor:
    return ops.sum(lanes, axis=(0, 1, 3, 4))
