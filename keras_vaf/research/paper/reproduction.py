"""`reproduce`, which trains the missing cells of an experiment."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from keras_vaf.datasets import Dataset, load
from keras_vaf.experiments.protocol import Cell, Protocol, with_replicas
from keras_vaf.experiments.reports.store import Store
from keras_vaf.experiments.runs.cells import Track, Trainers
from keras_vaf.experiments.runs.missing import Run, train_missing
from keras_vaf.experiments.runs.training_runs import ProtocolTrainer
from keras_vaf.research.paper.experiment import Experiment, Form, Reproduction
from keras_vaf.research.paper.settings import with_settings
from keras_vaf.utils import check_distinct, check_seeds


def reproduce(
    experiment: Experiment,
    form: Form | None = None,
    datasets: Sequence[str] = (),
    seeds: Sequence[int] = (0,),
    data_dir: str | os.PathLike[str] | None = None,
    output: str | os.PathLike[str] = "runs",
    replicas: int | Literal["auto"] = "auto",
    track: Track = lambda items, total: items,
) -> Reproduction:
    """Train the missing cells of an experiment, and return all its reports.

    All data are loaded, and all protocols checked, before the first training.

    Args:
        experiment: The experiment.
        form: The form to run; by default the full one, as published.
        datasets: Names of the datasets to run; `()` runs all.
        seeds: Different seeds; every seed draws its own folds and starts.
        data_dir: As in `keras_vaf.datasets.load`.
        output: Folder of the reports.
        replicas: Number of networks that are trained together, or `"auto"`.
        track: As in `compare`.

    Raises:
        ValueError: If a name is unknown, a seed or a dataset occurs twice, or a setting
            cannot be read.
        FileNotFoundError: If the files of a dataset are missing.
        OSError: If the folder cannot be written to.
    """
    form = form or Form()
    check_seeds("seeds", seeds)
    check_distinct("datasets", datasets)
    known, chosen = _texts(experiment.architectures), _texts(form.architectures)
    _check_known(experiment, "architectures", chosen, known)
    known_datasets = experiment.datasets_of(form.manner)
    _check_known(experiment, "datasets", datasets, known_datasets)
    store = Store(Path(output) / "cells")
    wanted: list[tuple[Dataset, list[Protocol]]] = []
    left_out = []
    for name in datasets or known_datasets:
        dataset = load(name, data_dir)
        most = experiment.quick_rows if form.quick else None
        if most is not None and len(dataset.x) > most:
            left_out.append(name)
            continue
        protocols = _protocols(experiment, dataset, form)
        wanted.append((dataset, [with_replicas(each, replicas) for each in protocols]))
    others = sum(_others(store, protocols) for _, protocols in wanted)
    runs = []
    for dataset, protocols in wanted:
        where = dataset, store, track, Trainers()
        run = train_missing(protocols, seeds, *where)
        while more := _more(experiment, form, run):
            protocols += [with_replicas(each, replicas) for each in more]
            run = train_missing(protocols, seeds, *where)
        runs.append(run)
    return Reproduction(
        experiment,
        form,
        tuple(report for run in runs for report in run.reports),
        tuple(left_out),
        tuple(path for run in runs for path in run.set_aside),
        others,
    )


def _more(experiment: Experiment, form: Form, run: Run) -> list[Protocol]:
    """Return the additional protocols that the reports of a dataset require."""
    if experiment.more is None or form.manner == "paper":
        return []
    return experiment.more(run.reports)


def _check_known(
    experiment: Experiment, kind: str, wanted: Iterable[str], known: Iterable[str]
) -> None:
    """Raise a `ValueError` for names that an experiment does not have."""
    known = dict.fromkeys(known)
    unknown = [each for each in wanted if each not in known]
    if unknown:
        raise ValueError(
            f"The {kind} of {experiment.name} are: {', '.join(known) or 'fixed'}. "
            f"Received: {', '.join(unknown)}"
        )


def _texts(architectures: Iterable[tuple[int, ...]]) -> list[str]:
    return ["-".join(map(str, hidden)) for hidden in architectures]


def _protocols(experiment: Experiment, dataset: Dataset, form: Form) -> list[Protocol]:
    """Return the protocols of a form, after a check that they can be trained."""
    protocols = experiment.protocols(dataset, form)
    names = [protocol.variant.name for protocol in protocols]
    _check_known(experiment, "activations", form.activations, names)
    wanted = [
        with_settings(protocol, form.settings)
        for protocol, name in zip(protocols, names, strict=True)
        if not form.activations or name in form.activations
    ]
    ProtocolTrainer(wanted[0], dataset).check()
    return wanted


def _others(store: Store, protocols: Sequence[Protocol]) -> int:
    """Count the other protocols on the same data in the folder."""
    own = {store.path(Cell(protocol, 0, 0)).parent for protocol in protocols}
    data = {folder.parent for folder in own}
    there = {arm for folder in data if folder.is_dir() for arm in folder.iterdir()}
    return len(there - own)
