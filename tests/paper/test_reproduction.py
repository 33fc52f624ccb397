"""`reproduce` trains what is missing, selects as asked, and writes its files."""

from dataclasses import replace

import numpy as np
import pytest

from keras_vaf.datasets import load
from keras_vaf.experiments import records
from keras_vaf.layers import VAFActivation
from keras_vaf.paper import parts, reproduce, reproduction
from keras_vaf.paper.curves import change, unlike
from tests.paper.data import images, motors

pytestmark = pytest.mark.backend("torch")

NAMES = ["relu", "vaf-random"]


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Replace the data by small ones, and trainings by short ones."""
    wide = images()
    wide = replace(wide, x=np.repeat(wide.x, 4, axis=0), y=np.repeat(wide.y, 4))
    small = {"mnist": wide, "sensorless": motors()}
    monkeypatch.setattr(reproduction, "load", lambda n, _: small.get(n) or load(n))
    monkeypatch.setattr(parts, "_QUICK_ARCHITECTURES", ((3,), (25, 10)))
    for name, each in reproduction.EXPERIMENTS.items():
        changed = each._replace(parts=_short(each.parts))
        monkeypatch.setitem(reproduction.EXPERIMENTS, name, changed)


def _short(made):
    def changed(part, dataset):
        nin = parts.network_in_network(2)
        arms = tuple(nin if arm.name == "nin" else arm for arm in part.arms)
        hidden = (2, 2) if dataset.x.ndim > 2 else part.recipe.hidden
        sizes = {"epochs": 2, "folds": min(2, part.recipe.folds), "hidden": hidden}
        return part._replace(arms=arms, recipe=replace(part.recipe, **sizes))

    return lambda dataset, quick: [changed(p, dataset) for p in made(dataset, quick)]


def run(folder, name, datasets, activations=(), **words):
    words = {"quick": True, "verbose": False, "output": folder} | words
    return reproduce(name, datasets, activations, **words)


def test_nothing_is_trained_twice_and_another_selection_keeps_the_files(tmp_path):
    first = run(tmp_path, "classification", ["wine"], NAMES)
    lines = {path: path.read_bytes() for path in tmp_path.rglob("*.jsonl")}
    files = {path: path.read_bytes() for path in tmp_path.glob("*.md")}

    again = run(tmp_path, "classification", ["wine"], NAMES)
    other = run(tmp_path, "classification", ["wine"], NAMES, selection="paper")

    assert len(first.records) == 2 * 2 * 2  # folds, activations, architectures
    assert {path: path.read_bytes() for path in lines} == lines
    assert {path: path.read_bytes() for path in files} == files
    assert again.table.equals(first.table)
    assert other.path != first.path
    assert (other.table["mean"] >= first.table["mean"]).all()
    assert len(records(tmp_path / "wine")) == len(first.records)


def test_the_numbers_of_the_table_are_those_of_the_records(tmp_path):
    done = run(tmp_path, "regression", ["servo"], NAMES, seeds=(0, 1))

    for row in done.table.itertuples():
        own = done.records[done.records["activation"] == row.activation]
        means = own.groupby("hidden")[["validation", "test"]].mean()
        assert row.hidden == means["validation"].idxmin()
        assert row.mean == pytest.approx(means.loc[row.hidden, "test"])
    text = done.path.read_text(encoding="utf-8")
    assert text.startswith("# Regression, quick form\n")
    assert "0.0896 ± 0.0276 (10)" in text


def test_large_data_are_left_out_of_the_quick_form_by_name(tmp_path):
    done = run(tmp_path, "regression", ["servo", "kin8nm"], ["relu"])
    assert done.text.notes[-1] == "Left out, as too large: kin8nm."
    with pytest.raises(ValueError, match=r"1,000 rows. Received: kin8nm"):
        run(tmp_path, "regression", ["kin8nm"])


def test_images_have_both_tables_of_the_paper(tmp_path):
    done = run(tmp_path, "convolution", ["mnist"], ["relu", "nin"])

    found = done.table[["part", "activation", "published"]].values.tolist()
    assert found == [
        ["cnet_A", "relu", 0.991],
        ["cnet_B", "relu", 0.995],
        ["cnet_B", "nin", 0.996],
    ]


def test_sensorless_compares_vafs_with_their_own_g(tmp_path):
    names = ["novaf-relu", "vaf-relu-random-layer-5", "vaf-tanh-random-layer-5"]
    done = run(tmp_path, "sensorless", (), names)

    fixed, tanh, relu = done.table.to_dict("records")
    assert relu["gain"] == pytest.approx(relu["mean"] - fixed["mean"])
    assert np.isnan(fixed["gain"])
    assert np.isnan(tanh["gain"])  # its g was not trained
    assert any("sharing" in note or "shared" in note for note in done.text.notes)


def test_curves_are_drawn_from_the_records_of_another_experiment(tmp_path):
    run(tmp_path, "classification", ["wine"])
    lines = {path: path.read_bytes() for path in tmp_path.rglob("*.jsonl")}

    done = run(tmp_path, "curves", ["wine"])

    assert {path: path.read_bytes() for path in tmp_path.rglob("*.jsonl")} == lines
    assert [*done.figures] == ["wine"]
    rows = done.table[["activation", "layer"]].values.tolist()
    names = ("vaf-random", "vaf-random-rescaled", "vaf-relu")
    assert rows == [[name, layer] for name in names for layer in (1, 2)]
    assert (done.table["change"] > 0).all()
    assert len(list(tmp_path.glob("curves-*.png"))) == 1


def test_change_and_shape_of_functions_that_are_known():
    layer = VAFActivation(k=3, initialization="relu")
    inputs = np.array([-2.0, -1.0, 1.0, 2.0])
    assert change(layer, inputs) == 0
    leaky = VAFActivation(k=3, initialization="leaky_relu")
    layer.set_weights(leaky.get_weights())
    moved = np.sqrt(np.mean([0.4**2, 0.2**2, 0, 0])) / np.std([0, 0, 1, 2])
    assert change(layer, inputs) == pytest.approx(moved, rel=1e-5)
    assert unlike(layer, inputs) == pytest.approx(0, abs=1e-12)
    tanh = VAFActivation(k=3, initialization="tanh")
    assert 0 < unlike(tanh, np.linspace(-3, 3, 50)) < 0.2


def test_wrong_arguments_are_refused_before_anything_is_written(tmp_path):
    for words, said in (
        (("figures",), "Received: experiment='figures'"),
        (("regression", ["servos"]), "datasets of .* 'servo'. Received: servos"),
        (("regression", "servo"), "`datasets` must be a sequence of str"),
        (("regression", ["servo", "servo"]), "`datasets` must differ"),
        (("regression", ["servo"], ["kaf"]), "activations of .*Received: kaf"),
    ):
        with pytest.raises(ValueError, match=said):
            reproduce(*words, output=tmp_path, quick=True)
    assert list(tmp_path.iterdir()) == []
