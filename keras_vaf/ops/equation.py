"""`Pointwise`, a function with shared parameters that is applied to every element.

In `y = f(x; p)`, each parameter is shared over some axes of x. Automatic
differentiation of such a function stores several tensors of the size of x for the
backward pass. This package stores only x. Its backward pass computes the other values
again, and sums over the shared axes in blocks that stay in the processor's cache.
"""

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

from keras import ops

from keras_vaf.ops.vjp import vjp
from keras_vaf.types import Tensor

# A parameter in `value`: a tensor, or a list with one for each hidden unit.
Parameter = Tensor | list[Tensor]
Total = Callable[[Tensor], Tensor]


class Pointwise:
    """A function R -> R with parameters, and its derivatives.

    A subclass is a frozen dataclass. Equal instances share their compiled programs. It
    defines `value` in `keras.ops`, with a named argument for each parameter. The other
    two methods use automatic differentiation, unless the subclass overrides them with a
    cheaper form.
    """

    def value(self, x: Tensor, *parameters: Any, **named: Any) -> Tensor:
        """Return f(x), element by element; parameters broadcast against x."""
        raise NotImplementedError(f"{type(self).__name__} must define `value`.")

    def derivative(self, x: Tensor, *parameters: Parameter) -> Tensor:
        """Return df/dx, element by element."""
        (slope,) = vjp(lambda x: self.value(x, *parameters), (x,), ops.ones_like(x))
        return slope

    def gradients(
        self, x: Tensor, upstream: Tensor, total: Total, *parameters: Parameter
    ) -> tuple[Parameter, ...]:
        """Return the gradient of each parameter, `total(upstream * df/dp)`.

        Args:
            x: The input, or a block of it.
            upstream: Gradient of the loss with respect to f(x), of the same shape.
            total: Sums a tensor of that shape over elements that share a parameter.
            *parameters: As for `value`.

        Returns:
            One entry for each parameter, of the same structure.
        """
        lanes = ops.shape(total(x))

        def spread(tensor: Tensor) -> Tensor:
            return ops.broadcast_to(tensor, lanes)

        spread_parameters = tuple(
            [spread(tensor) for tensor in p] if isinstance(p, list) else spread(p)
            for p in parameters
        )
        return vjp(lambda *p: self.value(x, *p), spread_parameters, upstream)


def names_of(equation: type[Pointwise]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the parameters and of the fields of an equation.

    The parameters are the arguments that `value` requires after x.

    Raises:
        ValueError: If the class is not a frozen dataclass derived from `Pointwise`, or
            if `value` does not name its parameters.

    Example:

    >>> names_of(VAF)
    (('alpha', 'alpha_bias', 'beta', 'beta_bias'), ('g',))
    """
    settings = getattr(equation, "__dict__", {}).get("__dataclass_params__")
    if not getattr(settings, "frozen", False) or not issubclass(equation, Pointwise):
        raise ValueError(
            "An equation must be a subclass of `keras_vaf.ops.Pointwise` with the "
            "decorator `@dataclasses.dataclass(frozen=True)`, so that equal equations "
            f"share their compiled programs. Received: equation_class={equation!r}"
        )
    required = tuple(
        name
        for name, parameter in inspect.signature(equation.value).parameters.items()
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        and parameter.default is parameter.empty
    )
    if len(required) < 3:
        raise ValueError(
            "`value` must name each parameter of the function after x, such as "
            "`def value(self, x, alpha, beta)`. Received: "
            f"{equation.__name__}.value{inspect.signature(equation.value)}"
        )
    fields = dataclasses.fields(equation)  # type: ignore[arg-type]
    return required[2:], tuple(field.name for field in fields)
