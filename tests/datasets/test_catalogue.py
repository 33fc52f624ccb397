"""The catalogue agrees with the paper's table and with itself."""

import inspect
import re
from collections import Counter

import pytest

from keras_vaf.datasets import CATALOGUE, Size, find
from keras_vaf.datasets.parsers import READERS

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


def test_names_are_found():
    for entry in CATALOGUE:
        assert find(entry.name) is entry


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.name)
class TestEntry:
    def test_a_size_that_is_not_the_papers_is_explained(self, entry):
        assert entry.paper_size != entry.size
        assert entry.paper_size is None or entry.difference

    def test_there_is_a_label_and_a_name_for_each_class(self, entry):
        assert len(entry.labels) == (entry.size.classes or 0)
        assert len(entry.class_names) in (0, len(entry.labels))
        for names in (entry.labels, entry.class_names):
            assert len(set(names)) == len(names)

    def test_only_numbers_are_scaled_as_targets(self, entry):
        raw = {"delta_elevators", "elevators"}
        scaled = entry.task == "regression" and entry.name not in raw
        assert entry.target_scaling == ("min-max" if scaled else "none")

    def test_it_can_be_had_from_the_net(self, entry):
        assert any(
            source.files and all(file.urls for file in source.files)
            for source in entry.sources
        )

    def test_publisher_licence_and_citation_are_named(self, entry):
        assert re.fullmatch(r"https?://\S+", entry.publisher)
        assert entry.licence
        assert entry.citation


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.format)
def test_there_is_a_reader_that_takes_the_options(source):
    inspect.signature(READERS[source.format]).bind([], **source.options)


@pytest.mark.parametrize("path", FILES)
class TestFile:
    def test_its_place_is_relative_and_in_a_folder(self, path):
        assert re.fullmatch(r"[a-z0-9_]+(/[\w.-]+)+", path)

    def test_it_can_be_checked(self, path):
        file = FILES[path]
        sha256 = re.compile(r"[0-9a-f]{64}")
        if file.git_blob is None:
            assert file.size > 0
            assert sha256.fullmatch(file.sha256)
            assert file.words is None or sha256.fullmatch(file.words)
        else:
            assert re.fullmatch(r"[0-9a-f]{40}", file.git_blob)

    def test_addresses_end_in_a_file(self, path):
        for url in FILES[path].urls:
            assert re.fullmatch(r"https?://[\w.-]+/\S+\.\w+", url)


def test_no_two_files_share_a_checksum_or_an_address():
    for values in (
        [file.sha256 for file in FILES.values() if file.sha256],
        [file.words for file in FILES.values() if file.words],
        [url for file in FILES.values() for url in file.urls],
    ):
        assert max(Counter(values).values()) == 1


def test_a_name_nearly_right_is_guessed():
    with pytest.raises(ValueError, match=r"one of 'cpu_small'.*'wine'\?.*'wines'"):
        find("wines")


def test_a_name_far_off_is_refused():
    with pytest.raises(ValueError, match=r"one of 'cpu_small', [^?]*'42'$"):
        find("42")
