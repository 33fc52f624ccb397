"""`with_frame` and `written`, which write learned functions in each form."""

from keras_vaf.models.formulas.curve import Curve, Sum
from keras_vaf.ops.activations import Function, name_of

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


def with_frame(curves: dict[str, Curve], form: str) -> str:
    """Return the formulas of all functions of a layer, each with its name.

    Args:
        curves: The functions by their index: `""` for a single function, `"3"` for the
            function of channel 3, `"1_3"` for that of position 1 and channel 3.
        form: `"text"`, `"latex"` or `"python"`.

    Raises:
        ValueError: If the form is `"python"` and the code of g is unknown.
    """
    texts = {name: written(curve, form) for name, curve in curves.items()}
    if form == "python":
        functions = [
            f"def {f'f_{name}'.rstrip('_')}(a):\n    return {text}\n"
            for name, text in texts.items()
        ]
        return "\n\n".join([*_code(next(iter(curves.values()))), *functions])
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
        name = _name(curve.g, form)
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


def _name(g: Function, form: str) -> str:
    """Return the name of a fixed function in a form."""
    if form == "python":
        return "g"
    name = str(name_of(g) or getattr(g, "__name__", "g"))
    if form == "text":
        return name
    if name in _LATEX_NAMES:
        return rf"\{name}"
    escaped = name.replace("_", r"\_")
    return rf"\operatorname{{{escaped}}}"


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


def _code(curve: Curve) -> list[str]:
    """Return the code of g in Python, or nothing for straight lines."""
    if not isinstance(curve, Sum):
        return []
    name = _name(curve.g, "text")
    known = name_of(curve.g) or curve.g.__module__.startswith("keras_vaf.")
    if name not in _CODE or not known:
        raise ValueError(
            "The code of g is unknown, so form='python' is not available; use "
            f"form='text' or form='latex'. Received: a layer with g={name}"
        )
    code = _CODE[name]
    imports = ["import math\n"] if "math." in code else []
    return [*imports, f"def g(h):\n    return {code}\n"]
