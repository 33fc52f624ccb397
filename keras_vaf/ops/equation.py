"""`Pointwise`, a function with shared parameters that is applied to every element.

In `y = f(x; p)`, each parameter is shared over some axes of x. `VAF` is one of them.
"""

import dataclasses
import inspect
from typing import Any, NamedTuple

from keras import ops

from keras_vaf.ops.activations import Function
from keras_vaf.types import Tensor

# A parameter in `value`: a tensor, or a list with one for each hidden unit.
Parameter = Tensor | list[Tensor]


class Layout(NamedTuple):
    """The number of axes of an input, and those along which parameters differ."""

    rank: int
    unshared: tuple[int, ...]

    def align(self, parameter: Tensor) -> Parameter:
        """Give a parameter of shape `(*unshared, ...)` axes that broadcast with x.

        If a parameter has one more axis, such as the axis of hidden units, return the
        list of its entries along that axis.
        """
        shape = self.aligned(parameter)
        if len(parameter.shape) == len(self.unshared):
            return ops.reshape(parameter, shape)
        units = range(parameter.shape[-1])
        return [ops.reshape(parameter[..., j], shape) for j in units]

    def aligned(self, parameter: Tensor) -> list[int]:
        """Return the shape that `align` gives to a parameter or its entries."""
        shape = [1] * self.rank
        for place, axis in enumerate(self.unshared):
            shape[axis] = parameter.shape[place]
        return shape


class Pointwise:
    """A function R -> R with parameters.

    A subclass is a frozen dataclass. Equal instances share their compiled programs. It
    defines `value` in `keras.ops`, with a named argument for each parameter.
    """

    def value(self, x: Tensor, *parameters: Any, **named: Any) -> Tensor:
        """Return f(x), element by element; parameters broadcast against x."""
        raise NotImplementedError(f"{type(self).__name__} must define `value`.")


@dataclasses.dataclass(frozen=True)
class VAF(Pointwise):
    """f(x) = sum_j beta_j g(alpha_j x + alpha_bias_j) + beta_bias.

    Formula:

    ```
    f(x) = sum_{j=1..k} beta_j * g(alpha_j * x + alpha_bias_j) + beta_bias
    ```

    The native kernels compute the sum and its gradient without tensors for the hidden
    units. Without kernels, the gradient of a layer holds its hidden units for a moment
    on JAX and TensorFlow, and PyTorch keeps them between the passes (docs/cost.md).

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


def formula(
    function: Pointwise, layout: Layout, x: Tensor, *parameters: Tensor
) -> Tensor:
    """Return f(x) in the dtype of x, computed in the dtype of the parameters."""
    aligned = [layout.align(p) for p in parameters]
    y = function.value(ops.cast(x, parameters[0].dtype), *aligned)
    return ops.cast(y, x.dtype)


def names_of(equation: type[Pointwise]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the parameters and of the fields of an equation.

    The parameters are the arguments that `value` requires after x.

    >>> names_of(VAF)
    (('alpha', 'alpha_bias', 'beta', 'beta_bias'), ('g',))
    """
    settings = getattr(equation, "__dict__", {}).get("__dataclass_params__")
    if not getattr(settings, "frozen", False) or not issubclass(equation, Pointwise):
        raise ValueError(
            "An equation must be a subclass of `keras_vaf.ops.Pointwise` with the "
            "decorator `@dataclasses.dataclass(frozen=True)`. "
            f"Received: equation_class={equation!r}"
        )
    signature = inspect.signature(equation.value)
    required = tuple(
        name
        for name, parameter in signature.parameters.items()
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        and parameter.default is parameter.empty
    )
    if len(required) < 3:
        raise ValueError(
            "`value` must name each parameter of the function after x, such as "
            "`def value(self, x, alpha, beta)`. Received: "
            f"{equation.__name__}.value{signature}"
        )
    fields = dataclasses.fields(equation)  # type: ignore[arg-type]
    return required[2:], tuple(field.name for field in fields)
