"""`code_of`, the code of each fixed function g in Python.

Each function is an expression in h, which avoids overflow and cancellation.
"""

from keras_vaf.ops.activations import Function, name_of

_SIGMOID = (
    "(1.0 / (1.0 + math.exp(-h)) if h >= 0 else math.exp(h) / (1.0 + math.exp(h)))"
)
_SOFTPLUS = "max(h, 0.0) + math.log1p(math.exp(-abs(h)))"
_ELU = "(h if h > 0 else math.expm1(h))"
_CODE = {
    "approximate_gelu": "h * (1.0 / (1.0 + math.exp(-s)) if (s := 1.5957691216057308 "
    "* (h + 0.044715 * h * h * h)) >= 0 else math.exp(s) / (1.0 + math.exp(s)))",
    "celu": _ELU,
    "cos": "math.cos(h)",
    "elu": _ELU,
    "erf": "math.erf(h)",
    "exponential": "(math.exp(h) if h < 709.78 else math.inf)",
    "gaussian": "math.exp(-h * h)",
    "gelu": "0.5 * h * math.erfc(-h / math.sqrt(2.0))",
    "hard_shrink": "(h if abs(h) > 0.5 else 0.0)",
    "hard_silu": "h * min(max(h / 6.0 + 0.5, 0.0), 1.0)",
    "log_sigmoid": "min(h, 0.0) - math.log1p(math.exp(-abs(h)))",
    "mish": f"h * math.tanh({_SOFTPLUS})",
    "relu": "max(h, 0.0)",
    "relu_squared": "max(h, 0.0) * max(h, 0.0)",
    "selu": f"1.0507009873554805 * {_ELU.replace('math', '1.6732632423543772 * math')}",
    "sigmoid": _SIGMOID,
    "silu": f"h * {_SIGMOID}",
    "sin": "math.sin(h)",
    "softplus": _SOFTPLUS,
    "softsign": "h / (1.0 + abs(h))",
    "sparse_plus": "(h if h >= 1 else 0.25 * (h + 1.0) * (h + 1.0) if h > -1 else 0.0)",
    "square": "h * h",
    "squareplus": "0.5 * (h + math.sqrt(h * h + 4.0))",
    "tanh": "math.tanh(h)",
    "tanh_shrink": "h - math.tanh(h)",
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
    return _CODE[name]
