"""No command prints a control character of a file name, a column or an argument."""

import sys

import pytest

from keras_vaf_cli import COMMANDS, main
from keras_vaf_cli.shared import print_table, say, shown

pytestmark = pytest.mark.backend("torch")
HOSTILE = "\x1b[31mred\x1b]0;title\x07\u202e\x9b"
FILE = f"{HOSTILE}.keras"

# The cheapest error, or the cheapest success, that repeats the name of a file.
LINES = {
    "compare": ["compare", f"{HOSTILE}.csv", "--target", "y"],
    "predict": ["predict", FILE, "table.csv", "-o", "out.csv"],
    "convert": ["convert", FILE, "-o", "out.keras"],
    "inspect": ["inspect", FILE],
    "simplify": ["simplify", FILE, "-o", "out.keras"],
    "freeze": ["freeze", FILE, "-o", "out.keras"],
    "data": ["data", HOSTILE],
    "reproduce": ["reproduce", "regression", "--datasets", HOSTILE],
    "search": ["search", f"{HOSTILE}.csv", "--target", "y"],
    "info": ["info", HOSTILE],
}


def check(text):
    assert all(each.isprintable() or each in "\n\t" for each in text), repr(text)
    assert r"\x1b[31mred" in text


def test_every_command_is_tried():
    assert set(LINES) == {c.__name__.rpartition(".")[2] for c in COMMANDS}


@pytest.mark.parametrize("command", LINES)
def test_an_error_escapes_the_name_of_a_file(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    try:
        code = main(LINES[command])
    except SystemExit as stop:  # an error of the parser
        code = stop.code
    assert code == 2
    said = capsys.readouterr()
    check(said.out + said.err)


def test_a_success_escapes_the_name_of_its_file(tmp_path, monkeypatch, model, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["convert", "model.keras", "-o", FILE]) == 0
    assert (tmp_path / FILE).is_file()
    check(capsys.readouterr().out)


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
