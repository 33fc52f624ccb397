"""Arguments are checked with one wording, which names the nearest valid name."""

import math

import numpy as np
import pytest

from keras_vaf.utils import (
    check_choice,
    check_distinct,
    check_flag,
    check_integer,
    check_number,
    check_positive,
    check_seeds,
    check_sizes,
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


@pytest.mark.parametrize("values", [4, "ab", [4, 0], [1.5], None])
def test_sizes_are_positive_integers(values):
    with pytest.raises(ValueError, match=r"`hidden` must be a seq.*Received: hidden="):
        check_sizes("hidden", values)


def test_a_number_may_have_an_upper_bound():
    with pytest.raises(ValueError, match=r"a finite number above 0 and below 1\. Rec"):
        check_number("fraction", 1.0, above=0, below=1)


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.int32])
def test_integers_of_numpy_become_those_of_python(kind):
    assert type(check_integer("k", kind(3))) is int
    assert type(check_sizes("hidden", np.array([3, 2], kind))[0]) is int


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64])
def test_numbers_of_numpy_become_those_of_python(kind):
    assert type(check_number("rate", kind(1))) in (int, float)


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


@pytest.mark.parametrize("values", [(), (-1,), (2**32,), (0.5,), (True,), ("0",)])
def test_seeds_are_integers_that_generators_accept(values):
    with pytest.raises(ValueError, match=r"`seeds` must be integers from 0 to 429"):
        check_seeds("seeds", values)


def test_equal_seeds_are_refused():
    check_seeds("seeds", range(3))
    check_seeds("seeds", np.arange(3))
    with pytest.raises(ValueError, match=r"`seeds` must differ.*Received: 0,0,0$"):
        check_seeds("seeds", (0, 0, 0))


def test_no_name_is_offered_where_none_is_near():
    assert did_you_mean("xyz", ["relu", "tanh"]) == ""
    assert did_you_mean(None, ["relu", "tanh"]) == ""


def test_a_table_aligns_numbers_to_the_right():
    table = markdown_table(["a", "b", "c"], [["x", "y", "1"]], text_columns=2)
    assert table == "| a | b | c |\n| --- | --- | ---: |\n| x | y | 1 |"
