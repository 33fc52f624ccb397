"""A user's own table is read as it is, or a message lists what to change and where."""

import csv
import io
import sys

import numpy as np
import pytest

from keras_vaf.datasets import Column, TableError, read_table

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
    dataset = read_table(path, target="kind")
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
    dataset = read_table(write(text), target="y")
    assert dataset.task == "regression"
    assert dataset.y.dtype == np.float32
    np.testing.assert_array_equal(dataset.x, [[1, 2], [3, 4]])
    np.testing.assert_array_equal(dataset.y, [0.5, 1.5])


class TestTask:
    def test_few_whole_numbers_are_classes_ordered_by_number(self, write):
        dataset = read_table(write("a,y\n1,10\n2,9\n3,10\n"), target="y")
        assert dataset.class_names == ("9", "10")
        np.testing.assert_array_equal(dataset.y, [1, 0, 1])

    def test_many_whole_numbers_are_a_regression(self, write):
        rows = "".join(f"{number % 2},{number}\n" for number in range(21))
        assert read_table(write("a,y\n" + rows), target="y").task == "regression"

    def test_the_user_may_say_otherwise(self, write):
        path = write("a,y\n1,10\n2,9\n3,10\n")
        dataset = read_table(path, target="y", task="regression")
        np.testing.assert_array_equal(dataset.y, [10, 9, 10])

    def test_text_after_decimals_makes_classes_as_they_are_written(self, write):
        dataset = read_table(write("a,y\n1,1.50\n2,b\n3,01\n"), target="y")
        assert dataset.class_names == ("01", "1.50", "b")

    def test_decimals_may_be_classes(self, write):
        dataset = read_table(write("a,y\n1,.5\n2,.25\n"), "y", task="classification")
        assert dataset.class_names == (".25", ".5")


def test_categories_become_indices(write):
    path = write("size,colour,y\n1,red,0.5\n2,?,1.5\n1,blue,2.5\n")
    dataset = read_table(path, target="y", categories=("colour", "size"))
    assert dataset.categories == {0: ("1", "2"), 1: ("blue", "red")}
    np.testing.assert_array_equal(dataset.x, [[0, 1], [1, np.nan], [0, 0]])


@pytest.mark.parametrize("mark", ["", "?", "NA", "N/A", "nan", "null"])
def test_a_missing_entry_is_nan(write, mark):
    text = f"a,b,y\n1,{mark},0.5\n3,4,1.5\n3,5,2.5\n"
    dataset = read_table(write(text), target="y")
    np.testing.assert_array_equal(dataset.x, [[1, np.nan], [3, 4], [3, 5]])


def test_a_number_is_rounded_once_to_float32(write):
    numbers = np.random.default_rng(0).standard_normal(500).tolist()
    rows = "".join(f"{number!r},{number!r}\n" for number in numbers)
    dataset = read_table(write("a,y\n" + rows), target="y")
    np.testing.assert_array_equal(dataset.x[:, 0], np.float32(numbers))
    np.testing.assert_array_equal(dataset.y, np.float32(numbers))


def test_blanks_around_cells_do_not_matter(write):
    path = write("a , b,y\n 1 ,? ,x \n3, -.5e1 , y\n 5, 12345678901234567890123,x\n")
    dataset = read_table(path, target="y")
    assert dataset.feature_names == ("a", "b")
    assert dataset.class_names == ("x", "y")
    np.testing.assert_array_equal(
        dataset.x, np.float32([[1, np.nan], [3, -5], [5, 12345678901234567890123]])
    )


def test_classes_may_be_truth_values_as_they_are_written(write):
    dataset = read_table(write("a,y\n1,true\n2,False\n3,true\n"), target="y")
    assert dataset.class_names == ("False", "true")


def test_cells_may_hold_separators_and_line_ends(write):
    text = 'a,kind,y\n1,"red, or\nblue",\n2,red,0.5\n\n3,?,x\n'
    with pytest.raises(ValueError, match=r"column 'y' .* misses 1 of 3 entries"):
        read_table(write(text), target="y", allow_missing=False)
    dataset = read_table(write(text.replace('",\n', '",1\n')), "y", None, ("kind",))
    assert dataset.categories == {1: ("red", "red, or\nblue")}


