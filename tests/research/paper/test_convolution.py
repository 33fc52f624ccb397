"""The paper's convolutional networks: their numbers, protocols, runs and tables."""

import dataclasses

import keras
import numpy as np
import pytest

from keras_vaf.datasets import Preprocessing, scores
from keras_vaf.datasets.scores import network_scores
from keras_vaf.experiments import CONTROLS, FAMILY, VARIANTS, Store
from keras_vaf.experiments.runs.missing import train_missing
from keras_vaf.experiments.runs.training_runs import ProtocolTrainer
from keras_vaf.research.paper import Reproduction, convolution, find_experiment
from keras_vaf.research.paper.convolution import (
    CONVOLUTIONS_A,
    CONVOLUTIONS_B,
    DATASETS,
    PUBLISHED_A,
    PUBLISHED_B,
    protocols_a,
    protocols_b,
)
from keras_vaf.research.paper.experiment import Form
from tests.experiments.fakes import make_report, make_trial

once = pytest.mark.backend("tensorflow")

# Read from the paper's tables once more, line by line; the best one is printed in bold.
LINES_A = """
cifar10 0.857 0.002 *0.875 0.003 0.860 0.002
mnist 0.991 0.001 *0.994 0.001 0.993 0.002
fashion_mnist 0.923 0.001 *0.935 0.002 0.934 0.001
"""
LINES_B = """
cifar10 0.707 *0.812 0.802 0.763
mnist 0.995 0.995 0.995 *0.996
fashion_mnist 0.920 *0.935 0.929 0.925
"""
FILTERS = {"cifar10": (192, 192, 192), "mnist": (192, 192), "fashion_mnist": (192, 192)}


def lines(text):
    return {words[0]: words[1:] for words in map(str.split, text.strip().splitlines())}


def printed(number, best):
    return f"{'*' * (number.mean == best)}{number.mean:.3f}"


@once
def test_published_numbers_are_those_of_a_second_reading():
    for name, words in lines(LINES_A).items():
        row = [each for each in PUBLISHED_A if each.dataset == name]
        best = max(each.mean for each in row)
        assert [each.variant for each in row] == ["relu", "vaf-random", "vaf-relu"]
        assert [printed(each, best) for each in row] == words[::2]
        assert [f"{each.deviation:.3f}" for each in row] == words[1::2]
        assert {each.hidden for each in row} == {FILTERS[name]}
    for name, words in lines(LINES_B).items():
        row = [each for each in PUBLISHED_B if each.dataset == name]
        best = max(each.mean for each in row)
        assert [each.variant for each in row] == ["relu", "vaf-random", "kaf", "nin"]
        assert [printed(each, best) for each in row] == words
        assert {(each.deviation, each.hidden) for each in row} == {(None, (150, 150))}
    assert {each.dataset for each in PUBLISHED_A} == set(DATASETS)
    assert (len(PUBLISHED_A), len(PUBLISHED_B)) == (9, 12)


@once
def test_folds_are_trained_with_sgd_as_published(images):
    for protocol in protocols_a(images):
        assert protocol.optimizer.name == "SGD"
        assert protocol.batch_size is not None
        assert (protocol.epochs, protocol.folds, protocol.rows) == (300, 10, None)
        assert protocol.hidden == FILTERS[images.name]
        assert protocol.variant.arguments.get("k", 5) == 5
        assert protocol.architecture.arguments["padding"] == "same"
    assert [each.starts for each in protocols_a(images)] == [1, 1, 1, 1]
    colours = dataclasses.replace(images, name="cifar10")
    assert {each.hidden for each in protocols_a(colours)} == {FILTERS["cifar10"]}


