"""Names that files contain are printed without control characters."""

import pytest

from keras_vaf.datasets import read_table
from keras_vaf.utils import visible
from keras_vaf_cli import main

pytestmark = pytest.mark.backend("torch")
HOSTILE = "\x1b[31mred\x1b]0;title\x07\u202e\u200b\x9b\x7f\u2028"


def test_only_control_characters_are_escaped():
    text = "Größe in m², 東京 👍 \\ \t\n"
    assert visible(text) == text
    assert visible(HOSTILE).isprintable()
    assert visible("\x1b[0m\x07") == r"\x1b[0m\x07"


def check(text):
    assert all(each.isprintable() or each in "\n\t" for each in text), repr(text)
    assert "x1b[31mred" in text


TABLES = {
    "two columns with one name": f"{HOSTILE},{HOSTILE},y\n1,2,3\n",
    "a cell": f"{HOSTILE},y\n" + "1,2\n" * 30 + f"{HOSTILE},3\n",
    "classes": f"a,y\n1,{HOSTILE}\n",
    "more cells": f"{HOSTILE},y\n1,2,3\n",
}


@pytest.mark.parametrize("name", TABLES)
def test_the_errors_of_commands_have_no_control_characters(name, tmp_path, capsys):
    path = tmp_path / f"{HOSTILE[:8]}.csv"
    path.write_text(TABLES[name], encoding="utf-8")
    assert main(["compare", str(path), "--target", "y"]) == 2
    said = capsys.readouterr()
    assert all(c.isprintable() or c in "\n\t" for c in said.err + said.out)


def test_the_notes_of_a_table_have_no_control_characters(tmp_path):
    path = tmp_path / "table.csv"
    rows = "".join(f"{n % 7},{n % 3},{n},1\n" for n in range(30))
    path.write_text(f"{HOSTILE},x{HOSTILE},y,z{HOSTILE}\n{rows}", encoding="utf-8")
    dataset = read_table(path, "y")
    check("\n".join(dataset.notes))
    with pytest.raises(ValueError) as error:
        read_table(path, "none")
    check(str(error.value))
