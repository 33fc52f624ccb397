"""A user's own table is read as it is, or one sentence says what to mend and where."""

import numpy as np
import pytest

from keras_vaf.datasets import read_csv

pytestmark = pytest.mark.backend("tensorflow")


@pytest.fixture
def write(tmp_path):
    def write_table(text, name="own.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write_table


def test_a_table_with_text_classes(write):
    path = write("a,kind,b\n1,pear,-2.5\n3,apple,4e1\n5,pear,6\n")
    dataset = read_csv(path, target="kind")
    assert (dataset.name, dataset.task) == ("own", "classification")
    assert dataset.source == str(path)
    assert dataset.feature_names == ("a", "b")
    assert dataset.class_names == ("apple", "pear")
    np.testing.assert_array_equal(dataset.x, [[1, -2.5], [3, 40], [5, 6]])
    np.testing.assert_array_equal(dataset.y, [1, 0, 1])


@pytest.mark.parametrize(
    "text",
    [
        "a,b,y\r\n1,2,0.5\r\n3,4,1.5\r\n",
        "a;b;y\n1;2;0.5\n3;4;1.5",
        "a\tb\ty\n1\t2\t0.5\n\n3\t4\t1.5\n,,\n".replace(",", "\t"),
        "\ufeffa,b,y\n1,2,0.5\n3,4,1.5\n",
        '"a","b","y"\n" 1",2,"0.5"\n3,4,1.5\n',
        "a,b,y\r1,2,0.5\r3,4,1.5\r",
    ],
    ids=["CRLF", "semicolons", "tabs and empty lines", "BOM", "quotes", "CR"],
)
def test_the_same_table_in_other_dress(write, text):
    dataset = read_csv(write(text), target="y")
    assert dataset.task == "regression"
    assert dataset.y.dtype == np.float32
    np.testing.assert_array_equal(dataset.x, [[1, 2], [3, 4]])
    np.testing.assert_array_equal(dataset.y, [0.5, 1.5])


class TestTask:
    def test_few_whole_numbers_are_classes_ordered_by_number(self, write):
        dataset = read_csv(write("a,y\n1,10\n2,9\n3,10\n"), target="y")
        assert dataset.class_names == ("9", "10")
        np.testing.assert_array_equal(dataset.y, [1, 0, 1])

    def test_many_whole_numbers_are_a_regression(self, write):
        rows = "".join(f"0,{number}\n" for number in range(21))
        assert read_csv(write("a,y\n" + rows), target="y").task == "regression"

    def test_the_user_may_say_otherwise(self, write):
        path = write("a,y\n1,10\n2,9\n3,10\n")
        dataset = read_csv(path, target="y", task="regression")
        np.testing.assert_array_equal(dataset.y, [10, 9, 10])

    def test_decimals_may_be_classes(self, write):
        dataset = read_csv(write("a,y\n1,.5\n2,.25\n"), "y", task="classification")
        assert dataset.class_names == (".25", ".5")


def test_categories_become_indices(write):
    path = write("size,colour,y\n1,red,0.5\n2,?,1.5\n1,blue,2.5\n")
    dataset = read_csv(path, target="y", categories=("colour", "size"))
    assert dataset.categories == {0: ("1", "2"), 1: ("blue", "red")}
    np.testing.assert_array_equal(dataset.x, [[0, 1], [1, np.nan], [0, 0]])


@pytest.mark.parametrize("mark", ["", "?", "NA", "N/A", "nan", "null"])
def test_a_missing_entry_is_nan(write, mark):
    dataset = read_csv(write(f"a,b,y\n1,{mark},0.5\n3,4,1.5\n"), target="y")
    np.testing.assert_array_equal(dataset.x, [[1, np.nan], [3, 4]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "own.csv, line 1: expected the names of the columns"),
        ("\n \n", "own.csv, line 1: expected the names of the columns"),
        ("a,y\n", "own.csv, line 1: expected at least one row"),
        ("a,b\n1,2\n", "own.csv has no column 'y' .* Its columns: a, b"),
        ("y\n1\n2\n", "own.csv, line 1: expected a column besides the target"),
        ("a,a,y\n1,2,3\n", "own.csv, line 1: column names must differ.*'a'"),
        ("a,y\n1,2\n\n1,2,3\n", "own.csv, line 4: expected 2 values. Received: 3"),
        ("a,y\n1,2.5\nred,3\n", "line 3: column 'a' .* `categories`.* 'red'"),
        ("a,y\n1,2.5\ninf,3\n", "line 3: column 'a' must hold finite.* 'inf'"),
        ("a,y\n1,2.5\n1e39,3\n", "line 3: column 'a' must hold finite.* '1e39'"),
        ("a,y\n1,2.5\n1,\n", "line 3: the target column 'y' must not have missing"),
        ("a,y\n1,no\n2,no\n", "own.csv: the target column 'y' .* two classes.* 'no'"),
        ("a,y\n1,1\n2,1.0\n3,0\n", "own.csv: the column 'y' must write each number"),
        ('a,y\n1,"2\n3,4\n', "own.csv, line 3: expected a row of cells"),
        (b"a,y\n1,2\n\xff,3\n", "own.csv, line 3: expected text in UTF-8.* 0xff"),
    ],
)
def test_what_to_mend_is_said_in_one_sentence(write, text, message):
    with pytest.raises(ValueError, match=message):
        read_csv(write(text), target="y")


def test_an_unknown_task_is_refused(write):
    with pytest.raises(ValueError, match="'classification', 'regression' or None"):
        read_csv(write("a,y\n1,2\n"), target="y", task="ranking")


def test_an_unknown_category_is_refused(write):
    with pytest.raises(ValueError, match="no column 'colour' to take as a category"):
        read_csv(write("a,y\n1,2.5\n"), target="y", categories=("colour",))


def test_a_regression_on_text_names_the_line(write):
    with pytest.raises(ValueError, match="line 2: column 'y' must hold numbers"):
        read_csv(write("a,y\n1,low\n"), target="y", task="regression")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"absent\.csv"):
        read_csv(tmp_path / "absent.csv", target="y")
