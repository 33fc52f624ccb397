"""Arguments are checked with one wording, which names the nearest valid name."""

import math

import pytest

from keras_vaf.utils import (
    check_choice,
    check_distinct,
    check_flag,
    check_integer,
    check_number,
    check_positive,
    did_you_mean,
    markdown_table,
)

pytestmark = pytest.mark.backend("tensorflow")


@pytest.mark.parametrize("value", [0, -1, 2.0, True, "2", None])
def test_an_integer_is_at_least_its_minimum(value):
    with pytest.raises(ValueError, match=r"`k` must be .* at least 1\. Received: k="):
        check_integer("k", value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -0.5, True, "1", None])
def test_a_number_is_finite_and_within_bounds(value):
    with pytest.raises(ValueError, match=r"`factor` must be a finite number of at lea"):
        check_number("factor", value, minimum=0)


@pytest.mark.parametrize("value", [0, -1.0, math.inf, math.nan, False])
def test_a_positive_number_is_above_zero(value):
    with pytest.raises(ValueError, match=r"finite number above 0\. Received: rate="):
        check_positive("rate", value)


def test_what_is_allowed_is_returned():
    assert check_integer("k", 0, minimum=0) == 0
    assert check_number("x", -3) == -3
    assert check_positive("rate", 1e-9) == 1e-9
    assert check_flag("flag", False) is False


@pytest.mark.parametrize("value", [1, None, "yes"])
def test_a_flag_is_a_boolean(value):
    with pytest.raises(ValueError, match="must be True or False"):
        check_flag("flag", value)


@pytest.mark.parametrize("value", ["Relu", "relu ", "ReLU"])
def test_the_nearest_name_is_offered(value):
    with pytest.raises(ValueError, match=r"'relu', 'tanh'\. Did you mean 'relu'\? Rec"):
        check_choice("g", value, ["relu", "tanh"])


def test_equal_values_are_refused():
    with pytest.raises(ValueError, match=r"`seeds` must differ.*Received: 0,1,0$"):
        check_distinct("seeds", (0, 1, 0))


def test_no_name_is_offered_where_none_is_near():
    assert did_you_mean("xyz", ["relu", "tanh"]) == ""
    assert did_you_mean(None, ["relu", "tanh"]) == ""


def test_a_table_aligns_numbers_to_the_right():
    table = markdown_table(["a", "b", "c"], [["x", "y", "1"]], text_columns=2)
    assert table == "| a | b | c |\n| --- | --- | ---: |\n| x | y | 1 |"
