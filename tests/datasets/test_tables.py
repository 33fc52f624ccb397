"""A user's own table is read as it is, or one message lists what to change.

Expected numbers come from Python, pandas or the writers of the formats.
"""

import datetime
import gzip
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


def german(number):
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


TABLE = "a,größe,y\n1,2,0.5\n3,NA,1.5\n,4,-2e1\n"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (TABLE, {}),
        (TABLE.replace("\n", "\r\n"), {}),
        (TABLE.replace("\n", "\r"), {}),
        (f"\n{TABLE}\n  \n,,\n", {}),
        ("\ufeff" + TABLE, {}),
        (TABLE.replace(",", ", ").replace("y", " y "), {}),
        (re.sub(r"([^,\n]+)", r'"\1"', TABLE), {}),
        (TABLE.replace(",", ";").replace(".", ","), {}),
        (TABLE.replace(",", "\t"), {}),
        (TABLE.replace(",", "|"), {}),
        (TABLE.replace(",", "#"), {"separator": "#"}),
        (TABLE.encode("utf-16"), {}),
        (TABLE.encode("cp1252"), {"encoding": "cp1252"}),
        (TABLE.replace("NA", "unknown"), {"na": ("unknown",)}),
        (gzip.compress(TABLE.encode()), {}),
    ],
)
def test_the_same_table_in_other_dress(write, text, options):
    zipped = isinstance(text, bytes) and text.startswith(b"\x1f\x8b")
    path = write(text, "own.csv.gz" if zipped else "own.csv")
    dataset = read_table(path, "y", "regression", **options)
    assert dataset.name == "own"
    assert dataset.feature_names == ("a", "größe")
    expected = np.array([[1, 2], [3, np.nan], [np.nan, 4]], np.float32)
    np.testing.assert_array_equal(dataset.x, expected)
    np.testing.assert_array_equal(dataset.y, np.float32([0.5, 1.5, -20]))


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


FORMS = {
    "exponents": "{:.8e}".format,
    "decimal commas": lambda n: str(n).replace(".", ","),
    "German": german,
    "euros": lambda n: f"{german(n)} €",
    "dollars": lambda n: f"${n:,.2f}".replace("$-", "-$"),
    "accounts": lambda n: f"${n:,.2f}" if n >= 0 else f"(${-n:,.2f})",
    "per cent": "{:.2f} %".format,
    "apostrophes": lambda n: f"{n:,.2f}".replace(",", "'"),
    "thin spaces": lambda n: f"{n:,.2f}".replace(",", "\u2009"),
    "minus signs": lambda n: str(n).replace("-", "\u2212"),
}


@pytest.mark.parametrize("role", ["c", "y"])
@pytest.mark.parametrize("form", FORMS)
def test_numbers_are_read_in_the_form_in_which_they_are_written(write, form, role):
    cells = [*map(FORMS[form], NUMBERS)]
    text = column(cells) if role == "c" else column(range(ROWS), target=cells)
    dataset = read_table(write(text), "y")
    found = dataset.x[:, 0] if role == "c" else dataset.y
    np.testing.assert_array_equal(found, np.float32(NUMBERS))


@pytest.mark.parametrize(
    "form",
    [
        *("%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%d.%m.%Y", "%d.%m.%Y %H:%M", "%Y/%m/%d"),
        *("%d/%m/%Y", "%m/%d/%Y", "%d-%b-%Y", "%d %b %Y", "%b %d, %Y"),
    ],
)
def test_dates_are_days_since_1970(write, form):
    dataset = read_table(write(column([day.strftime(form) for day in DAYS])), "y")
    days = [(day - datetime.date(1970, 1, 1)).days for day in DAYS]
    np.testing.assert_array_equal(dataset.x[:, 0], days)
    assert "use `--time c`" in dataset.notes[-1]


def test_the_order_of_day_and_month_is_asked_for(write):
    path = write(column(["1/2/2024", "3/2/2024"]))
    with pytest.raises(TableError, match="--dates day-first"):
        read_table(path, "y")
    for order, dayfirst in (("day-first", True), ("month-first", False)):
        x = read_table(path, "y", dates=order).x[:2, 0]
        dates = pandas.to_datetime(["1/2/2024", "3/2/2024"], dayfirst=dayfirst)
        np.testing.assert_array_equal(x, (dates - pandas.Timestamp(0)).days)


