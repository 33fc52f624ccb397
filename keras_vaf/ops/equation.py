"""Functions with shared parameters, applied to every element, and their gradient.

`y = f(x; p)`, where each parameter is shared over some axes of x. Left to automatic
differentiation such a function keeps several tensors of the size of x for the backward
pass. Here x alone is kept: the backward pass computes the rest anew, and forms the sums
over the shared axes in blocks that stay in the processor's cache.
"""

from collections.abc import Callable

from keras import ops

from keras_vaf.ops.vjp import vjp
from keras_vaf.types import Tensor

# A parameter as a function sees it: one tensor, or a list of them, one a hidden unit.
Parameter = Tensor | list[Tensor]
Total = Callable[[Tensor], Tensor]


class Pointwise:
    """A function R -> R with parameters, and its derivatives.

    A subclass gives `value`, once, in `keras.ops`. The other two follow from it by
    automatic differentiation, unless the subclass knows a cheaper way. Subclasses are
    frozen dataclasses: two that are equal share their compiled programs.
    """

    def value(self, x: Tensor, *parameters: Parameter) -> Tensor:
        """f(x), element by element; parameters broadcast against x."""
        raise NotImplementedError(f"{type(self).__name__} must define `value`.")

    def derivative(self, x: Tensor, *parameters: Parameter) -> Tensor:
        """df/dx, element by element."""
        (slope,) = vjp(lambda x: self.value(x, *parameters), (x,), ops.ones_like(x))
        return slope

    def gradients(
        self, x: Tensor, upstream: Tensor, total: Total, *parameters: Parameter
    ) -> tuple[Parameter, ...]:
        """Gradient of each parameter, `total(upstream * df/dp)`.

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
