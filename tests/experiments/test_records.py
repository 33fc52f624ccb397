"""The long table of records holds the numbers of the files, for every study."""

import gzip
import re
from pathlib import Path

import pandas
import pytest

from keras_vaf.experiments import read, results_of, write_reports
from keras_vaf.experiments.reports.records import COLUMNS
from tests.experiments.fakes import make_arm, make_report, make_trial

pytestmark = pytest.mark.backend("torch")

ROOT = Path(__file__).parents[2]


def test_a_comparison_has_a_row_for_each_number(tmp_path):
    trials = (
        make_trial(rate=0.1, scores={"accuracy": 0.5}),
        make_trial(rate=0.01, validation={"loss": None, "accuracy": None}, start=1),
    )
    report = make_report(trials=trials, seed=4, fold=7)
    write_reports(tmp_path / "report.json", [report])

    frame = read(tmp_path / "report.json")

    assert tuple(frame.columns) == COLUMNS
    assert len(frame) == 1 + 2 * 3  # the constant predictor, and three for each trial
    assert (frame.seed == 4).all()
    assert (frame.fold == 7).all()
    test = frame[(frame.split == "test") & (frame.activation == "relu")]
    assert test.value.tolist() == [0.5, 0.75]
    assert test.learning_rate.tolist() == [0.1, 0.01]
    assert test.start.tolist() == [0, 1]
    held = frame[(frame.split == "validation") & (frame.learning_rate == 0.01)]
    assert held.metric.tolist() == ["loss", "accuracy"]
    assert held.value.isna().all()
    assert frame[frame.activation == "constant"].value.tolist() == [0.5]


def test_groups_of_the_table_have_the_means_of_the_results(tmp_path):
    reports = [*make_arm("relu", [0.7, 0.8]), *make_arm("vaf-relu", [0.9, 0.6])]
    write_reports(tmp_path / "report.json.xz", reports)

    frame = read(tmp_path / "report.json.xz")

    means = frame[frame.split == "test"].groupby("activation").value.mean()
    for result in results_of(reports):
        assert means[result.selected.name] == pytest.approx(result.mean)


def test_several_files_are_one_table(tmp_path):
    for name in ("relu", "silu"):
        write_reports(tmp_path / f"{name}.json", make_arm(name, [0.5, 0.6]))
    frame = read(tmp_path / "relu.json", tmp_path / "silu.json")
    assert set(frame.activation) == {"relu", "silu", "constant"}


@pytest.mark.parametrize(
    "content", [b"", b"{}x", b"3", b'{"a": 1}', gzip.compress(b"")]
)
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "other.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"Expected a file of reports.*other\.json"):
        read(tmp_path / "other.json")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read(tmp_path / "nowhere.json")
    assert isinstance(read(), pandas.DataFrame)


def test_the_page_recomputes_the_headline(monkeypatch, capsys):
    page = (ROOT / "docs/records/reproduction.md").read_text("utf-8")
    section = page.partition("## Recompute a table")[2]
    code = re.search(r"```python\n(.*?)```", section, re.S)[1]
    monkeypatch.chdir(ROOT)

    exec(compile(code, "docs/records/reproduction.md", "exec"), {})

    table = (ROOT / "docs/records/help.md").read_text("utf-8")
    titles = {"relu": "ReLU", "silu": "SiLU", "vaf-random": "VAF, random start"}
    titles |= {"vaf-relu": "VAF, ReLU start", "vaf-silu": "VAF, SiLU start"}
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    for line in lines:
        vaf, fixed, ratio, better, worse = line.split()
        cells = rf"{ratio} \([^)]*\); {better} better, {worse} worse, p "
        assert re.search(rf"\| {titles[vaf]} \| {titles[fixed]} \| {cells}", table)