def test_rows_without_any_entry_are_left_out(write):
    text = "a,b,y\n1,2,0.5\n,,\n3,,1.5\n?,NA,\n4,5,2\n"
    dataset = read_table(write(text), target="y")
    np.testing.assert_array_equal(dataset.x, [[1, 2], [3, np.nan], [4, 5]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "own.csv, line 1: expected the names of the columns"),
        ("\n \n", "own.csv, line 1: expected the names of the columns"),
        ("a,y\n", "own.csv: expected at least one row"),
        ("a,b\n1,2\n", "own.csv has no column 'y' .* Name one of its columns: a, b"),
        ("y\n1\n2\n", "own.csv: expected a column besides the target"),
        ("a,a,y\n1,2,3\n", "own.csv, line 1: column names must differ.*'a'"),
        ("a,y\n1,2\n\n1,2,3\n", "own.csv, line 4: expected 2 values. Received: 3"),
        ("a,y\n1,2,3\n1,2\n", "own.csv, line 2: expected 2 values. Received: 3"),
        ("a,y\n1,2.5\n\n1\n", "own.csv, line 4: expected 2 values. Received: 1"),
        ('a,y\n"1,2",3\n1\n', "own.csv, line 3: expected 2 values. Received: 1"),
        (
            "a,y\n1,2.5\n2,2.5\nred,3\n",
            "line 4: .* must hold numbers, .*; 1 of its 3 .*red",
        ),
        ("a,y\n1,2.5\ninf,3\n", "line 3: column 'a' must hold finite.* 'inf'"),
        ("a,y\n1,2.5\n1e39,3\n", "line 3: column 'a' must hold finite.* '1e39'"),
        ("a,y\n1,2.5\n1_000,3\n", "line 3: column 'a' .* digits 0 to 9.* '1_000'"),
        ("a,y\n1,1_000.5\n2,3\n", "line 2: column 'y' must hold numbers.* '1_000.5'"),
        ("a,y\n\u0663,2.5\n1,3\n", "line 2: column 'a' .* digits 0 to 9.* '\u0663'"),
        ("a,y\n\n", "own.csv: expected at least one row"),
        ("a,y\n1,\n2,\n", "own.csv: column 'y' is the target and has no entry"),
        ("a,y\n1,2.5\n1,3.5\n", "own.csv: expected a column .* varies. Received: a"),
        ("a\n1\n2\n", r"no column 'y' .* separated by another character \(`separator`"),
        ("a#y\n1#2.5\n2#3\n", "own.csv: expected cells separated by '#'"),
        ('a;y\n"1,234";2.5\n2;3\n', "name the decimal mark. Received: '1,234'"),
        ("a,y\n1/2/2024,2.5\n3/2/2024,3.5\n", "with the day or with the month first"),
        ("a,y\n1,2.5\n2,2.5\n", "line 2: column 'y' .* more than one value.* '2.5'"),
        ("a,y\n1,no\n2,no\n", "line 2: column 'y' .* two classes.* 'no'"),
        ("a,y\n1,1\n2,1.0\n3,0\n", "line 3: column 'y' must write each number .*'1.0'"),
        ('a,y\n1,"2\n3,4\n', "own.csv, line 3: expected a row of cells"),
        (b"a,y\n1,2\n\xff,3\n", "own.csv, line 3: expected text in UTF-8.* 0xff"),
        ("a,y\n1,2\n".encode("utf-16-le"), "own.csv, line 1: expected text.* 0x00"),
    ],
)
def test_one_sentence_says_what_to_change(write, text, message):
    with pytest.raises(ValueError, match=message) as raised:
        read_table(write(text), target="y")
    advice = str(raised.value).splitlines()[1:]
    assert all(line.startswith("To solve this, pass ") for line in advice)


