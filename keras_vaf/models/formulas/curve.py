"""`Curve`, a learned function as numbers, and `with_frame`, its text in each form."""

import math
from typing import Any, NamedTuple

import keras
import numpy as np

from keras_vaf.ops.functions import Function, evaluate

FORMS = ("text", "latex")
_TIMES = {"text": " ", "latex": r"\,"}
_LATEX_NAMES = ("cos", "sin", "tanh")

# A line up to a knot, the line after the last knot, and all lines together.
_CASES = r"\begin{{cases}} {} \end{{cases}}"
_PIECES = {
    "text": ("{} for a <= {}; ", "{} for a > {}", "{}"),
    "latex": (r"{} & a \le {} \\ ", "{} & a > {}", _CASES),
}

_EQUAL = 4 * np.finfo("float64").eps


class Curve(NamedTuple):
    """A learned function: `sum_j beta_j g(alpha_j a + alpha_bias_j) + constant`.

    Straight lines are a sum for each interval between knots, with the identity as g.
    """

    g: Function
    units: tuple[tuple[tuple[float, ...], ...], ...]  # alpha, alpha_bias, beta of each
    constants: tuple[float, ...]  # one for each interval
    knots: tuple[float, ...] = ()  # ascending

    def values(self, x: np.ndarray) -> np.ndarray:
        """Return f of a vector."""
        place, y = np.searchsorted(self.knots, x), np.empty_like(x)
        for i, units in enumerate(self.units):
            own = x[place == i]
            terms = (beta * evaluate(self.g, a * own + b) for a, b, beta in units)
            y[place == i] = sum(terms, self.constants[i])
        return y

    def rounded(self, digits: int) -> "Curve":
        """Return the function with numbers of `digits` significant digits."""

        def each(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(map(each, value))
            return float(f"{value:.{digits}g}") + 0.0

        return Curve(self.g, *map(each, self[1:]))


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
    return Curve(g, (tuple(map(tuple, kept.T.tolist())),), (constant,))


def _lines_of(units: np.ndarray, constant: float) -> Curve:
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
    lines = tuple(((1.0, 0.0, math.fsum((alpha * beta)[each])),) for each in active)
    constants = tuple(math.fsum([constant, *(bias * beta)[each]]) for each in active)
    return Curve(keras.activations.linear, lines, constants, tuple(knots.tolist()))


def with_frame(curves: dict[str, Curve], form: str) -> str:
    """Return the formulas of all functions of a layer, each with its name.

    The functions have an index: `""` for a single function, `"3"` for that of channel
    3, and `"1_3"` for that of position 1 and channel 3.
    """
    texts = {name: written(curve, form) for name, curve in curves.items()}
    if "" in texts:
        return f"f(a) = {texts['']}"
    if form == "text":
        rows = [f"| {n.replace('_', ', ')} | {text} |" for n, text in texts.items()]
        return "\n".join(["| function | f(a) |", "|---|---|", *rows])
    rows = [f"f_{{{n.replace('_', ',')}}}(a) &= {text}" for n, text in texts.items()]
    return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"


def written(curve: Curve, form: str) -> str:
    """Return the formula of a learned function, as an expression in `a`."""
    name = curve.g.__name__
    if form == "latex":
        known, escaped = name in _LATEX_NAMES, name.replace("_", r"\_")
        name = rf"\{name}" if known else rf"\operatorname{{{escaped}}}"

    def copy(alpha: float, bias: float) -> str:
        h = _added([(alpha, "a"), (bias, "")], form)
        return h if curve.g is keras.activations.linear else f"{name}({h})"

    sums = []
    for units, constant in zip(curve.units, curve.constants, strict=True):
        terms = [(beta, copy(alpha, bias)) for alpha, bias, beta in units]
        sums.append(_added([*terms, (constant, "")], form))
    *inner, last = sums
    if not inner:
        return last
    piece, end, whole = _PIECES[form]
    knots = [_number(knot, form) for knot in curve.knots]
    text = "".join(map(piece.format, inner, knots)) + end.format(last, knots[-1])
    return whole.format(text)


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
