"""No command prints a control character of a file name, a column or an argument."""

import shlex
import sys

import pytest

from keras_vaf.datasets import read_table
from keras_vaf.utils import visible
from keras_vaf_cli.shared import print_table, say, shown

pytestmark = pytest.mark.backend("torch")
HOSTILE = "\x1b[31mred\x1b]0;title\x07\u202e\u200b\x9b\x7f\u2028"


def check(text):
    assert all(each.isprintable() or each in "\n\t" for each in text), repr(text)
    assert "x1b[31mred" in text


def test_only_control_characters_are_escaped():
    text = "Größe in m², 東京 👍 \\ \t\n"
    assert visible(text) == text
    assert visible(HOSTILE).isprintable()
    assert visible("\x1b[0m\x07") == r"\x1b[0m\x07"


@pytest.mark.parametrize(
    "words",
    [
        ("inspect", f"{HOSTILE}.keras"),
        ("compare", f"{HOSTILE}.csv", "--target", "y"),
        ("reproduce", "regression", "--datasets", HOSTILE),
        ("info", HOSTILE),  # which the parser refuses
    ],
)
def test_an_error_escapes_the_name_of_a_file(words, run):
    code, output, errors = run(shlex.join(words))
    assert code == 2
    check(output + errors)


@pytest.mark.parametrize(
    "text",
    [
        f"{HOSTILE},{HOSTILE},y\n1,2,3\n",  # two columns with one name
        f"{HOSTILE},y\n" + "1,2\n" * 30 + f"{HOSTILE},3\n",
        f"a,y\n1,{HOSTILE}\n",
        f"{HOSTILE},y\n1,2,3\n",
    ],
)
def test_an_error_escapes_the_cells_of_a_table(text, tmp_path, run):
    (tmp_path / f"{HOSTILE[:8]}.csv").write_text(text, encoding="utf-8")
    code, output, errors = run(f"compare '{HOSTILE[:8]}.csv' --target y")
    assert code == 2
    check(output + errors)


def test_the_notes_of_a_table_have_no_control_characters(tmp_path):
    path = tmp_path / "table.csv"
    rows = "".join(f"{n % 7},{n % 3},{n},1\n" for n in range(30))
    path.write_text(f"{HOSTILE},x{HOSTILE},y,z{HOSTILE}\n{rows}", encoding="utf-8")
    check("\n".join(read_table(path, "y").notes))


def test_a_table_is_escaped_and_a_text_without_keras_vaf_too(monkeypatch, capsys):
    text = f"{HOSTILE} [/bold] :smile:"
    print_table(text, [text, text], [[text, text]], [text])
    said = capsys.readouterr().out
    check(said)
    assert said.count("[/bold] :smile:") == said.count(r"\x1b[31mred") == 6
    monkeypatch.setitem(sys.modules, "keras_vaf.utils", None)
    say("Written to", HOSTILE)
    check(capsys.readouterr().out)
    assert shown("two\nlines, äöü") == "two\nlines, äöü"
