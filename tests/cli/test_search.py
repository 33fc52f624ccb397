"""`keras-vaf search`, from the words of the command line to files and exit codes."""

import csv
import json
import re

import keras
import numpy as np
import pytest

from keras_vaf.datasets import Dataset
from keras_vaf.tuners import CrossValidatedTuner, dataset_search, search_settings
from keras_vaf_cli import main

pytestmark = pytest.mark.backend("torch")  # which compiles nothing

QUICK = ["--trials", "1", "--folds", "2", "--epochs", "3", "--hidden", "4"]
QUICK += ["--baselines", "none"]
ROWS = 40


@pytest.fixture
def dataset(monkeypatch):
    """Let `keras-vaf search` find a small dataset, whatever name it is given."""

    def use(task="classification", shift=0.0, categories=None):
        rng = np.random.default_rng(0)
        x = rng.normal(100.0, 20.0, (ROWS, 3)).astype("float32")
        if categories:
            x[:, 1] = np.arange(ROWS) % 2
        x[:, 2] = 7.0  # constant
        classes = ("no", "yes") if task == "classification" else None
        y = np.arange(ROWS) % 2 if classes else 1000 + 10 * x[:, 0] + shift
        y = y.astype("int64" if classes else "float32")
        table = Dataset("small", task, x, y, ("a", "b", "c"), classes, categories or {})
        monkeypatch.setattr(
            search_settings, "open_dataset", lambda name, target, data_dir: table
        )
        return table

    return use


def refusal(capsys, *words):
    """Return the one sentence with which a command is refused."""
    assert main(["search", *words]) == 2
    output = capsys.readouterr()
    return output.err[output.err.index("keras-vaf: ") :]


def interrupted_at(number):
    """Return a trial that is interrupted (Ctrl-C) if it has this number."""
    run = CrossValidatedTuner.run_trial

    def run_trial(self, trial):
        if trial.trial_id == number:
            raise KeyboardInterrupt
        return run(self, trial)

    return run_trial


def shown_with_a_wrong_trial(folder, capsys):
    """Check that `search show` names a wrong trial and shows the other one."""
    path = folder / "trials" / "trial_0" / "trial.json"
    whole = path.read_text()
    path.write_text(whole[:-9])
    with pytest.warns(UserWarning) as warnings:
        assert main(["search", "show", str(folder)]) == 0
    assert [str(path) in str(each.message) for each in warnings] == [True]
    assert "1 of 2 trials completed" in capsys.readouterr().out
    path.write_text(whole)


