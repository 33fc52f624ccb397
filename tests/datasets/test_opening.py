"""Data by name or by path."""

import pytest

from keras_vaf.datasets.loading import open_dataset

pytestmark = pytest.mark.backend("tensorflow")


def test_a_name_is_loaded_from_the_catalogue(monkeypatch):
    monkeypatch.delenv("KERAS_VAF_DATA_DIR", raising=False)
    assert open_dataset("wine").name == "wine"


@pytest.mark.parametrize("path", ["Table.CSV", "table.csv.gz", "table.xls"])
def test_a_table_needs_a_target(path):
    with pytest.raises(ValueError, match="--target COLUMN"):
        open_dataset(path)
