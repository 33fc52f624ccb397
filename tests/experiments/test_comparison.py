"""A comparison: everything is written, nothing is done twice, nothing is lost."""

import dataclasses
import itertools
import re

import keras
import numpy as np
import pytest

from keras_vaf.datasets.tables.networks import encoder_of
from keras_vaf.experiments import (
    Protocol,
    Store,
    cells,
    choose,
    compare,
    comparison,
    comparison_table,
    find_variants,
    learned_layers,
    read_reports,
    refit,
)
from keras_vaf.experiments.runs import cells as cell_runs
from keras_vaf.training.recipe import LEARNING_RATES
from keras_vaf.training.runs import TooLittleMemory
from tests.experiments.fakes import make_arm, make_report, make_trial, network_file
from tests.formula_text import values_of_text


class QuickTrainer:
    """Stands for a `ProtocolTrainer` where what is trained does not matter."""

    trained = 0

    def __init__(self, protocol, dataset):
        self._protocol = protocol

    def of(self, protocol):
        return self

    def check(self):
        pass

    def run(self, cells, on_progress):
        QuickTrainer.trained += len(cells)
        model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
        place = {"backend": keras.backend.backend(), "device": "cpu:0"}
        return [
            (
                make_report(
                    protocol=cell.protocol,
                    seed=cell.seed,
                    fold=cell.fold,
                    environment=place,
                ),
                model,
            )
            for cell in cells
        ]


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(comparison, "ProtocolTrainer", QuickTrainer)
    monkeypatch.setattr(cell_runs, "ProtocolTrainer", QuickTrainer)
    monkeypatch.setattr(QuickTrainer, "trained", 0)
    return QuickTrainer


def files_of(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def real(classes, tmp_path_factory):
    """A comparison that was really trained, by two arms on two folds."""
    relu, vaf = find_variants("relu,vaf-relu")
    protocol = Protocol.of(classes, relu, hidden=(5, 3), epochs=3, folds=2)
    arms = [protocol, dataclasses.replace(protocol, variant=vaf)]
    return compare(classes, arms, output=tmp_path_factory.mktemp("runs"))


def test_writes_report_table_picture_and_network(real):
    assert {path.name for path in real.folder.iterdir()} == {
        "best.keras",
        "comparison.png",
        "report.json",
        "table.md",
    }
    assert tuple(read_reports(real.folder / "report.json")) == real.reports
    table = comparison_table(real.reports).markdown
    written = (real.folder / "table.md").read_text()
    assert written.startswith(f"{table}\n{real.advice}\n\n## Learned functions\n")
    assert (real.folder / "comparison.png").read_bytes().startswith(b"\x89PNG")
    assert [(r.protocol.variant.name, r.fold) for r in real.reports] == [
        ("relu", 0),
        ("vaf-relu", 0),
        ("relu", 1),
        ("vaf-relu", 1),
    ]


def test_the_table_has_the_formulas_of_the_learned_functions(real):
    best = min(
        real.reports[1::2], key=lambda report: report.selected.validation["loss"]
    )
    parts = re.findall(
        r"^VAF, ReLU start, hidden layer (\d), fold (\d):\n\n```text\n(f.*)\n"
        r"4 digits: largest difference (\S+) on the data\nnearest: .* on the data\n```",
        (real.folder / "table.md").read_text(),
        re.M,
    )
    assert [part[:2] for part in parts] == [(n, str(best.fold + 1)) for n in "12"]
    layers = learned_layers(best)
    for layer, seen, part in zip(layers, best.activations, parts, strict=True):
        x = np.asarray(seen["inputs"])
        differences = np.abs(values_of_text(part[2], x) - layer.function(x))
        assert differences.max() <= 1.05 * float(part[3])
        assert float(part[3]) < 1e-3


def test_the_saved_network_predicts_raw_rows(real, classes):
    model = keras.saving.load_model(real.folder / "best.keras", safe_mode=True)
    encoder = encoder_of(model)

    rows = {column.name: classes.x[:, n] for n, column in enumerate(encoder.columns)}
    probabilities = model.predict(encoder.encode(rows), verbose=0)

    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)
    mean, deviation = classes.x.mean(axis=0), classes.x.std(axis=0)
    scaled = keras.ops.convert_to_tensor((classes.x - mean) / deviation)
    for layer in model.layers[1:]:
        scaled = layer(scaled)
    scaled = keras.ops.convert_to_numpy(scaled)
    np.testing.assert_allclose(probabilities, scaled, atol=1e-5)