def test_is_interrupted_goes_on_and_shows(dataset, tmp_path, capsys, monkeypatch):
    table = dataset()
    folder = tmp_path / "found"
    words = ["search", "small", "--output", str(folder), *QUICK, "--trials", "2"]

    with monkeypatch.context() as patch:
        patch.setattr(CrossValidatedTuner, "run_trial", interrupted_at("1"))
        assert main(words) == 130
    said = capsys.readouterr()
    assert f"continue with: keras-vaf search --resume {folder}." in said.err
    assert re.search(r"trial 0 \| 1 of 2 \| val_loss .* left", said.out)

    assert main(["search", "--resume", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "1 of 2" not in said
    assert "trial 1 | 2 of 2 | val_loss" in said
    assert "2 of 2 trials completed" in said
    assert "accuracy" in said
    for name in ("best.keras", "trials.csv", "curve.png", "effects.png"):
        assert (folder / name).is_file()
    with open(folder / "trials.csv", encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 2

    assert main(["search", "show", str(folder)]) == 0
    assert "2 of 2 trials completed" in capsys.readouterr().out
    shown_with_a_wrong_trial(folder, capsys)

    line = re.search(r"(import keras, keras_vaf; model = .*)\n", said).group(1)
    names = {}
    exec(line, names)
    outputs = names["model"].predict(table.x, verbose=0)
    np.testing.assert_allclose(outputs.sum(axis=1), 1, rtol=1e-5)
    report = json.loads((folder / "report.json").read_text())
    test = dataset_search.hold_out(table.y, 0.2, 0, True)[1]
    right = outputs.argmax(axis=1) == table.y
    assert report["test"]["accuracy"] == pytest.approx(right[test].mean())
    assert report["rows"] == {"search": ROWS - len(test), "test": len(test)}


def test_test_rows_take_no_part(dataset, tmp_path, monkeypatch):
    table = dataset("regression")
    words = ["search", "small", "--output", str(tmp_path / "one"), *QUICK]
    assert main(words) == 0
    test = dataset_search.hold_out(table.y, 0.2, 0, False)[1]
    table.x[test], table.y[test] = np.nan, -1e6
    object.__setattr__(table, "checksum", "another")
    words[3] = str(tmp_path / "two")
    assert main(words) == 0

    one, two = (
        keras.saving.load_model(tmp_path / name / "best.keras").get_weights()
        for name in ("one", "two")
    )
    for first, second in zip(one, two, strict=True):
        np.testing.assert_array_equal(first, second)


def test_a_regression_gives_values_in_units_of_the_dataset(dataset, tmp_path):
    table = dataset("regression")
    folder = tmp_path / "found"
    words = [*QUICK, "--epochs", "60", "--hidden", "8"]

    assert main(["search", "small", "--output", str(folder), *words]) == 0

    model = keras.saving.load_model(folder / "best.keras")
    outputs = model.predict(table.x, verbose=0)[:, 0]
    assert np.corrcoef(outputs, table.y)[0, 1] > 0.9
    assert abs(outputs.mean() - table.y.mean()) < table.y.std()


def test_categories_are_prepared_by_the_model(dataset, tmp_path, capsys):
    table = dataset(categories={1: ("red", "blue")})
    folder = tmp_path / "found"

    assert main(["search", "small", "--output", str(folder), *QUICK]) == 0

    model = keras.saving.load_model(folder / "best.keras")
    assert model.input_shape == (None, 3)
    assert np.isfinite(model.predict(table.x, verbose=0)).all()


@pytest.fixture
def own_table(tmp_path):
    """A table of 60 rows with a category, a missing entry and groups of two rows."""
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


def test_searches_on_a_table_of_ones_own(own_table, tmp_path, capsys):
    folder = tmp_path / "found"
    words = [str(own_table), "--target", "price", "--groups", "owner", "--trials", "2"]
    words += ["--folds", "2", "--epochs", "3", "--hidden", "4"]
    words += ["--output", str(folder)]
    assert main(["search", *words]) == 0

    said = capsys.readouterr().out
    for text in (
        "Target 'price': a regression",
        "Missing entries: area (1). Numbers are filled in by the mean",
        "Baseline ReLU, with the same number of trials",
        "Baseline SiLU, with the same number of trials",
        "on the 32 test rows",
        "best VAF ",
        "best ReLU ",
        "best SiLU ",
        "best constant ",
        "On these test rows, the VAF is ",
        "95% interval",
        "keras-vaf predict ",
    ):
        assert text in said
    report = json.loads((folder / "report.json").read_text())
    assert report["rows"] == {"search": 128, "test": 32}
    assert set(report["baselines"]) == {"relu", "silu", "gelu"}
    assert len(list(folder.glob("trials-relu/trial_*"))) == 2
    learned = report["baselines"]["relu"]["best"]["values"]
    assert set(learned) == {"learning_rate", "start"}

    out = tmp_path / "out.csv"
    best = str(folder / "best.keras")
    assert main(["predict", best, str(own_table), "-o", str(out)]) == 0
    assert "predicted price" in out.read_text()
    assert main(["search", "--resume", str(folder)]) == 0  # nothing is left to train
    assert json.loads((folder / "report.json").read_text())["test"] == report["test"]


def test_a_changed_table_is_refused(own_table, tmp_path, capsys, interrupted):
    folder = tmp_path / "found"
    words = [str(own_table), "--target", "price", "--missing", "drop", *QUICK]
    assert main(["search", *words, "--output", str(folder)]) == 130
    own_table.write_text(own_table.read_text() + "1,Bonn,9,9\n")
    assert "differ from those with which" in refusal(capsys, "--resume", str(folder))


@pytest.mark.parametrize("name", ["tanh", "relu,relu"])
def test_an_unknown_baseline_is_refused(dataset, tmp_path, capsys, name):
    dataset()
    words = ["small", "--output", str(tmp_path / "o"), "--baselines", name]
    assert "`baselines` must" in refusal(capsys, *words)


@pytest.fixture
def interrupted(monkeypatch):
    """Interrupt every search before its first trial."""

    def interrupt(self, tuner, engine):
        raise KeyboardInterrupt

    monkeypatch.setattr(dataset_search.DatasetSearch, "run", interrupt)


def test_another_search_in_the_folder_is_refused(
    dataset, tmp_path, capsys, interrupted
):
    dataset()
    words = ["small", "--output", str(tmp_path / "o")]
    assert main(["search", *words, *QUICK]) == 130
    capsys.readouterr()

    said = refusal(capsys, *words, *QUICK, "--seed", "3")

    assert "contains another search, with seed 0" in said
    assert str(tmp_path / "o") in said


def test_other_rows_are_refused(dataset, tmp_path, capsys, interrupted):
    dataset("regression")
    assert main(["search", "small", "--output", str(tmp_path / "o"), *QUICK]) == 130
    capsys.readouterr()
    dataset("regression", shift=5.0)

    said = refusal(capsys, "--resume", str(tmp_path / "o"))

    assert "differ from those with which the search" in said


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "Name one dataset"),
        (["wine", "iris"], "Received: wine iris"),
        (["show", "runs", "more"], "Received: show runs more"),
        (["show", "nowhere"], "Received: nowhere"),
        (["--resume", "nowhere"], "Received: nowhere"),
        (["whine"], "wine"),
        (["small", "--trials", "0"], "trials=0"),
        (["small", "--epochs", "0"], "epochs=0"),
        (["small", "--tuner", "hyperband", "--trials", "5"], "least 6.* trials=5"),
        (["small", "--folds", "1"], "folds=1"),
        (["small", "--folds", "30"], "use fewer folds"),
        (["small", "--hidden", "0"], "hidden=0"),
    ],
)
def test_refuses_bad_input(dataset, tmp_path, capsys, monkeypatch, words, expected):
    monkeypatch.chdir(tmp_path)
    if "small" in words:
        dataset()

    assert re.search(expected, refusal(capsys, *words))


