"""Formulas of docstrings are typeset on the pages of the reference."""

import inspect
import re

import pytest
from formulas import latex

from keras_vaf import layers

pytestmark = pytest.mark.backend("tensorflow")

FORMULA = re.compile(r"Formula:\n\n```\n(.*?)\n```", re.S)


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("p = q", "p = q"),
        ("f(a) = alpha * a", r"f \left( a \right) = \alpha \, a"),
        ("p = (a + b) * c", r"p = \left( a + b \right) \, c"),
        ("p = a - (b - c)", r"p = a - \left( b - c \right)"),
        ("p = a + b * c", r"p = a + b \, c"),
        ("p = alpha / beta * a", r"p = \frac{\alpha}{\beta} \, a"),
        ("p = sin(a)^2", r"p = \sin \left( a \right)^{2}"),
        ("p = sum_{j=1..k} b_j + beta_bias", r"p = \sum_{j=1}^{k} b_{j} + \beta_{0}"),
        ("p = max_{j=1..k} z_ij", r"p = \max_{j = 1, \ldots, k} z_{ij}"),
        ("p = alpha_bias_j", r"p = \alpha_{0j}"),
        ("p = |a|", r"p = \left| a \right|"),
        ("p = a     for a >= 0", r"p = a \qquad \text{for } a \ge 0"),
        ("p = a     for b <= a < c", r"p = a \qquad \text{for } b \le a < c"),
        ("p = mixing     (mixed)", r"p = \text{mixing} \qquad \text{mixed}"),
        ("p = x . W_ij", r"p = x \cdot W_{ij}"),
    ],
)
def test_a_formula_becomes_latex(formula, expected):
    assert latex(formula) == expected


def test_several_lines_are_aligned():
    expected = r"\begin{array}{ll}p = a & \text{for } a > 0 \\ q = b\end{array}"
    assert latex("p = a    for a > 0\nq = b") == expected


def test_a_formula_that_cannot_be_typeset_raises():
    with pytest.raises(ValueError, match="Expected a formula"):
        latex("p = [a]")


@pytest.mark.parametrize("name", layers.__all__)
def test_the_formula_of_every_layer_is_typeset(name):
    text = inspect.getdoc(getattr(layers, name))
    for formula in FORMULA.findall(text):
        assert latex(formula)
