"""The publishers' own files give the arrays that they always gave."""

import gzip
import lzma
import pickle

import numpy as np
import pytest

from keras_vaf.datasets import CATALOGUE, find, load
from keras_vaf.datasets.loading import decode
from tests.datasets.pins import CHECKSUMS

pytestmark = [pytest.mark.backend("tensorflow"), pytest.mark.data]

TABLES = [entry.name for entry in CATALOGUE if entry.target]


# The published mean of the training pixels of grey images.
MEANS = {"mnist": 0.1307, "fashion_mnist": 0.2860}

COLOURED = "cifar10"


@pytest.mark.parametrize("name", TABLES)
def test_a_table(data_dir, name):
    """The sums were those of arrays that pandas and SciPy read, in version 0.3.0."""
    dataset = load(name, data_dir)
    assert dataset.checksum.startswith(CHECKSUMS[name])
    assert dataset.x.shape[1] == find(name).size.inputs


@pytest.mark.parametrize("name", MEANS)
def test_grey_images(data_dir, name):
    def values(file, header):
        content = gzip.decompress((data_dir / name / file).read_bytes())
        return np.frombuffer(content, np.uint8, offset=header)

    dataset = load(name, data_dir)
    for part, rows in (("train", slice(60000)), ("t10k", slice(60000, None))):
        pixels = values(f"{part}-images-idx3-ubyte.gz", 16)
        np.testing.assert_array_equal(dataset.x[rows].reshape(-1), pixels)
        labels = values(f"{part}-labels-idx1-ubyte.gz", 8)
        np.testing.assert_array_equal(dataset.y[rows], labels)
    assert dataset.x[:60000].mean() / 255 == pytest.approx(MEANS[name], abs=5e-5)
    assert dataset.checksum.startswith(CHECKSUMS[name])


@pytest.mark.nightly  # it unpacks 60,000 images twice
def test_coloured_images(data_dir):
    dataset = load(COLOURED, data_dir)
    packed = data_dir / COLOURED / "cifar-10-batches-py" / "test_batch.xz"
    batch = pickle.loads(lzma.decompress(packed.read_bytes()), encoding="latin1")
    test = dataset.x[50000:].transpose(0, 3, 1, 2).reshape(10000, 3072)
    np.testing.assert_array_equal(test, batch["data"])
    np.testing.assert_array_equal(dataset.y[50000:], batch["labels"])
    # The means of the training pixels by channel, as published with many models.
    np.testing.assert_allclose(
        dataset.x[:50000].mean(axis=(0, 1, 2), dtype="float64") / 255,
        [0.4914, 0.4822, 0.4465],
        atol=5e-5,
    )
    names = (packed.parent / "batches.meta").read_bytes()
    assert list(dataset.class_names) == pickle.loads(names)["label_names"]
    assert dataset.checksum.startswith(CHECKSUMS[COLOURED])


@pytest.mark.parametrize(
    "name", ["energy_cooling", "energy_heating", "cardiotocography"]
)
def test_workbooks_give_what_the_tables_made_from_them_give(data_dir, name):
    entry = find(name)
    _, workbook = entry.sources
    contents = [(data_dir / file.path).read_bytes() for file in workbook.files]
    dataset = decode(entry, workbook, contents)
    assert dataset.checksum == load(name, data_dir).checksum
