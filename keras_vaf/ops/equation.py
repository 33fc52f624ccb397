"""`Pointwise`, a function with shared parameters that is applied to every element.

In `y = f(x; p)`, each parameter is shared over some axes of x.
"""

import dataclasses
import inspect
from typing import Any

from keras import ops

from keras_vaf.ops.layout import Layout
from keras_vaf.types import Tensor

# A parameter in `value`: a tensor, or a list with one for each hidden unit.
Parameter = Tensor | list[Tensor]


class Pointwise:
    """A function R -> R with parameters.

    A subclass is a frozen dataclass. Equal instances share their compiled programs. It
    defines `value` in `keras.ops`, with a named argument for each parameter.
    """

    def value(self, x: Tensor, *parameters: Any, **named: Any) -> Tensor:
        """Return f(x), element by element; parameters broadcast against x."""
        raise NotImplementedError(f"{type(self).__name__} must define `value`.")


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
