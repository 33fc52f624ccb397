"""`SplineActivation`, a cubic spline through trained control points."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.ops.equation import Parameter
from keras_vaf.ops.functions import Function, evaluate, get_function, stored_form
from keras_vaf.types import Tensor
from keras_vaf.utils import MOST_UNITS, check_integer, check_number


def _cardinal(t: Tensor) -> Tensor:
    """Return the Catmull-Rom spline that is 1 at 0 and 0 at all other integers."""
    s = ops.abs(t)
    near = (1.5 * s - 2.5) * s * s + 1
    far = ((2.5 - 0.5 * s) * s - 4) * s + 2
    return ops.where(s < 1, near, ops.where(s < 2, far, 0.0))


@keras.saving.register_keras_serializable(package="keras_vaf")
class SplineActivation(TrainableActivation):
    """Cubic spline through trained control points.

    Formula:

    ```
    f(a) = c + s_1 * t + s_2 * t^2 + s_3 * t^3
    s_1 = (d - b) / 2
    s_2 = (2 * b - 5 * c + 4 * d - e) / 2
    s_3 = (3 * c - 3 * d + e - b) / 2
    ```

    Here a is between the control points i and i + 1, and t from 0 to 1 is its position
    between them. The values of the control points i - 1 to i + 2 are b, c, d and e.

    This is the Catmull-Rom spline: f passes through the control points. Its slope at a
    control point is that of the line through the two neighbours. The points are evenly
    spaced from -boundary to boundary. Outside, f continues as a straight line. The
    paper's damping is `function_regularizer=keras_vaf.regularizers.Damping(...)`.

    Args:
        q: Number of control points.
        boundary: Position of the last control point; the first is at -boundary.
        initialization: Function through which the control points start: the name of an
            element-wise Keras activation (`"tanh"`), or a registered function.
        **kwargs: Arguments of `TrainableActivation`. By default `sharing="channel"`.

    Weights:
        `points` of shape `(*unshared, q)`.

    Reference:
        [Scardapane et al., *Learning activation functions from data using cubic spline
        interpolation*, 2016](https://arxiv.org/abs/1605.05509). The default q and
        boundary give the paper's step of 0.2 on [-2, 2]. The straight lines outside are
        an addition of this package.

    Example:

    >>> layer = SplineActivation(q=5, initialization="relu", sharing="layer")
    >>> print(layer.function([-7, 0, 1, 7]))
    [0. 0. 1. 7.]
    """

    equation_fields = ("boundary", "q")
    default_sharing = "channel"

    def __init__(
        self,
        q: int = 21,
        boundary: float = 2.0,
        initialization: str | Function = "tanh",
        **kwargs: Any,
    ) -> None:
        self.q = check_integer("q", q, 2, MOST_UNITS)
        self.boundary = check_number("boundary", boundary, 1e-15, below=1e15)
        self.initialization = stored_form(initialization, "initialization")
        super().__init__(**kwargs)

    def start(self, unshared: tuple[int, ...]) -> Sequence[np.ndarray]:
        places = np.linspace(-self.boundary, self.boundary, self.q)
        values = evaluate(get_function(self.initialization, "initialization"), places)
        return (np.broadcast_to(values, (*unshared, self.q)),)

    def value(self, x: Tensor, points: Parameter) -> Tensor:
        """Return f(x): the sum of the control points, each times its cardinal function.

        One extra point at each end is on the line through the last two control points.
        f has the slope of that line at the end.
        """
        place = (x + self.boundary) * ((self.q - 1) / (2 * self.boundary))
        inside = ops.clip(place, 0, self.q - 1)
        left, right = ops.minimum(place, 0), ops.maximum(place - (self.q - 1), 0)
        rise_left, rise_right = points[1] - points[0], points[-1] - points[-2]
        y = rise_left * left + rise_right * right
        more = [points[0] - rise_left, *points, points[-1] + rise_right]
        for i, point in enumerate(more, start=-1):
            y = y + point * _cardinal(inside - i)
        return y
