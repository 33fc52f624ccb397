"""The equations of the activations that a VAF is compared with."""

import dataclasses
from collections.abc import Callable, Iterator

from keras import ops

from keras_vaf.ops.equation import Parameter, Pointwise, Total
from keras_vaf.ops.fixed_function import Function
from keras_vaf.types import Tensor


@dataclasses.dataclass(frozen=True)
class APL(Pointwise):
    """relu(x) + sum_s slopes_s relu(-x + hinges_s)."""

    def value(self, x: Tensor, *parameters: Parameter) -> Tensor:
        """The equation."""
        slopes, hinges = parameters
        y = ops.relu(x)
        for slope, hinge in zip(slopes, hinges, strict=True):
            y = y + slope * ops.relu(hinge - x)
        return y


@dataclasses.dataclass(frozen=True)
class SReLU(Pointwise):
    """x between the thresholds, and a line from each of them outwards."""

    def value(self, x: Tensor, *parameters: Parameter) -> Tensor:
        """The equation."""
        left_threshold, left_slope, right_threshold, right_slope = parameters
        middle = ops.minimum(ops.maximum(x, left_threshold), right_threshold)
        left = left_slope * ops.relu(left_threshold - x)
        right = right_slope * ops.relu(x - right_threshold)
        return middle - left + right


@dataclasses.dataclass(frozen=True)
class PELU(Pointwise):
    """alpha / beta x for x >= 0, alpha (exp(x / beta) - 1) below."""

    def value(self, x: Tensor, *parameters: Parameter) -> Tensor:
        """The equation."""
        alpha, beta = parameters
        return alpha * ops.elu(x / beta)


@dataclasses.dataclass(frozen=True)
class Sigmoid(Pointwise):
    """alpha / (1 + exp(-beta x))."""

    def value(self, x: Tensor, *parameters: Parameter) -> Tensor:
        """The equation."""
        alpha, beta = parameters
        return alpha * ops.sigmoid(beta * x)


@dataclasses.dataclass(frozen=True)
class Tanh(Pointwise):
    """alpha tanh(beta x)."""

    def value(self, x: Tensor, *parameters: Parameter) -> Tensor:
        """The equation."""
        alpha, beta = parameters
        return alpha * ops.tanh(beta * x)


@dataclasses.dataclass(frozen=True)
class Mixture(Pointwise):
    """p LeakyReLU(x) + (1 - p) ELU(x), with p = mixing or, gated, sigmoid(mixing x)."""

    gated: bool

    def value(self, x: Tensor, *parameters: Parameter) -> Tensor:
        """The equation."""
        (mixing,) = parameters
        p: Tensor = ops.sigmoid(mixing * x) if self.gated else mixing
        leaky = ops.leaky_relu(x, 0.01)
        return p * leaky + (1 - p) * ops.elu(x)


@dataclasses.dataclass(frozen=True)
class Blend(Pointwise):
    """sum_i w_i functions_i(x), with w = normalize(weights)."""

    functions: tuple[Function, ...]
    normalize: Callable[[list[Tensor]], list[Tensor]]

    def value(self, x: Tensor, *parameters: Parameter) -> Tensor:
        """The equation."""
        (weights,) = parameters
        pairs = zip(self.normalize(weights), self.functions, strict=True)
        return sum(weight * function(x) for weight, function in pairs)


@dataclasses.dataclass(frozen=True)
class NormalizedBlend(Pointwise):
    """sum_j alpha_j (eta_j h_j(x) + delta_j), with h_j = functions_j taken to [0, 1].

    h_j = (f_j - minimum_j) / (maximum_j - minimum_j + epsilon).
    """

    functions: tuple[Function, ...]
    epsilon: float = 1e-6

    def value(self, x: Tensor, *parameters: Parameter) -> Tensor:
        """The equation."""
        alpha, eta, delta, minimum, maximum = parameters
        y = 0.0
        for j, function in enumerate(self.functions):
            span = maximum[j] - minimum[j] + self.epsilon
            h = (function(x) - minimum[j]) / span
            y = y + alpha[j] * (eta[j] * h + delta[j])
        return y


@dataclasses.dataclass(frozen=True)
class Polynomial(Pointwise):
    """sum_i coefficients_i x^i."""

    def value(self, x: Tensor, *parameters: Parameter) -> Tensor:
        """The equation, by Horner's rule."""
        (coefficients,) = parameters
        y = coefficients[-1]
        for coefficient in reversed(coefficients[:-1]):
            y = y * x + coefficient
        return y


