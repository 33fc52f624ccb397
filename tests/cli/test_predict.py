"""`keras-vaf predict` takes raw columns and returns the units of the target."""

import io
import re

import keras
import numpy as np
import pytest

from keras_vaf.datasets.tables.csv_file import CsvFile
from keras_vaf.datasets.tables.networks import encoder_of
from keras_vaf_cli import main

pandas = pytest.importorskip("pandas")

QUICK = "--folds 2 --epochs 3 --hidden 4 --activations relu --learning-rates 0.01"


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {
            "area": rng.normal(100, 20, 40).round(2),
            "city": rng.choice(["Bonn", "Köln", "Ulm"], 40),
            "lift": rng.choice(["yes", "no"], 40),
            "sold": pandas.to_datetime("2024-01-01")
            + pandas.to_timedelta(rng.integers(0, 99, 40), "D"),
        }
    )
    frame["price"] = (frame["area"] * 1000 + rng.normal(0, 1e4, 40)).round()
    frame["kind"] = np.where(frame["area"] > 100, "large", "small")
    return frame


@pytest.fixture(scope="module", params=["price", "kind"])
def trained(request, frame, tmp_path_factory):
    """A table, its target, and the network that `compare` saved."""
    folder = tmp_path_factory.mktemp("trained")
    other = {"price": "kind", "kind": "price"}[request.param]
    path = folder / "houses.csv"
    frame.drop(columns=other).to_csv(path, index=False)
    words = ["compare", str(path), "--target", request.param, *QUICK.split()]
    assert main([*words, "--output", str(folder / "o")]) == 0
    [best] = folder.rglob("best.keras")
    return path, request.param, best


def predict(trained, capsys, text, *words, read=True):
    """Return exit code, output file and errors of a prediction."""
    path, _, best = trained
    new, out = path.with_name("new.csv"), path.with_name("out.csv")
    new.write_bytes(text if isinstance(text, bytes) else text.encode())
    out.unlink(missing_ok=True)
    capsys.readouterr()
    code = main(["predict", str(best), str(new), "-o", str(out), *words])
    table = pandas.read_csv(out) if read and out.exists() else None
    return code, table, capsys.readouterr().err


def test_columns_may_come_in_any_order_without_the_target(trained, capsys, frame):
    _, target, best = trained
    _, given, _ = predict(trained, capsys, frame.to_csv(index=False))
    shuffled = frame[["sold", "lift", "city", "area"]].assign(note="a, b")
    _, table, said = predict(trained, capsys, shuffled.to_csv(index=False))

    name = f"predicted {target}"
    assert said == ""
    assert list(table)[:6] == ["sold", "lift", "city", "area", "note", name]
    assert table["note"].tolist() == ["a, b"] * 40
    assert table[name].tolist() == given[name].tolist()
    model = keras.saving.load_model(best)
    if target == "price":
        assert table[name].between(1e4, 1e6).all()  # not scaled
        assert model.output_shape == (None, 1)
    else:
        assert set(table[name]) <= {"large", "small"}
        chances = table[["probability of large", "probability of small"]]
        np.testing.assert_allclose(chances.sum(axis=1), 1, atol=1e-6)


def test_another_dress_of_the_same_table_has_the_same_predictions(
    trained, capsys, frame
):
    target = f"predicted {trained[1]}"
    _, first, _ = predict(trained, capsys, frame.to_csv(index=False))
    text = frame.to_csv(index=False, sep=";", decimal=",")
    code, _, _ = predict(
        trained, capsys, text.encode("cp1252"), "--encoding", "cp1252", read=False
    )
    out = trained[0].with_name("out.csv")
    second = pandas.read_csv(out, sep=";", decimal=",", encoding="cp1252")
    assert code == 0
    assert second[target].tolist() == first[target].tolist()


