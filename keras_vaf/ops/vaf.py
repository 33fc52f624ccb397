"""`VAF`, the equation of a VAF and its gradient."""

import dataclasses
from collections.abc import Iterator

from keras_vaf.ops.activations import elementwise
from keras_vaf.ops.equation import Parameter, Pointwise, Total
from keras_vaf.ops.fixed_function import Function
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

    def derivative(self, x: Tensor, *parameters: Parameter) -> Tensor:
        """Return sum_j alpha_j beta_j g'(alpha_j x + alpha_bias_j)."""
        slope = 0.0
        for alpha, alpha_bias, beta in _units(parameters):
            h = alpha * x + alpha_bias
            slope = slope + elementwise(self.g).slope(h, self.g(h)) * (alpha * beta)
        return slope

    def gradients(
        self, x: Tensor, upstream: Tensor, total: Total, *parameters: Parameter
    ) -> tuple[Parameter, ...]:
        """Compute two sums for each hidden unit if g is homogeneous, else three."""
        g = elementwise(self.g)
        upstream_x = upstream * x
        for_alpha, for_alpha_bias, for_beta = [], [], []
        for alpha, alpha_bias, beta in _units(parameters):
            h = alpha * x + alpha_bias
            y = self.g(h)
            sum_0 = total(g.pull_back(upstream, h, y))
            sum_1 = total(g.pull_back(upstream_x, h, y))
            for_alpha.append(beta * sum_1)
            for_alpha_bias.append(beta * sum_0)
            if g.homogeneous:
                for_beta.append(alpha * sum_1 + alpha_bias * sum_0)
            else:
                for_beta.append(total(upstream * y))
        return for_alpha, for_alpha_bias, for_beta, total(upstream)


def _units(parameters: tuple[Parameter, ...]) -> Iterator[tuple[Tensor, ...]]:
    return zip(*parameters[:-1], strict=True)
