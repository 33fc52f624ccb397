"""How an experiment of the paper is run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from keras_vaf.datasets import Dataset, load
from keras_vaf.experiments.protocol import Cell, Protocol, with_replicas
from keras_vaf.experiments.reports.store import Shard, Store
from keras_vaf.experiments.runs.engines import HERE, Track, check_engine
from keras_vaf.experiments.runs.missing import train_missing
from keras_vaf.experiments.runs.training_runs import ProtocolTrainer
from keras_vaf.paper.choices import CHOICES_CLASSIFICATION, CHOICES_REGRESSION
from keras_vaf.paper.convolution import CONVOLUTIONS_A, CONVOLUTIONS_B
from keras_vaf.paper.curves import CURVES
from keras_vaf.paper.experiment import Experiment, Form, Reproduction
from keras_vaf.paper.fully_connected import CLASSIFICATIONS, REGRESSIONS
from keras_vaf.paper.sensorless import SENSORLESS
from keras_vaf.paper.settings import with_settings

EXPERIMENTS = (
    SENSORLESS,
    REGRESSIONS,
    CLASSIFICATIONS,
    CURVES,
    CHOICES_REGRESSION,
    CHOICES_CLASSIFICATION,
    CONVOLUTIONS_A,
    CONVOLUTIONS_B,
)
"""What `keras-vaf reproduce` knows."""


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


def reproduce(
    experiment: Experiment,
    form: Form | None = None,
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

    All data are loaded, and all protocols checked, before the first training.

    Args:
        experiment: The experiment.
        form: Which form of it; by default the full one, as published.
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
        ValueError: If a name is unknown, a setting is none, or there is no such engine.
        FileNotFoundError: If the data are not there.
        OSError: If the folder cannot be written to.
    """
    form = form or Form()
    check_engine(engine)
    _check_architectures(experiment, form)
    store = Store(Path(output) / "cells", networks=False)
    wanted: list[tuple[Dataset, list[Protocol]]] = []
    left_out = []
    for name in _names(experiment, datasets):
        dataset = load(name, data_dir)
        most = experiment.quick_rows if form.quick else None
        if most is not None and len(dataset.x) > most:
            left_out.append(name)
            continue
        protocols = _protocols(experiment, dataset, form)
        wanted.append((dataset, [with_replicas(each, replicas) for each in protocols]))
    others = sum(_others(store, protocols) for _, protocols in wanted)
    runs = [
        train_missing(protocols, seeds, dataset, store, engine, shard, track)
        for dataset, protocols in wanted
    ]
    return Reproduction(
        experiment,
        form,
        tuple(report for run in runs for report in run.reports),
        sum(run.missing for run in runs),
        tuple(left_out),
        tuple(path for run in runs for path in run.set_aside),
        others,
    )


def _names(experiment: Experiment, datasets: Sequence[str]) -> Sequence[str]:
    unknown = set(datasets) - set(experiment.datasets)
    if unknown:
        raise ValueError(
            f"The datasets of {experiment.name} are: {', '.join(experiment.datasets)}. "
            f"Received: {', '.join(sorted(unknown))}"
        )
    return datasets or experiment.datasets


def _check_architectures(experiment: Experiment, form: Form) -> None:
    if not set(form.architectures) <= set(experiment.architectures):
        known, received = (
            ", ".join("-".join(map(str, hidden)) for hidden in widths)
            for widths in (experiment.architectures, form.architectures)
        )
        raise ValueError(
            f"The architectures of {experiment.name} are: {known or 'fixed'}. "
            f"Received: {received}"
        )


def _protocols(experiment: Experiment, dataset: Dataset, form: Form) -> list[Protocol]:
    """Return what the form asks for, once it is known that it can be trained."""
    protocols = experiment.protocols(dataset, form)
    known = dict.fromkeys(protocol.variant.name for protocol in protocols)
    if not set(form.activations) <= set(known):
        raise ValueError(
            f"The activations of {experiment.name} are: {', '.join(known)}. "
            f"Received: {', '.join(form.activations)}"
        )
    wanted = [
        with_settings(protocol, form.settings)
        for protocol in protocols
        if not form.activations or protocol.variant.name in form.activations
    ]
    ProtocolTrainer(wanted[0], dataset).check()
    return wanted


def _others(store: Store, protocols: Sequence[Protocol]) -> int:
    """Count the other protocols on the same data, which stay as they are."""
    own = {store.path(Cell(protocol, 0, 0)).parent for protocol in protocols}
    data = {folder.parent for folder in own}
    there = {arm for folder in data if folder.is_dir() for arm in folder.iterdir()}
    return len(there - own)
