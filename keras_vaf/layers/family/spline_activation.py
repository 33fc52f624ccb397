"""Cubic splines as activations."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.layers.validation import check_integer, check_positive
from keras_vaf.ops import family as equations
from keras_vaf.ops.functions import Function, evaluate, get_function


@keras.saving.register_keras_serializable(package="keras_vaf")
class SplineActivation(TrainableActivation):
    """Cubic spline through trained control points.

    Formula, for a between the control points i and i + 1, and t the part of the step
    that it is past the former:

    ```
    f(a) = ( 2 p_i + (p_{i+1} - p_{i-1}) t
             + (2 p_{i-1} - 5 p_i + 4 p_{i+1} - p_{i+2}) t^2
             + (3 p_i - 3 p_{i+1} + p_{i+2} - p_{i-1}) t^3 ) / 2
    ```

    This is the Catmull-Rom spline: f passes through the control points, and its slope
    there is that between the neighbours. They lie in equal steps from -boundary to
    boundary. Outside, f goes on as a straight line.

    Args:
        q: Number of control points.
        boundary: Place of the last control point.
        initialization: Where the control points start: on the function of an
            element-wise Keras activation (`"tanh"`), or a registered function.
        sharing: As for `TrainableActivation`. As in the paper there is one function for
            each unit: `"channel"`.
        data_format: As for `TrainableActivation`.
        **kwargs: As for `TrainableActivation`. The paper's damping is
            `function_regularizer=keras_vaf.regularizers.Damping(...)`.

    Input shape:
        As for `TrainableActivation`.

    Output shape:
        That of the input.

    Weights:
        `points` of shape `(*unshared, q)`.

    Raises:
        ValueError: If an argument is none of the above.

    Reference:
        [Scardapane et al., *Learning activation functions from data using cubic spline
        interpolation*, 2016](https://arxiv.org/abs/1605.05509). q and boundary give its
        step of 0.2 on [-2, 2]. The straight lines are this package's.

    Example:

    >>> layer = SplineActivation(q=5, initialization="relu", sharing="layer")
    >>> print(layer.function([-7, 0, 1, 7]))
    [0. 0. 1. 7.]
    """

    parameters = ("points",)

    def __init__(
        self,
        q: int = 21,
        boundary: float = 2.0,
        initialization: str | Function = "tanh",
        sharing: str | Sequence[int] = "channel",
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(sharing=sharing, data_format=data_format, **kwargs)
        self.q = check_integer("q", q, minimum=2)
        self.boundary = check_positive("boundary", boundary)
        get_function(initialization, "initialization")
        self.initialization = initialization
        self.add_layer_weights()

    @property
    def equation(self) -> equations.Spline:
        """What the layer computes."""
        return equations.Spline(self.boundary, self.q)

    def start(self, unshared: tuple[int, ...]) -> Sequence[np.ndarray]:
        """Start values of the control points."""
        places = np.linspace(-self.boundary, self.boundary, self.q)
        values = evaluate(get_function(self.initialization, "initialization"), places)
        return (np.broadcast_to(values, (*unshared, self.q)),)