@dataclasses.dataclass(frozen=True)
class KAF(Pointwise):
    """sum_i alpha_i exp(-gamma (x - d_i)^2), for the points d_i of a dictionary.

    Its parameters are alpha and, if the kernels' gamma is trained, gamma.

    Args:
        dictionary: The points at which the kernels sit.
        gamma: Gamma where it is fixed; `None` where it is a parameter.
    """

    dictionary: tuple[float, ...]
    gamma: float | None

    def value(self, x: Tensor, *parameters: Parameter) -> Tensor:
        """The equation."""
        return sum(a * kernel for a, _, kernel in self._kernels(x, *parameters))

    def derivative(self, x: Tensor, *parameters: Parameter) -> Tensor:
        """-2 gamma sum_i alpha_i (x - d_i) kernel_i."""
        moment = sum(a * t * kernel for a, t, kernel in self._kernels(x, *parameters))
        return -2 * self._gamma(*parameters) * moment

    def gradients(
        self, x: Tensor, upstream: Tensor, total: Total, *parameters: Parameter
    ) -> tuple[Parameter, ...]:
        """One sum a point, and one more where gamma is trained."""
        for_alpha, for_gamma = [], 0.0
        for a, t, kernel in self._kernels(x, *parameters):
            part = upstream * kernel
            for_alpha.append(total(part))
            if self.gamma is None:
                for_gamma = for_gamma - a * total(t * t * part)
        return (for_alpha, for_gamma)[: len(parameters)]

    def _gamma(self, alpha: Parameter, gamma: Tensor | None = None) -> Tensor:
        return gamma if self.gamma is None else self.gamma

    def _kernels(
        self, x: Tensor, *parameters: Parameter
    ) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """alpha_i, x - d_i and exp(-gamma (x - d_i)^2), one point after the other."""
        gamma = self._gamma(*parameters)
        for a, point in zip(parameters[0], self.dictionary, strict=True):
            t = x - point
            yield a, t, ops.exp(-gamma * (t * t))


@dataclasses.dataclass(frozen=True)
class Spline(Pointwise):
    """The Catmull-Rom spline through control points, and straight lines outside.

    It is the sum of the control points, each times its cardinal function. One point
    more at each end, in line with the last two, gives f the slope of that line there.

    Args:
        boundary: The control points lie in equal steps from -boundary to boundary.
        q: Number of control points.
    """

    boundary: float
    q: int

    def value(self, x: Tensor, *parameters: Parameter) -> Tensor:
        """The equation."""
        (points,) = parameters
        inside, left, right = self._place(x)
        rise_left, rise_right = points[1] - points[0], points[-1] - points[-2]
        y = rise_left * left + rise_right * right
        more = [points[0] - rise_left, *points, points[-1] + rise_right]
        for i, point in enumerate(more, start=-1):
            y = y + point * _cardinal(inside - i)
        return y

    def gradients(
        self, x: Tensor, upstream: Tensor, total: Total, *parameters: Parameter
    ) -> tuple[Parameter, ...]:
        """One sum a point, and one a line: automatic ones are ten times slower."""
        inside, left, right = self._place(x)
        first, *gradient, last = (
            total(upstream * _cardinal(inside - i)) for i in range(-1, self.q + 1)
        )
        for_rise_left = total(upstream * left) - first
        for_rise_right = total(upstream * right) + last
        gradient[0] = gradient[0] + first - for_rise_left
        gradient[1] = gradient[1] + for_rise_left
        gradient[-1] = gradient[-1] + last + for_rise_right
        gradient[-2] = gradient[-2] - for_rise_right
        return (gradient,)

    def _place(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Place among the control points, in steps, and how far it is outside."""
        place = (x + self.boundary) * ((self.q - 1) / (2 * self.boundary))
        inside = ops.clip(place, 0, self.q - 1)
        return inside, ops.minimum(place, 0), ops.maximum(place - (self.q - 1), 0)


def _cardinal(t: Tensor) -> Tensor:
    """The Catmull-Rom spline that is 1 at 0 and 0 at all other integers."""
    s = ops.abs(t)
    near = (1.5 * s - 2.5) * s * s + 1
    far = ((2.5 - 0.5 * s) * s - 4) * s + 2
    return ops.where(s < 1, near, ops.where(s < 2, far, 0.0))
