"""The quick form of every experiment runs, makes its table, and goes on."""

import dataclasses

import pytest

from keras_vaf.research.paper import (
    Form,
    convolution,
    find_experiment,
    keep,
    read_reproduction,
    reproduce,
    reproduction,
)

pytestmark = pytest.mark.backend("tensorflow")

SHORT = ("epochs=1", "folds=2")
IMAGES = ("epochs=1", "rows=60", "batch_size=30")

# Of each experiment one dataset, some activations, and settings that make it short.
QUICK = {
    "sensorless": ("sensorless", ("novaf-relu", "vaf-relu-random-layer-5"), SHORT),
    "regression": ("servo", ("relu", "vaf-relu"), SHORT),
    "classification": ("wine", ("relu", "vaf-relu"), SHORT),
    "curves": ("wine", ("vaf-random", "vaf-relu"), SHORT),
    "convolution-a": ("mnist", ("relu", "vaf-random"), (*IMAGES, "folds=2")),
    "convolution-b": ("mnist", ("relu", "nin"), (*IMAGES, "test_rows=30")),
}


@pytest.fixture
def stand_in(monkeypatch, classes, numbers, images):
    """Replace the data by small ones, and convolutions by narrow ones."""

    def load(name, data_dir=None):
        data = {"servo": numbers, "mnist": images}.get(name, classes)
        return dataclasses.replace(data, name=name)

    monkeypatch.setattr(reproduction, "load", load)
    for name in ("_TWO", "_THREE", "_B"):
        monkeypatch.setattr(convolution, name, (3, 2))


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.usefixtures("stand_in")
def test_makes_a_table_and_trains_nothing_twice(name, tmp_path):
    dataset, activations, settings = QUICK[name]
    experiment = find_experiment(name)
    form = Form("paper", True, experiment.architectures[:1], activations, settings)

    done, again = (
        reproduce(experiment, form, [dataset], output=tmp_path, replicas=1)
        for _ in range(2)
    )
    table = experiment.table(done, "validation")
    path = keep(done, table, "validation", tmp_path)

    assert {r.protocol.variant.name for r in done.reports} == set(activations)
    assert again == done
    assert "quick form" in path.read_text(encoding="utf-8").partition("\n")[0]
    assert len(list(tmp_path.glob("*.png"))) == len(table.figures)
    [compact] = tmp_path.glob("*.json.xz")
    read = read_reproduction(experiment, form, [compact])
    assert experiment.table(read, "validation").lines == table.lines


@pytest.mark.usefixtures("stand_in")
def test_another_selection_replaces_neither_table_nor_pictures(tmp_path):
    experiment = find_experiment("regression")
    form = Form("paper", True, experiment.architectures[:1], settings=SHORT)
    done = reproduce(experiment, form, ["servo"], output=tmp_path / "runs", replicas=1)
    keep(done, experiment.table(done, "validation"), "validation", tmp_path)
    first = [*tmp_path.glob("*.md"), *tmp_path.glob("*.png")]
    content = [path.read_bytes() for path in first]
    assert {path.suffix for path in first} == {".md", ".png"}
    keep(done, experiment.table(done, "literal"), "literal", tmp_path)
    assert [path.read_bytes() for path in first] == content
    assert len(list(tmp_path.glob("*-literal-*.png"))) == len(first) - 1
