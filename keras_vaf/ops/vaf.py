"""`VAF`, the equation of a VAF."""

import dataclasses

from keras_vaf.ops.activations import Function
from keras_vaf.ops.equation import Parameter, Pointwise
from keras_vaf.types import Tensor


@dataclasses.dataclass(frozen=True)
class VAF(Pointwise):
    """f(x) = sum_j beta_j g(alpha_j x + alpha_bias_j) + beta_bias.

    Formula:

    ```
    f(x) = sum_{j=1..k} beta_j * g(alpha_j * x + alpha_bias_j) + beta_bias
    ```

    Its parameters are alpha, alpha_bias and beta, which are lists of k tensors, and
    beta_bias. The hidden units are added to the sum one by one, so no tensor of k times
    the size of x is created.

    Args:
        g: Fixed function of the hidden units.

    Reference:
        Apicella, Isgrò, Prevete, *A simple and efficient architecture for trainable
        activation functions*, Neurocomputing 2019, section 3.1.
    """

    g: Function

    def value(
        self,
        x: Tensor,
        alpha: Parameter,
        alpha_bias: Parameter,
        beta: Parameter,
        beta_bias: Tensor,
    ) -> Tensor:
        """Return f(x)."""
        y = beta_bias
        for alpha_j, alpha_bias_j, beta_j in zip(alpha, alpha_bias, beta, strict=True):
            y = y + beta_j * self.g(alpha_j * x + alpha_bias_j)
        return y