KINDS = {  # cells, values of the first two rows, a part of the notes
    "yes": (["yes", "No"], [1, 0], "True or false, as 1 and 0: c."),
    "truth": (["True", "false", ""], [1, 0], "True or false"),
    "text": (["red", "blue", "?"], [1, 0], "Categories .*: c \\(2\\)"),
    "codes": (["01067", "10115"], [0, 1], "Categories .*: c \\(2\\)"),
    "signs": (["+", "-"], [0, 1], "Categories"),
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
    assert len(read(["", "2.5", "k.A.", "3.5"]).y) == ROWS // 2


def test_groups_and_times_are_no_inputs(write):
    rows = "".join(f"{'pq'[n % 2]},{day},{n}.5\n" for n, day in enumerate(DAYS))
    path = write("g,d,y\n" + rows)
    grouped, timed = read_table(path, "y", groups="g"), read_table(path, "y", time="d")
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
        "city": ["Köln", "Ulm", None, "Bonn"] * (ROWS // 4),
        "flag": [True, False] * (ROWS // 2),
        "day": pandas.to_datetime(DAYS),
        "count": pandas.array([1, None, 3, 4] * (ROWS // 4), "Int64"),
        "y": np.random.default_rng(3).normal(size=ROWS),
    }
)


FORMATS = {
    "pandas": lambda path: FRAME,
    "nullable": lambda path: FRAME.convert_dtypes(),
    "csv": lambda path: FRAME.to_csv(path, index=False) or path,
    "parquet": lambda path: FRAME.set_index("y", drop=False).to_parquet(path) or path,
    "xlsx": lambda path: FRAME.to_excel(path, index=False) or path,
}


@pytest.mark.parametrize("form", FORMATS)
def test_a_network_reads_the_same_values_from_every_format(tmp_path, form):
    expected = read_table(FRAME, "y").x
    np.testing.assert_array_equal(expected[:, 1], np.arange(ROWS, dtype="f4") / 10)
    source = FORMATS[form](tmp_path / f"own.{form}")
    dataset = read_table(source, "y")
    np.testing.assert_array_equal(dataset.x, expected)
    encoder = TableEncoder.of(dataset, Preprocessing().fit(dataset, slice(None)))
    np.testing.assert_array_equal(encoder.encode(open_table(source)), expected)
    np.testing.assert_array_equal(encoder.encode(FRAME), expected)


def test_the_sheets_of_a_workbook_and_a_cell_that_would_take_all_memory(tmp_path):
    path = tmp_path / "book.xlsx"
    with pandas.ExcelWriter(path) as book:
        pandas.DataFrame({"notes": [1]}).to_excel(book, sheet_name="first")
        FRAME.to_excel(book, sheet_name="data", header=False, index=False)
    with pytest.raises(TableError, match="See also `--separator` and `--sheet`"):
        read_table(path, "y")
    assert read_table(path, "7", sheet="data", header=False).x.shape == (ROWS, 6)
    book = openpyxl.Workbook()
    book.active.append(["a", "y"])
    book.active.cell(2**20, 2**14, "astray")
    book.save(path)
    with pytest.raises(TableError, match="3 cells in a sheet of 1048576 rows"):
        read_table(path, "y")


@pytest.mark.parametrize(
    ("form", "options"),
    [
        ("csv", {"sheet": 0}),
        ("xlsx", {"separator": ";"}),
        ("xlsx", {"encoding": "cp1252"}),
        ("parquet", {"header": False}),
        ("parquet", {"sheet": "data"}),
        ("pandas", {"separator": ","}),
    ],
)
def test_an_option_that_would_have_no_effect_is_refused(tmp_path, form, options):
    source = FORMATS[form](tmp_path / f"own.{form}")
    option = next(iter(options)).replace("header", "no-header")
    with pytest.raises(TableError, match=f"`--{option}` is not for {form} tables"):
        read_table(source, "y", **options)


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
    max_examples=300,
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