@once
def test_one_division_is_trained_with_adam_on_every_layer_of_the_family(images):
    protocols = protocols_b(images)

    assert [protocol.variant.name for protocol in protocols[:4]] == [
        "relu",
        "vaf-random",
        "kaf",
        "nin",
    ]
    assert len({each.digest for each in protocols}) == len(protocols)
    assert (
        len(protocols) == sum(map(len, (VARIANTS, CONTROLS, FAMILY))) + 2
    )  # NIN and Maxout
    for protocol in protocols:
        assert protocol.optimizer.name == "Adam"
        assert (protocol.epochs, protocol.folds, protocol.rows) == (300, 1, None)
        assert (protocol.test_rows, protocol.hidden) == (10_000, (150, 150))
    by_name = {protocol.variant.name: protocol for protocol in protocols}
    assert by_name["vaf-random"].variant.arguments["k"] == 5
    assert by_name["kaf"].variant.arguments["D"] == 20


@once
def test_our_own_manner_tries_several_rates(images):
    for protocols in (protocols_a, protocols_b):
        ours = protocols(images, Form("ours"))
        assert {len(each.rates) for each in ours} == {3}
        assert {each.epochs for each in ours} == {100}


@once
def test_every_layer_of_the_family_can_be_trained(images, monkeypatch):
    monkeypatch.setattr(convolution, "_B", (3, 2))
    fields = {"test_rows": 30}
    for protocol in protocols_b(images):
        ProtocolTrainer(dataclasses.replace(protocol, **fields), images).check()


def table_of(experiment, protocols, **fields):
    """Return the table of reports written by hand, of two folds or of two seeds."""
    fields = {"rows": 60, "epochs": 1, **fields}
    place = "fold" if "folds" in fields else "seed"
    reports = tuple(
        make_report(
            protocol=dataclasses.replace(protocol, **fields),
            trials=(make_trial(scores={"accuracy": 0.5 + 0.1 * number}),),
            **{place: number},
        )
        for protocol in protocols[:2]
        for number in range(2)
    )
    done = Reproduction(experiment, Form(settings=("rows=60",)), reports)
    return experiment.table(done, "validation")


@once
def test_the_table_of_folds_names_its_settings(images):
    table = table_of(CONVOLUTIONS_A, protocols_a(images), folds=2)

    assert table.title == "Convolutional networks A: protocol paper, rows=60"
    assert "padding same" in table.markdown
    assert "| 0.9940 ± 0.0010 (192-192) |" in table.markdown
    assert "vaf-random against relu: " in table.notes[0]
    assert not any("same images" in note for note in table.notes)
    assert list(table.figures) == ["mnist"]


@once
def test_the_table_of_one_division_says_what_p_means(images):
    table = table_of(CONVOLUTIONS_B, protocols_b(images))

    assert "| 0.9950 (150-150) |" in table.markdown
    assert any("tested on the same images" in note for note in table.notes)
    assert not table.figures


def test_a_cell_is_the_same_whatever_was_trained_before_it(images, tmp_path):
    protocol = dataclasses.replace(
        protocols_b(images)[0], hidden=(3, 2), epochs=2, test_rows=30
    )

    def reports(folder, seeds):
        store = Store(tmp_path / folder)
        run = train_missing([protocol], seeds, images, store)
        return {each.seed: each for each in run.reports}

    together = reports("together", [0, 1])
    apart = reports("apart", [1]) | reports("apart", [0])

    assert together.keys() == apart.keys()
    for seed, report in together.items():
        assert report == dataclasses.replace(apart[seed], seconds=report.seconds)


@once
def test_images_are_scored_in_parts(images, monkeypatch):
    layers = [keras.layers.Flatten(), keras.layers.Dense(3)]
    network = keras.Sequential([keras.Input((8, 8, 1)), *layers])
    fitted = Preprocessing().fit(images, range(60))
    sizes = []

    def counted(x, training):
        sizes.append(len(x))
        return network(x, training=training)

    whole = network_scores(counted, images, fitted, np.arange(20, 70))
    monkeypatch.setattr(scores, "_IMAGES_AT_ONCE", 20)
    parts = network_scores(counted, images, fitted, np.arange(20, 70))

    assert sizes == [50, 20, 20, 10]
    assert parts == whole


@once
def test_are_known_by_name():
    assert find_experiment("convolution-a") is CONVOLUTIONS_A
    assert find_experiment("convolution-b") is CONVOLUTIONS_B
