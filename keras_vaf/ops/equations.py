"""The equations of the activations that a VAF is compared with."""

import dataclasses

from keras import ops

from keras_vaf.ops.pointwise import Pointwise
from keras_vaf.types import Tensor


@dataclasses.dataclass(frozen=True)
class APL(Pointwise):
    """relu(x) + sum_s slopes_s relu(-x + hinges_s)."""

    def value(self, x: Tensor, slopes: list[Tensor], hinges: list[Tensor]) -> Tensor:
        """The equation."""
        y = ops.relu(x)
        for slope, hinge in zip(slopes, hinges, strict=True):
            y = y + slope * ops.relu(hinge - x)
        return y


@dataclasses.dataclass(frozen=True)
class SReLU(Pointwise):
    """x between the thresholds, and a line from each of them outwards."""

    def value(
        self,
        x: Tensor,
        left_threshold: Tensor,
        left_slope: Tensor,
        right_threshold: Tensor,
        right_slope: Tensor,
    ) -> Tensor:
        """The equation."""
        middle = ops.minimum(ops.maximum(x, left_threshold), right_threshold)
        left = left_slope * ops.relu(left_threshold - x)
        right = right_slope * ops.relu(x - right_threshold)
        return middle - left + right


@dataclasses.dataclass(frozen=True)
class PELU(Pointwise):
    """alpha / beta x for x >= 0, alpha (exp(x / beta) - 1) below."""

    def value(self, x: Tensor, alpha: Tensor, beta: Tensor) -> Tensor:
        """The equation."""
        return alpha * ops.elu(x / beta)


@dataclasses.dataclass(frozen=True)
class Sigmoid(Pointwise):
    """alpha / (1 + exp(-beta x))."""

    def value(self, x: Tensor, alpha: Tensor, beta: Tensor) -> Tensor:
        """The equation."""
        return alpha * ops.sigmoid(beta * x)


@dataclasses.dataclass(frozen=True)
class Tanh(Pointwise):
    """alpha tanh(beta x)."""

    def value(self, x: Tensor, alpha: Tensor, beta: Tensor) -> Tensor:
        """The equation."""
        return alpha * ops.tanh(beta * x)


@dataclasses.dataclass(frozen=True)
class Mixture(Pointwise):
    """p LeakyReLU(x) + (1 - p) ELU(x), where p is a number or, gated, sigmoid(p x)."""

    gated: bool
    negative_slope: float = 0.01

    def value(self, x: Tensor, p: Tensor) -> Tensor:
        """The equation."""
        share = ops.sigmoid(p * x) if self.gated else p
        leaky = ops.leaky_relu(x, self.negative_slope)
        return share * leaky + (1 - share) * ops.elu(x)
