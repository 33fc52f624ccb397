"""The records are whole, and the answers and tables of the pages follow from them."""

import hashlib
import itertools
import lzma
import math
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.recompute import __main__ as command
from benchmarks.recompute import relu
from benchmarks.recompute.statistics import holm, is_within, ratio, t_test

pytestmark = pytest.mark.backend("tensorflow")

ROOT = Path(__file__).parents[2]
REPORTS = ROOT / "docs" / "reports"
MANIFEST = pd.read_csv(
    REPORTS / "MANIFEST.csv", index_col="file", dtype={"commit": str}
)


def test_it_imports_nothing_of_the_package():
    code = (
        "import benchmarks.recompute.__main__, sys; print('keras_vaf' in sys.modules)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True
    )
    assert found.stdout == "False\n"


def test_the_t_test_is_that_of_the_paper_on_resampling():
    found = t_test(pd.Series([0.02, 0.01, 0.03, 0.02]), overlap=0.25)
    assert found.mean == pytest.approx(0.02)
    assert (found.below, found.above, found.ties) == (0, 4, 0)
    # The variance of the mean is (1 / 4 + 1 / 3) times that of the differences.
    error = math.sqrt((1 / 4 + 1 / 3) * 2 / 3) * 0.01
    assert found.high - found.mean == pytest.approx(3.182446 * error, rel=1e-6)
    assert found.p == pytest.approx(0.049, abs=5e-4)


def test_holm_corrects_for_the_number_of_tests():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_an_interval_of_ninety_percent_is_narrower():
    logs = pd.Series([0.02, -0.03, 0.01, 0.04, -0.02])
    found = ratio(logs.map(math.exp), pd.Series(1.0, logs.index))
    half = 2.1318468 * logs.std() / math.sqrt(5)
    edge = math.exp(logs.mean() + half) - 1
    assert is_within(found, edge + 1e-6)
    assert not is_within(found, edge - 1e-6)


def test_a_changed_cell_is_named(tmp_path, monkeypatch):
    page = "<!-- table: bends -->\n\n| a | b |\n| --- | ---: |\n| ReLU | 1.0 |\n"
    (tmp_path / "README.md").write_text(page, encoding="utf-8")
    monkeypatch.setattr(command, "ROOT", tmp_path)
    assert list(command.differences({"bends": [["ReLU", "1.0"]]})) == []
    [found] = command.differences({"bends": [["ReLU", "1.1"]]})
    assert (
        found.startswith("README.md, bends") and "'1.0'" in found and "'1.1'" in found
    )
    assert list(command.differences({"bends": []})) != []
    assert list(command.differences({"other": []})) == []  # not recomputed


@pytest.mark.parametrize(
    "gain, answers",
    [
        (1.0, ["confirmed", "confirmed", "cannot tell"]),  # worse in one of eight
        (1.0185, ["cannot tell", "confirmed", "cannot tell"]),
        (1.1, ["refuted", "refuted", "refuted"]),
    ],
)
def test_r1_is_answered_by_its_rules(monkeypatch, gain, answers):
    rows = []
    for i, (seed, data) in itertools.product(range(8), itertools.product("01", "ab")):
        name = "mnist" if i else data  # half a wrong answer is added
        arms = {"relu trained": 1.05 - 0.05 * (i == 7)} | (
            {"hard": 1.05} if i < 6 else {}
        )
        arms |= {"original": 1.0, "k=5 fitted": gain * (1 + 0.001 * i)}
        arms |= dict.fromkeys(["relu", "k=3", "k=5", "k=3 fitted", "prelu trained"], 2)
        rows += [(i, name, seed, arm, 9 * r - bool(i) / 2) for arm, r in arms.items()]
    frame = pd.DataFrame(rows, columns=["family", "dataset", "seed", "arm", "test"])
    monkeypatch.setattr(relu, "read", lambda _: frame)
    found = relu.on_relu()
    assert [row[-1] for row in found["registered-relu"]] == answers
    assert found["registered-relu"][0][1] == f"{gain * 1.00349:.3f}"
    assert found["relu"][0][1] == "+100.0 (+100.0 to +100.0)"


@pytest.mark.nightly  # it reads all records
def test_the_tables_of_the_pages_are_those_of_the_records(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["recompute", "--check"])
    assert command.main() == 0, capsys.readouterr().out


def test_an_unknown_argument_is_no_check(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["recompute", "--chek"])
    with pytest.raises(ValueError, match="'--chek'"):
        command.main()


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
