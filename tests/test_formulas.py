"""Formulas of docstrings are typeset on the pages of the reference."""

import inspect
import re

import pytest
from api_docstrings import WITHOUT_PICTURE
from effect_pictures import effects
from formulas import latex

from keras_vaf import constraints, initializers, layers, optimizers, regularizers

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
        ("p = sqrt(6 / k)", r"p = \sqrt{\frac{6}{k}}"),
        ("p = max(0, a)", r"p = \max \left( 0, a \right)"),
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


DOCUMENTED = {
    name: inspect.getdoc(getattr(package, name))
    for package in (layers, initializers, regularizers, constraints, optimizers)
    for name in package.__all__
}


@pytest.mark.parametrize("name", DOCUMENTED)
def test_every_formula_is_typeset(name):
    for formula in FORMULA.findall(DOCUMENTED[name]):
        assert latex(formula)


def test_every_start_penalty_and_constraint_with_a_formula_has_a_picture():
    found = {name for name, text in DOCUMENTED.items() if FORMULA.search(text)}
    pictures = effects()
    assert found - {*layers.__all__} - WITHOUT_PICTURE == pictures.keys()
    assert all(each.startswith(b"\x89PNG") for each in pictures.values())
