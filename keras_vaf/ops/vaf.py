"""The equation of a VAF, and its gradient."""

import dataclasses

from keras import ops

from keras_vaf.ops.elementwise import Function, elementwise
from keras_vaf.ops.pointwise import Parameter, Pointwise, Total
from keras_vaf.types import Tensor


@dataclasses.dataclass(frozen=True)
class VAF(Pointwise):
    """f(x) = sum_j beta_j g(alpha_j x + alpha_bias_j) + beta_bias.

    The sum runs over the hidden units one after the other, so that nothing of size k
    times x is ever made.

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
        alpha: list[Tensor],
        alpha_bias: list[Tensor],
        beta: list[Tensor],
        beta_bias: Tensor,
    ) -> Tensor:
        """The equation."""
        y = beta_bias
        for a, b, weight in zip(alpha, alpha_bias, beta, strict=True):
            y = y + weight * self.g(a * x + b)
        return y

    def derivative(
        self,
        x: Tensor,
        alpha: list[Tensor],
        alpha_bias: list[Tensor],
        beta: list[Tensor],
        beta_bias: Tensor,
    ) -> Tensor:
        """sum_j alpha_j beta_j g'(alpha_j x + alpha_bias_j)."""
        slope = 0.0
        for a, b, weight in zip(alpha, alpha_bias, beta, strict=True):
            _, unit_slope = self._unit(a * x + b)
            slope = slope + a * weight * unit_slope
        return slope

    def gradients(
        self,
        x: Tensor,
        upstream: Tensor,
        total: Total,
        alpha: list[Tensor],
        alpha_bias: list[Tensor],
        beta: list[Tensor],
        beta_bias: Tensor,
    ) -> tuple[Parameter, ...]:
        """All of them from two sums a hidden unit if g is homogeneous, else three."""
        upstream_x = upstream * x
        gradients: tuple[list[Tensor], ...] = ([], [], [])
        for a, b, weight in zip(alpha, alpha_bias, beta, strict=True):
            y, slope = self._unit(a * x + b)
            sum_0 = total(upstream * slope)
            sum_1 = total(upstream_x * slope)
            if elementwise(self.g).homogeneous:
                sum_y = a * sum_1 + b * sum_0
            else:
                sum_y = total(upstream * y)
            for gradient, entry in zip(
                gradients, (weight * sum_1, weight * sum_0, sum_y), strict=True
            ):
                gradient.append(entry)
        return (*gradients, total(upstream))

    def _unit(self, h: Tensor) -> tuple[Tensor, Tensor]:
        y = self.g(h)
        return y, elementwise(self.g).slope(h, y)
