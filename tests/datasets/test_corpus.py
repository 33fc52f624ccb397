"""Laws of tables, over tables of every form, kind and source.

A form says how a cell is written, and which number the cell stands for.
"""

import datetime

import keras
import numpy as np
import pandas
import pytest

from keras_vaf.datasets import Preprocessing, TableEncoder, TableError, read_table
from keras_vaf.datasets.tables.encoder import with_encoder
from keras_vaf.datasets.tables.files import open_table
from keras_vaf.models import mlp

ROWS = 60
START = datetime.datetime(2024, 5, 1, tzinfo=datetime.UTC)
N = np.arange(ROWS)
NAME = "größe, €"  # of the column under test


def number(form, make):
    return lambda rng: (
        [*map(float, made := make(rng))],
        [form(float(v)) for v in made],
    )


def date(form, hours=24.0):
    moments = [START + n * datetime.timedelta(hours=hours) for n in range(ROWS)]
    cells = [form(m) if callable(form) else m.strftime(form) for m in moments]
    return lambda rng: ([m.timestamp() / 86400 for m in moments], cells)


def kinds(words):
    return lambda rng: (None, [words[n] for n in rng.permutation(N % len(words))])


def normal(rng):
    return rng.normal(0, 500, ROWS).round(2)


def thousands(rng):
    return rng.normal(0, 5000, ROWS).round(2)


def comma(text):
    return text.translate(str.maketrans(",.", ".,"))


