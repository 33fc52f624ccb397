"""`code_of`, the code of each fixed function g in three languages.

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

_C = {"abs": "fabs", "max": "fmax", "min": "fmin"}
_SYMPY = {"abs": "Abs", "max": "Max", "min": "Min"}
_BUILT_IN = ("abs", "max", "min")


def display_name(g: Function) -> str:
    """Return the name under which a fixed function appears in text and LaTeX."""
    return str(name_of(g) or getattr(g, "__name__", "g"))


def code_of(g: Function, form: str, argument: str = "h") -> str:
    """Return a fixed function as an expression of a programming language.

    Args:
        g: The function.
        form: `"python"`, `"c"` or `"sympy"`.
        argument: Code of the argument.

    Raises:
        ValueError: If the code of g is unknown.
    """
    name = display_name(g)
    known = name_of(g) or g.__module__.startswith("keras_vaf.")
    if name not in _CODE or not known:
        raise ValueError(
            f"The code of g is unknown, so form={form!r} is not available; use "
            f"form='text' or form='latex'. Received: a layer with g={name}"
        )
    tree = ast.parse(_CODE[name], mode="eval")
    return ast.unparse(_Translation(form, argument).visit(tree))


class _Translation(ast.NodeTransformer):
    """Translates an expression in h into another language.

    A translated part is stored as the name of a variable, which `ast.unparse` prints
    unchanged.
    """

    def __init__(self, form: str, argument: str) -> None:
        self._form = form
        self._argument = argument

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self._argument)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        arguments = [self.visit(each) for each in node.args]
        name = ast.unparse(node.func)
        if name == "where":
            return ast.Name(self._where(*map(ast.unparse, arguments)))
        if self._form == "python":
            name = name if name in _BUILT_IN else f"math.{name}"
        else:
            name = (_C if self._form == "c" else _SYMPY).get(name, name)
        if self._form == "sympy":
            name, arguments = _for_sympy(name, arguments)
        return ast.Call(ast.Name(name), arguments, [])

    def _where(self, condition: str, x: str, y: str) -> str:
        if self._form == "python":
            return f"({x} if {condition} else {y})"
        if self._form == "c":
            return f"({condition} ? {x} : {y})"
        return f"Piecewise(({x}, {condition}), ({y}, True))"


def _for_sympy(name: str, arguments: list[ast.AST]) -> tuple[str, list[ast.AST]]:
    """Return a call with functions that SymPy has."""
    (argument, *_) = arguments
    text = ast.unparse(argument)
    if name == "expm1":
        return "", [ast.Name(f"exp({text}) - 1")]
    if name == "log1p":
        return "log", [ast.Name(f"1 + {text}")]
    return name, arguments
