"""Laws of tables, over tables of every form, kind and source.

A form says how a cell is written, and which number the cell stands for.
"""

import datetime

import keras
import numpy as np
import pandas
import pytest

from keras_vaf.datasets import (
    Preprocessing,
    TableEncoder,
    read_table,
)
from keras_vaf.datasets.tables.encoder import with_encoder
from keras_vaf.datasets.tables.files import open_table
from keras_vaf.models import mlp

ROWS = 60
START = datetime.datetime(2024, 5, 1, 8)


def comma(text):
    return text.translate(str.maketrans(",.", ".,"))


def date(form, **step):
    def days(rng):
        moments = [START + n * datetime.timedelta(**step) for n in range(ROWS)]
        numbers = [
            (m - datetime.datetime(1970, 1, 1)) / datetime.timedelta(1) for m in moments
        ]
        return numbers, [
            form(m) if callable(form) else m.strftime(form) for m in moments
        ]

    return days


def number(form, make):
    def cells(rng):
        values = [float(v) for v in make(rng)]
        return values, [form(v) for v in values]

    return cells


def kinds(words):
    def cells(rng):
        draw = rng.permutation(np.arange(ROWS) % len(words))
        return None, [words[n] for n in draw]

    return cells


def normal(rng):
    return rng.normal(0, 500, ROWS).round(2)


N = np.arange(ROWS)
NUMBERS = {
    "plain": number(float, normal),
    "integers": number(float, lambda rng: rng.permutation(ROWS)),
    "unix": number(float, lambda rng: 1_700_000_000 + N),
    "hundredths": number(float, lambda rng: 1.7e9 + N / 100),
    "billions": number(float, lambda rng: 1e9 + N / 2),
    "minutes": number(float, lambda rng: 1_700_000_000 + 300 * N),
    "narrow": number(float, lambda rng: 1e6 + rng.normal(0, 0.01, ROWS).round(6)),
    "text": number(str, normal),
    "exponents": number("{:.0f}e0".format, lambda rng: rng.permutation(ROWS)),
    "comma": number(lambda v: comma(f"{v}"), normal),
    "german": number(lambda v: comma(f"{v:,.2f}"), lambda rng: 1e5 + normal(rng)),
    "euros": number(lambda v: comma(f"{v:,.2f} ") + "€", normal),
    "dollars": number("${:,.2f}".format, lambda rng: 5000 + np.abs(normal(rng))),
    "per cent": number("{:.1f} %".format, lambda rng: rng.integers(0, 99, ROWS)),
}
DATES = {
    "days": date("%Y-%m-%d", days=1),
    "seconds": date("%Y-%m-%d %H:%M:%S", seconds=1),
    "short days": date(lambda m: f"{m.year}-{m.month}-{m.day}", days=3),
    "german days": date("%d.%m.%Y", days=5),
    "afternoons": date("%m/%d/%Y %I:%M %p", hours=31),
    "months": date("%b %d %Y", days=9),
    "long months": date("%B %d, %Y", days=9),
}
WORDS = {
    "colours": kinds(["red", "green", "blue"]),
    "countries": kinds(["NA", "ZA", "DE"]),
    "signs": kinds(["+", "-", "n.a."]),
    "codes": kinds(["01067", "10115", "80331"]),
    "truth": kinds(["yes", "no"]),
    "rare": kinds(["seen", "lost", *[""] * 8]),
}
FORMS = NUMBERS | DATES | WORDS
MARKS = {"text": ".", "comma": ",", "german": ",", "euros": ",", "dollars": "."}
SOURCES = {  # format of the text, options
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
}
HEADS = {"excel": "sep=;\n", "title": "Report, May\nmade by X, Y, Z\n"}


