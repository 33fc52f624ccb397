"""`keras-vaf search`, from the words of the command line to files and exit codes."""

import re
import sys

import numpy as np
import pandas as pd
import pytest

from keras_vaf.experiments import records

pytestmark = pytest.mark.backend("torch")  # which compiles nothing

QUICK = "--trials 2 --folds 2 --epochs 3 --hidden 4"


@pytest.fixture
def houses(tmp_path):
    """A table of 160 rows with a category, a missing entry and groups of two rows."""
    rng = np.random.default_rng(0)
    area = rng.normal(100, 20, 160)
    lines = ["area,city,owner,price"]
    for row, size in enumerate(area):
        cell = "" if row == 3 else f"{size:.2f}"
        city, price = ["Bonn", "Ulm"][row % 3 > 0], 9 * size + row
        lines.append(f"{cell},{city},{row // 2},{price:.1f}")
    (tmp_path / "houses.csv").write_text("\n".join(lines))


def test_searches_on_a_table_of_ones_own(houses, tmp_path, run):
    line = f"search houses.csv --target price --groups owner --baselines relu {QUICK}"
    line += " --learning-rates 0.0001,0.0003,0.001,0.003,0.01,0.1"
    code, output, errors = run(line)

    assert code == 0, errors
    assert "Other models: 16 models." in errors  # 6 x 2 of ReLU, 2 x 2
    for text in (
        "Target 'price': regression",
        "Missing entries, filled in from the training rows: area (1).",
        "Trials of the VAF: the best 2 of 2",
        "RMSE on houses, hidden layers 4",
        "VAF, searched",
        "gradient boosted trees",
        "Two folds cannot tell",
        "trained again on all 160 rows",
        "comparison.png, trials.csv, best.keras and best_vaf.keras.",
    ):
        assert text in output
    [folder] = tmp_path.glob("runs/search-houses-*")
    files = {path.name for path in folder.iterdir()}
    networks = {"best.keras", "best_vaf.keras"}  # the advice names another network
    assert files == networks | {"comparison.png", "table.md", "trials.csv"}
    assert len(pd.read_csv(folder / "trials.csv")) == 2
    found = records("runs")
    assert set(found["activation"]) == {"relu", "vaf-searched", "linear", "trees"}
    assert len(found) == 4 + 16 and 0.1 in set(found["learning_rate"])
    [command] = re.findall(r"keras-vaf (predict \S+) NEW", output)
    assert run(f"{command} houses.csv -o out.csv")[0] == 0
    assert "predicted price" in (tmp_path / "out.csv").read_text()


def test_a_missing_package_is_named_before_the_table_is_read(refusal, monkeypatch):
    monkeypatch.setitem(sys.modules, "keras_tuner", None)
    said = refusal("search nowhere.csv --target y")
    assert "`keras_tuner`" in said
    assert "pip install 'keras-vaf[tune]'" in said
