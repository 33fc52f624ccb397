"""Data by name or by path."""

import pytest

from keras_vaf.datasets import read_table
from keras_vaf.datasets.loading import open_dataset

pytestmark = pytest.mark.backend("tensorflow")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "Table.CSV"
    path.write_text("a,b,kind\n1,,no\n2,5,yes\n3,6,no\n")
    return str(path)


def test_a_name_is_loaded_from_the_catalogue(monkeypatch):
    monkeypatch.delenv("KERAS_VAF_DATA_DIR", raising=False)
    assert open_dataset("wine").name == "wine"


def test_a_table_needs_a_target(table):
    with pytest.raises(ValueError, match="--target COLUMN"):
        open_dataset(table)


def test_missing_values_are_accepted_on_request(table):
    with pytest.raises(ValueError, match="column 'b' misses 1 of 3"):
        read_table(table, "kind", allow_missing=False)

    dataset = read_table(table, "kind", categories=("a",), allow_missing=True)

    assert dataset.task == "classification"
    assert len(dataset.x) == 3
