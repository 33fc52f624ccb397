"""TFDS gives the arrays that `load` gives, from the same checked files."""

import sys

import numpy as np
import pytest
import tensorflow_datasets as tfds
from sklearn.datasets import load_wine

from keras_vaf.datasets import CATALOGUE, find, load, tfds_builders

pytestmark = pytest.mark.backend("tensorflow")


@pytest.fixture(autouse=True)
def no_folder(monkeypatch, tmp_path):
    """Let wine come from scikit-learn."""
    monkeypatch.setenv("KERAS_VAF_DATA_DIR", str(tmp_path))


def test_tables_through_tfds_load(tmp_path):
    tables = [entry.name for entry in CATALOGUE if entry.target]
    assert list(tfds_builders.VafTables.builder_configs) == tables
    options = {"data_dir": tmp_path, "batch_size": -1, "as_supervised": True}
    x, y = tfds.load("vaf_tables/wine", split="train", **options)
    expected = load_wine()
    np.testing.assert_array_equal(x, expected.data.astype("float32"))
    np.testing.assert_array_equal(y, expected.target)
    info = tfds.builder("vaf_tables/wine", data_dir=tmp_path).info
    assert info.features["target"].names == ["1", "2", "3"]
    assert info.homepage == find("wine").publisher


def test_missing_and_wrong_files_are_named(tmp_path):
    (tmp_path / "servo").mkdir()
    (tmp_path / "servo" / "servo.data").write_text("A,A,3,1,0.5\n")
    for name, error in (("yacht", FileNotFoundError), ("servo", ValueError)):
        builder = tfds.builder(f"vaf_tables/{name}", data_dir=tmp_path / "tfds")
        with pytest.raises(error, match=rf"{name}\w*\.data"):
            builder.download_and_prepare()


def test_records_need_no_tensorflow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow", None)
    builder = tfds.builder("vaf_tables/wine", data_dir=tmp_path)
    builder.download_and_prepare(file_format="array_record")
    rows = [*builder.as_data_source(split="train")]
    np.testing.assert_array_equal([row["features"] for row in rows], load("wine").x)
    assert [row["target"] for row in rows] == load("wine").y.tolist()
