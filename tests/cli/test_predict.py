"""`keras-vaf predict` takes raw columns and returns the units of the target."""

import csv
import gzip
import io
import os
import re
import shutil
from functools import partial

import keras
import numpy as np
import pandas
import pytest

from keras_vaf_cli import main

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
    assert table[name].tolist() == given[name].tolist()
    if target == "price":
        assert table[name].between(1e4, 1e6).all()  # not scaled
        assert keras.saving.load_model(best).output_shape == (None, 1)
    else:
        assert set(table[name]) <= {"large", "small"}
        chances = table[["probability of large", "probability of small"]]
        np.testing.assert_allclose(chances.sum(axis=1), 1, atol=1e-6)


MESSY = {  # encoding, separator, decimal mark, rows
    "commas": (
        *("utf-8", ",", "."),
        'area,city,lift,sold,id\n9,"U""l,m",yes,,"04\n2"\n1,?,no,,1e5\n',
    ),
    "semicolons": (
        *("utf-8-sig", ";", ","),
        "PLZ;area;city;lift;sold\n01067;99,50;Köln;yes;2024-01-01\n1;,5;??;No;\n",
    ),
    "tabs": (
        *("utf-16", "\t", "."),
        "area\tcity\tlift\tsold\n 99.50\t Ulm \tyes\t\n7\tUlm\tf\tNA",
    ),
}


@pytest.mark.parametrize("name", MESSY)
def test_each_cell_is_written_as_it_was_read(name, trained, capsys):
    encoding, separator, decimal, text = MESSY[name]
    code, _, said = predict(trained, capsys, text.encode(encoding), read=False)
    assert code == 0, said
    written = trained[0].with_name("out.csv").read_bytes()
    if encoding != "utf-8":
        assert written[:2] == text.encode(encoding)[:2]  # the byte order mark
    given, found = (
        [*csv.reader(io.StringIO(each), delimiter=separator)]
        for each in (text, written.decode(encoding))
    )
    width = len(given[0])
    assert [row[:width] for row in found] == given
    added = 1 if trained[1] == "price" else 3
    assert {len(row) for row in found} == {width + added}
    for row in found[1:]:
        assert np.isfinite(float(row[-1].replace(decimal, ".")))
        assert decimal in row[-1] or "e" in row[-1]


@pytest.mark.parametrize("kind", ["parquet", "xlsx"])
def test_a_binary_table_keeps_values_and_types(kind, trained, capsys, frame):
    whole = pandas.array([1, None, 3], "Int64")
    rows = frame.head(3).assign(plz=["01067", "NA", "k.A."], whole=whole)
    path, target, best = trained
    new, out = path.with_name(f"new.{kind}"), path.with_name(f"out.{kind}")
    arrow = partial(pandas.read_parquet, dtype_backend="pyarrow")
    write, read = {
        "parquet": (rows.to_parquet, arrow),
        "xlsx": (rows.to_excel, partial(pandas.read_excel, engine="openpyxl")),
    }[kind]
    write(new, index=False)
    assert main(["predict", str(best), str(new), "-o", str(out), "--force"]) == 0
    options = {} if kind == "parquet" else {"keep_default_na": False}
    before, after = read(new, **options), read(out, **options)
    assert f"predicted {target}" in after
    pandas.testing.assert_frame_equal(after[before.columns], before)
    text = path.with_name("out.csv.gz")
    assert main(["predict", str(best), str(new), "-o", str(text), "--force"]) == 0
    assert b"01067" in gzip.decompress(text.read_bytes())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "area,Cities,sold\nbig,Ulm,soon\n",
            r"new.csv: 4 columns cannot be used.\n"
            r"row 2: column 'area' must hold finite .*, unlike 1 of .* 'big'\n"
            r"column 'city' is missing; .*: area, Cities, sold. Did you mean",
        ),
        ("area,city,lift,sold,predicted TARGET\n1,Ulm,yes,,2\n", "already has a col"),
        ("area,city,lift,sold\n", "expected at least one row"),
    ],
    ids=["all problems", "earlier predictions", "no rows"],
)
def test_another_table_gets_a_sentence_and_no_file(trained, capsys, text, message):
    text = text.replace("TARGET", trained[1])
    code, table, said = predict(trained, capsys, text)
    assert (code, table) == (2, None)
    assert re.search(message, said)


def test_unknown_categories_and_missing_entries_are_counted(trained, capsys):
    text = "area,city,lift,sold\n1,Rom,yes,k.A.\nbig,Ulm,yes,2024-01-01\n2,,-,-\n"
    code, table, said = predict(trained, capsys, text, "--na", "big")
    assert code == 0, said
    assert "'city', 3 rows: 1 missing entries (filled in as in training), 1 unk" in said
    assert said.count("3 rows: 1 missing entries") == 3
    assert "'sold', 3 rows: 2 missing entries" in said
    given = text.replace("k.A.", "").replace("big", "").replace("-,-", ",")
    _, expected, _ = predict(trained, capsys, given)
    name = f"predicted {trained[1]}"
    assert table[name].notna().all()
    assert table[name].tolist() == expected[name].tolist()


def test_a_folder_stands_for_its_newest_network(trained, run, refusal, tmp_path):
    path, _, best = trained
    line = f"predict {{}} {path} -o {tmp_path / 'out.csv'}"
    assert "has no best.keras" in refusal(line.format(tmp_path))
    (tmp_path / "older").mkdir()
    (tmp_path / "older/best.keras").write_text("no network")
    os.utime(tmp_path / "older/best.keras", (1, 1))
    shutil.copy(best, tmp_path)
    code, output, _ = run(line.format(tmp_path))
    assert code == 0
    assert f"with {tmp_path / 'best.keras'}" in output
    assert "out.csv exists" in refusal(line.format(best))
    assert run(f"{line.format(best)} --force")[0] == 0
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.save(tmp_path / "other.keras")
    other = f"{line.format(tmp_path / 'other.keras')} --force"
    assert "must contain a TableEncoder" in refusal(other)
