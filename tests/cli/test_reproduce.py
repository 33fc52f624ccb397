"""`keras-vaf reproduce`: it trains what is missing, and says what is wrong."""

import re

import pytest

from keras_vaf.research.paper import (
    Form,
    find_experiment,
    fully_connected,
    read_reproduction,
    sensorless,
)
from keras_vaf_cli import main

pytestmark = pytest.mark.backend("tensorflow")


@pytest.fixture
def tiny(monkeypatch):
    """Quick forms of the smallest size."""
    monkeypatch.setattr(fully_connected, "_QUICK", {"epochs": 2, "folds": 2})
    monkeypatch.setattr(fully_connected, "_QUICK_ARCHITECTURES", ((3,), (4,)))
    monkeypatch.setattr(sensorless, "_QUICK", {"epochs": 1, "folds": 2})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("figures", "`experiment` must be one of .*Received: experiment='figures'"),
        ("regression --datasets wine", "datasets of regression .*Received: wine"),
        ("regression --protocol theirs", "'paper', 'ours'. .*manner='theirs'"),
        ("regression --selection none", "must be one of .*Received: selection='none'"),
        ("regression --seeds 1,1", "`seeds` must differ .*Received: 1,1"),
        ("regression --datasets servo,servo", "`datasets` must differ"),
        ("regression --architectures 9,9", "`architectures` must differ"),
        ("regression --activations relu,relu", "`activations` must differ"),
        ("regression --architectures 9-9", "architectures of .*Received: 9-9"),
        ("classification --datasets wine --activations x", "activations .*: x"),
        ("classification --datasets wine --set epoch=3", "such as .*'epoch=3'"),
        ("classification --data-dir nowhere --datasets liver", "nowhere"),
        ("classification --from nowhere.json", "nowhere.json"),
        ("classification --from setup.cfg", "write_reports.*setup.cfg"),
    ],
    ids=lambda text: text.split("[")[0][:50],
)
def test_what_is_wrong_is_one_sentence(words, said, capsys, tmp_path):
    arguments = ["reproduce", *words.split(), "--output", str(tmp_path)]

    assert main(arguments) == 2

    printed = capsys.readouterr().err
    assert re.match(f"keras-vaf: .*{said}", printed)
    assert printed.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_quick_run_writes_the_table_and_goes_on(tmp_path, capsys, tiny):
    words = ["reproduce", "classification", "--quick", "--datasets", "wine"]
    words += ["--output", str(tmp_path)]

    assert main(words) == 0
    first = capsys.readouterr().out
    reports = {path: path.read_bytes() for path in tmp_path.rglob("seed-*.json")}
    assert main([*words, "--selection", "paper"]) == 0

    assert len(reports) == 2 * 4 * 2  # folds, activations, architectures
    assert {
        path: path.read_bytes() for path in tmp_path.rglob("seed-*.json")
    } == reports
    tables = {path.name: path.read_text() for path in tmp_path.glob("*.md")}
    assert sorted(tables) == [
        "classification-paper-quick-paper-tensorflow.md",
        "classification-paper-quick-validation-tensorflow.md",
    ]
    assert "quick form" in first
    for name, text in tables.items():
        assert text.startswith("# Classification: protocol paper, quick form\n")
        assert text.count("| wine | 178 |") == 1 + 4
        assert "0.9552 ± 0.0371 (50)" in text
        assert f"learning rate and start: {name.split('-')[3]}." in text


def test_the_table_is_made_again_without_training(tmp_path, capsys, tiny):
    words = ["reproduce", "classification", "--quick"]
    run, again = (["--output", str(tmp_path / name)] for name in ("run", "again"))
    assert main([*words, "--datasets", "wine", *run]) == 0
    [compact] = (tmp_path / "run").glob("*.json.xz")

    assert main([*words, "--from", str(compact), str(compact), *again]) == 0

    for path in (tmp_path / "again").iterdir():
        assert path.read_bytes() == (tmp_path / "run" / path.name).read_bytes()
    assert len(list((tmp_path / "again").iterdir())) == 3


def test_other_protocols_in_the_folder_are_named_and_left_alone(tmp_path, capsys, tiny):
    words = ["reproduce", "classification", "--quick", "--datasets", "wine"]
    words += ["--activations", "relu", "--output", str(tmp_path)]
    assert main(words) == 0
    assert "other protocols" not in capsys.readouterr().err
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}

    assert main([*words, "--set", "epochs=1", "--set", "folds=3"]) == 0

    assert "2 other protocols on the same data" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in before} == before
    [table] = tmp_path.glob("*epochs-1-folds-3-validation-tensorflow.md")
    text = table.read_text()
    assert text.startswith("# Classification: protocol paper, quick form, epochs=1, ")
    assert "at most 1 epochs" in text
    assert "3 stratified folds" in text


@pytest.mark.data
def test_pictures_stand_beside_the_table(tmp_path, capsys, tiny, data_dir):
    words = ["reproduce", "sensorless", "--quick", "--output", str(tmp_path)]
    words += ["--activations", "novaf-relu,vaf-relu-random-layer-5"]
    words += ["--data-dir", str(data_dir)]
    assert main(words) == 0
    [compact] = tmp_path.glob("sensorless*.json.xz")

    curves = ["reproduce", "curves", "--quick", "--datasets", "sensorless"]
    curves += ["--activations", "vaf-relu-random-layer-5", *words[3:5]]
    curves += words[-2:]
    trained = sorted(tmp_path.rglob("seed-*.json"))
    assert main(curves) == 0

    assert sorted(tmp_path.rglob("seed-*.json")) == trained
    assert sorted(path.name for path in tmp_path.glob("*.png")) == [
        "curves-paper-quick-sensorless-tensorflow.png",
        "sensorless-paper-quick-panels-tensorflow.png",
    ]
    experiment = find_experiment("sensorless")
    done = read_reproduction(experiment, Form(quick=True), [compact])
    assert len(done.reports) == 4
    assert "2,200 of 58,509 rows" in capsys.readouterr().out
