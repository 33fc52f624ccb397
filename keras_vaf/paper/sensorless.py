"""The paper's first experiment: k, g, start and sharing, on Sensorless."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas

from keras_vaf.datasets import Dataset
from keras_vaf.experiments import Arm, Recipe
from keras_vaf.experiments.arms import RESCALED
from keras_vaf.experiments.results import Selection, numbers_of, select
from keras_vaf.experiments.tables import Text
from keras_vaf.paper.parts import RECIPES, Part, Reproduction, Trained, lines_of

WIDTHS, WIDE = (5, 10, 20), 50  # of the last, the paper gives the accuracy of tanh
UNITS = (3, 5, 7, 9, 11, 15)
FUNCTIONS, SHARINGS = ("tanh", "relu"), ("neuron", "layer")
STARTS = ("random", "rescaled", "specific")

_KEYS = ("hidden", "g", "sharing", "start", "k")
_NUMBERS = ("constant", "mean", "deviation", "gain")
_CLAIMS = (
    ("shared and not shared are very similar", "sharing", "neuron", "layer"),
    ("the random start is slightly better", "start", "random", "specific"),
    ("the same, with a rescaled random start", "start", "rescaled", "specific"),
    ("g = tanh is uniformly better than g = ReLU", "g", "tanh", "relu"),
)


def sensorless(dataset: Dataset, quick: bool) -> list[Part]:
    """Return the parts, one for each width: fixed activations and all VAFs.

    Networks of 50 units have the fixed activations only. The paper does not specify
    Adam's learning rate, the batch size and the scaling of inputs. Here they are 0.001,
    128 and standardised inputs. Each of ten repeats draws 60% of the rows for training,
    20% for validation and 20% for test. The quick form has one width and k, three folds
    and 30 epochs.
    """
    units = (5,) if quick else UNITS
    kinds = itertools.product(FUNCTIONS, STARTS, SHARINGS, units)
    vafs = [_vaf(*each) for each in kinds]
    fixed = [
        Arm(f"novaf-{g}", f"{g}, no VAF", "Activation", {"activation": g})
        for g in FUNCTIONS
    ]
    recipe = Recipe(**RECIPES["sensorless"])
    if quick:
        recipe = replace(recipe, epochs=30, folds=3)
    parts = []
    for width in WIDTHS[:1] if quick else (*WIDTHS, WIDE):
        arms = tuple(fixed if width == WIDE else [*fixed, *vafs])
        parts.append(Part("sensorless", arms, replace(recipe, hidden=(width,))))
    return parts


def _vaf(g: str, start: str, sharing: str, k: int) -> Arm:
    starts: dict[str, Any] = {"random": "random", "rescaled": RESCALED, "specific": g}
    return Arm(
        f"vaf-{g}-{start}-{sharing}-{k}",
        f"VAF, g = {g}, {start} start, by {sharing}, k = {k}",
        "VAFActivation",
        {"k": k, "g": g, "sharing": sharing, "initialization": starts[start]},
    )


def sensorless_table(trained: Sequence[Trained], selection: Selection) -> Reproduction:
    """Return one row for each network.

    - `hidden`, `g`, `sharing`, `start`, `k`: Width of the network, and the VAF; k is 0
      for the fixed activation g.
    - `constant`, `mean`, `deviation`: Accuracy of a constant prediction, and mean and
      deviation of the test accuracy.
    - `gain`: Mean improvement over g in the same network.

    There is nothing to select.
    """
    rows = []
    for _, part, found in trained:
        own = dict(iter(select(found, selection).groupby("activation")))
        for arm in part.arms:
            _, g, *vaf = arm.name.split("-")
            start, sharing, k = vaf or ("", "", 0)
            first = own.get(f"novaf-{g}") if vaf else None
            numbers = numbers_of(own[arm.name], first)
            numbers["constant"] = own[arm.name]["constant"].mean()
            values = g, sharing, start, int(k), *map(numbers.get, _NUMBERS)
            rows.append([*part.recipe.hidden, *values])
    table = pandas.DataFrame(rows, columns=[*_KEYS, *_NUMBERS])
    text = Text("", *lines_of(table), [*_claims(table), _NOTE])
    return Reproduction(table, text, {})


_NOTE = (
    "Gain: improvement over the fixed activation g in the same network, on the same "
    "rows. Each line is one network. One dataset is not tested for significance."
)


def _claims(table: pandas.DataFrame) -> list[str]:
    """Return the paper's statements on its six panels, each with our numbers."""
    vafs = table[table["k"] > 0]
    held = vafs["gain"].dropna()
    means = vafs.groupby("k")["mean"].mean()
    by_k = ", ".join(f"{k}: {mean:.4f}" for k, mean in means.items())
    wide = table[(table["hidden"] == WIDE) & (table["g"] == "tanh")]
    return [
        "Paper: every VAF outperforms its fixed activation. Here: the mean is better "
        f"in {(held > 0).sum()} of {len(held)}.",
        *(f"Paper: {text}. Here: {_contrast(vafs, *each)}." for text, *each in _CLAIMS),
        f"Paper: accuracy tends to increase with k. Here, mean by k: {by_k}.",
        *(
            f"Paper: tanh with 50 units nears 100 %. Here: {m:.4f}."
            for m in wide["mean"]
        ),
    ]


def _contrast(vafs: pandas.DataFrame, column: str, one: str, other: str) -> str:
    """Return how much better networks with one value of a column are than others."""
    keys = [name for name in _KEYS if name != column]
    means = vafs.pivot(index=keys, columns=column, values="mean")
    if not {one, other} <= {*means}:
        return f"{one} and {other} were not both run"
    gaps = (means[one] - means[other]).dropna()
    return (
        f"{one} minus {other} {gaps.mean():+.4f} on average, above in "
        f"{(gaps > 0).sum()} of {len(gaps)}"
    )
