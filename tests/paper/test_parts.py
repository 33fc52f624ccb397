"""The published numbers, and the settings of the trainings."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from keras_vaf.datasets import CATALOGUE, Dataset
from keras_vaf.experiments.recipe import folds_of
from keras_vaf.optimizers import Rprop
from keras_vaf.paper import published
from keras_vaf.paper.curves import curves
from keras_vaf.paper.parts import ARCHITECTURES, fully_connected
from keras_vaf.paper.reproduction import EXPERIMENTS
from keras_vaf.paper.sensorless import sensorless
from tests.paper.data import motors

pytestmark = pytest.mark.backend("torch")

# Read from the paper's tables once more: the best activation of each line, in bold.
BOLD = {
    **dict.fromkeys(("cpu_small", "delta_elevators", "elevators"), "vaf-random"),
    **dict.fromkeys(("puma8nh", "puma32h", "servo", "wine"), "vaf-random"),
    **dict.fromkeys(("cardiotocography", "qsar_biodegradation"), "vaf-random"),
    **dict.fromkeys(("kin8nm", "energy_cooling", "yacht", "liver"), "vaf-relu"),
    **dict.fromkeys(("landsat_satellite", "dermatology"), "vaf-relu"),
    **dict.fromkeys(("diabetic_retinopathy", "climate_crashes"), "vaf-relu"),
    **dict.fromkeys(("energy_heating", "image_segmentation"), "relu"),
    "seismic_bumps": "relu",
}
IMAGES = {
    "cnet_A": "cifar10 0.857 *0.875 0.860 fashion_mnist 0.923 *0.935 0.934 "
    "mnist 0.991 *0.994 0.993",
    "cnet_B": "cifar10 0.707 *0.812 0.802 0.763 fashion_mnist 0.920 *0.935 0.929 0.925 "
    "mnist 0.995 0.995 0.995 *0.996",
}


def table(rows, name="toy", task="regression"):
    """Return data with this number of rows."""
    x = np.linspace(0, 1, rows, dtype="float32")[:, None]
    if task == "regression":
        return Dataset(name, task, x, x[:, 0], ("a",))
    return Dataset(name, task, x, np.arange(rows) % 2, ("a",), ("no", "yes"))


def test_published_numbers_are_those_of_a_second_reading():
    numbers = published()
    numbers = numbers[numbers["activation"] != "vaf-random-rescaled"]
    found, words = {}, {"cnet_A": [], "cnet_B": []}
    for (part, dataset), rows in numbers.groupby(["part", "dataset"]):
        best = rows["published"].min() if part == "regression" else None
        best = best or rows["published"].max()
        if part in words:
            words[part] += [dataset]
            words[part] += [
                f"{'*' if x == best else ''}{x:.3f}" for x in rows["published"]
            ]
        else:
            assert [*rows["activation"]] == ["relu", "vaf-random", "vaf-relu"]
            place = rows["published"].tolist().index(best)
            found[dataset] = rows["activation"].iloc[place]
            widths = {"-".join(map(str, each)) for each in ARCHITECTURES}
            assert {*rows["published_hidden"]} <= widths
    assert found == BOLD
    assert {part: " ".join(each) for part, each in words.items()} == IMAGES
    tables = ("regression", "classification")
    assert {d for name in tables for d in EXPERIMENTS[name].datasets} == {*BOLD}


def test_small_data_are_trained_with_rprop_and_large_data_with_rmsprop():
    small, large = (fully_connected(table(rows), False) for rows in (4_999, 5_000))
    for parts in (small, large):
        assert [part.recipe.hidden for part in parts] == [*ARCHITECTURES]
        assert {(p.recipe.epochs, p.recipe.folds) for p in parts} == {(300, 10)}
    optimizer = Rprop(**small[0].recipe.optimizer_arguments)
    assert (optimizer.eta_plus, optimizer.eta_minus) == (1.01, 0.5)
    assert small[0].recipe.optimizer == "Rprop"
    assert large[0].recipe.optimizer == "RMSprop"
    rates = large[0].recipe.learning_rates
    np.testing.assert_allclose(rates, np.linspace(1e-4, 0.1, 10))
    [raw, *_] = fully_connected(table(40, "elevators"), False)
    assert raw.recipe.targets == "none"


def test_sensorless_has_every_network_of_the_paper():
    parts = sensorless(motors(), False)
    found = [
        (*part.recipe.hidden, *arm.name.split("-")[1:])
        for part in parts
        for arm in part.arms
    ]
    vafs = itertools.product(
        (5, 10, 20),
        ("tanh", "relu"),
        ("random", "rescaled", "specific"),
        ("neuron", "layer"),
        ("3", "5", "7", "9", "11", "15"),
    )
    fixed = itertools.product((5, 10, 20, 50), ("tanh", "relu"))
    assert sorted(found) == sorted([*vafs, *fixed])
    folds = folds_of(motors(), parts[0].recipe, seed=0)
    for fold in folds:
        assert tuple(map(len, fold.rows)) == (66, 22, 22)  # 60, 20 and 20 %
        assert sorted(np.concatenate(fold.rows)) == [*range(110)]
    assert len({tuple(fold.rows.test) for fold in folds}) == 10


@pytest.mark.parametrize("quick", [False, True])
def test_curves_train_nothing_that_another_experiment_does_not_train(quick):
    wine = table(40, task="classification")
    for dataset, theirs in ((wine, fully_connected), (motors(), sensorless)):
        [part] = curves(dataset, quick)
        twins = [each for each in theirs(dataset, quick) if each.recipe == part.recipe]
        assert {arm.name for arm in part.arms} < {a.name for a in twins[0].arms}
        assert part.arms


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_is_on_its_page_and_its_data_in_the_catalogue(name):
    page = Path(__file__).parents[2] / "docs" / "reproduction.md"
    rows = re.findall(r"^\| (`.*?) \|", page.read_text(encoding="utf-8"), re.M)
    named = {each for row in rows for each in re.findall(r"`(.*?)`", row)}
    assert name in named, f"Add to docs/reproduction.md: | `{name}` | what is trained |"
    assert {*EXPERIMENTS[name].datasets} <= {entry.name for entry in CATALOGUE}