MESSY = {  # separator, decimal mark, rows, line end
    "commas": (",", ".", ["area,city,lift,sold,id", "9,Ulm,yes,,042", "1,?,no,,1e5"]),
    "semicolons": (
        *(";", ","),
        ["PLZ;area;city;lift;sold", "01067;99,50;Köln;yes;2024-01-01", "1;,5;??;No;"],
    ),
    "tabs": (
        *("\t", "."),
        ["area\tcity\tlift\tsold", " 99.50\t Ulm \tyes\t", "", "007\tUlm\tno\tNA"],
    ),
    "quotes": (
        *(",", "."),
        ['"area","city","lift","sold","n"', '"01","U""l,m","yes",,"a\n\r\nb"'],
    ),
    "bars": ("|", ".", ["area|city|lift|sold|0,5", "+1.0|Ulm|f|2024-01-01|k.A."]),
}
DRESSES = [
    *(("utf-8", "\n", True), ("utf-8-sig", "\r\n", False), ("utf-16", "\r\n", True)),
    *(("utf-16-be", "\n", False), ("cp1252", "\r\n", True), ("utf-8", "\r", False)),
]


@pytest.mark.parametrize("encoding, end, last", DRESSES)
@pytest.mark.parametrize("name", MESSY)
def test_the_cells_of_the_input_are_copied_byte_for_byte(
    name, encoding, end, last, trained, capsys
):
    separator, decimal, rows = MESSY[name]
    text = end.join(rows) + (end if last else "")
    content = text.encode(encoding)
    words = [f"--encoding={encoding}"] if encoding in ("cp1252", "utf-16-be") else []
    code, _, said = predict(trained, capsys, content, *words, read=False)
    assert code == 0, said
    written = trained[0].with_name("out.csv").read_bytes().decode(encoding)
    assert written.encode(encoding)[:3] == content[:3]  # with the byte order mark
    added = 1 if trained[1] == "price" else 3
    for place, row in enumerate(rows):
        assert written.startswith(row)
        new = re.match(
            f"({re.escape(separator)}[^{separator}\r\n]+)*", written[len(row) :]
        )
        cells = new[0].split(separator)[1:]
        assert len(cells) == (added if row else 0)
        if place and row:
            assert re.fullmatch(rf"\d+({re.escape(decimal)}\d+)?(e-\d+)?", cells[-1])
        written = written[len(row + new[0]) :]
        if last or place < len(rows) - 1:
            assert written.startswith(end)
            written = written[len(end) :]
    assert written == ""


@pytest.mark.parametrize("kind", ["parquet", "xlsx"])
def test_a_binary_table_keeps_values_and_types(kind, trained, capsys, frame):
    whole = pandas.array([1, None, 3], "Int64")
    rows = frame.head(3).assign(plz=["01067", "NA", "k.A."], whole=whole)
    path, target, best = trained
    new, out = path.with_name(f"new.{kind}"), path.with_name(f"out.{kind}")
    write, read = {
        "parquet": (rows.to_parquet, pandas.read_parquet),
        "xlsx": (rows.to_excel, pandas.read_excel),
    }[kind]
    write(new, index=False)
    out.unlink(missing_ok=True)
    assert main(["predict", str(best), str(new), "-o", str(out)]) == 0
    options = {} if kind == "parquet" else {"keep_default_na": False}
    before, after = read(new, **options), read(out, **options)
    assert f"predicted {target}" in after
    pandas.testing.assert_frame_equal(after[before.columns], before)
    assert after["plz"].tolist() == ["01067", "NA", "k.A."]
    text = path.with_name("out.csv")
    assert main(["predict", str(best), str(new), "-o", str(text), "--force"]) == 0
    assert "01067" in text.read_text()
    wrong = path.with_name("out.ods")
    assert main(["predict", str(best), str(new), "-o", str(wrong)]) == 2
    assert "must have the format of the table" in capsys.readouterr().err


def test_other_columns_of_a_wide_table_are_not_parsed(trained, capsys, frame):
    names = ",".join(f"c{place}" for place in range(20_000))
    rows = frame.head(2).to_csv(index=False).splitlines()
    text = "\n".join(f"{row},{names}" for row in rows)
    code, _, _ = predict(trained, capsys, text, read=False)
    assert code == 0
    file = CsvFile(trained[0].with_name("new.csv"))
    assert list(file.read_frame(only=["area"])) == ["area"]


def test_a_character_that_the_encoding_lacks_is_named(trained, capsys):
    path, _, best = trained
    model = keras.saving.load_model(best)
    layer = encoder_of(model)
    layer.target = "Łódź"
    model.save(path.with_name("other.keras"))
    path.with_name("new.csv").write_text("area,city,lift,sold\n1,Ulm,no,\n")
    words = [
        "predict",
        str(path.with_name("other.keras")),
        str(path.with_name("new.csv")),
    ]
    words += ["-o", str(path.with_name("o.csv")), "--encoding", "latin-1"]
    assert main(words) == 2
    assert "lacks the character 'Ł'" in capsys.readouterr().err


