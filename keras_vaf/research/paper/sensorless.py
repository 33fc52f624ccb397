"""The paper's first experiment: k, g, start and sharing, on Sensorless."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Mapping
from typing import Any, NamedTuple

from keras_vaf.datasets import Dataset
from keras_vaf.experiments.optimizer import Optimizer
from keras_vaf.experiments.protocol import Protocol
from keras_vaf.experiments.results.notes import (
    gain_note,
    protocol_notes,
    trainings_note,
)
from keras_vaf.experiments.results.result import Result
from keras_vaf.experiments.results.selection import Selected, Selection, by_protocol
from keras_vaf.experiments.results.significance import LEVEL
from keras_vaf.experiments.results.table import Table, constant_cells, result_cells
from keras_vaf.experiments.variants import RESCALED_START, Variant
from keras_vaf.research.paper.experiment import Experiment, Form, Reproduction
from keras_vaf.research.paper.tables.sensorless_panels import panels_of

WIDTHS = ((5,), (10,), (20,))
WIDE = (50,)
"""The width of which the paper gives the accuracy of tanh alone."""

UNITS = (3, 5, 7, 9, 11, 15)
FUNCTIONS = ("tanh", "relu")
STARTS = ("random", "rescaled", "specific")
SHARINGS = ("neuron", "layer")

COLUMNS = (
    *("hidden", "g", "sharing", "start", "k", "mean", "deviation", "balanced"),
    *("wins/ties/losses", "gain", "p"),
    *("folds", "epochs", "parameters", "seconds", "device"),
)
_SHOWN = ("hidden", "g", "sharing", "start", "k", "mean", "deviation", "gain", "p")
_NO_VAF = "novaf"
_ROWS = 58_509
_QUICK: dict[str, Any] = {"folds": 3, "epochs": 30}
_QUICK_UNITS = (5,)


class Setting(NamedTuple):
    """The properties that distinguish the networks of this experiment.

    Attributes:
        hidden: Width of the hidden layer.
        g: The fixed activation, or that of the VAF's hidden units.
        sharing: `"neuron"` or `"layer"`; empty without a VAF.
        start: `"random"`, `"rescaled"` (a random start that keeps the scale of the
            signal) or `"specific"`, which starts as g; empty without a VAF.
        k: Number of the VAF's hidden units; 0 without a VAF.
    """

    hidden: int
    g: str
    sharing: str = ""
    start: str = ""
    k: int = 0


def protocols_of_sensorless(dataset: Dataset, form: Form) -> list[Protocol]:
    """Return the protocols: both fixed activations and all VAFs in every network.

    Networks of 50 units have the fixed activations only.

    The paper does not specify Adam's learning rate, the batch size and the scaling of
    inputs. Here they are 0.001, 128 and standardised inputs. Each of ten repeats draws
    60% of the rows for training, 20% for validation and 20% for test. `manner="paper"`
    has 500 epochs; `"ours"` has up to 2,000 with patience 200.
    """
    fields: dict[str, Any] = {
        "optimizer": Optimizer("Adam", {"learning_rate": 0.001}),
        "epochs": 500,
        "batch_size": 128,
        "test_fraction": 0.2,
        "validation_fraction": 0.25,
    }
    if form.manner == "ours":
        fields |= {"epochs": 2000, "patience": 200}
    if form.quick:
        fields |= _QUICK
    widths = form.architectures or (WIDTHS[:1] if form.quick else (*WIDTHS, WIDE))
    return [
        Protocol.of(dataset, variant, hidden=hidden, **fields)
        for hidden in widths
        for variant in _variants(_QUICK_UNITS if form.quick else UNITS)
        if hidden != WIDE or variant.name.startswith(_NO_VAF)
    ]


def table_of_sensorless(done: Reproduction, selection: Selection) -> Table:
    """Return the table, with the six panels. `selection` has no effect here."""
    found = results_of_sensorless(done)
    rows = {sum(report.rows.values()) for report in done.reports}
    first = next(iter(found.values()))
    constant = {**constant_cells(first), "start": "constant"}
    return Table.of(
        f"{done.title}, {max(rows):,} of {_ROWS:,} rows",
        COLUMNS,
        [constant, *(_cells(*each) for each in found.items())],
        (
            "Score: test accuracy. "
            f"{gain_note('the fixed activation g in the same network')} Nothing is "
            "selected: each line is one network.",
            *claims(found),
            trainings_note(done.reports),
            *protocol_notes(done.reports),
        ),
        _SHOWN,
        {"panels": panels_of({key: each.scores for key, each in found.items()})},
    )


def claims(found: Mapping[Setting, Result]) -> list[str]:
    """Return the paper's statements on its six panels, each with our numbers."""
    vafs = {setting: result for setting, result in found.items() if setting.k}
    held = [each for each in vafs.values() if each.gains]
    better = sum(each.gain > 0 for each in held)
    clearly = [each for each in held if each.p is not None and each.p < LEVEL]
    clearly_better = sum(each.gain > 0 for each in clearly)
    means = {setting: result.mean for setting, result in vafs.items()}
    by_k = ", ".join(
        f"{k}: {statistics.fmean(m for s, m in means.items() if s.k == k):.4f}"
        for k in sorted({setting.k for setting in means})
    )
    return [
        "Paper: every VAF outperforms its fixed activation. Here: the mean is better "
        f"in {better} of {len(held)}; p < {LEVEL} in {clearly_better} that are better "
        f"and {len(clearly) - clearly_better} that are worse.",
        "Paper: shared and not shared are very similar. Here: "
        f"{_contrast(means, 'sharing', *SHARINGS)}.",
        "Paper: the random start is slightly better. Here: "
        f"{_contrast(means, 'start', 'random', 'specific')}; "
        f"{_contrast(means, 'start', 'rescaled', 'specific')}.",
        "Paper: g = tanh is uniformly better than g = ReLU. Here: "
        f"{_contrast(means, 'g', *FUNCTIONS)}.",
        f"Paper: accuracy tends to increase with k. Here, mean by k: {by_k}.",
        *(
            "Paper: tanh in a network of 50 units is very close to 100 %. Here: "
            f"{each.mean:.4f} ± {each.deviation:.4f}."
            for setting, each in found.items()
            if setting == Setting(*WIDE, "tanh")
        ),
    ]


