"""The summary of killed experiments, tested on handwritten runs."""

import json
import shutil

import pytest

from benchmarks.kills import reproduction
from keras_vaf.experiments import write_reports
from tests.experiments.fakes import make_arm

pytestmark = pytest.mark.backend("jax")

TABLE = (
    "# Title\n\n| data | seconds | p |\n| --- | ---: | ---: |\n| wine | {} | 0.1 |\n"
)


def write(folder, score=0.5, seconds=1.0):
    """Write what an experiment leaves in its folder."""
    folder.mkdir(parents=True)
    (folder / "table.md").write_text(TABLE.format(seconds))
    write_reports(folder / "t.json.gz", make_arm("relu", [score, 0.6], seconds=seconds))


@pytest.fixture
def killed(monkeypatch, tmp_path):
    """Run the command on an experiment that comes to some score."""

    def run(score, **numbers):
        def kill_often(folder, longest, kills):
            alone = folder.name == "alone"
            write(folder, 0.5 if alone else score, seconds=float(kills))
            return {"kills": kills, "lost": 0, "torn": 0, **numbers}

        monkeypatch.setattr(reproduction, "kill_often", kill_often)
        folders = ["--scratch", str(tmp_path / "a"), "--output", str(tmp_path / "b")]
        code = reproduction.main(["--kills", "3", *folders])
        shutil.rmtree(tmp_path / "a")
        return code, json.loads((tmp_path / "b" / "kills.json").read_text())

    return run


def test_only_seconds_may_differ(killed):
    code, document = killed(score=0.5)

    assert code == 0
    assert (document["kills"], document["rounds"], document["equal"]) == (3, 1, 1)
    assert reproduction.markdown(document).splitlines()[-1] == ("| 3 | 1 | 0 | 0 | 1 |")


def test_another_score_is_seen(killed):
    code, document = killed(score=0.7)

    assert code == 1
    assert document["equal"] == 0


@pytest.mark.parametrize("what", ["lost", "torn"])
def test_what_went_wrong_is_an_exit_code(killed, what):
    assert killed(0.5, **{what: 1})[0] == 1


def test_the_column_of_seconds_is_left_out():
    shorter = reproduction.without_seconds(TABLE.format("9.9"))

    assert shorter == "# Title\n\n| data | p |\n| --- | ---: |\n| wine | 0.1 |"
