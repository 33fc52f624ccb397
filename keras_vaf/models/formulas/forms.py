"""`write`, which writes learned functions as text, LaTeX or program code."""

from keras_vaf.models.formulas.curve import Lines, Sum
from keras_vaf.models.formulas.fixed_code import code_of, display_name

Curve = Lines | Sum
FULL = 17
"""Number of digits from which on numbers are printed exactly."""
FORMS = ("text", "latex", "python", "c", "sympy")
_TIMES = {"text": " ", "latex": r"\,"}
_LATEX_NAMES = ("cos", "sin", "tanh")


def write(curve: Curve, form: str, digits: int) -> str:
    """Return the formula of a learned function, as an expression in `a`.

    Args:
        curve: The function.
        form: `"text"`, `"latex"`, `"python"`, `"c"` or `"sympy"`.
        digits: Number of significant digits.

    Raises:
        ValueError: If the code of g is unknown.
    """
    writer = _Writer(form, digits)
    return writer.sum(curve) if isinstance(curve, Sum) else writer.lines(curve)


class _Writer:
    """Writes expressions in one form, with so many significant digits."""

    def __init__(self, form: str, digits: int) -> None:
        self._form = form
        self._digits = digits

    def lines(self, curve: Lines) -> str:
        """Return lines with their conditions."""
        lines = [
            self._affine(slope, constant)
            for slope, constant in zip(curve.slopes, curve.constants, strict=True)
        ]
        *inner, last = lines
        knots = [self._number(knot) for knot in curve.knots]
        if not inner:
            return last
        pairs = list(zip(inner, knots, strict=True))
        if self._form == "text":
            pieces = "; ".join(f"{line} for a <= {knot}" for line, knot in pairs)
            return f"{pieces}; {last} for a > {knots[-1]}"
        if self._form == "latex":
            rows = r" \\ ".join(rf"{line} & a \le {knot}" for line, knot in pairs)
            ending = rf"{last} & a > {knots[-1]}"
            return rf"\begin{{cases}} {rows} \\ {ending} \end{{cases}}"
        if self._form == "sympy":
            pieces = ", ".join(f"({line}, a <= {knot})" for line, knot in pairs)
            return f"Piecewise({pieces}, ({last}, True))"
        choose = (
            "{0} if a <= {1} else " if self._form == "python" else "a <= {1} ? {0} : "
        )
        return "".join(choose.format(*pair) for pair in pairs) + last

    def sum(self, curve: Sum) -> str:
        """Return a sum of copies of g."""
        terms = [
            (beta, self._of_g(curve, self._affine(alpha, bias)))
            for alpha, bias, beta in curve.units
        ]
        return self._added([*terms, (curve.constant, "")])

    def _of_g(self, curve: Sum, argument: str) -> str:
        if self._form in ("python", "c"):
            return f"g({argument})"
        if self._form == "sympy":
            return f"({code_of(curve.g, 'sympy', f'({argument})')})"
        name = display_name(curve.g)
        if self._form == "text":
            return f"{name}({argument})"
        escaped = name.replace("_", r"\_")
        name = rf"\{name}" if name in _LATEX_NAMES else rf"\operatorname{{{escaped}}}"
        return f"{name}({argument})"

    def _affine(self, slope: float, constant: float) -> str:
        return self._added([(slope, "a"), (constant, "")])

    def _added(self, terms: list[tuple[float, str]]) -> str:
        """Return the sum of factors times texts, without zeros."""
        text = ""
        for factor, what in terms:
            size = self._number(abs(factor))
            if float(f"{factor:.{self._digits}g}") == 0:
                continue
            if text:
                text += " - " if factor < 0 else " + "
            elif factor < 0:
                text = "-"
            if what and size == "1":
                text += what
            else:
                text += f"{size}{_TIMES.get(self._form, ' * ')}{what}" if what else size
        return text or "0"

    def _number(self, value: float) -> str:
        text = repr(value) if self._digits >= FULL else f"{value:.{self._digits}g}"
        text = text.removesuffix(".0")
        mantissa, _, exponent = text.partition("e")
        if self._form == "latex" and exponent:
            return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"
        return text


def with_frame(curves: dict[str, Curve], form: str, digits: int) -> str:
    """Return the formulas of all functions of a layer, each with its name.

    Args:
        curves: The functions by their index: `""` for a single function, `"3"` for the
            function of channel 3, `"1_3"` for that of position 1 and channel 3.
        form: As for `write`.
        digits: Number of significant digits.

    Raises:
        ValueError: If the code of g is unknown.
    """
    written = {name: write(curve, form, digits) for name, curve in curves.items()}
    if form == "text":
        return _text(written)
    if form == "latex":
        rows = [f"{_latex_name(name)}(a) &= {text}" for name, text in written.items()]
        if len(rows) == 1:
            return rows[0].replace("&= ", "= ")
        return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"
    if form == "sympy":
        values = list(written.values())
        return values[0] if "" in written else f"[{', '.join(values)}]"
    return _program(curves, written, form)


def _text(written: dict[str, str]) -> str:
    if "" in written:
        return f"f(a) = {written['']}"
    rows = [f"| {name.replace('_', ', ')} | {text} |" for name, text in written.items()]
    return "\n".join(["| function | f(a) |", "|---|---|", *rows])


def _latex_name(name: str) -> str:
    return f"f_{{{name.replace('_', ',')}}}" if name else "f"


def _program(curves: dict[str, Curve], written: dict[str, str], form: str) -> str:
    """Return the functions in Python or C, each called `f` or `f_INDEX`."""
    g = next((curve.g for curve in curves.values() if isinstance(curve, Sum)), None)
    code = "" if g is None else code_of(g, form)
    names = {f"f_{name}" if name else "f": text for name, text in written.items()}
    if form == "python":
        parts = ["import math\n"] if "math." in code else []
        parts += [f"def g(h):\n    return {code}\n"] if code else []
        parts += [
            f"def {name}(a):\n    return {text}\n" for name, text in names.items()
        ]
        return "\n\n".join(parts)
    parts = ["#include <math.h>\n"] if code else []
    head = "static double g(double h)"
    parts += [f"{head} {{\n    return {code};\n}}\n"] if code else []
    parts += [
        f"double {name}(double a) {{\n    return {text};\n}}\n"
        for name, text in names.items()
    ]
    return "\n".join(parts)