def test_unknown_categories_and_missing_entries_are_said(trained, capsys, frame):
    new = frame.head(3).assign(city=["Rom", "Bonn", ""], area=["", 90, 100])
    code, table, said = predict(trained, capsys, new.to_csv(index=False))
    assert code == 0
    assert "'city': 1 of 3 cells are categories that the training rows did not" in said
    assert "'city': 1 of 3 entries are missing" in said
    assert "'area': 1 of 3 entries are missing" in said
    assert table[f"predicted {trained[1]}"].notna().all()


def test_a_table_with_earlier_predictions_is_refused(trained, capsys, frame):
    name = f"predicted {trained[1]}"
    earlier = frame.assign(**{name: 1})
    code, table, said = predict(trained, capsys, earlier.to_csv(index=False))
    assert (code, table) == (2, None)
    assert "already has a column for the prediction" in said
    assert name in said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "area,Cities,sold\nbig,Ulm,soon\n",
            "new.csv: 4 columns cannot be used.\n"
            "line 2: column 'area' must hold numbers, such as -1.5 or 2e3; 1 of its 1 "
            "cells does not. Received: 'big'\n"
            "column 'city' is missing; add it, or rename another column. Did you mean "
            "'Cities'?\n"
            "column 'lift' is missing; add it, or rename another column.\n"
            "line 2: column 'sold' must hold dates of the format ISO 8601, such as "
            "2024-12-31; 1 of its 1 cells does not. Received: 'soon'\n"
            "Columns of the table: area, Cities, sold.\n",
        ),
        (  # 'city' is similar, but the network needs it itself
            "area,city,sold\n1,Ulm,2024-01-01\n",
            "column 'lift' is missing; add it, or rename another column.\nColumns of",
        ),
        ("area city lift sold\n1 Ulm yes 2024-01-01\n", "--separator ' '"),
        ("area,city,lift,sold\n", "at least one row to predict"),
        ("", "new.csv, line 1: expected the names of the columns"),
    ],
    ids=["all problems", "similar", "separator", "no rows", "empty"],
)
def test_another_table_gets_a_sentence_and_no_file(trained, capsys, text, message):
    code, table, said = predict(trained, capsys, text)
    assert (code, table) == (2, None)
    assert message in said


def test_unknown_words_are_counted_as_missing_entries(trained, capsys):
    text = (
        "area,city,lift,sold\n1,Ulm,yes,soon\nbig,Ulm,yes,2024-01-01\n2,,-,2024-01-02\n"
    )
    code, table, said = predict(trained, capsys, text)

    assert code == 0
    for column, word in (("area", "big"), ("lift", "-"), ("sold", "soon")):
        assert f"Column {column!r}: 1 of 3 cells are not of the kind" in said
        assert f"count as missing: {word!r}." in said
    assert said.count("1 of 3 entries are missing") == 4
    given = text.replace("soon", "").replace("big", "").replace("-,2024", ",2024")
    _, expected, _ = predict(trained, capsys, given)
    name = f"predicted {trained[1]}"
    assert table[name].tolist() == expected[name].tolist()


def test_a_column_of_words_is_refused(trained, capsys):
    text = "area,lift,sold,city\nbig,yes,2024-01-01,Ulm\nbig,yes,2024-01-01,Ulm\n"
    code, table, said = predict(trained, capsys, text)
    assert (code, table) == (2, None)
    assert "column 'area' must hold numbers" in said


def test_an_older_file_is_kept_unless_force_is_said(trained, capsys, frame, tmp_path):
    path, _, best = trained
    out = tmp_path / "out.csv"
    out.write_text("mine")
    words = ["predict", str(best), str(path), "-o", str(out)]
    assert main(words) == 2
    assert out.read_text() == "mine"
    assert main([*words, "--force"]) == 0
    assert len(pandas.read_csv(io.StringIO(out.read_text()))) == 40


def test_a_model_of_another_origin_is_refused(tmp_path, capsys, trained):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.save(tmp_path / "other.keras")
    words = ["predict", str(tmp_path / "other.keras"), str(trained[0])]
    assert main([*words, "-o", str(tmp_path / "o.csv")]) == 2
    assert "must contain a TableEncoder" in capsys.readouterr().err
