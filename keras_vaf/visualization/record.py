"""`ActivationRecord`, which describes an activation at one epoch of training."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class ActivationRecord:
    """The functions of a layer after an epoch, and a summary of their inputs.

    Attributes:
        epoch: Number of epochs trained so far; 0 before the first epoch.
        x: Points at which the functions are evaluated, `(points,)`.
        curves: Values of the functions at these points, `(points, functions)`.
        counts: Histogram of the inputs, `(bins,)`.
        edges: Edges of the bins of the histogram, `(bins + 1,)`.
        dead: Share of the functions that are constant on all inputs. No gradient passes
            through them.
        outside: Share of the inputs outside all knots of their function, where the
            function is linear; `None` if g has no knots.
        idle: Share of the hidden units whose output is nearly constant: its standard
            deviation is less than 0.01 times that of the input of g. `None` for a layer
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
