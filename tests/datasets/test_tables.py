"""A user's own table is read as it is, or one message lists what to change.

Expected numbers come from Python, pandas or the writers of the formats.
"""

import datetime
import re

import numpy as np
import openpyxl
import pandas
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keras_vaf.datasets import Preprocessing, TableEncoder, TableError, read_table
from keras_vaf.datasets.tables.files import open_table

pytestmark = pytest.mark.backend("tensorflow")

ROWS = 40
NUMBERS = np.random.default_rng(0).normal(0, 5000, ROWS).round(2).tolist()
DAYS = [datetime.date(2020, 1, 1) + datetime.timedelta(7 * n) for n in range(ROWS)]


@pytest.fixture
def write(tmp_path):
    def write_table(text, name="own.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write_table


def column(cells, separator=";", target=None):
    """Return a table of an input c, whose cells repeat, and a target y."""
    target = [f"{n}.5" for n in range(ROWS)] if target is None else target
    cells = [cells[n % len(cells)] for n in range(ROWS)]
    rows = (f'"{c}"{separator}{y}' for c, y in zip(cells, target, strict=True))
    return "\n".join([f"c{separator}y", *rows])


TABLE = "a,größe,y\n1,2,0.5\n3,NA,1.5\n,4,-2e1\n"


def test_blanks_and_empty_rows_change_nothing(write):
    for text in (TABLE, f"\n{TABLE}\n  \n,,\n", TABLE.replace(",", " , ")):
        dataset = read_table(write(text), "y", "regression")
        assert (dataset.name, dataset.feature_names) == ("own", ("a", "größe"))
        np.testing.assert_array_equal(dataset.x, [[1, 2], [3, np.nan], [np.nan, 4]])
        np.testing.assert_array_equal(dataset.y, [0.5, 1.5, -20])


def test_a_file_without_names_is_refused_until_the_option_is_given(write):
    iris = write("5.1,3.5,0\n4.9,3.0,1\n4.7,3.2,0\n", "iris.data")
    with pytest.raises(TableError, match=r"^iris.*--no-header.*: 5\.1, 3\.5, 0$"):
        read_table(iris, "0")
    dataset = read_table(iris, "3", header=False)
    assert dataset.feature_names == ("1", "2")
    assert len(dataset.x) == 3
    for names in ("150,4,setosa,y", "city,2019,2020,y", "0,1,2,y"):
        with pytest.raises(TableError, match="--no-header"):
            read_table(write(f"{names}\n1.5,2,0.5,0\n3.5,4,1.5,1\n"), "y")


@pytest.mark.skipif(pandas.__version__ < "3", reason="refuses such a date")
def test_a_date_that_means_no_end_is_read(write):
    x = read_table(write(column(["9999-12-31", "2024-01-01", "1066-10-14"])), "y").x
    days = [datetime.date(*day).toordinal() for day in ((9999, 12, 31), (1066, 10, 14))]
    assert x[0, 0] - x[2, 0] == days[0] - days[1]


TARGET = [f"{n},5" for n in range(ROWS)]


def test_a_decimal_mark_is_a_property_of_the_column(write):
    dataset = read_table(write(column(["1,5", "2,25"], target=TARGET)), "y")
    encoder = TableEncoder.of(dataset, Preprocessing().fit(dataset, slice(None)))
    typed = encoder.encode(pandas.DataFrame({"c": [5.5, "7,5"]}))
    assert typed.tolist() == [[5.5], [7.5]]
    assert encoder.encode(open_table(write("c;d\n2,5;1\n"))).tolist() == [[2.5]]
    with pytest.raises(TableError, match=r"Received: '1\.234'$"):
        encoder.encode(open_table(write("c;d\n1.234;1\n")))


def test_the_order_of_day_and_month_is_asked_for(write):
    path = write(column(["1/2/2024", "3/2/2024"]))
    with pytest.raises(TableError, match="--dates day-first"):
        read_table(path, "y")
    for order, dayfirst in (("day-first", True), ("month-first", False)):
        x = read_table(path, "y", dates=order).x[:2, 0]
        dates = pandas.to_datetime(["1/2/2024", "3/2/2024"], dayfirst=dayfirst)
        np.testing.assert_array_equal(x, (dates - pandas.Timestamp(0)).days)


KINDS = {  # cells, values of the first two rows, a part of the notes
    "truth": (["True", "false", ""], [1, 0], "True or false"),
    "text": (["red", "blue", "?"], [1, 0], "Categories .*: c \\(2\\)"),
    "words": (["k.A.", *range(1, 39)], [np.nan, 1], "Missing entries, .*: c"),
    "identifiers": ([f"id {n}" for n in range(ROWS)], [], "'c': its text differs"),
    "constant": ([7], [], "'c': it has one value"),
}


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_of_column_has_a_rule_that_the_notes_state(write, name):
    cells, first, note = KINDS[name]
    draw = np.random.default_rng(2)
    other = zip(column(cells).split("\n"), ["b", *draw.normal(size=ROWS)], strict=True)
    dataset = read_table(write("\n".join(f"{b};{text}" for text, b in other)), "y")
    assert dataset.feature_names == (("b", "c") if first else ("b",))
    assert re.search(note, "\n".join(dataset.notes))
    np.testing.assert_array_equal(dataset.x[:2, 1:].ravel(), first)


def test_notes_name_dates_that_are_text_and_numbers_that_count_rows(write):
    rows = [f"{n + 1};day {n % 3};{n % 7}.5;{n}.5" for n in range(ROWS)]
    path = write("\n".join(["ID;sale_date;b;y", *rows]))
    *_, text, counted = read_table(path, "y").notes
    assert text.startswith("Column 'sale_date' is text: its dates are not like 2024-")
    assert counted.startswith("Column 'ID' has consecutive numbers; use `--ignore ID`")
    notes = read_table(path, "y", ignore=["ID"], categories=["sale_date"]).notes
    assert not any("Column" in note for note in notes)


def test_targets_are_classes_or_numbers(write):
    def read(cells, **options):
        draw = np.random.default_rng(1).normal(size=ROWS)
        target = [cells[n % len(cells)] for n in range(ROWS)]
        return read_table(write(column(draw, target=target)), "y", **options)

    assert read(["10", "9"]).class_names == ("9", "10")
    assert any("2 classes, 9, 10 (see `--task`)" in n for n in read(["10", "9"]).notes)
    assert read(["10", "9"], task="regression").class_names is None
    assert read(["pear", "True"]).class_names == ("True", "pear")
    assert read([".5", ".25"], task="classification").class_names == (".25", ".5")
    assert read([*range(ROWS)]).class_names is None
    assert read([*range(9)]).class_names is None  # fewer than five rows of each
    assert len(read([*range(8)]).class_names) == 8
    assert len(read(["", "2.5", "k.A.", "3.5"]).y) == ROWS // 2


def test_groups_and_times_are_no_inputs(write):
    rows = "".join(f"{'pq'[n % 2]},{day},{n}.5\n" for n, day in enumerate(DAYS))
    path = write("g,d,y\n" + rows)
    grouped, timed = read_table(path, "y", groups="g"), read_table(path, "y", time="d")
    assert "use `--time d`" in grouped.notes[-1]
    assert (grouped.feature_names, timed.feature_names) == (("d",), ("g",))
    assert grouped.groups[:3].tolist() == [0, 1, 0]
    assert np.diff(timed.times).tolist() == [7] * (ROWS - 1)
    assert not any("--time" in note for note in timed.notes)
    assert read_table(path, "y", ignore=["g"]).feature_names == ("d",)
    with pytest.raises(TableError, match=r"row 2: .* the time and .*Received: 'p'"):
        read_table(path, "y", time="g")
    for roles in ({"time": "g", "groups": "d"}, {"groups": "y"}, {"ignore": ["y"]}):
        with pytest.raises(ValueError, match=r"must not be in `|not by both"):
            read_table(path, "y", **roles)


REFUSED = {
    "": "expected a table; .* Received: Empty CSV file",
    "a,y\n": "expected at least one row",
    "a,b\n1,2\n": "column 'y' is missing; name one of the columns: a, b.*--separator",
    "y\n1\n2\n": "expected a column besides the target",
    "a,a,y\n1,2,3\n": "columns whose names differ.* twice: a",
    "a,y\n1,2\n1,2,3\n": "Row #3: Expected 2 columns, got 3",
    "a,y\n1,2\n1\n": "Row #3: Expected 2 columns, got 1",
    'a,y\n1,"2\n3,4\n': "a quote without a second one",
    "a,y\n1,2.5\n2,2.5\nred,3\n": r"row 4: .* 1 of its .*`--na` names .* 'red'$",
    "a,y\n1,2.5\ninf,3\n": "row 3: column 'a' must hold finite.* 'inf'",
    "a,y\n1,2.5\n1e39,3\n": "row 3: column 'a' must hold finite.* '1e39'",
    "a,y\n1,2.5\n1_000,3\n": "row 3: column 'a' must hold finite numbers.* '1_000'$",
    "a,y\n\u0663,2.5\n1,3\n": "row 2: column 'a' must hold finite numbers",
    "a,y\n1,\n2,\n": "'y' is the target and needs different numbers",
    "a,y\n1,2.5\n1,3.5\n": "besides the target that varies. Received: a",
    column([f"{n}" for n in range(20)], target=[f"t{n}" for n in range(ROWS)]): (
        "is the target and needs .* classes of several rows. Received: 't0'"
    ),
    column(["1,234", "500"]): "name the decimal mark by `--decimal.* '1,234'",
    column(["-0,536", "1.203"]): "name the decimal mark",
    column(["$999", "$1,234"], target=[f"{n},5" for n in range(ROWS)]): "decimal mark",
    column(["5 €", "6 €", "7 %"]): "numbers, such as 1,234.5 €, unlike 13 of .* '7 %'$",
    column(["5 %", "7"]): "unlike 20 of its cells .* Received: '5 %'$",
    column(["31.02.2024", *(f"{d:%d.%m.%Y}" for d in DAYS)]): "Received: '31.02.2024'$",
    column(["2024-01-01", "1.2.2024", "2.3.2024"]): "must hold dates of the format %d",
    column(["soon", "1.2.2024"]): "unlike 20 of its cells .* Received: 'soon'$",
    "c,d,y\nx,soon,1.5\n1,2024-01-01,2\n2,2024-01-02,3\n": (
        "2 columns cannot be used.\nrow 2: column 'c' .*\nrow 2: column 'd'"
    ),
    b"a,y\n1,2\n\xff,3\n": "--encoding cp1252.*utf-8.* 0xff",
}


@pytest.mark.parametrize("text", REFUSED)
def test_one_sentence_says_what_to_change(write, text):
    with pytest.raises(TableError, match=f"^own.csv: .*{REFUSED[text]}") as raised:
        read_table(write(text), "y")
    assert len(str(raised.value)) < 300


FRAME = pandas.DataFrame(
    {
        "größe": NUMBERS,
        "share": [f"{n / 10} %" for n in range(ROWS)],
        "y": np.random.default_rng(3).normal(size=ROWS),
    }
)


def test_the_sheets_of_a_workbook_and_a_cell_that_would_take_all_memory(tmp_path):
    path = tmp_path / "book.xlsx"
    with pandas.ExcelWriter(path) as book:
        pandas.DataFrame({"notes": [1]}).to_excel(book, sheet_name="first")
        FRAME.to_excel(book, sheet_name="data", header=False, index=False)
    with pytest.raises(TableError, match="See also `--separator` and `--sheet`"):
        read_table(path, "y")
    assert read_table(path, "3", sheet="data", header=False).x.shape == (ROWS, 2)
    book = openpyxl.Workbook()
    book.active.append(["a", "y"])
    book.active.cell(2**20, 2**14, "astray")
    book.save(path)
    with pytest.raises(TableError, match="3 cells in a sheet of 1048576 rows"):
        read_table(path, "y")


def test_texts_and_numbers_of_pandas():
    table = pandas.DataFrame({"a": [1, "2.5", 3.25], "y": ["0.5", 1, "2.5"]})
    np.testing.assert_array_equal(read_table(table, "y").x, [[1], [2.5], [3.25]])
    dataset = read_table(FRAME, "y")
    encoder = TableEncoder.of(dataset, Preprocessing().fit(dataset, slice(None)))
    with pytest.raises(TableError, match=r"'share' must .*, such as 1,234\.5 %"):
        encoder.encode(FRAME.assign(share=0.05))
    # Numbers of many digits are different categories.
    frame = pandas.DataFrame({"c": [2**60, 2**60 + 1] * 9, "y": range(18)})
    assert read_table(frame, "y", categories=["c"]).x[:3, 0].tolist() == [0, 1, 0]
    frame = pandas.DataFrame({"c": [10**17 + 7 * n for n in range(40)], "y": range(40)})
    note = read_table(frame, "y").notes[-1]
    assert note.endswith("different numbers are rounded to one.")
    with pytest.raises(ValueError, match=r"`target` must be a str.*\['y'\]"):
        read_table(FRAME, ["y"])


def test_other_files_and_marks_are_refused(write):
    for ending in ("parquet", "xlsx", "xls"):
        with pytest.raises(TableError, match=f"own.{ending}: expected a table"):
            read_table(write(b"no such file", f"own.{ending}"), "y")
    for marks in ({"separator": "ab"}, {"decimal": ",,"}, {"encoding": "utf-88"}):
        with pytest.raises(ValueError, match=r"delimiter|`decimal`|unknown encoding"):
            read_table(write(TABLE), "y", **marks)


CELLS = st.sampled_from(["1", "-2.5", "1e999", "nan", "inf", "", "?", "x", '"', "a,é"])
LINES = st.lists(st.lists(CELLS, max_size=4).map(",".join), max_size=6)


@settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    content=st.binary() | LINES.map(lambda x: "\n".join(["a,y", *x]).encode()),
    task=st.sampled_from([None, "regression", "classification"]),
)
def test_whatever_a_file_holds_it_is_read_or_named(write, content, task):
    try:
        dataset = read_table(write(content), "y", task)
    except TableError as error:
        assert re.match("own.csv: ", str(error))
    else:
        assert np.isfinite(dataset.y).all()
        assert not np.isinf(dataset.x).any()
