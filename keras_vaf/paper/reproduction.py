"""`reproduce`, which runs an experiment of the paper."""

import math
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple, get_args

import keras
import numpy as np
import pandas

from keras_vaf.datasets import Dataset, find, load
from keras_vaf.experiments.results import Selection
from keras_vaf.experiments.run import Study, train_missing
from keras_vaf.paper.curves import curves, curves_table
from keras_vaf.paper.parts import (
    Part,
    Reproduction,
    Trained,
    convolution,
    few_images,
    fully_connected,
)
from keras_vaf.paper.sensorless import sensorless, sensorless_table
from keras_vaf.paper.tables import NUMBERS, published_table
from keras_vaf.utils import (
    check_choice,
    check_distinct,
    check_flag,
    check_integer,
    check_kinds,
    check_seeds,
    did_you_mean,
    png_bytes,
    write_atomically,
)


class Experiment(NamedTuple):
    """An experiment: its parts for each dataset, and what is made of them."""

    datasets: tuple[str, ...]
    parts: Callable[[Dataset, bool], list[Part]]
    table: Callable[[Sequence[Trained], Selection], Reproduction]
    quick_rows: float = math.inf  # most rows of a dataset in the quick form


_TABLES = {
    name: Experiment(tuple(NUMBERS[name]), fully_connected, published_table, 1_000)
    for name in ("regression", "classification")
}
_ALL = ("sensorless", *(name for each in _TABLES.values() for name in each.datasets))

EXPERIMENTS = {
    **_TABLES,
    "convolution": Experiment(tuple(NUMBERS["cnet_A"]), convolution, published_table),
    "sensorless": Experiment(("sensorless",), sensorless, sensorless_table),
    "curves": Experiment(_ALL, curves, curves_table, 2_200),
}


def reproduce(
    name: str,
    datasets: Sequence[str] = (),
    activations: Sequence[str] = (),
    *,
    seeds: Sequence[int] = (0,),
    selection: Selection = "validation",
    quick: bool = False,
    data_dir: str | os.PathLike[str] | None = None,
    output: str | os.PathLike[str] = "runs",
    jobs: int = 1,
    verbose: bool = True,
) -> Reproduction:
    """Run an experiment of the paper, and write its table and pictures.

    If it is called again, also with another selection, it trains only what is missing.

    Args:
        name: `"regression"`, `"classification"`, `"convolution"`, `"sensorless"` or
            `"curves"`.
        datasets: Names of the datasets; `()` means all of the experiment.
        activations: Names of the activations; `()` means all of the experiment.
        seeds: Different seeds. Each seed draws other folds and initial weights.
        selection: `"validation"` selects learning rates and architectures by validation
            scores, `"paper"` by test scores.
        quick: Whether to run a small version, whose scores are not meaningful.
        data_dir: Folder of the datasets, as in `keras_vaf.datasets.load`.
        output: Folder of all files. The records of a dataset are in a folder in it.
        jobs: Number of processes, as in `keras_vaf.experiments.compare`.
        verbose: Whether to print a line for each finished batch.

    Raises:
        ValueError: If a name is unknown, or if a seed, a dataset or an activation
            occurs twice.
        OSError: If a dataset is missing, or the folder cannot be written to.

    Example:

    >>> found = keras_vaf.paper.reproduce(
    ...     "classification", ["wine"], ["relu", "vaf-relu"], quick=True, verbose=False
    ... )
    >>> found.table[["dataset", "activation", "published"]].values.tolist()
    [['wine', 'relu', 0.8879], ['wine', 'vaf-relu', 0.9162]]
    """
    experiment = EXPERIMENTS[check_choice("experiment", name, EXPERIMENTS)]
    check_choice("selection", selection, get_args(Selection))
    check_flag("quick", quick)
    check_integer("jobs", jobs)
    seeds = check_seeds("seeds", seeds)
    wanted = _names("datasets", name, datasets, experiment.datasets)
    _names("activations", name, activations, _known(experiment, wanted, quick))
    loaded = [load(each, data_dir) for each in wanted]
    used = [
        each for each in loaded if not quick or len(each.x) <= experiment.quick_rows
    ]
    if quick:
        used = [few_images(each) if each.x.ndim > 2 else each for each in used]
    if not used:
        raise ValueError(
            f"The quick form of {name} leaves out datasets of more than "
            f"{experiment.quick_rows:,} rows. Received: {', '.join(wanted)}"
        )
    parts = [(each, part) for each in used for part in experiment.parts(each, quick)]
    known = dict.fromkeys(arm.name for _, part in parts for arm in part.arms)
    chosen = _names("activations", name, activations, known)
    trained = []
    for place, (dataset, part) in enumerate(parts, start=1):
        own = part._replace(arms=tuple(a for a in part.arms if a.name in chosen))
        folder = Path(output) / dataset.name
        study = Study(dataset, own.arms, part.recipe, seeds, folder, jobs)
        hidden = "-".join(map(str, part.recipe.hidden))
        phase = f"{part.title} {place} of {len(parts)}, {dataset.name}, {hidden}"
        if own.arms:
            found = train_missing(study, verbose, phase, further=False)
            trained.append(Trained(dataset, own, found.assign(part=part.title)))
    done = experiment.table(trained, selection)
    title = f"{name.capitalize()}{', quick form' if quick else ''}"
    left_out = [each.name for each in loaded if each.name not in {u.name for u in used}]
    notes = [f"Left out, as too large: {', '.join(left_out)}."] if left_out else []
    text = done.text._replace(title=title, notes=[*done.text.notes, *notes])
    start = f"{name}{'-quick' if quick else ''}"
    end = f"{selection}-{keras.backend.backend()}"
    for each, figure in done.figures.items():
        picture = png_bytes(figure, bbox_inches="tight")
        write_atomically(Path(output) / f"{start}-{each}-{end}.png", picture)
    path = write_atomically(Path(output) / f"{start}-{end}.md", text.markdown)
    records = pandas.concat([each.records for each in trained], ignore_index=True)
    return done._replace(text=text, records=records, path=path)


def _known(experiment: Experiment, names: Sequence[str], quick: bool) -> list[str]:
    """Return the names of all activations, before a dataset is fetched."""
    known = []
    for entry in map(find, names):
        sized: Any = SimpleNamespace(name=entry.name, task=entry.task)
        sized.x = np.empty((entry.size.rows, 0))
        known += [
            arm.name for part in experiment.parts(sized, quick) for arm in part.arms
        ]
    return list(dict.fromkeys(known))


def _names(
    kind: str, experiment: str, wanted: Sequence[str], known: Iterable[str]
) -> Sequence[str]:
    """Return the wanted names, or all names that an experiment has."""
    check_kinds(kind, wanted, str)
    check_distinct(kind, wanted)
    for name in wanted:
        if name not in known:
            raise ValueError(
                f"The {kind} of {experiment} are: {', '.join(known)}."
                f"{did_you_mean(name, known)} Received: {name}"
            )
    return wanted or [*known]
