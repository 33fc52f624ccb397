"""The transcript of three tables holds commands with what they print."""

import sys

import pytest

from tools.transcript import Session, _best, make_houses, make_public

pytestmark = pytest.mark.backend("tensorflow")


def test_a_command_stands_above_what_it_prints(tmp_path):
    session = Session(tmp_path)
    printed = session.run(f"{sys.executable} -c 'import os; print(os.getcwd())'")
    assert printed.strip() == str(tmp_path)
    command, output = session.text().strip().splitlines()
    assert (command[:2], output) == ("$ ", str(tmp_path))
    assert session.text("keras-vaf compare") == ""


def test_the_path_of_the_network_is_found():
    printed = "Predict new rows with:\n  keras-vaf predict runs/a-1/best.keras NEW.csv"
    assert _best(printed) == "runs/a-1/best.keras"
    with pytest.raises(ValueError, match=r"best\.keras"):
        _best("nothing")


def test_the_tables_have_what_must_be_explained(tmp_path):
    pytest.importorskip("pandas")
    pytest.importorskip("sklearn")
    make_houses(tmp_path)
    make_public(tmp_path)
    houses = (tmp_path / "houses.csv").read_text("cp1252")
    assert houses.startswith("sold;city;area;rooms;lift;id;country;price\n")
    assert "n.a." in houses and ";;" in houses and "Köln" in houses
    wrong = (tmp_path / "wrong.csv").read_text("cp1252").splitlines()
    assert wrong[0] == "sold;town;area;rooms;id;country"
    assert "unknown" in wrong[4] and "soon" in wrong[5]
    assert "malignant" in (tmp_path / "cancer.csv").read_text()
    assert (tmp_path / "diabetes.csv").is_file()