def write(frame, source, path, mark):
    """Write a table, and return what `read_table` takes and its options."""
    form, options = SOURCES[source]
    form = form | ({"decimal": mark} if mark else {})
    if source == "pandas":
        return frame, {}
    path = path.with_suffix(f".{source}")
    if source in ("xlsx", "parquet"):
        getattr(frame, {"xlsx": "to_excel"}.get(source, "to_parquet"))(
            path, index=False
        )
    else:
        path.write_text(HEADS.get(source, "") + frame.to_csv(index=False, **form))
    return path, options


def table(form, role):
    """Return the values of a column in a form, and a table of it."""
    rng = np.random.default_rng(sum(map(ord, form)))
    values, cells = FORMS[form](rng)
    frame = pandas.DataFrame(
        {"price, EUR": cells, "b": rng.normal(0, 9, ROWS).round(3)}
    )
    frame["y"] = rng.normal(0, 9, ROWS).round(3)
    if role == "target":
        frame = frame.rename(columns={"price, EUR": "y", "y": "price, EUR"})
    return values, frame


def read(form, role, source, path):
    """Return a dataset, and what `open_table` takes."""
    _, frame = table(form, role)
    given, options = write(frame, source, path, MARKS.get(form))
    if form in MARKS:
        options = options | {"decimal": MARKS[form]}
    if form == "countries" and source not in ("pandas", "parquet"):
        options = options | {"keep_na": True}
    roles = {"time": "price, EUR"} if role == "time" else {}
    task = "regression" if role == "target" else None
    return read_table(given, "y", task, **roles, **options), open_table(
        given, **options
    )


CASES = [(form, "input") for form in FORMS]
for role, forms in {"target": NUMBERS, "time": NUMBERS | DATES}.items():
    CASES += [pytest.param(form, role, marks=pytest.mark.nightly) for form in forms]
LATER = pytest.param([*SOURCES][2:], marks=pytest.mark.nightly)


def check_numbers(found, values):
    """Check that numbers differ as they should, and are right but for an offset."""
    values = np.array(values)
    assert len(np.unique(found)) == len(np.unique(values))
    error = (found - found[0]) - (values - values[0])
    assert np.abs(error).max() <= 1e-3 * values.std()


@pytest.mark.parametrize("sources", [[*SOURCES][:2], LATER])
@pytest.mark.parametrize(("form", "role"), CASES)
def test_numbers_are_the_same_from_every_source(form, role, sources, tmp_path):
    values, frame = table(form, role)
    expected, _ = read(form, role, "pandas", tmp_path / "own")
    found = {"input": expected.x[:, 0], "time": expected.times, "target": expected.y}
    if values is not None:
        check_numbers(found[role].astype(float), values)
    else:
        words = expected.columns[0].names or ("no", "yes")
        cells = frame["price, EUR"].tolist()
        assert [words[int(code)] for code in expected.x[:, 0]] == cells
    fitted = Preprocessing("standard").fit(expected, slice(0, 40))
    encoder = TableEncoder.of(expected, fitted)
    inputs = fitted.transform_inputs(expected.x)
    outputs = keras.ops.convert_to_numpy(encoder(expected.x))
    np.testing.assert_allclose(outputs, inputs, rtol=1e-5, atol=1e-5)
    network = mlp(inputs.shape[1], (4,), 1, keras.layers.ReLU, seed=0)
    model = with_encoder(network, encoder, fitted)
    outputs = keras.ops.convert_to_numpy(model(expected.x))
    wanted = fitted.invert_targets(keras.ops.convert_to_numpy(network(inputs)))[:, 0]
    predicted = encoder.decode(outputs)["predicted y"]
    error = 1e-5 * expected.y.std()
    np.testing.assert_allclose(predicted, wanted, rtol=1e-6, atol=error)
    for source in sources:
        dataset, opened = read(form, role, source, tmp_path / "own")
        for name in ("x", "y", "times"):
            same = getattr(dataset, name), getattr(expected, name)
            np.testing.assert_array_equal(*same)
        assert not any("rounded" in note or "Left" in note for note in dataset.notes)
        np.testing.assert_array_equal(encoder.encode(opened), expected.x)
