"""The catalogue agrees with the paper's table and with itself."""

import inspect
import re

import pytest

from keras_vaf.datasets import CATALOGUE, Size, find, parsers

pytestmark = pytest.mark.backend("tensorflow")

# The paper's table of datasets: instances, inputs, classes.
PAPER = {
    "CPU-Small": Size(8192, 12),
    "DeltaElevator": Size(9517, 6),
    "Elevators": Size(16599, 18),
    "Kinematics": Size(8192, 8),
    "Puma-8NH": Size(8192, 8),
    "Puma-32NH": Size(8192, 32),
    "Servo": Size(197, 4),
    "Energy Cooling": Size(768, 8),
    "Energy Heating": Size(768, 8),
    "Yatch": Size(308, 7),
    "Sensorless": Size(58509, 49, 11),
    "Liver": Size(345, 7, 2),
    "Wine": Size(178, 13, 3),
    "Statlog Image Segmentation": Size(2310, 19, 7),
    "Statlog Landsat Satellite": Size(6435, 36, 7),
    "Cardiotocography": Size(2126, 22, 3),
    "Seismic bumps": Size(2584, 18, 2),
    "Dermatology": Size(336, 35, 3),
    "Diabetic retinopathy debrecen": Size(1151, 19, 2),
    "QSAR biodegradation": Size(1055, 41, 2),
    "Climate model simulation": Size(540, 18, 2),
    "MNIST": Size(70000, 28 * 28, 10),
    "Fashion MNIST": Size(70000, 28 * 28, 10),
    "Cifar10": Size(60000, 32 * 32 * 3, 10),
}

SOURCES = [source for entry in CATALOGUE for source in entry.sources]
FILES = {file.path: file for source in SOURCES for file in source.files}


def test_it_is_the_papers_table():
    assert {
        entry.paper_name: entry.paper_size or entry.size for entry in CATALOGUE
    } == PAPER
    assert [entry.paper_name for entry in CATALOGUE] == list(PAPER)


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)
def test_an_entry_is_complete(entry):
    assert entry.paper_size != entry.size
    assert entry.paper_size is None or entry.difference
    assert len(entry.labels) == (entry.size.classes or 0)
    assert len(entry.class_names) in (0, len(entry.labels))
    assert any(s.files and all(file.urls for file in s.files) for s in entry.sources)
    assert re.fullmatch(r"https?://\S+", entry.publisher)
    assert entry.licence
    assert entry.citation


def test_each_source_has_a_reader_and_each_file_a_checksum_and_addresses():
    for source in SOURCES:
        reader = getattr(parsers, f"read_{source.format}")
        inspect.signature(reader).bind([], **source.options)
    for path, file in FILES.items():
        assert re.fullmatch(r"[a-z0-9_]+(/[\w.-]+)+", path)
        assert file.git_blob or re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert all(re.fullmatch(r"https?://[\w.-]+/\S+\.\w+", url) for url in file.urls)


def test_a_name_nearly_right_is_guessed():
    with pytest.raises(ValueError, match=r"one of 'cpu_small'.*'wine'\?.*'wines'"):
        find("wines")
