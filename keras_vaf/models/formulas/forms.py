"""`written` and `with_frame`, which write learned functions in each form."""

from keras_vaf.models.formulas.curve import Curve, Sum
from keras_vaf.models.formulas.fixed_code import code_of, display_name

FORMS = ("text", "latex", "python")
_TIMES = {"text": " ", "latex": r"\,"}
_LATEX_NAMES = ("cos", "sin", "tanh")

# A line up to a knot, the line after the last knot, and all lines together.
_PIECES = {
    "text": ("{} for a <= {}; ", "{} for a > {}", "{}"),
    "latex": (
        r"{} & a \le {} \\ ",
        "{} & a > {}",
        r"\begin{{cases}} {} \end{{cases}}",
    ),
    "python": ("{} if a <= {} else ", "{}", "{}"),
}


def written(curve: Curve, form: str) -> str:
    """Return the formula of a learned function, as an expression in `a`.

    Args:
        curve: The function.
        form: `"text"`, `"latex"` or `"python"`.

    Raises:
        ValueError: If the code of g is unknown.
    """
    if isinstance(curve, Sum):
        terms = [
            (beta, _of_g(curve, _affine(alpha, bias, form), form))
            for alpha, bias, beta in curve.units
        ]
        return _added([*terms, (curve.constant, "")], form)
    pairs = zip(curve.slopes, curve.constants, strict=True)
    *inner, last = [_affine(*pair, form) for pair in pairs]
    if not inner:
        return last
    piece, end, whole = _PIECES[form]
    knots = [_number(knot, form) for knot in curve.knots]
    text = "".join(map(piece.format, inner, knots)) + end.format(last, knots[-1])
    return whole.format(text)


def _of_g(curve: Sum, argument: str, form: str) -> str:
    if form == "python":
        return f"g({argument})"
    name = display_name(curve.g)
    if form == "latex":
        escaped = name.replace("_", r"\_")
        known = name in _LATEX_NAMES
        name = rf"\{name}" if known else rf"\operatorname{{{escaped}}}"
    return f"{name}({argument})"


def _affine(slope: float, constant: float, form: str) -> str:
    return _added([(slope, "a"), (constant, "")], form)


def _added(terms: list[tuple[float, str]], form: str) -> str:
    """Return the sum of factors times texts, without zeros."""
    text = ""
    for factor, what in terms:
        if factor == 0:
            continue
        size = _number(abs(factor), form)
        if what:
            size = "" if size == "1" else size + _TIMES.get(form, " * ")
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


def with_frame(curves: dict[str, Curve], form: str) -> str:
    """Return the formulas of all functions of a layer, each with its name.

    Args:
        curves: The functions by their index: `""` for a single function, `"3"` for the
            function of channel 3, `"1_3"` for that of position 1 and channel 3.
        form: As for `written`.

    Raises:
        ValueError: If the code of g is unknown.
    """
    texts = {name: written(curve, form) for name, curve in curves.items()}
    alone = texts.get("")
    if form == "python":
        return _program(curves, texts)
    if alone:
        return f"f(a) = {alone}"
    if form == "text":
        rows = [f"| {n.replace('_', ', ')} | {text} |" for n, text in texts.items()]
        return "\n".join(["| function | f(a) |", "|---|---|", *rows])
    rows = [f"f_{{{n.replace('_', ',')}}}(a) &= {text}" for n, text in texts.items()]
    return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"


def _program(curves: dict[str, Curve], texts: dict[str, str]) -> str:
    """Return the functions in Python, each called `f` or `f_INDEX`."""
    parts = []
    g = next((curve.g for curve in curves.values() if isinstance(curve, Sum)), None)
    if g is not None:
        code = code_of(g)
        if "math." in code:
            parts.append("import math\n")
        parts.append(f"def g(h):\n    return {code}\n")
    for name, text in texts.items():
        called = f"f_{name}".rstrip("_")
        parts.append(f"def {called}(a):\n    return {text}\n")
    return "\n\n".join(parts)
