"""`ActivationRecord` describes an activation at one moment of training."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class ActivationRecord:
    """The functions of a layer after an epoch, and the data that entered them.

    Attributes:
        epoch: Number of epochs that were trained; 0 before the first.
        x: Points at which the functions are evaluated, `(points,)`.
        curves: Values of the functions there, `(points, functions)`.
        counts: Histogram of the inputs, `(bins,)`.
        edges: Edges of its bins, `(bins + 1,)`.
        dead: Share of the functions that output one value for all inputs. No gradient
            passes through them.
        outside: Share of the inputs that lie outside all knots of their function, where
            it is a straight line; `None` if g has no knots.
        idle: Share of the hidden units whose output is nearly constant: its standard
            deviation is less than 0.01 times that of what enters g. `None` for a layer
            without hidden units.
        equal: Share of the hidden units that repeat another one: on the inputs, their
            output equals that of an earlier unit up to a factor and a constant. `None`
            for a layer without hidden units.

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
