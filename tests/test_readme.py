"""What the README tells a new user to type is what is checked."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def blocks(language):
    """Return the README's code blocks in a language."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


def test_the_example_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (example,) = blocks("python")
    exec(compile(example, "<example of the README>", "exec"), {})


@pytest.mark.backend("tensorflow")
def test_there_is_one_line_for_the_main_job_and_one_for_the_tests():
    main_job, tests = blocks("bash")
    assert re.fullmatch(r"pip install \S+ && keras-vaf .+\n", main_job)
    assert re.fullmatch(r"pip install -e \S+ && pytest\n", tests)


@pytest.mark.backend("tensorflow")
def test_continuous_integration_runs_these_very_lines():
    commands = re.findall(r'^step .*"(.*)"$', (ROOT / ".ci" / "run").read_text(), re.M)
    for block in blocks("bash"):
        assert block.strip() in commands
