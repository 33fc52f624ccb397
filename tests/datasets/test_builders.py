"""TFDS gives the arrays that `load` gives, from the same checked files."""

import functools
import sys

import numpy as np
import pytest
import tensorflow_datasets as tfds

from keras_vaf.datasets import CATALOGUE, find, load, tfds_builders
from keras_vaf.datasets.tfds_builders import prepare_tfds

pytestmark = pytest.mark.backend("tensorflow")

TABLES = [entry.name for entry in CATALOGUE if entry.image_shape is None]


@pytest.fixture(autouse=True)
def no_folder(request, monkeypatch, tmp_path):
    """Let wine come from scikit-learn, and the rest from where a test says."""
    monkeypatch.setenv("KERAS_VAF_DATA_DIR", str(tmp_path / "empty"))


def arrays(builder):
    source = builder.as_data_source(split="train")
    rows = [source[row] for row in range(len(source))]
    return (
        np.stack([row["features"] for row in rows]),
        np.array([row["target"] for row in rows]),
    )


def test_there_is_a_configuration_for_each_table():
    assert list(tfds_builders.VafTables.builder_configs) == TABLES


def test_a_table_through_tfds_load(tmp_path):
    x, y = tfds.load(
        "vaf_tables/wine",
        split="train",
        data_dir=tmp_path,
        batch_size=-1,
        as_supervised=True,
    )
    dataset = load("wine")
    np.testing.assert_array_equal(x, dataset.x)
    np.testing.assert_array_equal(y, dataset.y)
    info = tfds.builder("vaf_tables/wine", data_dir=tmp_path).info
    assert info.features["target"].names == ["1", "2", "3"]
    assert info.homepage == find("wine").publisher


class TestFaults:
    def test_a_missing_file_is_named_at_once(self, tmp_path):
        config = tfds.download.DownloadConfig(manual_dir=tmp_path)
        builder = tfds.builder("vaf_tables/yacht", data_dir=tmp_path / "tfds")
        with pytest.raises(FileNotFoundError, match=r"yacht_hydrodynamics\.data"):
            builder.download_and_prepare(download_config=config)

    def test_a_wrong_file_is_refused(self, tmp_path):
        (tmp_path / "servo").mkdir()
        (tmp_path / "servo" / "servo.data").write_text("A,A,3,1,0.5\n")
        with pytest.raises(ValueError, match=r"servo\.data is not the publisher's"):
            prepare_tfds("servo", tmp_path, tmp_path / "tfds")
        with pytest.raises(FileNotFoundError):
            prepare_tfds("yacht", tmp_path, tmp_path / "tfds")

    @pytest.mark.parametrize(
        ("name", "file_format"), [("wine", None), ("mnist", "array_record")]
    )
    def test_without_tensorflow_the_line_that_installs_it_is_named(
        self, tmp_path, monkeypatch, name, file_format
    ):
        monkeypatch.setitem(sys.modules, "tensorflow", None)
        with pytest.raises(ImportError, match=r"pip install 'keras-vaf\[tensorflow\]'"):
            prepare_tfds(name, tmp_path, tmp_path, file_format)

    def test_an_unknown_dataset(self, tmp_path):
        with pytest.raises(ValueError, match="Did you mean 'wine'"):
            prepare_tfds("wines", tfds_dir=tmp_path)


@pytest.mark.data
class TestPublishersFiles:
    def test_a_table(self, data_dir, tmp_path):
        x, y = arrays(prepare_tfds("yacht", data_dir, tmp_path, "array_record"))
        dataset = load("yacht", data_dir)
        np.testing.assert_array_equal(x, dataset.x)
        np.testing.assert_array_equal(y, dataset.y)

    def test_digits_do_not_end_up_among_clothes(self, data_dir, tmp_path, monkeypatch):
        """TFDS by itself, given both folders, takes one's files for the other's."""
        limited = functools.partial(
            tfds.download.DownloadConfig, max_examples_per_split=50
        )
        monkeypatch.setattr(tfds.download, "DownloadConfig", limited)
        for name in ("mnist", "fashion_mnist"):
            builder = prepare_tfds(name, data_dir, tmp_path, "array_record")
            source = builder.as_data_source(split="test")
            images = {source[row]["image"].tobytes() for row in range(50)}
            first = load(name, data_dir).x[60000:60050].astype("uint8")
            assert images == {image.tobytes() for image in first}
