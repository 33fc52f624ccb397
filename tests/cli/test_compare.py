"""`keras-vaf compare`, from the words of the command line to files and exit codes."""

import json
import re

import numpy as np
import pytest

from keras_vaf.experiments import records
from keras_vaf.training import recipe
from keras_vaf_cli import _parser
from keras_vaf_cli.shared import print_table

pytestmark = pytest.mark.backend("torch")  # which compiles nothing

QUICK = "--target kind --folds 2 --epochs 2 --hidden 4 --learning-rates 0.01"


@pytest.fixture
def table(tmp_path):
    """Write the file table.csv of 40 rows; columns can be replaced."""

    def write(**columns):
        rng = np.random.default_rng(0)
        kind = np.repeat(["no", "yes"], 20)
        values = {"a": rng.normal(size=40), "b": rng.normal(size=40), "kind": kind}
        values |= columns
        rows = [values, *zip(*values.values(), strict=True)]
        text = "\n".join(",".join(map(str, row)) for row in rows)
        (tmp_path / "table.csv").write_text(text)

    write()
    return write


def test_says_what_the_columns_were_taken_as_and_what_was_found(table, run, tmp_path):
    kind = np.repeat([3, 4], 20)
    table(kind=kind, colour=["red", "blue"] * 20, other=2 * kind)

    code, output, errors = run(f"compare table.csv {QUICK} --activations relu,vaf-relu")

    assert code == 0, errors
    for line in (
        "table.csv: 40 rows, 4 inputs (separated by ',', utf-8).",
        "Target 'kind': taken as 2 classes (3, 4); use `--task regression` if they are "
        "numbers to predict.",
        "Numbers: a, b, other.",
        "Categories (with their number of values): colour (2).",
    ):
        assert line in output.splitlines()
    assert "Accuracy on table, hidden layers 4" in output
    for title in ("ReLU", "VAF, ReLU start", "logistic regression", "majority class"):
        assert title in output
    assert "Two folds cannot tell" in output
    assert re.search(r"^(Use|Try) .*: .*\..*\.$", output, re.M)  # two sentences
    assert "best.keras is the network with " in output
    assert "trained again on all 40 rows" in output
    assert "keras-vaf predict " in output
    [folder] = tmp_path.glob("runs/table-*")
    assert str(folder.relative_to(tmp_path)) in output
    assert "Training: 8 models." in errors  # no terminal shows a progress bar
    assert "gradient boosted trees, seed 0: 8 of 8 in" in errors
    again = run(f"compare table.csv {QUICK} --activations relu,vaf-relu")
    assert again[:2] == (0, output)
    assert len(records("runs")) == 8


def test_options_reach_the_records(table, run):
    target = np.linspace(100, 200, 40)
    table(price=target, kind=target > 150)
    words = "--task regression --output o --activations relu,vaf-relu --k 4 --g tanh"
    words += " --seeds 3,4 --missing mean --categories kind --learning-rates 1e-9,0.1"

    code, output, errors = run(f"compare table.csv {QUICK} --target price {words}")

    assert code == 0, errors
    assert "RMSE on table" in output
    found = records("o")
    assert set(found["seed"]) == {3, 4}
    assert set(found["activation"]) == {"relu", "vaf-relu", "linear", "trees"}
    assert set(found["learning_rate"].dropna()) == {1e-9, 0.1}
    assert set(found["task"]) == {"regression"}
    own = found[found["activation"] == "vaf-relu"]
    arguments = {"k": 4, "g": "tanh", "initialization": "relu"}
    assert json.loads(own["arguments"].iloc[0]) == arguments
    assert (set(own["fold"]), set(own["epochs"])) == ({0, 1}, {2})
    assert set(own["hidden"]) == {"4"}


def test_the_default_is_the_recipe_and_quick_is_shorter(table, run, tmp_path):
    words = "compare table.csv --target kind --activations relu --epochs 2 --hidden 4"
    assert run(f"{words} --quick")[0] == 0

    found = records("runs").dropna(subset="learning_rate")
    rates = recipe.QUICK["learning_rates"]
    assert sorted(zip(found["fold"], found["learning_rate"], strict=True)) == [
        (fold, rate) for fold in range(3) for rate in rates
    ]
    [path] = tmp_path.glob("runs/recipe-*.json")
    settings = json.loads(path.read_text())
    assert (settings["optimizer"], settings["epochs"]) == (recipe.OPTIMIZER, 2)
    arguments = _parser().parse_args(["compare", "wine"])
    assert arguments.activations == ",".join(recipe.ACTIVATIONS)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("table.csv --target kind --folds 50", "use fewer folds"),
        ("table.csv --target kind --activations relu,gulu", "Did you mean 'gelu'"),
        ("table.csv --target kind --g softmax", "softmax"),
        ("table.csv --target kind --k 0", "k=0"),
        ("table.csv --target kind --epochs 0", "epochs=0"),
        ("table.csv --target kind --hidden 0", "positive integers"),
        ("table.csv --target kind --seeds 0,1,0", "`seeds` must differ"),
        ("table.csv --target kind --jobs 0", "jobs=0"),
        ("table.csv --target price", "Name one of its columns: a, b, kind"),
        ("table.csv", "--target COLUMN"),
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


@pytest.mark.parametrize("option", ["--hidden", "--seeds", "--learning-rates"])
def test_a_list_with_another_word_is_refused_by_the_parser(option, run):
    code, _, errors = run(f"compare wine {option} 1,two")

    assert code == 2
    assert "value: '1,two'" in errors


def test_a_table_in_a_file_is_not_wrapped(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    cells = ["an activation with a long name", *["a long cell"] * 8]
    print_table("title", cells, [cells], ["a note"])
    assert capsys.readouterr().out.count("  ".join(cells)) == 2
