"""`keras-vaf compare`, from the words of the command line to files and exit codes."""

import errno
import json
import re

import numpy as np
import pytest

from keras_vaf.experiments import records, run, select
from keras_vaf.training import recipe
from keras_vaf_cli import main
from keras_vaf_cli.shared import print_table

pytestmark = pytest.mark.backend("torch")  # which compiles nothing

QUICK = ["--folds", "2", "--epochs", "2", "--hidden", "4", "--learning-rates", "0.01"]


@pytest.fixture
def table(tmp_path):
    """Write a CSV file of 40 rows and return its path; entries can be overwritten."""

    def write(**columns):
        rng = np.random.default_rng(0)
        kind = np.repeat(["no", "yes"], 20)
        values = {"a": rng.normal(size=40), "b": rng.normal(size=40), "kind": kind}
        values |= columns
        lines = [
            ",".join(values),
            *(",".join(map(str, row)) for row in zip(*values.values(), strict=True)),
        ]
        path = tmp_path / "table.csv"
        path.write_text("\n".join(lines) + "\n")
        return str(path)

    return write


def refusal(capsys, *words):
    """Return the one sentence with which a command is refused."""
    assert main(["compare", *words]) == 2
    output = capsys.readouterr()
    assert "Written to" not in output.out
    said = output.err[output.err.index("keras-vaf: ") :]
    assert said.count("\n") == (3 if "This command solves it:" in said else 1)
    return said


