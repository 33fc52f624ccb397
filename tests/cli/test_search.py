"""`keras-vaf search`, from the words of the command line to files and exit codes."""

import re
import sys

import keras
import numpy as np
import pandas as pd
import pytest

from keras_vaf.experiments import records
from keras_vaf.experiments import run as study_run
from keras_vaf.tuners.table_search import BASELINES, FOLDS, TRIALS
from keras_vaf_cli import main

pytestmark = pytest.mark.backend("torch")  # which compiles nothing

QUICK = ["--trials", "2", "--folds", "2", "--epochs", "3", "--hidden", "4"]


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
    path = tmp_path / "houses.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def said_to_refuse(capsys, *words):
    """Return the one sentence with which a command is refused."""
    assert main(["search", *words]) == 2
    output = capsys.readouterr()
    return output.err[output.err.index("keras-vaf: ") :]


def test_searches_on_a_table_of_ones_own(houses, tmp_path, capsys, monkeypatch):
    words = ["search", str(houses), "--target", "price", "--groups", "owner", *QUICK]
    words += ["--baselines", "relu", "--output", str(tmp_path / "runs")]
    append, written = study_run.append, []

    def interrupted_at_the_fourth(*arguments):
        if len(written) == 3:
            raise KeyboardInterrupt
        written.append(append(*arguments))

    with monkeypatch.context() as patch:
        patch.setattr(study_run, "append", interrupted_at_the_fourth)
        assert main(words) == 130
    said = capsys.readouterr()
    assert "the same command continues from there." in said.err
    assert "Trials of the VAF: 4 models." in said.err
    assert main(words) == 0

    said = capsys.readouterr()
    assert "Other models: 16 models." in said.err  # 6 x 2 of ReLU, 2 x 2
    for text in (
        "Target 'price': a regression",
        "Missing entries: area (1). Numbers are filled in by the mean",
        "Trials of the VAF: the best 2 of 2",
        "RMSE on houses, hidden layers 4",
        "VAF, searched",
        "gradient",  # the table may wrap the name
        "Two folds cannot tell",
        "trained again on all 160 rows",
        "comparison.png, trials.csv, trials.png and best.keras.",
    ):
        assert text in said.out
    [folder] = (tmp_path / "runs").glob("search-houses-*")
    files = {path.name for path in folder.iterdir()}
    pictures = {"comparison.png", "trials.png"}
    assert files == pictures | {"best.keras", "table.md", "trials.csv"}
    assert len(pd.read_csv(folder / "trials.csv")) == 2
    found = records(tmp_path / "runs")
    assert set(found["activation"]) == {"relu", "vaf-searched", "linear", "trees"}
    assert len(found) == 4 + 16
    [command] = re.findall(r"keras-vaf (predict \S+) NEW", said.out)
    out = tmp_path / "out.csv"
    assert main([*command.split(), str(houses), "-o", str(out)]) == 0
    assert "predicted price" in out.read_text()


def test_classes_are_searched(tmp_path, capsys):
    rng = np.random.default_rng(0)
    rows = [
        f"{a:.3f},{'no' if a + b < 0 else 'yes'}" for a, b in rng.normal(size=(40, 2))
    ]
    (tmp_path / "t.csv").write_text("\n".join(["a,t", *rows]))
    words = ["search", str(tmp_path / "t.csv"), "--target", "t", *QUICK]
    words += ["--baselines", "none", "--output", str(tmp_path / "runs")]

    assert main(words) == 0

    said = capsys.readouterr().out
    assert "best.keras is the network with VAF, searched, trained again" in said
    [best] = tmp_path.glob("runs/search-t-*/best.keras")
    model = keras.saving.load_model(best)
    outputs = model.predict(rng.normal(size=(9, 1)), verbose=0)
    np.testing.assert_allclose(outputs.sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["whine"], "wine"),
        (["wine", "--tuner", "hyperband", "--trials", "5"], r"at least 6.*5"),
        (["wine", "--folds", "500"], "use fewer folds"),
        (["wine", "--hidden", "0"], r"hidden=\(0,\)"),
        (["wine", "--baselines", "vanilla"], "'vanilla'"),
    ],
)
def test_refuses_bad_input(tmp_path, capsys, words, expected):
    output = tmp_path / "new"
    said = said_to_refuse(capsys, *words, "--output", str(output))
    assert re.search(expected, said), said
    assert not output.exists()


@pytest.mark.parametrize("option", ["--trials", "--folds", "--epochs"])
def test_a_number_that_is_too_small_is_refused_by_the_parser(capsys, option):
    with pytest.raises(SystemExit) as refused:
        main(["search", "wine", option, "0"])
    assert refused.value.code == 2
    assert "expected an integer of at least" in capsys.readouterr().err


def test_too_many_folds_are_refused(houses, run):
    code, _, errors = run(f"search {houses} --target price --folds 200")
    assert code == 2
    assert "use fewer folds" in errors


def test_a_missing_package_is_named_before_the_table_is_read(refusal, monkeypatch):
    monkeypatch.setitem(sys.modules, "keras_tuner", None)
    said = refusal("search nowhere.csv --target y")
    assert "`keras_tuner`" in said
    assert "pip install 'keras-vaf[tune]'" in said


def test_the_defaults_are_those_of_the_library():
    from keras_vaf_cli import _parser

    arguments = _parser().parse_args(["search", "wine"])
    assert (arguments.trials, arguments.folds) == (TRIALS, FOLDS)
    assert arguments.baselines == BASELINES