class TestFormats:
    """The same table in other formats gives the same arrays."""

    TEXT = "größe,b,y\n1.5,2.25,0.5\n3,4,1.5\n,4,2.5\n"

    @pytest.fixture
    def expected(self, write):
        return read_table(write(self.TEXT), target="y")

    def check(self, dataset, expected):
        assert dataset.feature_names == expected.feature_names
        np.testing.assert_array_equal(dataset.x, expected.x)
        np.testing.assert_array_equal(dataset.y, expected.y)

    @pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig"])
    @pytest.mark.parametrize("separator", [";", "|", "\t"])
    def test_text(self, write, expected, encoding, separator):
        text = self.TEXT.replace(",", separator).replace(".", ",")
        path = write(text.encode(encoding))
        given = None if encoding != "cp1252" else encoding
        self.check(read_table(path, "y", encoding=given), expected)
        assert "decimal comma" in read_table(path, "y", encoding=given).notes[0]

    def test_any_separator(self, write, expected):
        path = write(self.TEXT.replace(",", "#"))
        self.check(read_table(path, "y", separator="#"), expected)

    @pytest.mark.parametrize(
        "marks",
        [
            {"separator": "ab"},
            {"separator": '"'},
            {"decimal": ",,"},
        ],
    )
    def test_marks_that_no_file_can_have_are_refused(self, write, marks):
        with pytest.raises(ValueError, match=r"`separator`|`decimal`"):
            read_table(write(self.TEXT), "y", **marks)

    def test_another_encoding_is_advised(self, write):
        with pytest.raises(TableError, match="encoding='cp1252'"):
            read_table(write(self.TEXT.encode("cp1252")), "y")

    @pytest.mark.parametrize("ending", ["parquet", "xlsx"])
    def test_binary_files(self, write, expected, tmp_path, ending):
        pandas = pytest.importorskip("pandas")
        pytest.importorskip({"parquet": "pyarrow", "xlsx": "openpyxl"}[ending])
        frame = pandas.read_csv(write(self.TEXT))
        path = tmp_path / f"own.{ending}"
        if ending == "parquet":
            frame.to_parquet(path)
        else:
            frame.to_excel(path, index=False)
        self.check(read_table(path, "y"), expected)
        path.write_bytes(b"no such file")
        with pytest.raises(ValueError, match=f"own.{ending}: expected a table"):
            read_table(path, "y")

    @pytest.mark.filterwarnings("ignore:The xlrd engine is deprecated")
    @pytest.mark.parametrize(
        ("module", "name", "row", "column", "sheet"),
        [
            ("openpyxl", "far.xlsx", 2**20, 2**14, 0),
            ("openpyxl", "far.xlsx", 2**20, 2**14, "Sheet"),
            ("xlwt", "far.xls", 2**16, 2**8, 0),
        ],
    )
    def test_a_cell_far_away_is_refused_before_it_takes_memory(
        self, tmp_path, module, name, row, column, sheet
    ):
        library = pytest.importorskip(module)
        pytest.importorskip("pandas")
        book = library.Workbook()
        if module == "openpyxl":
            page = book.active
            page.append(["a", "y"])
            page.cell(row, column, "astray")
        else:
            page = book.add_sheet("Sheet")
            page.write(row - 1, column - 1, "astray")
        book.save(tmp_path / name)
        with pytest.raises(ValueError, match=f"{name}: .* {row} rows and {column} col"):
            read_table(tmp_path / name, "y", sheet=sheet)

    def test_pandas(self, write, expected):
        pandas = pytest.importorskip("pandas")
        self.check(read_table(pandas.read_csv(write(self.TEXT)), "y"), expected)
        nullable = pandas.read_csv(write(self.TEXT)).convert_dtypes()
        self.check(read_table(nullable, "y"), expected)

    def test_a_decimal_comma_in_quotes_between_commas(self, write, expected):
        lines = [line.split(",") for line in self.TEXT.split("\n")]
        text = "\n".join(
            ",".join(f'"{cell.replace(".", ",")}"' for cell in cells) for cells in lines
        )
        path = write(text.replace('""', ""))
        for task in (None, "regression"):
            self.check(read_table(path, "y", task), expected)
        self.check(read_table(path, "y", decimal=","), expected)

    @pytest.mark.parametrize("ending", ["", ".xlsx"])
    def test_a_decimal_comma_in_text_of_pandas_or_excel(self, write, expected, ending):
        pandas = pytest.importorskip("pandas")
        table = pandas.read_csv(write(self.TEXT.replace(".", "_")), dtype=str)
        table = table.replace("_", ",", regex=True)
        if ending:
            pytest.importorskip("openpyxl")
            path = write("", f"table{ending}")
            table.to_excel(path, index=False)
            table = path
        self.check(read_table(table, "y"), expected)
        self.check(read_table(table, "y", decimal=","), expected)

    def test_numbers_beside_text_with_a_decimal_comma_are_kept(self):
        pandas = pytest.importorskip("pandas")
        table = pandas.DataFrame({"a": [1, "2,5", 3.25], "y": ["0,5", 1, "2,5"]})
        dataset = read_table(table, "y", decimal=",")
        np.testing.assert_array_equal(dataset.x, [[1], [2.5], [3.25]])
        np.testing.assert_array_equal(dataset.y, [0.5, 1, 2.5])

    def test_the_other_sheets_of_a_workbook_are_named(self, tmp_path):
        pandas = pytest.importorskip("pandas")
        pytest.importorskip("openpyxl")
        with pandas.ExcelWriter(tmp_path / "book.xlsx") as book:
            pandas.DataFrame({"notes": [1]}).to_excel(book, sheet_name="first")
            pandas.DataFrame({"a": [1], "y": [2]}).to_excel(book, sheet_name="data")
        with pytest.raises(ValueError, match=r"Other sheets .*\(`sheet`\): data\."):
            read_table(tmp_path / "book.xlsx", "y")

    def test_text_among_numbers_with_a_decimal_comma(self, write):
        path = write("a;y\n1,5;0,5\nten;1,5\n3;2,5\n")
        with pytest.raises(TableError, match="1 of its 3 cells does not"):
            read_table(path, "y")
        dataset = read_table(path, "y", na=("ten",))
        np.testing.assert_array_equal(dataset.x, [[1.5], [np.nan], [3]])