def test_compares_on_a_table_of_ones_own(table, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")  # a table that is not wrapped

    assert main(["compare", table(), "--target", "kind", *QUICK]) == 0

    output = capsys.readouterr().out
    assert "Accuracy on table, hidden layers 4" in output
    for title in ("ReLU", "VAF, ReLU start", "VAF, g = silu", "majority class"):
        assert title in output
    (folder,) = (tmp_path / "runs").glob("table-*")
    assert str(folder.relative_to(tmp_path)) in output
    networks = 2 * len(recipe.ACTIVATIONS)
    assert len(records(tmp_path / "runs")) == networks + 2 * 2
    for title in ("logistic regression", "gradient boosted trees"):
        assert title in output


def test_says_what_the_columns_were_taken_as_and_what_was_found(
    table, tmp_path, capsys, monkeypatch
):
    kind = np.repeat([3, 4], 20)
    words = ["--output", str(tmp_path / "o"), "--activations", "relu,vaf-relu"]
    monkeypatch.setenv("COLUMNS", "200")

    path = table(kind=kind, colour=["red", "blue"] * 20, leak=2 * kind)
    assert main(["compare", path, "--target", "kind", *words, *QUICK]) == 0

    output = capsys.readouterr()
    for line in (
        "table.csv: 40 rows, 4 inputs (separated by commas, UTF-8).",
        "Target 'kind': taken as 2 classes (3, 4); use `--task regression` if they are "
        "numbers to predict.",
        "Numbers: a, b, leak.",
        "Categories (with their number of values): colour (2).",
    ):
        assert line in output.out.splitlines()
    assert "Two folds cannot tell" in output.out
    assert re.search(r"^(Use|Try) .*: .*\..*\.$", output.out, re.M)  # two sentences
    assert "best.keras is the network with " in output.out
    for unexplained in ("Wins", "FLOPs", "epoch was the last"):
        assert unexplained not in output.out
    assert "trained again on all 40 rows" in output.out
    assert "keras-vaf predict " in output.out
    assert "Warning: column 'leak' alone tells the class of every row" in output.err
    assert "Training: 8 models." in output.err  # no terminal shows a progress bar
    assert "gradient boosted trees, seed 0: 8 of 8 in" in output.err


def test_all_problems_are_named_and_the_options_solve_them(table, tmp_path, capsys):
    b = ["lots", "", *range(38)]
    c = ["inf", *range(39)]
    words = [table(b=b, c=c), "--target", "kind", "--activations", "relu", *QUICK]
    words += ["--output", str(tmp_path / "o o"), "--ignore", "a"]

    assert main(["compare", *words]) == 2
    said = capsys.readouterr().err

    assert "2 columns cannot be used" in said
    assert "column 'b'" in said and "Use `--na lots`" in said
    assert "row 2: column 'c' must hold finite numbers" in said
    assert main(["compare", *words, "--na", "lots", "--ignore", "a,c"]) == 0
    assert "2 inputs" not in capsys.readouterr().out  # a and c are left out


def test_a_refusal_leaves_no_file(table, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)

    said = refusal(capsys, table(), "--target", "price")

    assert "no column 'price'" in said
    assert "Name one of its columns: a, b, kind" in said
    assert list(tmp_path.iterdir()) == [tmp_path / "table.csv"]


def test_options_reach_the_records(table, tmp_path, capsys):
    target = np.linspace(100, 200, 40)
    words = [
        "--target",
        "price",
        "--task",
        "regression",
        "--output",
        str(tmp_path / "o"),
    ]
    words += ["--activations", "relu,vaf-relu", "--k", "4", "--g", "tanh"]
    words += ["--seeds", "3,4", "--missing", "mean", *QUICK]

    words += ["--categories", "kind"]
    assert main(["compare", table(price=target, kind=target > 150), *words]) == 0

    found = records(tmp_path / "o")
    assert set(found["seed"]) == {3, 4}
    assert set(found["activation"]) == {"relu", "vaf-relu", "linear", "trees"}
    assert set(found["task"]) == {"regression"}
    own = found[found["activation"] == "vaf-relu"]
    arguments = {"k": 4, "g": "tanh", "initialization": "relu"}
    assert json.loads(own["arguments"].iloc[0]) == arguments
    assert (set(own["fold"]), set(own["epochs"]), set(own["hidden"])) == (
        *({0, 1}, {2}, {"4"}),
    )
    assert "RMSE on table" in capsys.readouterr().out


def test_learning_rates_are_selected_on_validation_rows(table, tmp_path):
    words = ["compare", table(), "--target", "kind", "--activations", "relu,vaf-relu"]
    words += ["--output", str(tmp_path / "o"), *QUICK[:-1], "1e-9,0.1"]

    assert main(words) == 0

    found = records(tmp_path / "o").dropna(subset="learning_rate")
    for _, own in found.groupby(["activation", "fold"]):
        assert sorted(own["learning_rate"]) == [1e-9, 0.1]
        best = own.sort_values(["validation", "val_loss"], ascending=[False, True])
        assert select(own).index[0] == best.index[0]


def test_the_default_is_the_recipe_and_quick_is_shorter(table, tmp_path):
    words = ["compare", table(), "--target", "kind", "--activations", "relu"]
    words += ["--output", str(tmp_path / "o"), "--epochs", "2", "--hidden", "4"]

    assert main([*words, "--quick"]) == 0

    found = records(tmp_path / "o").dropna(subset="learning_rate")
    rates = recipe.QUICK["learning_rates"]
    assert sorted(zip(found["fold"], found["learning_rate"], strict=True)) == [
        (fold, rate) for fold in range(3) for rate in rates
    ]
    [path] = (tmp_path / "o").glob("recipe-*.json")
    settings = json.loads(path.read_text())
    assert (settings["optimizer"], settings["epochs"]) == (recipe.OPTIMIZER, 2)


def test_says_when_there_is_nothing_left_to_train(table, tmp_path, capsys):
    words = ["compare", table(), "--target", "kind", "--output", str(tmp_path / "o")]
    words += ["--activations", "relu", *QUICK]

    assert main(words) == 0
    first = capsys.readouterr().out
    assert main(words) == 0

    assert capsys.readouterr().out == first


def test_a_full_disk_is_one_sentence_and_loses_nothing(
    table, tmp_path, capsys, monkeypatch
):
    def full(folder, row):
        if len(records(folder)) == 1:
            raise OSError(errno.ENOSPC, "No space left on device", str(folder))
        append(folder, row)

    append = run.append
    monkeypatch.setattr(run, "append", full)
    words = [table(), "--target", "kind", "--output", str(tmp_path / "o")]
    words += ["--activations", "relu", *QUICK]

    said = refusal(capsys, *words)

    assert said.startswith("keras-vaf: No space left on device: ")
    kept = records(tmp_path / "o")
    monkeypatch.undo()
    assert main(["compare", *words]) == 0
    assert records(tmp_path / "o")["seconds"].tolist()[:1] == kept["seconds"].tolist()


def test_ctrl_c_is_one_sentence_and_exit_code_130(table, tmp_path, capsys, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "append", interrupt)
    words = [table(), "--target", "kind", "--output", str(tmp_path / "o"), *QUICK]

    assert main(["compare", *words]) == 130
    assert "the same command continues from there" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("columns", "words", "expected"),
    [
        ({"kind": ["no"] * 38 + ["yes"] * 2}, ["--folds", "50"], "use fewer folds"),
        ({}, ["--activations", "relu,softsign"], "Activations must be"),
        ({}, ["--g", "softmax"], "softmax"),
        ({}, ["--k", "0"], "k=0"),
        ({}, ["--epochs", "0"], "epochs=0"),
        ({}, ["--hidden", "0"], "positive integers"),
        ({}, ["--seeds", "0,1,0"], "`seeds` must differ from each other"),
    ],
    ids=[
        "folds",
        "activations",
        "g",
        "k",
        "epochs",
        "hidden",
        "seeds",
    ],
)
def test_refuses_bad_input(table, tmp_path, capsys, columns, words, expected):
    output = str(tmp_path / "o")
    words = [table(**columns), "--target", "kind", "--output", output, *words]

    assert expected in refusal(capsys, *words)


def test_refuses_a_file_that_is_not_there(capsys):
    said = refusal(capsys, "nowhere.csv", "--target", "kind")

    assert said == "keras-vaf: No such file or directory: nowhere.csv\n"


def test_refuses_a_csv_file_without_a_target(table, capsys):
    assert "--target COLUMN" in refusal(capsys, table())


def test_refuses_an_unknown_data_set(capsys):
    assert "wine" in refusal(capsys, "whine")


def test_refuses_a_folder_that_cannot_be_written(table, tmp_path, capsys):
    (tmp_path / "o").write_text("")

    said = refusal(capsys, table(), "--target", "kind", "--output", str(tmp_path / "o"))

    assert str(tmp_path / "o") in said


@pytest.mark.parametrize("option", ["--hidden", "--seeds"])
def test_refuses_lists_that_are_not_of_integers(option, capsys):
    with pytest.raises(SystemExit) as error:
        main(["compare", "wine", option, "1,two"])

    assert error.value.code == 2
    assert "expected integers separated by commas" in capsys.readouterr().err


def test_a_table_in_a_file_is_not_wrapped(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    cells = ["an activation with a long name", *["a long cell"] * 8]
    print_table("title", cells, [cells], ["a note"])
    assert capsys.readouterr().out.count("  ".join(cells)) == 2