NUMBERS = {
    "plain": number(float, normal),
    "integers": number(float, lambda rng: rng.permutation(ROWS)),
    "unix": number(float, lambda rng: 1_700_000_000 + N),
    "hundredths": number(float, lambda rng: 1.7e9 + N / 100),
    "billions": number(float, lambda rng: 1e9 + N / 2),
    "minutes": number(float, lambda rng: 1_700_000_000 + 300 * N),
    "hours": number(float, lambda rng: 1_700_000_000 + 7200 * N),
    "narrow": number(float, lambda rng: 1e6 + rng.normal(0, 0.01, ROWS).round(6)),
    "text": number(str, normal),
    "exponents": number("{:.8e}".format, thousands),
    "comma": number(lambda v: comma(f"{v}"), normal),
    "german": number(lambda v: comma(f"{v:,.2f}"), lambda rng: 1e5 + normal(rng)),
    "euros": number(lambda v: comma(f"{v:,.2f} ") + "€", thousands),
    "dollars": number(lambda v: f"${v:,.2f}".replace("$-", "-$"), thousands),
    "accounts": number(
        lambda v: f"${v:,.2f}" if v >= 0 else f"(${-v:,.2f})", thousands
    ),
    "per cent": number("{:.1f} %".format, lambda rng: rng.integers(0, 99, ROWS)),
    "apostrophes": number(lambda v: f"{v:,.2f}".replace(",", "'"), thousands),
    "thin spaces": number(lambda v: f"{v:,.2f}".replace(",", "\u2009"), thousands),
    "minus signs": number(lambda v: f"{v}".replace("-", "\u2212"), normal),
}
DATES = {
    "days": date("%Y-%m-%d"),
    "seconds": date("%Y-%m-%d %H:%M:%S", 1 / 3600),
    "short days": date(lambda m: f"{m.year}-{m.month}-{m.day}", 72),
    "german days": date("%d.%m.%Y", 120),
    "afternoons": date("%m/%d/%Y %I:%M %p", 31),
    "months": date("%b %d %Y", 216),
    "long months": date("%B %d, %Y", 216),
    "moments": date(lambda m: m.replace(tzinfo=None), 31),
    "letters": date("%Y-%m-%dT%H:%M:%S", 31),
    "german minutes": date("%d.%m.%Y %H:%M", 31),
    "slashes": date("%Y/%m/%d", 168),
    "days first": date("%d/%m/%Y", 168),
    "months first": date("%m/%d/%Y", 168),
    "names": date("%d-%b-%Y", 168),
    "names of months": date("%d %b %Y", 168),
}
WORDS = {
    "colours": kinds(["red", "green", "blue"]),
    "countries": kinds(["NA", "ZA", "DE"]),
    "signs": kinds(["+", "-", "n.a."]),
    "codes": kinds(["01067", "10115", "80331"]),
    "truth": kinds(["yes", "no"]),
    "rare": kinds(["seen", "lost", *[""] * 8]),
    "strings": lambda rng: (
        None,
        pandas.array(["pear", "fig"] * (ROWS // 2), "string"),
    ),
}
TYPED = {
    "flags": number(bool, lambda rng: rng.permutation(N % 2)),
    "gaps": lambda rng: (
        [*np.where(N % 4, N, np.nan)],
        pandas.array([int(n) if n % 4 else None for n in N], "Int64"),
    ),
}
FORMS = NUMBERS | DATES | WORDS | TYPED
POINTS = ("text", "exponents", "dollars", *[*NUMBERS][-3:])
MARKS = dict.fromkeys(POINTS, ".") | dict.fromkeys(("comma", "german", "euros"), ",")
SOURCES = {  # arguments of `to_csv`, options
    "german": ({"sep": ";", "decimal": ","}, {}),
    "pandas": ({}, {}),
    "csv": ({}, {}),
    "tabs": ({"sep": "\t"}, {}),
    "excel": ({"sep": ";"}, {}),
    "title": ({"sep": ";"}, {"skip": 2}),
    "blanks": ({"sep": " ", "quoting": 2}, {}),
    "quoted": ({"sep": ";", "quoting": 1}, {}),
    "xlsx": ({}, {}),
    "parquet": ({}, {}),
    "pipes": ({"sep": "|", "lineterminator": "\r\n"}, {}),
    "hashes": ({"sep": "#", "lineterminator": "\r"}, {"separator": "#"}),
    "utf-16": ({"sep": "\t", "encoding": "utf-16"}, {}),
    "marked": ({"encoding": "utf-8-sig"}, {}),
    "cp1252": ({"encoding": "cp1252"}, {"encoding": "cp1252"}),
    "csv.gz": ({"sep": ";", "compression": "gzip"}, {}),
}
HEADS = {"excel": "sep=;\n", "title": "Report, May\nmade by X, Y, Z\n", "tabs": "\n"}
NOT_CP1252 = ("thin spaces", "minus signs")  # signs that the encoding lacks


def write(frame, source, path, mark):
    """Write a table, and return what `read_table` takes and its options."""
    form, options = SOURCES[source]
    if source == "pandas":
        return frame, {}
    path = path.with_suffix(f".{source}")
    if source in ("xlsx", "parquet"):
        writer = {"xlsx": frame.to_excel, "parquet": frame.to_parquet}[source]
        writer(path, index=False)
    else:
        frame.to_csv(path, index=False, **form | ({"decimal": mark} if mark else {}))
    if source in HEADS:
        path.write_bytes(HEADS[source].encode() + path.read_bytes())
    return path, options


def table(form, role):
    """Return the values of a column in a form, and a table of it."""
    rng = np.random.default_rng(sum(map(ord, form)))
    values, cells = FORMS[form](rng)
    frame = pandas.DataFrame({NAME: cells, "b": rng.normal(0, 9, ROWS).round(3)})
    frame["y"] = rng.normal(0, 9, ROWS).round(3)
    if role == "target":
        frame = frame.rename(columns={NAME: "y", "y": NAME})
    return values, frame


def read(form, role, source, path):
    """Return a dataset, and what `open_table` takes."""
    given, options = write(table(form, role)[1], source, path, MARKS.get(form))
    if form in MARKS:
        options = options | {"decimal": MARKS[form]}
    if form == "countries" and source not in ("pandas", "parquet"):
        options = options | {"keep_na": True}
    roles = {"time": NAME} if role == "time" else {}
    task = "regression" if role == "target" else None
    dataset = read_table(given, "y", task, **roles, **options)
    return dataset, open_table(given, **options)


@pytest.mark.parametrize("source", ["pandas", "csv", "xlsx", "parquet"])
def test_an_option_that_would_have_no_effect_is_refused(source, tmp_path):
    given, _ = write(table("plain", "input")[1], source, tmp_path / "own", None)
    kinds = {"sheet": "xlsx", "separator": "csv", "encoding": "csv"}
    for name, value in {"sheet": 0, "separator": ",", "encoding": "utf-8"}.items():
        if source not in kinds[name]:
            with pytest.raises(TableError, match=f"`--{name}` is not for {source} tab"):
                read_table(given, "y", **{name: value})
    if source in ("pandas", "parquet"):
        with pytest.raises(TableError, match="`--no-header` is not for"):
            read_table(given, "y", header=False)


NIGHTLY = {"marks": pytest.mark.nightly}
OFTEN = ("plain", "unix", "hours", "narrow", "seconds", "colours", "rare", "gaps")
OTHERS = [("billions", "target"), ("unix", "time"), ("seconds", "time")]
LATE = [pytest.param(form, "target", **NIGHTLY) for form in NUMBERS]
LATE += [pytest.param(form, "time", **NIGHTLY) for form in NUMBERS | DATES]
CASES = [(form, "input") for form in FORMS] + OTHERS + LATE
LATER = pytest.param([*SOURCES][2:], **NIGHTLY)


def check_column(dataset, role, values, cells):
    """Check that a column holds these numbers, or words in the place of these cells."""
    arrays = {"input": dataset.x[:, 0], "time": dataset.times, "target": dataset.y}
    column, found = dataset.columns[0], arrays[role].astype(float)
    if values is None:
        words = column.names or ("no", "yes")
        assert [words[int(code)] for code in found] == cells
        return
    values, found = np.array(values), found + column.offset * (role == "input")
    assert len(np.unique(found)) == len(np.unique(values))
    np.testing.assert_allclose(found, values, rtol=0, atol=1e-3 * np.nanstd(values))


@pytest.mark.parametrize("sources", [[*SOURCES][:2], LATER])
@pytest.mark.parametrize(("form", "role"), CASES)
def test_numbers_are_the_same_from_every_source(form, role, sources, tmp_path):
    values, frame = table(form, role)
    expected, _ = read(form, role, "pandas", tmp_path / "own")
    check_column(expected, role, values, frame[NAME].tolist())
    fitted = Preprocessing("standard").fit(expected, slice(0, 40))
    encoder = TableEncoder.of(expected, fitted)
    for source in SOURCES if form in ("plain", "euros") else sources:  # in each run
        if source == "cp1252" and form in NOT_CP1252:
            continue
        dataset, opened = read(form, role, source, tmp_path / "own")
        for name in ("x", "y", "times"):
            same = getattr(dataset, name), getattr(expected, name)
            np.testing.assert_array_equal(*same)
        assert not any("rounded" in note or "Left" in note for note in dataset.notes)
        np.testing.assert_array_equal(encoder.encode(opened), expected.x)


LAWS = [(form, "input") for form in OFTEN] + OTHERS + LATE
LAWS += [pytest.param(f, "input", **NIGHTLY) for f in FORMS if f not in OFTEN]


@pytest.mark.parametrize(("form", "role"), LAWS)
def test_a_network_that_reads_tables_predicts_what_was_trained(form, role, tmp_path):
    dataset, _ = read(form, role, "pandas", tmp_path / "own")
    fitted = Preprocessing("standard").fit(dataset, slice(0, 40))
    encoder = TableEncoder.of(dataset, fitted)
    inputs = fitted.transform_inputs(dataset.x)
    outputs = keras.ops.convert_to_numpy(encoder(dataset.x))
    np.testing.assert_allclose(outputs, inputs, rtol=1e-5, atol=1e-5)
    network = mlp(inputs.shape[1], (4,), 1, keras.layers.ReLU, seed=0)
    outputs = with_encoder(network, encoder, fitted)(dataset.x)
    wanted = fitted.invert_targets(keras.ops.convert_to_numpy(network(inputs)))[:, 0]
    predicted = encoder.decode(keras.ops.convert_to_numpy(outputs))["predicted y"]
    error = 1e-5 * dataset.y.std() + 2 * np.spacing(np.abs(dataset.y).max())
    np.testing.assert_allclose(predicted, wanted, rtol=0, atol=error)
