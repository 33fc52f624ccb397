"""The publishers' own files give what pandas, SciPy and NumPy read from them."""

import gzip
import io
import lzma
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.io import arff

from keras_vaf.datasets import CATALOGUE, find, load
from keras_vaf.datasets.fetching import verify_files
from keras_vaf.datasets.loading import decode
from tests.datasets.pins import CHECKSUMS

pytestmark = [pytest.mark.backend("tensorflow"), pytest.mark.data]

FILES = {f.path for entry in CATALOGUE for s in entry.sources for f in s.files}
TABLES = [entry.name for entry in CATALOGUE if entry.image_shape is None]


def from_arff(path):
    frame = pd.DataFrame(arff.loadarff(path)[0])
    letters = frame.select_dtypes(object).columns
    frame[letters] = frame[letters].apply(lambda column: column.str.decode("ascii"))
    return frame


def from_blanks(path):
    return pd.read_csv(path, sep=r"\s+", header=None)


def from_torgo_with_blanks(path):
    rows = path.read_text().split("@data")[1]
    return pd.read_csv(io.StringIO(rows), sep=" ", header=None)


def from_commas(path, **options):
    return pd.read_csv(path, header=None, **options)


def from_workbook(path):
    return pd.read_excel(path, engine="openpyxl")


# Another way to read each table, its target (name or position), columns left out.
REFERENCES = {
    "cpu_small": (from_arff, "cpu_small/cpu_small.arff", "usr"),
    "delta_elevators": (
        from_torgo_with_blanks,
        "delta_elevators/delta_elevators.arff",
        6,
    ),
    "elevators": (from_arff, "elevators/elevators.arff", "Goal"),
    "kin8nm": (from_arff, "kin8nm/kin8nm.arff", "y"),
    "puma8nh": (from_arff, "puma8nh/puma8NH.arff", "thetadd3"),
    "puma32h": (from_arff, "puma32h/puma32H.arff", "thetadd6"),
    "servo": (from_commas, "servo/servo.data", 4),
    "energy_cooling": (
        from_workbook,
        "energy_efficiency/ENB2012_data.xlsx",
        "Y2",
        "Y1",
    ),
    "energy_heating": (
        from_workbook,
        "energy_efficiency/ENB2012_data.xlsx",
        "Y1",
        "Y2",
    ),
    "yacht": (from_blanks, "yacht/yacht_hydrodynamics.data", 6),
    "sensorless": (
        from_blanks,
        "sensorless/Sensorless_drive_diagnosis.subset2200.txt.gz",
        48,
    ),
    "liver": (from_commas, "liver/bupa.data", 6),
    "wine": (from_commas, "wine/wine.data", 0),
    "image_segmentation": (from_blanks, "image_segmentation/segment.dat", 19),
    "cardiotocography": (
        pd.read_csv,
        "cardiotocography/ctg_nsp.csv",
        "NSP",
        "CLASS",
    ),
    "seismic_bumps": (from_arff, "seismic_bumps/seismic-bumps.arff", "class"),
    "diabetic_retinopathy": (
        from_arff,
        "diabetic_retinopathy/messidor_features.arff",
        "19",
    ),
    "climate_crashes": (
        lambda path: pd.read_csv(path, sep=r"\s+"),
        "climate_crashes/pop_failures.dat",
        "outcome",
        "Study",
        "Run",
    ),
    "dermatology": (
        lambda path: from_commas(path, na_values="?"),
        "dermatology/dermatology.data",
        34,
    ),
    "qsar_biodegradation": (
        lambda path: from_commas(path, sep=";"),
        "qsar_biodegradation/biodeg.csv",
        41,
    ),
    "landsat_satellite": (
        lambda path: pd.concat(
            [from_blanks(path), from_blanks(path.with_name("sat.tst"))]
        ),
        "landsat_satellite/sat.trn",
        36,
    ),
}


# The published mean of the training pixels of grey images.
MEANS = {"mnist": 0.1307, "fashion_mnist": 0.2860}

COLOURED = "cifar10"


def test_every_dataset_is_compared_and_its_arrays_are_pinned():
    names = {entry.name for entry in CATALOGUE}
    assert names == {*REFERENCES, *MEANS, COLOURED} == CHECKSUMS.keys()


def encode(column):
    """Return a column as numbers; letters become their places in the alphabet."""
    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy("float64")
    return column.map({"W": 0, "N": 1} | {c: ord(c.lower()) - 97 for c in "abcdABCDE"})


@pytest.mark.parametrize("name", TABLES)
def test_a_table(data_dir, name):
    read, path, target, *left_out = REFERENCES[name]
    frame = read(data_dir / path)
    inputs = frame.drop(columns=[target, *left_out])
    dataset = load(name, data_dir)
    np.testing.assert_array_equal(
        dataset.x, inputs.apply(encode).to_numpy("float64").astype("float32")
    )
    if dataset.task == "regression":
        expected = frame[target].to_numpy("float32")
    else:
        classes, expected = np.unique(frame[target], return_inverse=True)
        assert len(classes) == find(name).size.classes
    np.testing.assert_array_equal(dataset.y, expected)
    assert dataset.checksum.startswith(CHECKSUMS[name])


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


def test_wine_is_that_of_scikit_learn(data_dir, tmp_path):
    from_file, from_package = load("wine", data_dir), load("wine", tmp_path)
    assert from_file.source != from_package.source
    assert from_file.checksum == from_package.checksum


def test_all_files_are_right(data_dir):
    results = list(verify_files(data_dir))
    assert {path for _, path, _ in results} == {
        path for path in FILES if (data_dir / path).is_file()
    }
    assert not [problem for _, _, problem in results if problem]


def test_digits_in_the_place_of_clothes_are_refused(data_dir, tmp_path):
    """Files of the same names and kinds, one in another's place."""
    for file in (data_dir / "fashion_mnist").iterdir():
        link = tmp_path / "fashion_mnist" / file.name
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(file)
    link = tmp_path / "fashion_mnist" / "t10k-labels-idx1-ubyte.gz"
    link.unlink()
    link.symlink_to(data_dir / "mnist" / link.name)
    with pytest.raises(ValueError, match=r"it is mnist/t10k-labels-idx1-ubyte.gz"):
        load("fashion_mnist", tmp_path)
