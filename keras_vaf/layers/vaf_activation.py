"""`VAFActivation`, the paper's trainable activation."""

from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np

from keras_vaf import initializers
from keras_vaf.constraints import FunctionConstraint
from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.ops import VAF
from keras_vaf.ops.functions import Function, get_function
from keras_vaf.types import Tensor
from keras_vaf.utils import check_integer


@keras.saving.register_keras_serializable(package="keras_vaf")
class VAFActivation(TrainableActivation):
    """Variable Activation Function: an activation that is a tiny trained network.

    Formula:

    ```
    f(a) = sum_{j=1..k} beta_j * g(alpha_j * a + alpha_bias_j) + beta_bias
    ```

    One function of 3k + 1 parameters serves all elements that share it (see
    `sharing`). It takes the place of a fixed activation layer anywhere in a model and
    is trained with the rest of it. By default f starts as g itself: before training the
    model computes what it would compute with g.

    Args:
        k: Number of hidden units.
        g: Fixed function of the hidden units: the name of an element-wise Keras
            activation (`"relu"`, `"tanh"`, ...), or a registered function.
        sharing: Which elements share one function: `"layer"` (all), `"channel"` (those
            of a channel), `"neuron"` (those of the same place in every sample), or a
            tuple of the axes along which it is shared. Axes count over the whole input;
            the batch axis, 0, is always shared and not named.
        initialization: How f starts: `"g"`, as g itself; `"random"`; the name of an
            element-wise Keras activation (`"relu"`) or a registered function, as that
            function; or a `keras_vaf.initializers.Start`.
        data_format: `"channels_last"` or `"channels_first"`: where the channel axis is,
            for inputs of rank 3 or more. `None` means
            `keras.config.image_data_format()`.
        alpha_regularizer: Regularizer of `alpha`, as for any layer of Keras.
        alpha_bias_regularizer: Regularizer of `alpha_bias`.
        beta_regularizer: Regularizer of `beta`.
        beta_bias_regularizer: Regularizer of `beta_bias`.
        alpha_constraint: Constraint on `alpha`, as for any layer of Keras.
        alpha_bias_constraint: Constraint on `alpha_bias`.
        beta_constraint: Constraint on `beta`.
        beta_bias_constraint: Constraint on `beta_bias`.
        function_regularizer: A penalty on the function itself, such as
            `keras_vaf.regularizers.SlopeVariation`, or a registered callable that maps
            the layer to a scalar tensor.
        function_constraint: A set that the function is kept in, such as
            `keras_vaf.constraints.SlopeBound`.
        name: Name of the layer.
        dtype: Data type or dtype policy of the layer.
        trainable: Whether the weights are trained.
        activity_regularizer: Penalty on the output, as for any layer of Keras.
        autocast: Whether inputs are cast to the compute dtype.

    Input shape:
        Any, of rank 2 or more, of floats. Under `"layer"` sharing every call may have
        another shape. Otherwise rank and sizes of the unshared axes are fixed when the
        layer is built.

    Output shape:
        That of the input.

    Weights:
        `alpha`, `alpha_bias`, `beta` of shape `(*unshared, k)` and `beta_bias` of shape
        `unshared`, the sizes of the axes that are not shared, in order. For an input of
        shape `(batch, height, width, channels)`: `(k,)` and `()` under `"layer"`
        sharing; `(channels, k)` and `(channels,)` under `"channel"`; `(height, width,
        channels, k)` and `(height, width, channels)` under `"neuron"`.

    Raises:
        ValueError: If an argument is not one of the above, if an unshared axis has no
            known size, or if the input is not of floats.

    Reference:
        [Apicella, Isgrò, Prevete, 2019](https://doi.org/10.1016/j.neucom.2019.08.065),
        section 3.1.

    Example:

    >>> model = keras.Sequential([
    ...     keras.Input((20,)),
    ...     keras.layers.Dense(16),
    ...     keras_vaf.layers.VAFActivation(k=5, g="relu"),
    ...     keras.layers.Dense(1),
    ... ])
    >>> model.layers[1].count_params()
    16
    """

    equation_class = VAF

    def __init__(
        self,
        k: int = 3,
        g: str | Function = "relu",
        sharing: str | Sequence[int] = "layer",
        initialization: initializers.Identifier = "g",
        data_format: str | None = None,
        *,
        alpha_regularizer: Any = None,
        alpha_bias_regularizer: Any = None,
        beta_regularizer: Any = None,
        beta_bias_regularizer: Any = None,
        alpha_constraint: Any = None,
        alpha_bias_constraint: Any = None,
        beta_constraint: Any = None,
        beta_bias_constraint: Any = None,
        function_regularizer: Callable[[Any], Tensor] | None = None,
        function_constraint: FunctionConstraint | None = None,
        name: str | None = None,
        dtype: Any = None,
        trainable: bool = True,
        activity_regularizer: Any = None,
        autocast: bool = True,
    ) -> None:
        self.k = check_integer("k", k)
        self.g = get_function(g, "g")
        self._start = initializers.get(initialization)
        named = isinstance(initialization, str)
        self.initialization = initialization if named else self._start
        super().__init__(
            sharing,
            data_format,
            alpha_regularizer=alpha_regularizer,
            alpha_bias_regularizer=alpha_bias_regularizer,
            beta_regularizer=beta_regularizer,
            beta_bias_regularizer=beta_bias_regularizer,
            alpha_constraint=alpha_constraint,
            alpha_bias_constraint=alpha_bias_constraint,
            beta_constraint=beta_constraint,
            beta_bias_constraint=beta_bias_constraint,
            function_regularizer=function_regularizer,
            function_constraint=function_constraint,
            name=name,
            dtype=dtype,
            trainable=trainable,
            activity_regularizer=activity_regularizer,
            autocast=autocast,
        )

    def start(self, unshared: tuple[int, ...]) -> Sequence[np.ndarray]:
        """Return start values of alpha, alpha_bias, beta and beta_bias."""
        return self._start(unshared, self.k, self.g)
