"""`keras-vaf data`: what is listed, and what is fetched."""

import pytest

from keras_vaf.datasets import CATALOGUE, find
from tests.datasets.publishers import make_table_entry

pytestmark = pytest.mark.backend("tensorflow")


def test_the_list_has_all_datasets_beside_those_of_the_paper(run):
    code, output, _ = run("data")
    header, *lines = output.splitlines()
    assert code == 0
    assert header.split()[:3] == ["name", "task", "rows,"]
    assert [line.split()[0] for line in lines] == [entry.name for entry in CATALOGUE]
    [servo] = [line for line in lines if line.startswith("servo")]
    assert servo.split()[1:4] == ["regression", "167,", "4"]
    assert "Servo: 197, 4" in servo


def test_several_are_fetched(run, catalogue, folder):
    catalogue(make_table_entry(), find("wine"))
    code, output, _ = run(f"data three wine --data-dir {folder}")
    assert code == 0
    assert output == (
        "Dataset('three', regression, 3 rows, 2 inputs) from three/three.csv\n"
        "Dataset('wine', classification, 178 rows, 13 inputs, 3 classes) from "
        "package sklearn\n"
    )


def test_nothing_is_fetched_if_a_name_is_unknown(run):
    code, output, _ = run("data wine wines")
    assert (code, output) == (2, "")
