"""`keras-vaf data`: what is shown, and what is checked."""

import functools
from pathlib import Path

import pytest

from keras_vaf.datasets import CATALOGUE, find
from tests.datasets.three_rows import TABLE, make_table_entry

pytestmark = pytest.mark.backend("tensorflow")

PAGE = Path(__file__).parents[2] / "docs" / "records" / "datasets.md"
FILES = {
    file.path: file
    for entry in CATALOGUE
    for source in entry.sources
    for file in source.files
}


@pytest.fixture
def run(run, monkeypatch, tmp_path):
    """Function that runs `keras-vaf data` and returns exit code, output, errors."""
    monkeypatch.setenv("KERAS_VAF_DATA_DIR", str(tmp_path / "empty"))

    return lambda *words: run(" ".join(map(str, ("data", *words))))


class TestList:
    def test_all_datasets_beside_the_papers_table(self, run):
        code, output, _ = run("list")
        header, *lines = output.splitlines()
        assert code == 0
        assert header.split()[:5] == ["name", "task", "rows", "inputs", "classes"]
        assert [line.split()[0] for line in lines] == [e.name for e in CATALOGUE]
        servo = next(line for line in lines if line.startswith("servo"))
        assert servo.split()[1:4] == ["regression", "167", "4"]
        assert "Servo: 197 rows, 4 inputs" in servo

    def test_the_documentation_shows_the_same_table(self, run):
        _, output, _ = run("list", "--markdown")
        assert output in PAGE.read_text(encoding="utf-8")


class TestPrepare:
    def test_several(self, run, catalogue, folder):
        catalogue(make_table_entry(), find("wine"))
        code, output, _ = run("prepare", "three", "wine", "--data-dir", folder)
        assert code == 0
        assert output == (
            "Dataset('three', regression, 3 rows, 2 inputs) from three/three.csv\n"
            "Dataset('wine', classification, 178 rows, 13 inputs, 3 classes) from "
            "package sklearn\n"
        )

    def test_nothing_is_prepared_if_a_name_is_unknown(self, run):
        code, output, _ = run("prepare", "wine", "wines")
        assert (code, output) == (2, "")

    def test_for_tensorflow_datasets(self, run, tmp_path):
        code, output, _ = run("prepare", "wine", "--tfds-dir", tmp_path)
        place = tmp_path / "vaf_tables" / "wine" / "1.0.0"
        assert code == 0
        assert output.endswith(f"vaf_tables/wine/1.0.0 in {place}\n")
        assert (place / "dataset_info.json").exists()


class TestVerify:
    @pytest.fixture
    def verify(self, run, catalogue, folder):
        catalogue(make_table_entry(), find("yacht"))
        return functools.partial(run, "verify", "--data-dir", folder)

    def test_right_and_absent(self, verify, folder):
        assert verify() == (
            0,
            f"right   three/three.csv\nabsent  yacht\n1 files in {folder}: 0 wrong\n",
            "",
        )

    def test_a_missing_folder(self, run, tmp_path):
        code, output, errors = run("verify", "--data-dir", tmp_path / "none")
        assert (code, output) == (2, "")
        assert errors == f"keras-vaf: The data folder {tmp_path}/none does not exist\n"

    def test_wrong(self, verify, folder):
        (folder / "three" / "three.csv").write_bytes(TABLE[:9])
        code, output, _ = verify()
        assert code == 1
        path = folder / "three" / "three.csv"
        assert f"wrong   {path} is not the publisher's file: it has 9 bytes" in output
        assert output.endswith(": 1 wrong\n")


def test_layout_names_every_file_its_size_and_addresses(run):
    code, output, _ = run("layout")
    assert code == 0
    for path, file in FILES.items():
        assert path in output
        assert file.size is None or f"{path}  {file.size} bytes" in output
        assert all(url in output for url in file.urls)
