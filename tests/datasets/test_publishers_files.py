"""The publishers' own files give the arrays that they always gave."""

import pickle

import numpy as np
import pytest

from keras_vaf.datasets import find, load
from keras_vaf.datasets.loading import decode

pytestmark = [pytest.mark.backend("tensorflow"), pytest.mark.data]

# The start of each checksum. Of Sensorless, the subset of 2200 rows.
CHECKSUMS = {
    "cpu_small": "bd4ed213a43be4920cc79717203ddabf",
    "delta_elevators": "c15b3fd1b5d3c728b4d03692710b1726",
    "elevators": "115d446a397b0b39082c59f553c998cd",
    "kin8nm": "1e711c507de1c699c5b372a58eb04447",
    "puma8nh": "a001fcd749019be45a2488e01b487c1c",
    "puma32h": "315faed948741c3b9c72c26d0d4d73e3",
    "servo": "24dd262fcbf4b97a93cc9944fd5d228f",
    "energy_cooling": "5702b9ed709040448920281047e52f4b",
    "energy_heating": "235dec51006ace9bcfaa1f3ac37d2f08",
    "yacht": "8eba5d836ed63bc018f43127d548d5d4",
    "sensorless": "4000370733f1964fdb8597b113abae34",
    "liver": "5fdd9a60291fe161aaf2425a7d38602e",
    "wine": "3218444b31bb392d3a7d0b7c7d195c2b",
    "image_segmentation": "d2f9a1ec2d0ae319847e22721e4dead0",
    "landsat_satellite": "9b42647d7c87ea7f529c68231c0017a8",
    "cardiotocography": "88fa0dd0cf9a5f31041755b9581a30e8",
    "seismic_bumps": "e24d273975b2f6c92e24a1378edae754",
    "dermatology": "984ff0aadb715d44297b97e9b12e9a2b",
    "diabetic_retinopathy": "1870a7297c0c342e27d50c7f988a98ed",
    "qsar_biodegradation": "41b54bbdd53df635ea1b4ed1429ac342",
    "climate_crashes": "71ebb2c224c2750693100c7fb4d62b67",
    "mnist": "6433fb671c2db4423b8b7d6e210e1941",
    "fashion_mnist": "b5e997bd2fb48ab3b4be5058dbab0ce0",
    "cifar10": "463c63dc0471f362dcc15cf789d15065",
}
# The published means of the training pixels, by channel.
MEANS = {
    "mnist": (60000, [0.1307]),
    "fashion_mnist": (60000, [0.2860]),
    "cifar10": (50000, [0.4914, 0.4822, 0.4465]),
}


@pytest.mark.parametrize("name", CHECKSUMS)
def test_a_dataset(data_dir, name):
    """The sums of tables were those of arrays that pandas and SciPy read in 0.3.0."""
    dataset = load(name, data_dir)
    assert dataset.checksum.startswith(CHECKSUMS[name])
    assert dataset.x[0].size == find(name).size.inputs
    if name in MEANS:
        rows, expected = MEANS[name]
        means = dataset.x[:rows].mean(axis=(0, 1, 2), dtype="float64") / 255
        np.testing.assert_allclose(means, expected, atol=5e-5)


def test_the_names_of_the_classes_of_cifar(data_dir):
    path = data_dir / "cifar10/cifar-10-batches-py/batches.meta"
    names = pickle.loads(path.read_bytes())["label_names"]
    assert list(find("cifar10").class_names or find("cifar10").labels) == names


@pytest.mark.parametrize(
    "name", ["energy_cooling", "energy_heating", "cardiotocography"]
)
def test_workbooks_give_what_the_tables_made_from_them_give(data_dir, name):
    entry = find(name)
    _, workbook = entry.sources
    contents = [(data_dir / file.path).read_bytes() for file in workbook.files]
    dataset = decode(entry, workbook, contents)
    assert dataset.checksum == load(name, data_dir).checksum
