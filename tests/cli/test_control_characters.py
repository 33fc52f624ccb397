"""No command prints a control character of a file name, a column or an argument."""

import shlex
import sys

import pytest

from keras_vaf_cli import COMMANDS
from keras_vaf_cli.shared import print_table, say, shown

pytestmark = pytest.mark.backend("torch")
HOSTILE = "\x1b[31mred\x1b]0;title\x07\u202e\x9b"
FILE = f"{HOSTILE}.keras"

# The cheapest error that repeats the name of a file, without the name of the command.
LINES = {
    "compare": [f"{HOSTILE}.csv", "--target", "y"],
    "predict": [FILE, "table.csv", "-o", "out.csv"],
    **dict.fromkeys(("convert", "simplify", "freeze"), (FILE, "-o", "out.keras")),
    "inspect": [FILE],
    "data": [HOSTILE],
    "reproduce": ["regression", "--datasets", HOSTILE],
    "search": [f"{HOSTILE}.csv", "--target", "y"],
    "info": [HOSTILE],
}


def check(text):
    assert all(each.isprintable() or each in "\n\t" for each in text), repr(text)
    assert r"\x1b[31mred" in text


@pytest.mark.parametrize("name", [c.__name__.rpartition(".")[2] for c in COMMANDS])
def test_an_error_escapes_the_name_of_a_file(name, run):
    code, output, errors = run(shlex.join([name, *LINES[name]]))
    assert code == 2
    check(output + errors)


def test_a_success_escapes_the_name_of_its_file(run, model, tmp_path):
    code, output, _ = run(shlex.join(["convert", "model.keras", "-o", FILE]))
    assert code == 0
    assert (tmp_path / FILE).is_file()
    check(output)


def test_every_part_of_a_table_is_escaped_and_read_as_plain_text(capsys):
    text = f"{HOSTILE} [/bold] :smile:"
    print_table(text, [text, text], [[text, text]], [text])
    said = capsys.readouterr().out
    check(said)
    assert said.count("[/bold] :smile:") == said.count(r"\x1b[31mred") == 6


def test_a_text_is_escaped_without_keras_vaf_too(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "keras_vaf.utils", None)
    say("Written to", HOSTILE)
    check(capsys.readouterr().out)
    assert shown("two\nlines, äöü") == "two\nlines, äöü"
