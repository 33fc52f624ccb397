"""Arguments are checked with one wording, which names the nearest valid name."""

import math
from functools import partial

import numpy as np
import pytest

from keras_vaf.utils import (
    check_choice,
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


@pytest.mark.parametrize(
    ("check", "said", "values"),
    [
        (check_integer, r"must be .* at least 1\. Rec", (0, -1, 2.0, True, "2", None)),
        (
            partial(check_number, minimum=0),
            "must be a finite number of at least 0. Rec",
            (math.nan, math.inf, -0.5, True, "1", None, 10**400),
        ),
        (partial(check_number, above=0, below=1), "above 0 and below 1. Rec", (0, 1)),
        (check_positive, r"number above 0\. Rec", (0, -1.0, math.inf, math.nan, False)),
        (check_sizes, "must be a sequence of", (4, "ab", [4, 0], [1.5], None)),
        (check_flag, "must be True or False", (1, None, "yes")),
        (check_seeds, "must be integers from 0 to", ((), (-1,), (2**32,), (0.5,))),
        (check_seeds, "must differ", ((0, 0, 0),)),
    ],
)
def test_what_is_refused_is_named(check, said, values):
    for value in values:
        with pytest.raises(ValueError, match=f"`name` .*{said}"):
            check("name", value)


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.int32])
def test_numbers_of_numpy_become_those_of_python(kind):
    assert type(check_integer("k", kind(3))) is int
    assert type(check_sizes("hidden", np.array([3, 2], kind))[0]) is int
    assert type(check_number("rate", np.float32(1))) is float

    assert check_positive("rate", 1e-9) == 1e-9
    check_seeds("seeds", np.arange(3))


@pytest.mark.parametrize("value", ["Relu", "relu ", "ReLU"])
def test_the_nearest_name_is_offered(value):
    with pytest.raises(ValueError, match=r"'relu', 'tanh'\. Did you mean 'relu'\? Rec"):
        check_choice("g", value, ["relu", "tanh"])
    assert did_you_mean("xyz", ["relu", "tanh"]) == ""
    assert did_you_mean(None, ["relu", "tanh"]) == ""


def test_a_table_aligns_numbers_to_the_right():
    table = markdown_table(["a", "b", "c"], [["x", "y", "1"]], text_columns=2)
    assert table == "| a | b | c |\n| --- | --- | ---: |\n| x | y | 1 |"
