"""What is known of an activation at one moment of training."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class ActivationRecord:
    """The functions of a layer after an epoch, and the data that entered them.

    Attributes:
        epoch: Number of epochs that were trained; 0 before the first.
        x: Places at which the functions are known, `(points,)`.
        curves: Their values there, `(points, functions)`.
        counts: Histogram of the inputs, `(bins,)`.
        edges: Edges of its bins, `(bins + 1,)`.
        dead: Share of the functions that gave one value for all inputs: no gradient
            passes through these.
        outside: Share of the inputs that lay outside of all knots of their function,
            where it is a straight line; `None` where g has no knots.
        idle: Share of the hidden units that are dead or saturated: their output
            deviates less than 0.01 times as much as what enters g. `None` for a layer
            without hidden units.
        equal: Share of the hidden units that others make superfluous: on the inputs,
            their output is that of an earlier unit but for a factor and a constant.
            `None` for a layer without hidden units.

    Example:

    >>> x = np.linspace(-1, 1, 5)
    >>> record = ActivationRecord(
    ...     epoch=0, x=x, curves=np.maximum(x, 0)[:, None], counts=np.array([3, 4]),
    ...     edges=np.array([-1, 0, 1]), dead=0.0, outside=1.0, idle=0.0, equal=0.0,
    ... )
    >>> record.curves.shape
    (5, 1)
    """

    epoch: int
    x: np.ndarray
    curves: np.ndarray
    counts: np.ndarray
    edges: np.ndarray
    dead: float
    outside: float | None = None
    idle: float | None = None
    equal: float | None = None
