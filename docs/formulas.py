"""`latex`, which typesets the formulas of docstrings.

Docstrings write formulas as Python expressions, with `^` for powers, `sum_{i=1..n}` for
sums, `|x|` for absolute values and ` . ` for inner products.
"""

import ast
import re

_GREEK = {"alpha", "beta", "gamma", "delta", "eta"}
_FUNCTIONS = {"exp", "max", "min", "sin", "tanh"}
# The names of biases, with their symbols in the paper.
_BIASES = {"alpha_bias": r"\alpha_{0", "beta_bias": r"\beta_{0"}
_RANGE = re.compile(r"\b(sum|max)_\{(\w)=(\d)\.\.(\w+)\}")
_PRECEDENCE = {ast.Add: 1, ast.Sub: 1, ast.Mult: 2, ast.MatMult: 2, ast.Pow: 4}
_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: r"\,", ast.MatMult: r"\cdot"}
_RELATIONS = {ast.Lt: "<", ast.LtE: r"\le", ast.Gt: ">", ast.GtE: r"\ge"}


def latex(formula: str) -> str:
    """Return the LaTeX of a formula of a docstring.

    Args:
        formula: One or more lines. Two spaces separate an equation from its condition,
            which is a comparison after `for`, an equation, or words.
    """
    rows = [
        " & ".join(_part(part) for part in re.split(r",?\s{2,}", line.strip()))
        for line in formula.strip().splitlines()
    ]
    if len(rows) == 1:
        return rows[0].replace(" & ", r" \qquad ")
    return r"\begin{array}{ll}" + r" \\ ".join(rows) + r"\end{array}"


def _part(text: str) -> str:
    if text.startswith("for "):
        return r"\text{for } " + _expression(text.removeprefix("for "))
    left, equals, right = text.partition(" = ")
    if equals:
        return f"{_expression(left)} = {_expression(right)}"
    return rf"\text{{{text.strip('()')}}}"


def _expression(text: str) -> str:
    text = _RANGE.sub(r"RANGE_\1_\2_\3_\4 *", text.replace("^", "**"))
    text = re.sub(r"\|(.*)\|", r"abs(\1)", text).replace(" . ", " @ ")
    return _latex(ast.parse(text, mode="eval").body)


def _latex(node: ast.expr, least: int = 0) -> str:
    """Return the LaTeX of a node, in parentheses if its precedence is below `least`."""
    match node:
        case ast.Name(name):
            return _symbol(name)
        case ast.Constant(value):
            return str(value)
        case ast.UnaryOp(ast.USub(), operand):
            return f"-{_latex(operand, 2)}"
        case ast.Call(ast.Name("abs"), [argument]):
            return rf"\left| {_latex(argument)} \right|"
        case ast.Call(ast.Name("sqrt"), [argument]):
            return rf"\sqrt{{{_latex(argument)}}}"
        case ast.Call(function, arguments):
            inside = ", ".join(map(_latex, arguments))
            return rf"{_latex(function)} \left( {inside} \right)"
        case ast.Compare(left, relations, others):
            signs = (_RELATIONS[type(relation)] for relation in relations)
            rest = (f" {s} {_latex(o)}" for s, o in zip(signs, others, strict=True))
            return _latex(left) + "".join(rest)
        case ast.BinOp(left, ast.Div(), right):
            return rf"\frac{{{_latex(left)}}}{{{_latex(right)}}}"
        case ast.BinOp(left, ast.Pow(), right):
            return f"{_latex(left, 4)}^{{{_latex(right)}}}"
        case ast.BinOp(ast.Name(name), ast.Mult(), right) if name.startswith("RANGE_"):
            return f"{_symbol(name)} {_latex(right, 2)}"
        case ast.BinOp(left, operator, right):
            own = _PRECEDENCE[type(operator)]
            sign = _OPERATORS[type(operator)]
            second = _latex(right, own + isinstance(operator, ast.Sub))
            text = f"{_latex(left, own)} {sign} {second}"
            return text if own >= least else rf"\left( {text} \right)"
    raise ValueError(f"Expected a formula. Received: {ast.unparse(node)!r}")


def _symbol(name: str) -> str:
    if name.startswith("RANGE_"):
        _, kind, index, first, last = name.split("_")
        if kind == "max":
            return rf"\max_{{{index} = {first}, \ldots, {last}}}"
        return rf"\sum_{{{index}={first}}}^{{{_symbol(last)}}}"
    for bias, start in _BIASES.items():
        if name.startswith(bias):
            return start + name.removeprefix(bias).lstrip("_") + "}"
    head, _, index = name.rpartition("_")
    if not head or len(index) > 2:
        head, index = name, ""
    if head in _GREEK or head in _FUNCTIONS:
        head = f"\\{head}"
    elif len(head) > 1:
        head = rf"\text{{{head}}}"
    return f"{head}_{{{index}}}" if index else head
