"""The paper's regressions and classifications: their numbers and protocols."""

import numpy as np
import pytest

from keras_vaf.datasets import Dataset
from keras_vaf.research.paper import Form
from keras_vaf.research.paper.fully_connected import (
    ARCHITECTURES,
    CLASSIFICATIONS,
    REGRESSIONS,
    protocols_of,
)
from keras_vaf.research.paper.published import CLASSIFICATION, REGRESSION

pytestmark = pytest.mark.backend("tensorflow")

# Bold entries of the paper, read separately from the numbers.
BOLD = {
    "cpu_small": "vaf-random",
    "delta_elevators": "vaf-random",
    "elevators": "vaf-random",
    "kin8nm": "vaf-relu",
    "puma8nh": "vaf-random",
    "puma32h": "vaf-random",
    "servo": "vaf-random",
    "energy_cooling": "vaf-relu",
    "energy_heating": "relu",
    "yacht": "vaf-relu",
    "liver": "vaf-relu",
    "wine": "vaf-random",
    "image_segmentation": "relu",
    "landsat_satellite": "vaf-relu",
    "cardiotocography": "vaf-random",
    "seismic_bumps": "relu",
    "dermatology": "vaf-relu",
    "diabetic_retinopathy": "vaf-relu",
    "qsar_biodegradation": "vaf-random",
    "climate_crashes": "vaf-relu",
}


def table(rows, name="toy", task="regression"):
    """Return data with this number of rows."""
    x = np.linspace(0, 1, rows, dtype="float32")[:, None]
    if task == "regression":
        return Dataset(name, task, x, x[:, 0], ("a",))
    return Dataset(name, task, x, np.arange(rows) % 2, ("a",), ("no", "yes"))


def test_the_best_published_number_of_a_row_is_the_bold_one():
    for numbers, best in ((REGRESSION, min), (CLASSIFICATION, max)):
        for dataset in dict.fromkeys(each.dataset for each in numbers):
            row = [each for each in numbers if each.dataset == dataset]
            assert [each.variant for each in row] == ["relu", "vaf-random", "vaf-relu"]
            assert best(row, key=lambda each: each.mean).variant == BOLD[dataset]
            assert {each.hidden for each in row} <= set(ARCHITECTURES)


def test_every_dataset_of_both_tables_is_there():
    names = [*REGRESSIONS.datasets, *CLASSIFICATIONS.datasets]

    assert sorted(names) == sorted(BOLD)


def test_small_data_are_trained_with_rprop_as_published():
    protocols = protocols_of(table(4_999))

    assert len({protocol.digest for protocol in protocols}) == 40
    for protocol in protocols:
        assert protocol.optimizer.name == "Rprop"
        assert protocol.optimizer.arguments["eta_plus"] == 1.01
        assert protocol.optimizer.arguments["eta_minus"] == 0.5
        assert (protocol.epochs, protocol.folds) == (300, 10)
        assert (protocol.batch_size, protocol.rates) == (None, ())
        assert protocol.preprocessing.targets == "min-max"
    assert {protocol.variant.name for protocol in protocols} == {
        "relu",
        "vaf-random",
        "vaf-random-rescaled",
        "vaf-relu",
    }
    assert {p.variant.arguments.get("k", 3) for p in protocols} == {3}


def test_large_data_are_trained_with_rmsprop_at_ten_equispaced_rates():
    [protocol, *_] = protocols_of(table(5_000))

    assert protocol.optimizer.name == "RMSprop"
    assert protocol.batch_size is not None
    assert protocol.rates[0] == pytest.approx(0.0001)
    assert protocol.rates[-1] == pytest.approx(0.1)
    assert np.diff(protocol.rates) == pytest.approx([0.0111] * 9)


def test_targets_of_classes_and_of_two_datasets_stay_as_they_are():
    for dataset in (table(40, task="classification"), table(40, "elevators")):
        assert protocols_of(dataset)[0].preprocessing.targets == "none"


def test_there_is_no_third_manner():
    with pytest.raises(ValueError, match=r"'ours'\..* Received: manner='theirs'"):
        Form("theirs")


def test_chosen_architectures_take_the_place_of_all():
    protocols = protocols_of(table(40), Form(architectures=((50, 25),)))

    assert [protocol.hidden for protocol in protocols] == [(50, 25)] * 4
