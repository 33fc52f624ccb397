"""The encoder in a network's file does what the preprocessing of its training did."""

import keras
import numpy as np
import pandas
import pytest

from keras_vaf.datasets import (
    Column,
    Preprocessing,
    TableEncoder,
    TableError,
    predict_table,
    read_table,
)
from keras_vaf.datasets.tables.encoder import with_encoder
from keras_vaf.models import mlp

ROWS = 60


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {
            "größe": rng.normal(180, 7, ROWS),
            "colour": rng.choice(["red", "green", "blue"], ROWS),
            "owner": [["no", "Yes"][n % 2] for n in range(ROWS)],
            "sold": np.datetime64("2024-01-01") + rng.integers(0, 900, ROWS),
            "price": rng.normal(1000, 100, ROWS),
        }
    )
    frame.loc[3, "größe"] = np.nan
    frame.loc[5, "colour"] = None
    return frame


def make(frame, **options):
    dataset = read_table(frame, "price", **options)
    fitted = Preprocessing(targets="standard").fit(dataset, slice(0, 40))
    return dataset, fitted, TableEncoder.of(dataset, fitted)


def test_words_for_missing_entries_are_those_of_the_training_table(frame, tmp_path):
    old = frame.assign(age=["gone", *range(1, ROWS)])
    old.to_csv(tmp_path / "train.csv", index=False)
    frame[:3].assign(age=["3", "gone", "4"]).to_csv(tmp_path / "new.csv", index=False)
    dataset, _, encoder = make(tmp_path / "train.csv", na=["gone"])
    place = dataset.feature_names.index("age")
    new = predict_table(keras.Sequential([encoder]), tmp_path / "new.csv")
    assert ["'age', 3 rows: 1 missing" in note for note in new.attrs["notes"]] == [True]
    assert np.isnan(encoder.encode({**frame, "age": ["gone"] * ROWS})[:, place]).all()


def test_a_saved_network_predicts_raw_rows(frame, tmp_path):
    dataset, fitted, encoder = make(frame)
    inputs = fitted.transform_inputs(dataset.x)
    assert encoder(keras.Input((4,))).shape == (None, inputs.shape[1])
    network = mlp(inputs.shape[1], (4,), 1, lambda: keras.layers.ReLU(), seed=0)
    with_encoder(network, encoder, fitted).save(tmp_path / "best.keras")
    loaded = keras.saving.load_model(tmp_path / "best.keras", safe_mode=True)
    again = loaded.layers[0]
    assert again.get_config() == encoder.get_config()
    predicted = again.decode(loaded.predict(again.encode({**frame}), verbose=0))
    predict_table(loaded, frame, output=tmp_path / "out.parquet")
    written = pandas.read_parquet(tmp_path / "out.parquet")["predicted price"]
    np.testing.assert_allclose(written, predicted["predicted price"], rtol=1e-6)
    expected = fitted.invert_targets(network.predict(inputs, verbose=0))[:, 0]
    np.testing.assert_allclose(predicted["predicted price"], expected, rtol=1e-5)


def test_an_output_that_cannot_be_completed_leaves_the_old_file(
    frame, tmp_path, monkeypatch
):
    def fill_the_disk(table, path, **options):
        path.write_text("a part")
        raise OSError("No space left on device")

    _, fitted, encoder = make(frame)
    network = mlp(6, (), 1, lambda: keras.layers.ReLU(), seed=0)
    path = tmp_path / "out.csv"
    path.write_text("old")
    monkeypatch.setattr(pandas.DataFrame, "to_csv", fill_the_disk)
    with pytest.raises(OSError, match="No space"):
        predict_table(with_encoder(network, encoder, fitted), frame, output=path)
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]
    assert path.read_text() == "old"


def test_a_category_outside_the_training_rows_is_0_everywhere(frame):
    frame.loc[50:, "colour"] = "violet"
    dataset, fitted, encoder = make(frame)
    inputs = fitted.transform_inputs(dataset.x)
    assert inputs.shape[1] == 3 + 4  # as many in every fold
    np.testing.assert_array_equal(inputs[50:, 1:5], 0)
    x = encoder.encode(frame.iloc[:2].assign(colour=["pink", "red"]))
    assert x[0, 1] == -1
    outputs = keras.ops.convert_to_numpy(encoder(x))[:, 1:5]
    np.testing.assert_array_equal(outputs.sum(axis=1), [0, 1])
    # Of many categories, the 50 most frequent ones get an input.
    frame["colour"] = [f"c{n % 55 if n < 55 else 7}" for n in range(ROWS)]
    dataset, fitted, _ = make(frame, categories=("colour",))
    assert len(fitted.categories[1]) == 50
    assert dataset.categories[1].index("c7") in fitted.categories[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.rename(columns={"größe": "Größe"}), "Did you mean 'Größe'"),
        (lambda f: f.assign(owner="maybe"), "must hold truth values.*'maybe'"),
        (lambda f: f.assign(sold=7), "must hold dates of the format ISO.*'7'"),
        (lambda f: f.assign(größe=f["sold"]), "row 0: .* must hold finite .*'20..-"),
        (lambda f: f.set_axis([*f.columns[:-1], "owner"], axis=1), "twice: owner"),
    ],
)
def test_other_columns_get_a_sentence(frame, change, message):
    _, _, encoder = make(frame)
    with pytest.raises(TableError, match=message):
        encoder.encode(change(frame))


def test_formats_in_files_of_earlier_versions_are_read():
    forms = {"1234,5 €": "1.234,5 EUR", "1'234.5": "1'234.5", "1234.5 %": "1,234.5%"}
    columns = [Column(form, format=form) for form in forms]
    encoder = TableEncoder(columns, *[[0] * 3, [0] * 3, [1] * 3, [()] * 3])
    x = encoder.encode({form: [text, "k.A."] for form, text in forms.items()})
    np.testing.assert_array_equal(x, [[1234.5] * 3, [np.nan] * 3])


def test_half_precision_elsewhere_leaves_large_numbers_exact():
    keras.config.set_dtype_policy("mixed_bfloat16")
    try:
        encoder = TableEncoder([Column("year")], [2000], [2000], [1], [()])
        outputs = encoder(np.array([[2003.0]], "float32"))
    finally:
        keras.config.set_dtype_policy("float32")
    assert keras.ops.convert_to_numpy(outputs).tolist() == [[3.0]]