def test_the_saved_network_repeats(real, classes):
    one = keras.saving.load_model(real.folder / "best.keras")
    other = refit(real.choice, classes)
    for weight, again in zip(one.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_allclose(weight, again, atol=1e-6)


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
@pytest.mark.parametrize("content", [b"", b"no archive", network_file()])
def test_a_damaged_best_network_is_trained_again(
    quick, classes, arms, tmp_path, content
):
    found = compare(classes, arms, output=tmp_path)
    best = found.folder / "best.keras"
    weights = keras.saving.load_model(best).get_weights()
    best.write_bytes(content)

    with pytest.warns(UserWarning, match=r"best\.keras, which is now best\.keras\.as"):
        compare(classes, arms, output=tmp_path)
    for one, other in zip(
        weights, keras.saving.load_model(best).get_weights(), strict=True
    ):
        np.testing.assert_allclose(one, other, atol=1e-6)
    assert best.with_name("best.keras.aside-1").read_bytes() == content


def test_a_second_run_trains_nothing_and_changes_nothing(
    quick, classes, arms, tmp_path
):
    first = compare(classes, arms, output=tmp_path)
    before, trained = files_of(tmp_path), quick.trained
    totals = []

    second = compare(
        classes, arms, output=tmp_path, track=lambda c, total: totals.append(total) or c
    )

    assert (trained, quick.trained, totals) == (4, 4, [0])
    assert second.reports == first.reports
    after = files_of(tmp_path)
    assert {path: after[path] for path in before if path.suffix != ".png"} == {
        path: content for path, content in before.items() if path.suffix != ".png"
    }


def test_an_interrupted_run_goes_on_from_where_it_was(quick, classes, arms, tmp_path):
    def interrupt(cells, total):
        yield from itertools.islice(cells, 3)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(classes, arms, output=tmp_path, track=interrupt)
    finished = compare(classes, arms, output=tmp_path)

    assert quick.trained == 4
    assert [report.cell for report in finished.reports] == cells(arms, seeds=[0])


def test_a_torn_report_is_set_aside_named_and_done_again(
    quick, classes, arms, tmp_path
):
    first = compare(classes, arms, output=tmp_path)
    store = Store(tmp_path / "cells")
    path = store.path(first.reports[1].cell)
    path.write_text(path.read_text()[:50])

    second = compare(classes, arms, output=tmp_path)

    assert quick.trained == 5
    assert second.reports == first.reports
    assert [aside.name for aside in second.set_aside] == [f"{path.name}.aside-1"]
    assert store.read(first.reports[1].cell) == first.reports[1]


def test_more_arms_seeds_and_folders_reuse_what_is_done(quick, classes, arms, tmp_path):
    one = compare(classes, arms[:1], output=tmp_path)
    two = compare(classes, arms, output=tmp_path)
    seeds = compare(classes, arms, seeds=[0, 1], output=tmp_path)

    assert quick.trained == 8
    assert len({one.folder, two.folder, seeds.folder}) == 3


def test_a_changed_protocol_mixes_with_nothing(quick, classes, arms, tmp_path):
    compare(classes, arms, output=tmp_path)
    longer = [dataclasses.replace(arm, epochs=4) for arm in arms]

    other = compare(classes, longer, output=tmp_path)

    assert quick.trained == 8
    assert {report.protocol.epochs for report in other.reports} == {4}


def test_a_folder_that_cannot_be_written_fails_before_the_training(
    quick, classes, arms, tmp_path
):
    (tmp_path / "runs").write_text("a file where a folder should be")

    with pytest.raises(OSError, match="runs"):
        compare(classes, arms, output=tmp_path / "runs")

    assert quick.trained == 0


def test_too_little_memory_lowers_the_width_and_the_run_goes_on(
    quick, classes, arms, tmp_path, monkeypatch
):
    def run(self, cells, on_progress):
        if self._protocol.replicas > 3:
            raise TooLittleMemory("needs 8 MiB, and 4 MiB are free")
        return enough(self, cells, on_progress)

    enough = quick.run
    monkeypatch.setattr(quick, "run", run)
    monkeypatch.setattr(comparison, "write_comparison", lambda *arguments: None)
    wide = [dataclasses.replace(arm, replicas=12) for arm in arms]

    with pytest.warns(UserWarning, match="4 MiB are free: training") as said:
        narrowed = compare(classes, wide, output=tmp_path)

    assert [str(each.message)[:22] for each in said] == [
        "A batch of 12 networks",
        "A batch of 6 networks ",
    ]
    assert {report.protocol.replicas for report in narrowed.reports} == {3}


def test_batches_hold_cells_of_one_protocol_and_no_more_than_fit(arms):
    first, second = arms
    first = dataclasses.replace(first, replicas=3, folds=5)
    second = dataclasses.replace(second, replicas=4, rates=(0.1, 0.2), folds=5)

    batches = cell_runs.batches_of(cells([first, second], seeds=[0]))

    assert [
        (batch[0].protocol.variant.name, [cell.fold for cell in batch])
        for batch in batches
    ] == [
        ("relu", [0, 1, 2]),
        ("vaf-random", [0, 1]),
        ("vaf-random", [2, 3]),
        ("relu", [3, 4]),
        ("vaf-random", [4]),
    ]


class EdgeTrainer(QuickTrainer):
    """Stands for trainings whose validation score rises with the learning rate."""

    def run(self, cells, on_progress):
        trained = super().run(cells, on_progress)
        return [(_at_rates(report), model) for report, model in trained]


def _at_rates(report):
    scores = {rate: 0.9 - 0.1 / (1 + 1000 * rate) for rate in report.protocol.rates}
    trials = tuple(
        make_trial(rate=rate, validation={"loss": 0.4, "accuracy": score})
        for rate, score in scores.items()
    )
    return dataclasses.replace(report, trials=trials)


def test_all_get_a_further_learning_rate_if_one_selects_an_edge(
    quick, classes, arms, tmp_path, monkeypatch
):
    monkeypatch.setattr(cell_runs, "ProtocolTrainer", EdgeTrainer)
    monkeypatch.setattr(comparison, "write_comparison", lambda *arguments: None)
    edge = [dataclasses.replace(arm, rates=LEARNING_RATES) for arm in arms]

    found = compare(classes, edge, output=tmp_path)
    again = compare(classes, edge, output=tmp_path)

    expected = (*LEARNING_RATES, 0.03, 0.09)  # twice, by a factor of 3
    assert {report.protocol.rates for report in found.reports} == {expected}
    assert [len(report.trials) for report in found.reports] == [6] * 4
    assert {report.selected.rate for report in found.reports} == {0.09}
    assert quick.trained == 4 * 3
    assert again.reports == found.reports
    assert found.choice.learning_rate == 0.09


GOOD, FAR = [0.50, 0.52, 0.51, 0.50], [0.90, 0.93, 0.90, 0.92]


def test_the_best_on_validation_rows_of_those_that_are_better_is_chosen():
    arms = [
        *make_arm("relu", GOOD),
        *make_arm("tanh", [0.55, 0.5, 0.5, 0.5], validation=[1.0] * 4),
        *make_arm("silu", FAR, validation=[0.8] * 4),
        *make_arm("vaf-relu", [score + 0.01 for score in FAR], validation=[0.7] * 4),
    ]

    choice = choose(arms)

    assert choice.title == "SiLU"


def test_the_cheapest_is_chosen_where_nothing_differs():
    vaf = make_arm("vaf-relu", FAR, parameters=50, validation=[1.0] * 4)
    silu = make_arm("silu", FAR, flops=91)
    relu = make_arm("relu", FAR)

    choice = choose([*vaf, *silu, *relu])

    assert choice.title == "ReLU"  # the smallest number of operations


def test_the_cheapest_is_not_chosen_if_it_is_worse():
    relu = make_arm("relu", [error + 0.5 for error in FAR], "regression")
    vaf = make_arm("vaf-relu", FAR, "regression", parameters=50)

    assert choose([*vaf, *relu]).title == "VAF, ReLU start"
    assert choose([*relu, *vaf]).title == "VAF, ReLU start"


def test_a_diverged_arm_is_never_the_best():
    relu = make_arm("relu", [0.5, 0.5], validation=[0.1, 0.1])
    diverged = make_arm("vaf-relu", [0.9, 0.9], losses=[0.01, None])

    assert choose([*diverged, *relu]).title == "ReLU"
    assert choose(diverged).title == "VAF, ReLU start"


def test_epochs_are_the_median_of_the_best_ones():
    reports = [
        dataclasses.replace(report, trials=(make_trial(best_epoch=epoch),))
        for report, epoch in zip(make_arm("relu", [0.5] * 3), (9, 1, 2), strict=True)
    ]
    assert choose(reports).epochs == 2
