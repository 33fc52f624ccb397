"""Protocols as values: compared by hash, saved as JSON, made into cells."""

import dataclasses
import json

import keras
import pytest

from keras_vaf.datasets import Preprocessing
from keras_vaf.experiments import (
    Architecture,
    Cell,
    Optimizer,
    Protocol,
    cells,
    find_variants,
    with_replicas,
)
from keras_vaf.optimizers import Rprop
from tests.experiments.fakes import make_protocol

pytestmark = pytest.mark.backend("tensorflow")

CHANGES = {
    "dataset": "other",
    "checksum": "beef",
    "task": "regression",
    "variant": find_variants("vaf-relu")[0],
    "hidden": (5,),
    "preprocessing": Preprocessing(inputs="min-max"),
    "optimizer": Optimizer("Adam"),
    "epochs": 4,
    "patience": 9,
    "batch_size": 8,
    "folds": 3,
    "validation_fraction": 0.25,
    "rates": (0.001, 0.1),
    "replicas": 7,
    "architecture": Architecture("cnet", {"dropout": 0.5}),
    "rows": 20,
    "test_rows": 5,
    "test_fraction": 0.25,
    "starts": 2,
}


def test_equal_protocols_have_equal_hashes():
    assert make_protocol().digest == make_protocol().digest
    assert len(make_protocol().digest) == 8


@pytest.mark.parametrize(
    "field", [field.name for field in dataclasses.fields(Protocol)]
)
def test_every_field_changes_the_hash(field):
    protocol = make_protocol()

    changed = dataclasses.replace(protocol, **{field: CHANGES[field]})

    assert changed.digest != protocol.digest


def test_comes_back_from_json():
    protocol = make_protocol(**CHANGES)

    data = json.loads(json.dumps(dataclasses.asdict(protocol)))

    assert Protocol.from_dict(data) == protocol


def test_takes_name_checksum_and_task_from_the_data(classes, numbers):
    relu = find_variants("relu")[0]

    of_classes, of_numbers = Protocol.of(classes, relu), Protocol.of(numbers, relu)

    assert of_classes.dataset == "toy"
    assert of_classes.checksum == classes.checksum
    assert of_classes.metric == "accuracy"
    assert of_classes.preprocessing.targets == "none"
    assert of_numbers.metric == "rmse"
    assert of_numbers.preprocessing.targets == "standard"


@pytest.mark.parametrize("epochs", [0, -1, 2.5])
def test_refuses_epochs_that_are_no_positive_integer(epochs):
    with pytest.raises(ValueError, match=f"Received: epochs={epochs}"):
        make_protocol(epochs=epochs)


@pytest.mark.parametrize("replicas", [0, 1.5, "auto"])
def test_refuses_replicas_that_are_no_positive_integer(replicas):
    with pytest.raises(ValueError, match=f"Received: replicas={replicas!r}"):
        make_protocol(replicas=replicas)


def test_refuses_learning_rates_that_are_not_positive():
    with pytest.raises(ValueError, match=r"above 0\. Received: rates\[1\]=0\.0"):
        make_protocol(rates=(0.1, 0.0))


def test_nothing_that_occurs_twice_counts_twice():
    with pytest.raises(ValueError, match=r"`rates` must differ .*Received: 0\.1,0\.1"):
        make_protocol(rates=(0.1, 0.1))
    with pytest.raises(ValueError, match="`seeds` must differ"):
        cells([make_protocol()], seeds=(0, 0, 0))
    with pytest.raises(ValueError, match="`protocols` must differ"):
        cells([make_protocol(), make_protocol()], seeds=(0,))


@pytest.mark.parametrize(
    ("fields", "most", "expected"),
    [
        ({"folds": 10}, 1, 1),
        ({"folds": 10}, 16, 10),
        ({"folds": 20}, 16, 16),
        ({"folds": 10, "rates": (0.1, 0.2, 0.3)}, 16, 15),
        ({"folds": 10, "rates": (0.1, 0.2, 0.3)}, 256, 30),
        ({"folds": 10, "rates": (0.1, 0.2, 0.3)}, 2, 2),
    ],
)
def test_the_automatic_width_holds_whole_cells_of_one_seed(
    monkeypatch, fields, most, expected
):
    monkeypatch.setattr("keras_vaf.experiments.protocol.widest", lambda: most)
    monkeypatch.setattr("keras_vaf.experiments.protocol.check_width", lambda width: 0)

    assert with_replicas(make_protocol(**fields), "auto").replicas == expected


def test_one_backend_alone_trains_networks_together():
    with pytest.raises(ValueError, match="only on JAX: use `replicas=1`"):
        with_replicas(make_protocol(), 2)


def test_finds_optimizers_of_the_package_and_of_keras():
    rprop = Optimizer("Rprop", {"eta_plus": 1.1}).build()
    adam = Optimizer("Adam", {"learning_rate": 0.5}).build()

    assert isinstance(rprop, Rprop)
    assert rprop.eta_plus == 1.1
    assert isinstance(adam, keras.optimizers.Adam)


def test_arms_take_turns_fold_by_fold_and_seed_by_seed():
    short, long = make_protocol(folds=2), make_protocol(folds=3)

    assert cells([short, long], seeds=[7, 8]) == [
        Cell(protocol, seed, fold)
        for seed in (7, 8)
        for fold, protocol in [(0, short), (0, long), (1, short), (1, long), (2, long)]
    ]


def test_what_is_tried_in_a_cell():
    protocol = make_protocol(rates=(0.1, 0.2), starts=2)

    assert protocol.tries == [(0, 0.1), (0, 0.2), (1, 0.1), (1, 0.2)]
    assert protocol.trials == 4
    assert make_protocol().tries == [(0, None)]


def test_fields_of_parts_change_the_hash():
    plain = make_protocol()
    apart = make_protocol(optimizer=dataclasses.replace(plain.optimizer, apart=1.0))
    numbers = make_protocol(preprocessing=Preprocessing(categories="number"))

    assert len({plain.digest, apart.digest, numbers.digest}) == 3
