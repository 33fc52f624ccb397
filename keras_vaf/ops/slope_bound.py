"""`slope_bound` and `steepest_lines`, the largest slopes of a VAF and of its units."""

import math
from typing import Any, NamedTuple

import numpy as np
from keras import ops

from keras_vaf.ops.activations import elementwise
from keras_vaf.ops.fixed_function import Function, Lines, Slopes
from keras_vaf.types import Tensor

_NO_SLOPE = 1e-6
"""Smaller slopes of g are rounding errors of 0."""


class SlopeBound(NamedTuple):
    """A bound on the slope of each function of a VAF.

    Attributes:
        value: The bound as computed, of shape `unshared`.
        error: Bound on the rounding error of `value`, of the same shape; 0 where the
            computation is exact.
    """

    value: Tensor
    error: Tensor


def slope_bound(
    g: Function, alpha: Any, alpha_bias: Any, beta: Any, precision: str = "float32"
) -> SlopeBound:
    """Return the largest slope of f, or a bound on it, for each function of a VAF.

    If g consists of straight lines, the slope of f at a point is the first slope plus
    the jumps at all knots to the left. The largest of these sums is exact, except where
    rounding makes the order of knots uncertain; then every order counts. For other g,
    let c_j = alpha_j beta_j and let the slopes of g be between l and h. The slope of f
    is then between sum_j min(c_j l, c_j h) and sum_j max(c_j l, c_j h).

    Args:
        g: Fixed function of the hidden units.
        alpha: Tensor of shape `(*unshared, k)`.
        alpha_bias: Tensor of the same shape.
        beta: Tensor of the same shape.
        precision: The precision whose rounding errors are counted.

    Raises:
        ValueError: If the slope of g has no known bound.
    """
    slopes = check_slopes(g)
    alpha, alpha_bias, beta = map(ops.convert_to_tensor, (alpha, alpha_bias, beta))
    product = alpha * beta
    known = elementwise(g)
    eps = float(np.finfo(precision).eps)
    if known.lines is not None and known.knots:
        bound, size = _steepest_line(known.lines, alpha, alpha_bias, beta, eps)
        rounded = 2 * len(known.knots) * alpha.shape[-1] + 6
    else:
        bound, size = _all_steepest(slopes, product)
        rounded = 2 * alpha.shape[-1] + 6
    # A function of one unit is as steep as the unit.
    active = product != 0
    single = ops.sum(ops.cast(active, beta.dtype), axis=-1) <= 1
    steepest = max(abs(slopes.lowest), abs(slopes.highest))
    one = ops.max(ops.abs(product), axis=-1) * steepest
    unscaled = ops.all(ops.logical_or(~active, ops.abs(alpha) == 1), axis=-1)
    exact = ops.logical_and(single, unscaled)
    error = ops.where(exact, ops.zeros_like(size), rounded * eps * size)
    return SlopeBound(ops.where(single, one, bound), error)


def steepest_lines(g: Function, alpha: Any, alpha_bias: Any, beta: Any) -> Tensor:
    """Return the slope of the steepest line of f on which each hidden unit acts.

    A hidden unit acts on a line of f if its own slope is not 0 there. The slopes are
    rounded. For a g that is not made of straight lines, all units act everywhere, and
    the slope is that of `slope_bound`.

    Args:
        g: Fixed function of the hidden units.
        alpha: Tensor of shape `(*unshared, k)`.
        alpha_bias: Tensor of the same shape.
        beta: Tensor of the same shape.
    """
    alpha, alpha_bias, beta = map(ops.convert_to_tensor, (alpha, alpha_bias, beta))
    lines = elementwise(g).lines
    if lines is None or not lines.knots:
        bound = slope_bound(g, alpha, alpha_bias, beta).value
        return ops.broadcast_to(bound[..., None], alpha.shape)
    unit = ops.where(alpha == 0, ops.ones_like(alpha), alpha)
    knots = [(knot - alpha_bias) / unit for knot in lines.knots]
    ordered = ops.sort(ops.concatenate(knots, axis=-1), axis=-1)
    between = (ordered[..., 1:] + ordered[..., :-1]) / 2
    ends = (ordered[..., :1] - 1, ordered[..., -1:] + 1)
    places = ops.concatenate([ends[0], between, ends[1]], axis=-1)[..., None]
    hidden = alpha[..., None, :] * places + alpha_bias[..., None, :]
    slopes = ops.full_like(hidden, lines.slopes[0])
    for knot, step in zip(lines.knots, np.diff(lines.slopes), strict=True):
        slopes = slopes + ops.cast(hidden > knot, slopes.dtype) * float(step)
    product = (alpha * beta)[..., None, :]
    total = ops.abs(ops.sum(slopes * product, axis=-1, keepdims=True))
    acts = ops.cast(ops.abs(slopes) > _NO_SLOPE, total.dtype)
    return ops.max(acts * total, axis=-2)