class TestRules:
    """Each kind of column has a stated rule, and the notes name what was decided."""

    ROWS = 40

    def read(self, columns, **options):
        pandas = pytest.importorskip("pandas")
        rng = np.random.default_rng(0)
        base = {"a": rng.normal(size=self.ROWS), "y": rng.normal(size=self.ROWS)}
        return read_table(pandas.DataFrame(base | columns), "y", **options)

    @pytest.mark.parametrize(
        ("cells", "first", "note"),
        [
            (["yes", "No"], [1, 0], "True or false, as 1 and 0: c."),
            ([True, False], [1, 0], "True or false, as 1 and 0: c."),
            (["1970-01-02", "1970-02-01"], [1, 31], "days since 1970-01-01: c (ISO"),
            (["1970-01-01 12:00", "1970-01-02"], [0.5, 1], "c (ISO 8601)"),
            (["02.01.1970", "14.01.1970"], [1, 13], "c (%d.%m.%Y)"),
            (["2/1/1970", "14/1/1970"], [1, 13], "c (%d/%m/%Y)"),
            (["1/2/1970", "1/14/1970"], [1, 13], "c (%m/%d/%Y)"),
            (
                ["red", "blue"],
                [1, 0],
                "Categories (with their number of values): c (2)",
            ),
        ],
    )
    def test_kinds(self, cells, first, note):
        dataset = self.read({"c": cells * (self.ROWS // 2)})
        np.testing.assert_array_equal(dataset.x[:2, 1], first)
        assert any(note in each for each in dataset.notes)

    @pytest.mark.parametrize(
        ("cells", "reason"),
        [
            ([f"id {n}" for n in range(40)], "its text differs in each row"),
            ([f"id {n // 3 * 3 % 39 + n % 2}" for n in range(40)], "in most rows"),
            ([7.0] * 40, "it has one value"),
            (["x"] * 40, "it has one value"),
            ([None] * 40, "it has no entry"),
        ],
    )
    def test_columns_without_information_are_left_out(self, cells, reason):
        dataset = self.read({"c": cells})
        assert dataset.feature_names == ("a",)
        assert any("Left out column 'c'" in n and reason in n for n in dataset.notes)

    def test_an_identifier_may_be_kept(self):
        dataset = self.read({"c": [f"id {n}" for n in range(40)]}, categories=("c",))
        assert len(dataset.categories[1]) == 40

    def test_an_odd_cell_among_dates_is_refused_with_the_word_for_missing(self):
        cells = [f"2024-01-{n % 28 + 1:02}" for n in range(self.ROWS)]
        cells[5:7] = ["soon", "2024-02-30"]
        with pytest.raises(TableError, match=r"row 5: column 'c' must .* ISO") as e:
            self.read({"c": cells})
        assert "2 of its 40 cells do not. Received: 'soon'" in str(e.value)
        assert e.value.fixes == {"na": ("soon", "2024-02-30"), "allow_missing": True}
        dataset = self.read({"c": cells}, **e.value.fixes)
        assert dataset.columns[1].kind == "date"
        assert np.isnan(dataset.x[:, 1]).sum() == 2

    def test_dates_of_several_formats_are_refused(self):
        cells = [f"{n % 28 + 1:02}.01.2024" for n in range(30)]
        cells += [f"2024-01-{n % 28 + 1:02}" for n in range(10)]
        with pytest.raises(TableError, match=r"format %d\.%m\.%Y, such as") as e:
            self.read({"c": cells})
        assert e.value.fixes == {"ignore": ("c",)}

    def test_text_with_few_dates_is_a_category(self):
        dataset = self.read({"c": ["2024-01-01", "soon", "later", "soon"] * 10})
        assert dataset.columns[1].kind == "category"

    @pytest.mark.parametrize(
        "form",
        ["{}.1.24", "{}/1/24", "1/{}/24", "24-01-{}", "{}-Jan-24", "{}.1.24 9:30"],
    )
    def test_years_of_two_digits_are_refused(self, form):
        cells = [form.format(n % 20 + 10) for n in range(self.ROWS)]
        with pytest.raises(TableError, match="years with four digits in the") as e:
            self.read({"c": cells})
        assert e.value.fixes == {"ignore": ("c",)}

    def test_a_class_of_few_rows_is_named(self):
        dataset = self.read({"y": ["a"] * 37 + ["b"] * 2 + ["c"]})
        [warning] = [note for note in dataset.notes if "Warning" in note]
        assert "'b' (2), 'c' (1): classes of 1 or 2 rows" in warning

    def test_words_among_the_numbers_of_the_target(self):
        y = ["1.5", *np.random.default_rng(1).normal(size=self.ROWS - 2), "ten"]
        with pytest.raises(TableError, match="is the target and must hold num") as e:
            self.read({"y": y})
        assert self.read({"y": y}, **e.value.fixes).task == "regression"

    def test_a_row_without_a_time_is_named(self):
        times = [*range(1, self.ROWS), "later"]
        with pytest.raises(TableError, match="row 39: column 'c' must hold num") as e:
            self.read({"c": times}, time="c")
        assert not e.value.fixes

    def test_a_column_that_leaks_the_target_is_named(self):
        y = np.random.default_rng(1).normal(size=self.ROWS)
        dataset = self.read({"y": y, "c": 3 * y + 1})
        assert any("'c' has a correlation of 1.00000" in n for n in dataset.notes)
        kind = np.arange(self.ROWS) % 3
        dataset = self.read({"y": kind, "c": [f"name {n}" for n in kind]})
        assert any("'c' alone tells the class" in n for n in dataset.notes)
        honest = self.read({"c": np.random.default_rng(2).normal(size=self.ROWS)})
        assert not any("Warning" in note for note in honest.notes)

    def test_a_counter_is_named(self):
        dataset = self.read({"c": np.arange(self.ROWS)})
        assert any("'c' counts the rows" in note for note in dataset.notes)

    @pytest.mark.parametrize("name", ["", "Unnamed: 0"])
    def test_the_index_of_pandas_is_left_out(self, name):
        rows = np.random.default_rng(2).permutation(self.ROWS)
        dataset = self.read({name: rows})
        assert dataset.feature_names == ("a",)
        note = f"Left out column {name!r}: it has no name and numbers the rows."
        assert note in dataset.notes
        assert self.read({name: rows % 7}).feature_names == ("a", name)
        assert self.read({name: rows + 0.5}).feature_names == ("a", name)

    def test_whole_numbers_taken_as_classes_are_a_question(self):
        dataset = self.read({"y": np.arange(self.ROWS) % 6})
        assert any(
            "taken as 6 classes (0, 1, 2, 3, 4, 5); use `--task regression`" in note
            for note in dataset.notes
        )

    def test_rows_without_a_target_are_left_out_and_counted(self):
        y = np.random.default_rng(1).normal(size=self.ROWS)
        y[:3] = np.nan
        dataset = self.read({"y": y})
        assert len(dataset.x) == self.ROWS - 3
        assert "Left out 3 rows without a target." in dataset.notes

    def test_groups_and_times_are_no_inputs(self):
        groups = self.read({"c": ["p", "q"] * 20}, groups="c")
        assert groups.feature_names == ("a",)
        assert set(groups.groups) == {0, 1}
        times = self.read(
            {"c": [f"2024-01-{n % 28 + 1:02}" for n in range(40)]}, time="c"
        )
        assert times.feature_names == ("a",)
        assert times.times[1] - times.times[0] == 1
        assert times.checksum != groups.checksum
        for role in ("groups", "time"):
            with pytest.raises(ValueError, match=f"`{role}` must be another column"):
                self.read({}, **{role: "y"})
        with pytest.raises(ValueError, match="not by both"):
            self.read({"c": 1, "d": 2}, groups="c", time="d")
        with pytest.raises(ValueError, match="is the time and must hold numbers"):
            self.read({"c": ["p", "q"] * 20}, time="c")


def test_one_message_lists_every_problem_with_what_solves_it(write):
    path = write(
        "a,b,c,d,e,y\n1,red,inf,2,1/2/2024,1.5\n2,blue,3,high,3/2/2024,\n\n"
        "x,?,4,5,4/2/2024,2.5\n"
    )
    with pytest.raises(TableError) as raised:
        read_table(path, target="y", allow_missing=False)
    assert str(raised.value).splitlines() == [
        "own.csv: 5 columns cannot be used.",
        "column 'y' is the target and misses 1 of 3 entries",
        "line 5: column 'a' must hold numbers, such as -1.5 or 2e3; 1 of its 2 cells "
        "does not. Received: 'x'",
        "line 2: column 'c' must hold finite numbers in the range of float32. "
        "Received: 'inf'",
        "line 2: column 'e' holds dates that can be read with the day or with the "
        "month first. Received: '1/2/2024'",
        "column 'b' misses 1 of 2 entries",
        "To solve this, pass allow_missing=True, na=('x',), ignore=('c',), "
        "dates='day-first'.",
    ]


@pytest.mark.parametrize(
    "form",
    [
        *("{} %", "{}%", "€ {}", "{} EUR", "{},0 €", "${}.50"),
        *("1'{}", "1 {}", '"1,{}.5"', "1.{}.000"),
    ],
)
def test_numbers_with_signs_and_marks_are_read(write, form):
    numbers = range(100, 140)
    texts = [form.format(n) for n in numbers]
    rows = "".join(f"{text};{n}\n" for n, text in zip(numbers, texts, strict=True))
    dataset = read_table(write(f"a;y\n{rows}"), "y", task="regression")
    expected = {
        "${}.50": [n + 0.5 for n in numbers],
        "1'{}": [1000 + n for n in numbers],
        "1 {}": [1000 + n for n in numbers],
        '"1,{}.5"': [1000.5 + n for n in numbers],
        "1.{}.000": [1_000_000 + 1000 * n for n in numbers],
    }.get(form, [*numbers])
    np.testing.assert_array_equal(dataset.x[:, 0], np.float32(expected))
    assert dataset.columns[0].format


def test_new_rows_may_have_larger_numbers_than_the_training_rows():
    column = Column("a", format="1234,5 €")
    np.testing.assert_array_equal(
        column.encode(["12,5 €", "1.234,5 €", "7"]), [12.5, 1234.5, 7]
    )


@pytest.mark.parametrize(
    ("cells", "decimal"),
    [
        (["1,234", "2,500"], "."),
        (["1.234 €", "500 €"], "."),
        (["-0,536", "1.203"], ","),  # a decimal comma, and a decimal point?
        (["1.203", "0,5"], ","),
    ],
)
def test_unclear_marks_are_refused_with_an_option_that_settles_them(
    write, cells, decimal
):
    rows = "".join(f"{cell};{n}.5\n" for n, cell in enumerate(cells * 15))
    path = write(f"a;y\n{rows}")
    with pytest.raises(TableError, match="name the decimal mark") as raised:
        read_table(path, "y")
    assert raised.value.fixes == {"decimal": decimal}
    assert read_table(path, "y", decimal=decimal).columns[0].kind == "number"


def test_several_signs_in_one_column_are_refused(write):
    rows = "".join(f"{'€$'[n % 2]}{n},{n}.5\n" for n in range(40))
    with pytest.raises(TableError, match="several signs") as raised:
        read_table(write(f"a,y\n{rows}"), "y")
    assert raised.value.fixes == {"ignore": ("a",)}


@pytest.mark.parametrize("word", ["-", "k.A.", "n.a.", "#N/A"])
def test_common_words_for_a_missing_entry_need_no_option(write, word):
    cells = [word, *range(1, 30)]
    day = [word, *(f"2024-01-{n:02}" for n in range(1, 30))]
    sign = ["+", *["-", "+"] * 15][:30]
    rows = "".join(
        f"{a};{b};{c};{a + 0.5 if a != word else word}\n"
        for a, b, c in zip(cells, day, sign, strict=True)
    )
    dataset = read_table(write(f"a;b;c;y\n{word};2024-02-01;+;7.5\n{rows}"), "y")
    assert np.isnan(dataset.x).sum(axis=0).tolist() == [1, 0, 0]
    assert dataset.columns[2].names == ("+", "-")  # among words, "-" is one of them
    assert len(dataset.x) == 30  # the row without a target is left out
    assert f"{word} count as missing." in " ".join(dataset.notes)


@pytest.mark.parametrize("form", ["H{}", "{} kg", "1.2.{}", "{}-7", "10.0.0.{}"])
def test_texts_with_digits_are_identifiers(write, form):
    rows = "".join(f"{form.format(100 + n)},{n},{n % 7}\n" for n in range(40))
    dataset = read_table(write(f"a,b,y\n{rows}"), "y")
    assert dataset.feature_names == ("b",)


def test_what_a_message_advises_solves_every_problem(write):
    path = write(
        "a,b,c,d,y\n1,red,inf,1/2/2024,1.5\n2,blue,3,3/2/2024,\n"
        "x,?,4,4/2/2024,2.5\n3,green,5,4/3/2024,3\n"
    )
    with pytest.raises(TableError) as raised:
        read_table(path, target="y", allow_missing=False)
    dataset = read_table(path, target="y", **raised.value.fixes)
    assert dataset.feature_names == ("a", "b", "d")


DAYS = [f"{n % 28 + 1:02}.01.2024" for n in range(24)]
ODD = {
    "words": ["many", "few", *range(22)],
    "six words": [*"abcdef", *range(18)],
    "infinite": ["1e39", "inf", *range(22)],
    "both": ["soon", "1e39", *range(22)],
    "other digits": ["\u0663", "1_000", *range(22)],
    "marks": ["1,234", "2,500"] * 12,
    "two marks": ["-0,536", "1.203"] * 12,
    "signs": ["5 %", "5 €"] * 12,
    "orders": [f"{n % 12 + 1}/{n % 12 + 1}/2024" for n in range(24)],
    "a wrong day": ["31.02.2024", *DAYS[1:]],
    "two formats": ["2024-01-01", "2/1/24", *DAYS[2:]],
    "short years": ["31.12.24", "30.12.24"] * 12,
    "a truth value": ["maybe", "yes", *["no"] * 22],
    "quotes": ['a"b,c', "-\n", *range(22)],
}


@pytest.mark.parametrize("role", ["input", "target", "time"])
@pytest.mark.parametrize("name", ODD)
def test_an_advised_option_never_gives_the_same_message_again(write, name, role):
    buffer = io.StringIO()
    rows = ((cell, n % 7, n + 0.5) for n, cell in enumerate(ODD[name]))
    csv.writer(buffer).writerows([("a", "b", "c"), *rows])
    path = write(buffer.getvalue())
    options = {"target": "a" if role == "target" else "c"}
    options |= {"time": "a"} if role == "time" else {}
    try:
        read_table(path, **options)
    except TableError as error:
        if error.fixes:
            read_table(path, **options, **error.fixes)


def test_a_message_lists_no_more_than_20_columns(write):
    names = ",".join(f"c{number}" for number in range(1_000))
    path = write(f"{names},y\n{'1,' * 1_000}1.5\n{'x,' * 1_000}2.5\n")
    with pytest.raises(ValueError, match="1000 columns cannot be used") as raised:
        read_table(path, target="y")
    assert "and 980 more columns\n" in str(raised.value)
    assert len(str(raised.value).splitlines()) == 23


def test_a_message_names_no_more_than_20_of_the_columns_there(write):
    path = write(",".join(f"c{i}" for i in range(90)) + "\n" + ",".join(["1"] * 90))
    with pytest.raises(ValueError, match=r"has no column 'y'.* c19 and 70 more\.") as e:
        read_table(path, "y")
    assert "c20" not in str(e.value)


def test_the_names_of_very_many_columns_are_compared(write):
    names = ",".join(f"c{number}" for number in range(60_000))
    with pytest.raises(ValueError, match=r"must differ;.*Received twice: \['c7'\]"):
        read_table(write(f"{names},c7,y\n"), target="y")


def test_an_unknown_task_is_refused(write):
    with pytest.raises(ValueError, match="one of 'classification', 'regression'"):
        read_table(write("a,y\n1,2\n"), target="y", task="ranking")


def test_an_unknown_category_is_refused(write):
    with pytest.raises(ValueError, match="no column 'colour' to use as a category"):
        read_table(write("a,y\n1,2.5\n"), target="y", categories=("colour",))


def test_a_regression_on_text_names_the_line(write):
    with pytest.raises(ValueError, match="line 2: column 'y' must hold numbers"):
        read_table(write("a,y\n1,low\n"), target="y", task="regression")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"absent\.csv"):
        read_table(tmp_path / "absent.csv", target="y")


def test_without_pandas_the_line_that_installs_it_is_named(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'keras-vaf\[experiments\]'"):
        read_table(write("a,y\n1,2.5\n"), target="y")


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_numbers_with_leading_zeros_are_categories(tmp_path, separator, encoding):
    rows = [
        f"{code} {number} {clock} {y}".split(" ")
        for code, number, clock, y in zip(
            ["01067", "10115", "01067", "99999"] * 6,
            ["0.5", "00", "0", "7"] * 6,
            ["08:15", "0", "1", "2"] * 6,
            range(24),
            strict=True,
        )
    ]
    lines = [["plz", "number", "time", "y"], *rows]
    text = "\n".join(separator.join(cells) for cells in lines)
    path = tmp_path / "codes.csv"
    path.write_bytes(text.encode(encoding))
    dataset = read_table(path, "y", ignore=["time"])
    kinds = {column.name: column.kind for column in dataset.columns}
    assert kinds == {"plz": "category", "number": "number"}
    assert dataset.columns[0].names == ("01067", "10115", "99999")
    [note] = [note for note in dataset.notes if "leading zeros" in note]
    assert "'plz'" in note
    assert "01067" in note


def test_different_codes_are_identifiers(tmp_path):
    path = tmp_path / "codes.csv"
    rows = "".join(f"{n:05},{n % 7},{n}\n" for n in range(30))
    path.write_text(f"id,x,y\n{rows}")
    dataset = read_table(path, "y")
    assert [column.name for column in dataset.columns] == ["x"]
    assert any("'id'" in note and "identifier" in note for note in dataset.notes)
