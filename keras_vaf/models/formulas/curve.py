"""`Lines` and `Sum`, a learned function as numbers, and its text in each form."""

import math
from typing import Any, NamedTuple

import keras
import numpy as np

from keras_vaf.ops.activations import Function, name_of
from keras_vaf.ops.functions import evaluate

FORMS = ("text", "latex", "python")
_TIMES = {"text": " ", "latex": r"\,", "python": " * "}
_LATEX_NAMES = ("cos", "sin", "tanh")

# A line up to a knot, the line after the last knot, and all lines together.
_CASES = r"\begin{{cases}} {} \end{{cases}}"
_PIECES = {
    "text": ("{} for a <= {}; ", "{} for a > {}", "{}"),
    "latex": (r"{} & a \le {} \\ ", "{} & a > {}", _CASES),
    "python": ("{} if a <= {} else ", "{}", "{}"),
}

# Each g as an expression in h that avoids overflow and cancellation.
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

_EQUAL = 4 * np.finfo("float64").eps


class Lines(NamedTuple):
    """A continuous function made of straight lines: `slope * a + constant` each."""

    knots: tuple[float, ...]  # ascending
    slopes: tuple[float, ...]  # one more than knots
    constants: tuple[float, ...]

    def values(self, x: np.ndarray) -> np.ndarray:
        """Return f(x)."""
        place = np.searchsorted(self.knots, x)
        return np.take(self.slopes, place) * x + np.take(self.constants, place)


class Sum(NamedTuple):
    """A sum of copies of g: `sum_j beta_j g(alpha_j a + alpha_bias_j) + constant`."""

    g: Function
    units: tuple[tuple[float, float, float], ...]  # alpha, alpha_bias, beta of each
    constant: float

    def values(self, x: np.ndarray) -> np.ndarray:
        """Return f(x)."""
        terms = (beta * evaluate(self.g, a * x + b) for a, b, beta in self.units)
        return sum(terms, np.full(np.shape(x), self.constant))


Curve = Lines | Sum


def rounded(curve: Curve, digits: int) -> Curve:
    """Return a function whose numbers are rounded to `digits` significant digits."""

    def each(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(each, value))
        return value if callable(value) else float(f"{value:.{digits}g}") + 0.0

    return type(curve)(*map(each, curve))


def curve_of(g: Function, units: np.ndarray, constant: float) -> Curve:
    """Return a sum of hidden units, for g = relu as straight lines.

    Units that are constant are added to the constant.
    """
    alpha, bias, beta = units
    flat = (alpha == 0) | (beta == 0)
    level = flat & (beta != 0)
    constant = math.fsum([constant, *beta[level] * evaluate(g, bias[level])])
    kept = units[:, ~flat]
    if g is keras.activations.relu:
        return _lines_of(kept, constant)
    return Sum(g, tuple(map(tuple, kept.T.tolist())), constant)


def _lines_of(units: np.ndarray, constant: float) -> Lines:
    """Return the lines of units, without knots whose changes of the slope cancel."""
    alpha, bias, beta = units
    places = -bias / alpha
    knots = np.sort(places) + 0.0
    knots = knots[np.diff(knots, prepend=-np.inf) > _EQUAL * np.abs(knots)]
    near = np.abs(places - knots[:, None]) <= _EQUAL * np.abs(knots[:, None])
    changes = near * np.abs(alpha) * beta
    total, size = np.sum(changes, axis=1), np.sum(np.abs(changes), axis=1)
    knots = knots[np.abs(total) > _EQUAL * size]
    inside = [-np.inf, *(knots[:-1] + np.diff(knots) / 2), np.inf][: len(knots) + 1]
    active = [alpha * (x - places) > 0 for x in inside]
    slopes = (math.fsum((alpha * beta)[each]) for each in active)
    constants = (math.fsum([constant, *(bias * beta)[each]]) for each in active)
    return Lines(tuple(knots.tolist()), tuple(slopes), tuple(constants))


def with_frame(curves: dict[str, Curve], form: str) -> str:
    """Return the formulas of all functions of a layer, each with its name.

    The functions have an index: `""` for a single function, `"3"` for that of channel
    3, and `"1_3"` for that of position 1 and channel 3.
    """
    texts = {name: written(curve, form) for name, curve in curves.items()}
    if form == "python":
        functions = [
            f"def {f'f_{name}'.rstrip('_')}(a):\n    return {text}\n"
            for name, text in texts.items()
        ]
        first = next(iter(curves.values()))
        code = _code(first.g) if isinstance(first, Sum) else []
        return "\n\n".join([*code, *functions])
    if "" in texts:
        return f"f(a) = {texts['']}"
    if form == "text":
        rows = [f"| {n.replace('_', ', ')} | {text} |" for n, text in texts.items()]
        return "\n".join(["| function | f(a) |", "|---|---|", *rows])
    rows = [f"f_{{{n.replace('_', ',')}}}(a) &= {text}" for n, text in texts.items()]
    return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"


def written(curve: Curve, form: str) -> str:
    """Return the formula of a learned function, as an expression in `a`."""
    if isinstance(curve, Sum):
        name = "g" if form == "python" else _name(curve.g)
        if form == "latex":
            escaped = name.replace("_", r"\_")
            known = name in _LATEX_NAMES
            name = rf"\{name}" if known else rf"\operatorname{{{escaped}}}"
        terms = [
            (beta, f"{name}({_added([(alpha, 'a'), (bias, '')], form)})")
            for alpha, bias, beta in curve.units
        ]
        return _added([*terms, (curve.constant, "")], form)
    pairs = zip(curve.slopes, curve.constants, strict=True)
    *inner, last = [_added([(slope, "a"), (at_0, "")], form) for slope, at_0 in pairs]
    if not inner:
        return last
    piece, end, whole = _PIECES[form]
    knots = [_number(knot, form) for knot in curve.knots]
    text = "".join(map(piece.format, inner, knots)) + end.format(last, knots[-1])
    return whole.format(text)


def _name(g: Function) -> str:
    return str(name_of(g) or getattr(g, "__name__", "g"))


def _added(terms: list[tuple[float, str]], form: str) -> str:
    """Return the sum of factors times texts, without zeros."""
    text = ""
    for factor, what in terms:
        if factor == 0:
            continue
        size = _number(abs(factor), form)
        if what:
            size = "" if size == "1" else size + _TIMES[form]
        sign = "-" if factor < 0 else "+"
        text += f" {sign} " if text else sign.removeprefix("+")
        text += size + what
    return text or "0"


def _number(value: float, form: str) -> str:
    text = repr(value).removesuffix(".0")
    mantissa, _, exponent = text.partition("e")
    if form == "latex" and exponent:
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"
    return text


def _code(g: Function) -> list[str]:
    """Return the code of g in Python, below the import that it needs."""
    known = name_of(g) or g.__module__.startswith("keras_vaf.")
    if not known or _name(g) not in _CODE:
        raise ValueError(
            "The code of g is unknown, so form='python' is not available; use "
            f"form='text' or form='latex'. Received: a layer with g={_name(g)}"
        )
    code = _CODE[_name(g)]
    imports = ["import math\n"] if "math." in code else []
    return [*imports, f"def g(h):\n    return {code}\n"]
