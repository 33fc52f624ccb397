"""`keras-vaf compare`, from the words of the command line to files and exit codes."""

import json

import numpy as np
import pytest

from keras_vaf.experiments import records
from keras_vaf.training import recipe
from keras_vaf_cli import main
from keras_vaf_cli.shared import print_table

pytestmark = pytest.mark.backend("torch")  # which compiles nothing

QUICK = "--target kind --folds 2 --epochs 2 --hidden 4 --learning-rates 0.01"


@pytest.fixture
def table(tmp_path):
    """The file table.csv of 40 rows."""
    numbers = np.random.default_rng(0).normal(size=(40, 2))
    rows = [f"{a},{b},{n >= 20},{100 + n}" for n, (a, b) in enumerate(numbers)]
    (tmp_path / "table.csv").write_text("\n".join(["a,b,kind,price", *rows]))


def test_options_reach_the_records(table, run):
    words = "--task regression --output o --activations relu,vaf-silu --k 4 --g tanh"
    words += " --seeds 3,4 --missing mean --categories kind --learning-rates 1e-9,0.1"

    code, output, errors = run(f"compare table.csv {QUICK} --target price {words}")

    assert code == 0, errors
    assert "RMSE on table" in output
    found = records("o")
    assert set(found["seed"]) == {3, 4}
    fitted = "vaf-silu, least squares"  # tanh units start as SiLU by a fit
    assert set(found["activation"]) == {"relu", fitted, "linear", "trees"}
    assert set(found["learning_rate"].dropna()) == {1e-9, 0.1}
    assert set(found["task"]) == {"regression"}
    own = found[found["activation"] == fitted]
    arguments = {"k": 4, "g": "tanh", "initialization": "silu"}
    assert set(own["title"]) == {"VAF, g = tanh, SiLU start"}
    assert json.loads(own["arguments"].iloc[0]) == arguments
    assert (set(own["fold"]), set(own["epochs"])) == ({0, 1}, {2})
    assert set(own["hidden"]) == {"4"}


def test_quick_is_shorter_and_other_options_go_before_it(table, run):
    words = "compare table.csv --target kind --activations relu --epochs 2 --hidden 4"
    assert run(f"{words} --quick")[0] == 0

    found = records("runs").dropna(subset="learning_rate")
    rates = recipe.QUICK["learning_rates"]
    assert sorted(zip(found["fold"], found["learning_rate"], strict=True)) == [
        (fold, rate) for fold in range(3) for rate in rates
    ]
    assert set(found["epochs"]) == {2}


def test_a_table_without_a_target_is_refused_before_keras_is_loaded(table, tmp_path):
    loaded = []
    assert main(["compare", f"{tmp_path}/table.csv"], lambda: loaded.append(1)) == 2
    assert not loaded


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("table.csv --target kind --folds 50", "use fewer folds"),
        ("table.csv --target kind --activations relu,gulu", "Did you mean 'gelu'"),
        ("table.csv --target prize", "name one of the columns: a, b, kind, price"),
        ("table.csv --target kind --activations relu --k 4", "`--k` is for a VAF"),
        ("table.csv", "`--target COLUMN`, one of a,b,kind,price. Received"),
        ("wine --groups kind", "`--groups` is for a table of your own"),
        ("wine --no-header", "`--no-header` is for a table of your own"),
        ("table.csv --target kind --data-dir .", "`--data-dir` is for a dataset of"),
        ("nowhere.csv --target kind", "No such file or directory: nowhere.csv"),
        ("whine", "wine"),
        ("table.csv --target kind --output table.csv", "File exists: table.csv"),
    ],
)
def test_bad_input_is_refused_and_leaves_no_file(
    table, refusal, tmp_path, words, expected
):
    assert expected in refusal(f"compare {words}")
    assert list(tmp_path.iterdir()) == [tmp_path / "table.csv"]


def test_a_table_in_a_file_is_not_wrapped(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    cells = ["an activation with a long name", *["a long cell"] * 8]
    print_table("title", cells, [cells], ["a note"])
    assert capsys.readouterr().out.count("  ".join(cells)) == 2
