"""`MixedActivation`, a mixture of LeakyReLU and ELU in a trained proportion."""

from typing import Any

import keras
from keras import ops

from keras_vaf.constraints import Interval
from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.types import Tensor
from keras_vaf.utils import check_flag


@keras.saving.register_keras_serializable(package="keras_vaf")
class MixedActivation(TrainableActivation):
    """Mixture of LeakyReLU and ELU in a trained proportion.

    Formula:

    ```
    f(a) = p * LeakyReLU(a) + (1 - p) * ELU(a)
    p = mixing                    (mixed)
    p = sigmoid(mixing * a)       (gated)
    ```

    The slope of LeakyReLU left of 0 is 0.01. f starts with p = 1/2. The mixed form
    keeps `mixing` between 0 and 1, unless `mixing_constraint` is given.

    Args:
        gated: Whether the proportion p depends on the input.
        **kwargs: Arguments of `TrainableActivation`.

    Weights:
        `mixing` of shape `unshared`.

    Reference:
        [Qian et al., *Adaptive activation functions in convolutional neural networks*,
        2018](https://doi.org/10.1016/j.neucom.2017.06.070). The paper's third form, a
        tree of such mixtures, is not implemented.

    Example:

    >>> print(MixedActivation().function([2]))
    [2.]
    """

    equation_fields = ("gated",)

    def __init__(self, gated: bool = False, **kwargs: Any) -> None:
        self.gated = check_flag("gated", gated)
        if not gated:
            kwargs.setdefault("mixing_constraint", Interval(0, 1))
        self.start_values = (0.0,) if gated else (0.5,)
        super().__init__(**kwargs)

    def value(self, x: Tensor, mixing: Tensor) -> Tensor:
        p = ops.sigmoid(mixing * x) if self.gated else mixing
        return p * ops.leaky_relu(x, 0.01) + (1 - p) * ops.elu(x)
