"""`code_of`, the code of each fixed function g in Python.

Each function is defined once, as a Python expression in h. The expression avoids
overflow and cancellation. `where(condition, x, y)` is x where the condition is true.
"""

import ast

from keras_vaf.ops.activations import name_of
from keras_vaf.ops.fixed_function import Function

_SIGMOID = "where(h >= 0, 1.0 / (1.0 + exp(-h)), exp(h) / (1.0 + exp(h)))"
_SOFTPLUS = "(max(h, 0.0) + log1p(exp(-abs(h))))"
_ELU = "where(h > 0, h, expm1(h))"
_SQRT_8_OVER_PI = "1.5957691216057308"

_CODE = {
    "approximate_gelu": "h * "
    + _SIGMOID.replace("h", f"({_SQRT_8_OVER_PI} * (h + 0.044715 * h * h * h))"),
    "celu": _ELU,
    "cos": "cos(h)",
    "elu": _ELU,
    "erf": "erf(h)",
    "exponential": "exp(h)",
    "gaussian": "exp(-h * h)",
    "gelu": "0.5 * h * erfc(-h / sqrt(2.0))",
    "hard_shrink": "where(abs(h) > 0.5, h, 0.0)",
    "hard_silu": "h * min(max(h / 6.0 + 0.5, 0.0), 1.0)",
    "log_sigmoid": "min(h, 0.0) - log1p(exp(-abs(h)))",
    "mish": f"h * tanh({_SOFTPLUS})",
    "relu": "max(h, 0.0)",
    "relu_squared": "max(h, 0.0) * max(h, 0.0)",
    "selu": "1.0507009873554805 * where(h > 0, h, 1.6732632423543772 * expm1(h))",
    "sigmoid": _SIGMOID,
    "silu": f"h * {_SIGMOID}",
    "sin": "sin(h)",
    "softplus": _SOFTPLUS,
    "softsign": "h / (1.0 + abs(h))",
    "sparse_plus": "where(h >= 1, h, where(h > -1, 0.25 * (h + 1.0) * (h + 1.0), 0.0))",
    "square": "h * h",
    "squareplus": "0.5 * (h + sqrt(h * h + 4.0))",
    "tanh": "tanh(h)",
    "tanh_shrink": "h - tanh(h)",
}

# Calls of functions that are not in `math`.
_CALLS = {
    "abs": "abs({})",
    "max": "max({}, {})",
    "min": "min({}, {})",
    "where": "({1} if {0} else {2})",
}


def display_name(g: Function) -> str:
    """Return the name under which a fixed function appears in text and LaTeX."""
    return str(name_of(g) or getattr(g, "__name__", "g"))


def code_of(g: Function) -> str:
    """Return a fixed function of h as an expression of Python.

    Args:
        g: The function.

    Raises:
        ValueError: If the code of g is unknown.
    """
    name = display_name(g)
    known = name_of(g) or g.__module__.startswith("keras_vaf.")
    if name not in _CODE or not known:
        raise ValueError(
            "The code of g is unknown, so form='python' is not available; use "
            f"form='text' or form='latex'. Received: a layer with g={name}"
        )
    tree = ast.parse(_CODE[name], mode="eval")
    return ast.unparse(_Translation().visit(tree))


class _Translation(ast.NodeTransformer):
    """Translates an expression in h into Python with `math`.

    A translated part is stored as the name of a variable, which `ast.unparse` prints
    unchanged.
    """

    def visit_Call(self, node: ast.Call) -> ast.Name:
        arguments = [ast.unparse(self.visit(each)) for each in node.args]
        name = ast.unparse(node.func)
        usual = f"math.{name}({', '.join(arguments)})"
        return ast.Name(_CALLS.get(name, usual).format(*arguments))
