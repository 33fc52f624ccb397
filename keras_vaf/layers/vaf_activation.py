"""`VAFActivation`, the trainable activation of the paper."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from keras_vaf import initializers
from keras_vaf.layers.sharing import validate_sharing
from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.ops import VAF
from keras_vaf.ops.functions import Function, get_function
from keras_vaf.utils import MOST_UNITS, check_integer


@keras.saving.register_keras_serializable(package="keras_vaf")
class VAFActivation(TrainableActivation):
    """Variable Activation Function: an activation that is a tiny trained network.

    Formula:

    ```
    f(a) = sum_{j=1..k} beta_j * g(alpha_j * a + alpha_bias_j) + beta_bias
    ```

    All elements that share a function (see `sharing`) use the same 3k + 1 parameters.
    The layer replaces a fixed activation layer anywhere in a model and is trained
    together with the model. By default f starts as g: before training, the model
    computes the same output as with g.

    In your own training loop on TensorFlow, call the model with `training=True`. In a
    `tf.function` without this flag, the native kernels do not act, and the gradient of
    a VAF takes about 7 times as long (k = 3, docs/cost.md). Keras's `fit` sets it.

    Args:
        k: Number of hidden units.
        g: Fixed function of the hidden units: the name of an element-wise Keras
            activation (`"relu"`, `"tanh"`, ...), or a registered function.
        sharing: Elements that share one function: `"layer"` (one function for all),
            `"channel"` (one function per channel), `"neuron"` (one function per
            position, shared only over the batch), or a tuple of the axes along which
            the function is shared. Axes count over the whole input. The batch axis, 0,
            is always shared and must not be in the tuple.
        initialization: Function at which f starts: `"g"` for g itself, `"random"` for
            random weights, the name of an element-wise Keras activation (`"relu"`), a
            registered function, or a `keras_vaf.initializers.Start`, itself or its
            registered name (`"keras_vaf>RandomStart"`).
        data_format: `"channels_last"` or `"channels_first"`: position of the channel
            axis for inputs of rank 3 or more. `None` means
            `keras.config.image_data_format()`.
        **kwargs: For each weight W of `alpha`, `alpha_bias`, `beta` and `beta_bias`:
            `W_regularizer`, `W_constraint` and `W_initializer`, as for any Keras layer.
            An initializer replaces the start that `initialization` gives this weight.
            Also `function_regularizer`, a penalty on the function itself such as
            `keras_vaf.regularizers.SlopeVariation`, and the arguments of
            `keras.layers.Layer`, such as `name` and `dtype`.

    Input shape:
        Floating-point tensors of rank 2 or more. With `sharing="layer"`, each call may
        use a different shape. Otherwise the rank and the sizes of the unshared axes are
        fixed when the layer is built.

    Output shape:
        Same as the input.

    Weights:
        `alpha`, `alpha_bias`, `beta` of shape `(*unshared, k)` and `beta_bias` of shape
        `unshared`, where `unshared` is the tuple of sizes of the axes that are not
        shared. For an input of shape `(batch, height, width, channels)`, these shapes
        are `(k,)` and `()` for `"layer"`, `(channels, k)` and `(channels,)` for
        `"channel"`, and `(height, width, channels, k)` and `(height, width, channels)`
        for `"neuron"`.

    Raises:
        ValueError: If an argument is invalid, if the size of an unshared axis is
            unknown, or if the input is not of a floating-point type.

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
        **kwargs: Any,
    ) -> None:
        self.k = check_integer("k", k, maximum=MOST_UNITS)
        self.g = get_function(g, "g")
        self._start = initializers.get(initialization, saved=True)
        named = isinstance(initialization, str)
        self.initialization = initialization if named else self._start
        super().__init__(validate_sharing(sharing), data_format, **kwargs)

    def start(self, unshared: tuple[int, ...]) -> Sequence[np.ndarray]:
        return self._start(unshared, self.k, self.g)
