"""The records of finished trainings are those that the manifest lists."""

import hashlib
import lzma
from pathlib import Path

import pandas as pd
import pytest

pytestmark = pytest.mark.backend("tensorflow")

REPORTS = Path(__file__).parents[2] / "docs" / "reports"
MANIFEST = pd.read_csv(
    REPORTS / "MANIFEST.csv", index_col="file", dtype={"commit": str}
)


def test_the_manifest_lists_every_file():
    files = {path.relative_to(REPORTS).as_posix() for path in REPORTS.rglob("*.csv.xz")}
    assert files == {*MANIFEST.index}


@pytest.mark.parametrize("file", MANIFEST.index)
def test_a_file_has_its_checksum_its_number_of_rows_and_its_origin(file):
    content = (REPORTS / file).read_bytes()
    assert hashlib.sha256(content).hexdigest() == MANIFEST.sha256[file]
    first, *rows = lzma.decompress(content).decode().splitlines()
    assert len(rows) == MANIFEST.rows[file] + 1
    assert first.startswith(f"# command: {MANIFEST.command[file]}; ")
    assert f"; commit: {MANIFEST.commit[file]}; versions: " in first
    assert "; device: " in first
