"""The tables of the pages are text, and a line above each one names it."""

import re
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.backend("tensorflow")

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", *sorted(DOCS.glob("**/*.md")))
NAME = re.compile(r"^<!-- table: (.*) -->$", re.M)


def test_each_table_has_a_name_that_no_other_one_has():
    names = Counter(
        name for page in PAGES for name in NAME.findall(page.read_text("utf-8"))
    )
    assert len(names) > 50
    assert {name: n for name, n in names.items() if n > 1} == {}
    assert [name for name in names if not re.fullmatch(r"[a-z0-9-]+", name)] == []


def test_the_rows_of_a_named_table_have_equal_numbers_of_columns():
    for page in PAGES:
        text = page.read_text("utf-8")
        for found in NAME.finditer(text):
            after = text[found.end() :]
            assert after.startswith("\n\n") and not after.startswith("\n\n\n")
            lines = after.strip().partition("\n\n")[0].splitlines()
            if lines[0].startswith("|"):
                assert len({line.count(" | ") for line in lines}) == 1, found[1]


@pytest.mark.parametrize("page", ["README.md", "docs/help.md"])
def test_the_first_sentences_have_the_numbers_of_the_registered_answers(page):
    lines = (DOCS / "evidence.md").read_text("utf-8").splitlines()
    lines = lines[lines.index("<!-- table: registered -->") + 2 :]
    lines = lines[: lines.index("")]
    rows = {line.split(" | ")[0].strip("| "): line.split(" | ") for line in lines}
    text = " ".join((ROOT / page).read_text("utf-8").split())
    for name, compared in (("T1", "the error of ReLU"), ("T4", "its error")):
        _, estimate, interval, _, _, answer = rows[name]
        low, high = (f"{float(number):.2f}" for number in interval.split(" to "))
        assert f"{float(estimate):.2f} times {compared}" in text
        assert f"{low} to {high})" in text
        assert answer == "cannot tell |"


def test_the_page_recomputes_the_headline(monkeypatch, capsys):
    page = (DOCS / "records/reproduction.md").read_text("utf-8")
    section = page.partition("## Recompute a table")[2]
    code = re.search(r"```python\n(.*?)```", section, re.S)[1]
    monkeypatch.chdir(ROOT)

    exec(compile(code, "docs/records/reproduction.md", "exec"), {})

    table = (DOCS / "records/help.md").read_text("utf-8")
    titles = {"relu": "ReLU", "silu": "SiLU", "vaf-random": "VAF, random start"}
    titles |= {"vaf-relu": "VAF, ReLU start", "vaf-silu": "VAF, SiLU start"}
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    for line in lines:
        vaf, fixed, ratio, better, worse = line.split()
        cells = rf"{ratio} \([^)]*\); {better} better, {worse} worse, p "
        assert re.search(rf"\| {titles[vaf]} \| {titles[fixed]} \| {cells}", table)
