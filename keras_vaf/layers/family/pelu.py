"""`PELU`, the parametric exponential linear unit."""

import keras
from keras import ops

from keras_vaf.constraints import Interval
from keras_vaf.layers.trainable_activation import TrainableActivation
from keras_vaf.types import Tensor


@keras.saving.register_keras_serializable(package="keras_vaf")
class PELU(TrainableActivation):
    """Parametric exponential linear unit.

    Formula:

    ```
    f(a) = alpha / beta * a                for a >= 0
    f(a) = alpha * (exp(a / beta) - 1)     for a < 0
    ```

    The layer starts as ELU. As in the paper, both weights are kept at 0.1 or more;
    `alpha_constraint` and `beta_constraint` replace these constraints. By default a
    layer shares one function, as in the paper. Arguments, shapes and errors are those
    of `TrainableActivation`.

    Weights:
        `alpha` and `beta` of shape `unshared`.

    Reference:
        [Trottier, Giguère, Chaib-draa, *Parametric exponential linear unit for deep
        convolutional neural networks*, 2017](https://arxiv.org/abs/1605.09332),
        equation 4; alpha and beta are the paper's a and b.

    Example:

    >>> print(PELU().function([0, 2]))
    [0. 2.]
    """

    start_values = (1.0, 1.0)
    default_constraints = (("alpha", Interval(0.1)), ("beta", Interval(0.1)))

    def value(self, x: Tensor, alpha: Tensor, beta: Tensor) -> Tensor:
        return alpha * ops.elu(x / beta)