def test_a_folder_that_cannot_be_written_is_refused(dataset, tmp_path, capsys):
    dataset()
    (tmp_path / "o").write_text("")

    said = refusal(capsys, "small", "--output", str(tmp_path / "o"))

    assert str(tmp_path / "o") in said


def test_an_unknown_engine_is_refused_before_anything_is_written(tmp_path, capsys):
    words = ["wine", "--engine", "there", "--output", str(tmp_path / "new")]
    assert "`engine` must be 'here', processes:N" in refusal(capsys, *words)
    assert not (tmp_path / "new").exists()


def test_trials_run_where_the_engine_says(dataset, tmp_path, monkeypatch):
    dataset()
    opened = []
    monkeypatch.setattr(
        CrossValidatedTuner,
        "search",
        lambda self, *_, engine, **__: opened.append(engine),
    )

    def finish(*_):
        raise RuntimeError("no trial was run")

    monkeypatch.setattr(dataset_search.DatasetSearch, "finish", finish)
    words = ["wine", *QUICK[:-2], "--baselines", "relu", "--engine", "processes:2"]
    assert main(["search", *words, "--output", str(tmp_path)]) == 2
    assert len(opened) == 2
    assert opened[0] is opened[1]  # the baselines, too
    assert type(opened[0]).__name__ == "_DaskEngine"


def test_a_missing_package_is_named_before_the_table_is_read(refusal, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    said = refusal("search nowhere.csv --target y")
    assert "`keras_tuner`" in said
    assert "pip install 'keras-vaf[tune]'" in said
