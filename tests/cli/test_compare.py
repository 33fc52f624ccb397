"""`keras-vaf compare`, from the words of the command line to files and exit codes."""

import errno
import re
import shlex

import numpy as np
import pytest

from keras_vaf.experiments import read_reports
from keras_vaf.experiments.results.selection import networks_of
from keras_vaf.training import recipe
from keras_vaf.utils import write_atomically
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
    assert len(read_reports(folder / "report.json")) == networks + 2 * 2
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
    assert "p (Holm)" in output.out
    assert re.search(r"^(Use|Try) .*: .*\..*\.$", output.out, re.M)  # two sentences
    assert "best.keras is the network with " in output.out
    for unexplained in ("Wins", "FLOPs", "epoch was the last"):
        assert unexplained not in output.out
    assert "trained again on all 40 rows" in output.out
    assert "keras-vaf predict " in output.out
    assert "Warning: column 'leak' alone tells the class of every row" in output.err
    assert "Training 8 models." in output.err  # no terminal shows a progress bar
    assert "Trained 8 of 8 in" in output.err


def test_the_command_that_it_advises_solves_all_problems(table, tmp_path, capsys):
    b = ["lots", "", *range(38)]
    c = ["inf", *range(39)]
    words = [table(b=b, c=c), "--target", "kind", "--activations", "relu", *QUICK]
    words += ["--output", str(tmp_path / "o o"), "--ignore", "a"]

    assert main(["compare", *words]) == 2
    said = capsys.readouterr().err
    program, *advised = shlex.split(said.splitlines()[-1])

    assert "2 columns cannot be used" in said
    assert program == "keras-vaf"
    assert main(advised) == 0
    assert "2 inputs" not in capsys.readouterr().out  # a and c are left out


def test_a_refusal_leaves_no_file(table, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)

    said = refusal(capsys, table(), "--target", "price")

    assert "no column 'price'" in said
    assert "Name one of its columns: a, b, kind" in said
    assert list(tmp_path.iterdir()) == [tmp_path / "table.csv"]


def test_options_reach_the_protocol(table, tmp_path, capsys):
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

    (folder,) = (tmp_path / "o").glob("table-*")
    reports = networks_of(read_reports(folder / "report.json"))
    assert {report.seed for report in reports} == {3, 4}
    assert {report.protocol.variant.name for report in reports} == {"relu", "vaf-relu"}
    protocol = reports[-1].protocol
    assert protocol.task == "regression"
    assert protocol.variant.arguments == {"k": 4, "g": "tanh", "initialization": "relu"}
    assert (protocol.folds, protocol.epochs, protocol.hidden) == (2, 2, (4,))
    assert "RMSE on table" in capsys.readouterr().out


def test_learning_rates_are_selected_on_validation_rows(table, tmp_path, capsys):
    words = ["compare", table(), "--target", "kind", "--activations", "relu,vaf-relu"]
    words += ["--output", str(tmp_path / "o"), *QUICK[:-1], "1e-9,0.1"]

    assert main(words) == 0

    (folder,) = (tmp_path / "o").glob("table-*")
    reports = networks_of(read_reports(folder / "report.json"))
    for report in reports:
        assert [trial.rate for trial in report.trials] == [1e-9, 0.1]
        losses = [trial.validation["loss"] for trial in report.trials]
        assert report.selected.rate == (1e-9, 0.1)[np.argmin(losses)]
    assert "Adam: learning rates 1e-09, 0.1" in (folder / "table.md").read_text()


def test_the_default_is_the_recipe_and_quick_is_shorter(table, tmp_path):
    words = ["compare", table(), "--target", "kind", "--activations", "relu"]
    words += ["--output", str(tmp_path / "o"), "--epochs", "2", "--hidden", "4"]

    assert main([*words, "--quick"]) == 0

    [folder] = (tmp_path / "o").glob("table-*")
    reports = networks_of(read_reports(folder / "report.json"))
    assert [(r.fold, r.protocol.rates) for r in reports] == [
        (fold, recipe.QUICK["learning_rates"]) for fold in range(3)
    ]
    assert {(r.protocol.optimizer.name, r.protocol.epochs) for r in reports} == {
        (recipe.OPTIMIZER, 2)
    }


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
    def full(path, data):
        if len(list((tmp_path / "o").rglob("*.json"))) == 1:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        return write_atomically(path, data)

    monkeypatch.setattr("keras_vaf.experiments.reports.store.write_atomically", full)
    words = [table(), "--target", "kind", "--output", str(tmp_path / "o")]
    words += ["--activations", "relu", *QUICK]

    said = refusal(capsys, *words)

    assert said.startswith("keras-vaf: No space left on device: ")
    assert "seed-0-fold-0" in said
    monkeypatch.undo()
    assert main(["compare", *words]) == 0


def test_ctrl_c_is_one_sentence_and_exit_code_130(table, tmp_path, capsys, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("keras_vaf.experiments.runs.cells.train_batch", interrupt)
    words = [table(), "--target", "kind", "--output", str(tmp_path / "o"), *QUICK]

    assert main(["compare", *words]) == 130
    assert "the same command continues from there" in capsys.readouterr().err


def test_names_files_that_it_sets_aside(table, tmp_path, capsys):
    words = ["compare", table(), "--target", "kind", "--output", str(tmp_path / "o")]
    words += ["--activations", "relu", *QUICK]
    assert main(words) == 0
    report = next((tmp_path / "o" / "cells").rglob("*.json"))
    report.write_text("{")

    assert main(words) == 0

    assert f"{report}.aside-1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("columns", "words", "expected"),
    [
        ({"kind": ["no"] * 38 + ["yes"] * 2}, ["--folds", "50"], "use fewer folds"),
        ({}, ["--activations", "relu,softsign"], "Activations must be"),
        ({}, ["--g", "softmax"], "softmax"),
        ({}, ["--k", "0"], "k=0"),
        ({}, ["--epochs", "0"], "epochs=0"),
        ({}, ["--hidden", "0"], "positive integers"),
        ({}, ["--replicas", "0"], "replicas=0"),
        ({}, ["--replicas", "2"], "only on JAX"),
        ({}, ["--seeds", "0,1,0"], "`seeds` must differ from each other"),
    ],
    ids=[
        "folds",
        "activations",
        "g",
        "k",
        "epochs",
        "hidden",
        "no-replicas",
        "replicas",
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
