"""The paper's experiments as data, and how one of them is run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from keras_vaf.datasets import Dataset, Preprocessing, load
from keras_vaf.experiments.arms import Arm
from keras_vaf.experiments.engine import HERE, Track, check_engine
from keras_vaf.experiments.protocol import (
    PAPER_RPROP,
    RPROP,
    Optimizer,
    Protocol,
    with_replicas,
)
from keras_vaf.experiments.published import CLASSIFICATION, REGRESSION, Published
from keras_vaf.experiments.reports import Report
from keras_vaf.experiments.running import train_missing
from keras_vaf.experiments.store import Shard, Store
from keras_vaf.experiments.variants import VARIANTS

Manner = Literal["paper", "ours"]

ARCHITECTURES = (
    (10,),
    (25,),
    (50,),
    (100,),
    (25, 10),
    (50, 10),
    (100, 10),
    (50, 25),
    (100, 25),
    (100, 50),
)
"""Widths of the hidden layers, in the paper's order."""

RATES = tuple(np.linspace(1e-4, 1e-1, 10).tolist())
"""The paper's learning rates for RMSprop: ten equispaced values."""

_LARGE = 5_000
_RAW_TARGETS = ("delta_elevators", "elevators")
_QUICK: dict[str, Any] = {
    "architectures": ((10,), (25, 10)),
    "rates": RATES[:1],
    "epochs": 30,
    "folds": 3,
    "most_rows": 1_000,
}


@dataclass(frozen=True)
class Experiment:
    """One of the paper's experiments.

    Attributes:
        name: Its name on the command line.
        title: Its name in tables.
        published: The numbers that the paper reports.
        metric: The score that is held against them.
    """

    name: str
    title: str
    published: tuple[Published, ...]
    metric: str

    @property
    def datasets(self) -> tuple[str, ...]:
        """Names of the data, in the paper's order."""
        return tuple(dict.fromkeys(each.dataset for each in self.published))


EXPERIMENTS = (
    Experiment("regression", "Regression", REGRESSION, "scaled_rmse"),
    Experiment("classification", "Classification", CLASSIFICATION, "accuracy"),
)
"""What `keras-vaf reproduce` knows."""


@dataclass(frozen=True)
class Reproduction:
    """What `reproduce` did.

    Attributes:
        experiment: The experiment.
        reports: One report per cell that is trained, those of earlier runs included.
        missing: Number of cells that other shards have to train.
        left_out: Names of datasets that the quick form leaves out.
        set_aside: Files that were no reports of their cells, under their new names.
    """

    experiment: Experiment
    reports: tuple[Report, ...]
    missing: int
    left_out: tuple[str, ...]
    set_aside: tuple[Path, ...]


def find_experiment(name: str) -> Experiment:
    """Return an experiment by its name.

    Raises:
        ValueError: If there is none of this name.

    Example:

    >>> find_experiment("regression").datasets[:2]
    ('cpu_small', 'delta_elevators')
    """
    known = {experiment.name: experiment for experiment in EXPERIMENTS}
    if name not in known:
        raise ValueError(f"Experiments are: {', '.join(known)}. Received: {name!r}")
    return known[name]


def protocols_of(
    dataset: Dataset, manner: Manner = "paper", quick: bool = False
) -> list[Protocol]:
    """Return the protocols of a dataset: every activation in every architecture.

    What the paper leaves open is settled here, and printed with each table: batches of
    128 for RMSprop, a first Rprop step of 0.01, standardised inputs, targets scaled to
    [0, 1] but for two datasets, a fifth of the rest for validation.

    Args:
        dataset: The data.
        manner: `"paper"` (eta+ 1.01, 300 epochs) or `"ours"` (eta+ 1.2, up to 2000
            epochs that end 200 after the best one).
        quick: Whether to return the small form: fewer architectures, folds, epochs and
            rates.

    Returns:
        The protocols.

    Raises:
        ValueError: If there is no such manner.
    """
    if manner not in get_args(Manner):
        raise ValueError(
            f"Protocols are {' and '.join(get_args(Manner))}. Received: {manner!r}"
        )
    raw = dataset.task == "classification" or dataset.name in _RAW_TARGETS
    preprocessing = Preprocessing(targets="none" if raw else "min-max")
    fields: dict[str, Any] = {"preprocessing": preprocessing}
    if manner == "paper":
        fields |= {"optimizer": PAPER_RPROP, "epochs": 300}
    else:
        fields |= {"optimizer": RPROP, "epochs": 2000, "patience": 200}
    if len(dataset.x) >= _LARGE:
        fields |= {"optimizer": Optimizer("RMSprop"), "rates": RATES, "batch_size": 128}
    architectures: Sequence[tuple[int, ...]] = ARCHITECTURES
    if quick:
        architectures = _QUICK["architectures"]
        fields |= {"epochs": _QUICK["epochs"], "folds": _QUICK["folds"]}
        if "rates" in fields:
            fields["rates"] = _QUICK["rates"]
    return [
        Protocol.of(dataset, variant, hidden=hidden, **fields)
        for hidden in architectures
        for variant in VARIANTS
    ]


def reproduce(
    experiment: Experiment,
    manner: Manner = "paper",
    quick: bool = False,
    datasets: Sequence[str] = (),
    seeds: Sequence[int] = (0,),
    data_dir: str | os.PathLike[str] | None = None,
    output: str | os.PathLike[str] = "runs",
    replicas: int | Literal["auto"] = "auto",
    engine: str = HERE,
    shard: Shard | None = None,
    track: Track = lambda items, total: items,
) -> Reproduction:
    """Run an experiment of the paper, or what is missing of it.

    Args:
        experiment: The experiment.
        manner: `"paper"` or `"ours"`, as in `protocols_of`.
        quick: Whether to run the small form, on datasets of up to 1,000 rows.
        datasets: Names of the datasets to run; none are all.
        seeds: Seeds; every seed draws its own folds and starts.
        data_dir: As in `keras_vaf.datasets.load`.
        output: Folder of the reports.
        replicas: Number of networks that are trained together, or `"auto"`.
        engine: As in `compare`.
        shard: As in `compare`.
        track: As in `compare`.

    Returns:
        The reports.

    Raises:
        ValueError: If a name is unknown, or there is no such engine.
        FileNotFoundError: If the data are not there.
        OSError: If the folder cannot be written to.
    """
    check_engine(engine)
    store = Store(Path(output) / "cells", networks=False)
    wanted: list[tuple[Dataset, list[Protocol]]] = []
    left_out = []
    for name in _names(experiment, datasets):
        dataset = load(name, data_dir)
        if quick and len(dataset.x) > _QUICK["most_rows"]:
            left_out.append(name)
            continue
        protocols = protocols_of(dataset, manner, quick)
        Arm(protocols[0], dataset).check()
        wanted.append((dataset, [with_replicas(each, replicas) for each in protocols]))
    runs = [
        train_missing(protocols, seeds, dataset, store, engine, shard, track)
        for dataset, protocols in wanted
    ]
    return Reproduction(
        experiment,
        tuple(report for run in runs for report in run.reports),
        sum(run.missing for run in runs),
        tuple(left_out),
        tuple(path for run in runs for path in run.set_aside),
    )


def _names(experiment: Experiment, datasets: Sequence[str]) -> Sequence[str]:
    unknown = set(datasets) - set(experiment.datasets)
    if unknown:
        raise ValueError(
            f"The datasets of {experiment.name} are: {', '.join(experiment.datasets)}. "
            f"Received: {', '.join(sorted(unknown))}"
        )
    return datasets or experiment.datasets