def check_slopes(g: Function) -> Slopes:
    """Return the slopes of g.

    Raises:
        ValueError: If they have no bound (exponential, hard_shrink, square,
            relu_squared), or if g is not a function of the table.
    """
    slopes = elementwise(g).slopes
    if slopes is None or slopes.highest == math.inf:
        raise ValueError(
            "The slope of g has no bound: choose another element-wise activation of "
            f"Keras. Received: g={g!r}"
        )
    return slopes


def _steepest_line(
    lines: Lines, alpha: Tensor, alpha_bias: Tensor, beta: Tensor, eps: float
) -> tuple[Tensor, Tensor]:
    """Return the largest slope of a line of f, and the sum of all |terms|."""
    lead = tuple(alpha.shape[:-1])
    steps = np.diff(lines.slopes)
    jumps = ops.stack([ops.abs(alpha) * beta * step for step in steps], axis=-1)
    jumps = ops.reshape(jumps, (*lead, -1))
    leftmost, rightmost = (ops.full_like(alpha, lines.slopes[end]) for end in (0, -1))
    start = alpha * beta * ops.where(alpha > 0, leftmost, rightmost)
    first = ops.sum(start, axis=-1)[..., None]
    before, same, near = _order(lines.knots, alpha, alpha_bias, eps)

    def total(mask: Tensor, values: Tensor) -> Tensor:
        each = values[..., None, :]
        # `where`, because 0 times infinity is not a number.
        return ops.sum(ops.where(mask, each, ops.zeros_like(each)), axis=-1)

    left = first + total(before, jumps)
    right = left + total(same, jumps)
    upper = ops.maximum(left, right) + total(near, ops.maximum(jumps, 0))
    lower = ops.minimum(left, right) + total(near, ops.minimum(jumps, 0))
    last = first + ops.sum(jumps, axis=-1, keepdims=True)
    ends = ops.concatenate([first, last, upper, lower], axis=-1)
    size = ops.sum(ops.abs(jumps), axis=-1) + ops.sum(ops.abs(start), axis=-1)
    return ops.max(ops.abs(ends), axis=-1), size


def _order(
    knots: tuple[float, ...], alpha: Tensor, alpha_bias: Tensor, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Return which knots of f are before, equal or too close to each knot."""
    lead, count = tuple(alpha.shape[:-1]), len(knots)

    def spread(per_unit: Tensor) -> Tensor:
        each = ops.repeat(per_unit[..., None], count, axis=-1)
        return ops.reshape(each, (*lead, -1))

    unit = ops.where(alpha == 0, ops.ones_like(alpha), alpha)
    size, sign = spread(ops.abs(unit)), spread(ops.sign(unit))
    knot = ops.stack([ops.full_like(alpha, each) for each in knots], axis=-1)
    knot, bias = ops.reshape(knot, (*lead, -1)), spread(alpha_bias)
    place = ops.stop_gradient((knot - bias) * sign / size)

    def pairs(compare: Any, values: Tensor) -> Tensor:
        return compare(values[..., None, :], values[..., :, None])

    at_zero = knot == bias
    same_unit = ops.logical_and(
        pairs(ops.equal, size),
        ops.logical_and(pairs(ops.equal, knot * sign), pairs(ops.equal, bias * sign)),
    )
    same = ops.logical_or(same_unit, pairs(ops.logical_and, at_zero))
    distance = pairs(ops.subtract, place)
    reach = 4 * eps * pairs(ops.add, ops.abs(place)) + 1e-30
    near = ops.logical_and(ops.abs(distance) <= reach, ~same)
    before = ops.logical_and(distance < 0, ~ops.logical_or(near, same))
    return before, same, near


def _all_steepest(slopes: Slopes, product: Tensor) -> tuple[Tensor, Tensor]:
    """Return the slope if all units were steepest at one point, and its |terms|."""
    ends = (product * slopes.lowest, product * slopes.highest)
    lowest = ops.sum(ops.minimum(*ends), axis=-1)
    highest = ops.sum(ops.maximum(*ends), axis=-1)
    size = ops.sum(ops.maximum(ops.abs(ends[0]), ops.abs(ends[1])), axis=-1)
    return ops.maximum(ops.abs(lowest), ops.abs(highest)), size