def _variants(units: tuple[int, ...]) -> list[Variant]:
    fixed = [
        Variant(f"{_NO_VAF}-{g}", f"{g}, no VAF", "Activation", {"activation": g})
        for g in FUNCTIONS
    ]
    vafs = [
        Variant(
            f"vaf-{g}-{start}-{sharing}-{k}",
            f"VAF, g = {g}, {start} start, by {sharing}, k = {k}",
            "VAFActivation",
            {
                "k": k,
                "g": g,
                "sharing": sharing,
                "initialization": _initialization(start, g),
            },
        )
        for g, start, sharing, k in itertools.product(
            FUNCTIONS, STARTS, SHARINGS, units
        )
    ]
    return [*fixed, *vafs]


def _setting(protocol: Protocol) -> Setting:
    [hidden] = protocol.hidden
    arguments = protocol.variant.arguments
    if "activation" in arguments:
        return Setting(hidden, arguments["activation"])
    [start] = (
        start
        for start in STARTS
        if _initialization(start, arguments["g"]) == arguments["initialization"]
    )
    return Setting(hidden, arguments["g"], arguments["sharing"], start, arguments["k"])


def _initialization(start: str, g: str) -> Any:
    """Return a VAF's argument for a start."""
    return {"random": "random", "rescaled": RESCALED_START, "specific": g}[start]


def results_of_sensorless(done: Reproduction) -> dict[Setting, Result]:
    """Compare every network with the fixed activation in a network of its width."""
    networks = {
        _setting(own.protocol): own
        for own in map(Selected.of, by_protocol(done.reports).values())
    }
    return {
        setting: Result(
            network,
            done.experiment.metric,
            networks.get(Setting(setting.hidden, setting.g)) if setting.k else None,
        )
        for setting, network in sorted(networks.items())
    }


def _cells(setting: Setting, result: Result) -> dict[str, str]:
    start = setting.start if setting.k else "no VAF"
    k = str(setting.k or "")
    own = {"g": setting.g, "sharing": setting.sharing, "start": start, "k": k}
    return result_cells(result) | own


def _contrast(means: Mapping[Setting, float], field: str, one: str, other: str) -> str:
    """Return how much better networks with one value of a field are than the others."""
    pairs = [
        (mean, means[twin])
        for setting, mean in means.items()
        if getattr(setting, field) == one
        and (twin := Setting(**{**setting._asdict(), field: other})) in means
    ]
    if not pairs:
        return f"{one} and {other} were not both run"
    gap = statistics.fmean(a - b for a, b in pairs)
    wins = sum(a > b for a, b in pairs)
    return f"{one} minus {other} {gap:+.4f} on average, above in {wins} of {len(pairs)}"


SENSORLESS = Experiment(
    "sensorless",
    "Sensorless",
    ("sensorless",),
    protocols_of_sensorless,
    table_of_sensorless,
    published=(),
    architectures=(*WIDTHS, WIDE),
)
