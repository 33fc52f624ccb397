"""The table of killed searches, from numbers written by hand."""

import pytest

from benchmarks.kills import search

pytestmark = pytest.mark.backend("tensorflow")

WELL = {
    "kills": 3,
    "hung": 0,
    "lost": 0,
    "counted_twice": 0,
    "run_again": 2,
    "may_run_again": 6,
    "searches": 1,
}


@pytest.fixture
def counted(monkeypatch, tmp_path):
    """Run the command on searches that end as they are said to."""

    def run(**numbers):
        result = {**WELL, **numbers}
        del result["searches"]
        monkeypatch.setattr(search, "kill_often", lambda *_: result)
        folders = ["--scratch", str(tmp_path / "a"), "--output", str(tmp_path / "b")]
        code = search.main(["--kills", "3", *folders])
        return code, (tmp_path / "b" / "kills.md").read_text().splitlines()

    return run


def test_the_table_has_every_count(counted):
    code, table = counted()

    assert code == 0
    assert table[-1] == "| 1 | 3 | 0 | 0 | 2 | 6 | 0 |"
    assert len({line.count("|") for line in table}) == 1


@pytest.mark.parametrize(
    "numbers",
    [{"hung": 1}, {"lost": 1}, {"counted_twice": 1}, {"run_again": 7}],
    ids=lambda numbers: next(iter(numbers)),
)
def test_what_went_wrong_is_an_exit_code(counted, numbers):
    assert counted(**numbers)[0] == 1
