"""`train_missing`, which trains what a folder of records does not contain yet."""

from __future__ import annotations

import hashlib
import importlib
import itertools
import json
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import keras
import numpy as np
import pandas

from keras_vaf.datasets import Dataset
from keras_vaf.experiments.arms import Arm, references
from keras_vaf.experiments.networks import (
    Table,
    fit_references,
    train_networks,
    trainer_of,
)
from keras_vaf.experiments.own_model import OwnModel
from keras_vaf.experiments.recipe import Data, Recipe, Wanted, folds_of
from keras_vaf.experiments.results import ARM, select
from keras_vaf.experiments.store import append, records
from keras_vaf.ops import info
from keras_vaf.training.recipe import LEARNING_RATES, further_rates
from keras_vaf.utils import (
    check_distinct,
    check_integer,
    check_kind,
    check_kinds,
    require,
    visible,
    write_atomically,
)

_A_MINUTE, _TEN_MINUTES = 60, 600
_FASTER = (
    "JAX trains the folds of an activation together, which took 92 s in place of 338 s "
    "on TensorFlow (500,000 rows, three folds). It begins again: KERAS_BACKEND=jax."
)
_TURNS = threading.Lock()  # of threads, which share the network of an activation
_folds = lru_cache(maxsize=8)(folds_of)  # one for each of a few seeds


class Study(NamedTuple):
    """The data and settings of trainings, and the folder of their records."""

    dataset: Data
    arms: Sequence[Arm]
    recipe: Recipe
    seeds: Sequence[int]
    folder: Path
    jobs: int = 1
    rates: Sequence[float] = ()  # those of the recipe, and further ones

    def records(self) -> pandas.DataFrame:
        """Return the records of this study, in the order of the arms."""
        found = records(self.folder, self.recipe.digest(self.dataset))
        found = found[
            found["learning_rate"].isin([*self.rates, np.nan])
            & found["seed"].isin(self.seeds)
        ].sort_values(["seed", "fold", "learning_rate"])
        keys = pandas.MultiIndex.from_frame(found[ARM])
        own = [found[keys.isin([arm.key])].assign(title=arm.title) for arm in self.arms]
        return pandas.concat(own, ignore_index=True)

    def missing(self) -> Iterator[tuple[Study, Wanted]]:
        """Yield what has no record, as studies of one arm and one seed."""
        # NaN, the learning rate of a reference, differs from itself.
        found = self.records().fillna({"learning_rate": 0.0})
        names = [*ARM, "seed", "fold", "learning_rate"]
        done = {*found[names].itertuples(index=False, name=None)}
        for arm, seed in itertools.product(self.arms, self.seeds):
            own = (0.0,) if arm.reference else self.rates
            pairs = itertools.product(range(self.recipe.folds), own)
            wanted = [pair for pair in pairs if (*arm.key, seed, *pair) not in done]
            if wanted:
                yield self._replace(arms=(arm,), seeds=(seed,)), wanted


def check_study(study: Study) -> Study:
    """Return the study without equal arms; raise errors before the first training."""
    dataset, arms, recipe, seeds, *_ = study
    check_kinds("activations", arms, Arm, ", or names such as 'relu,prelu'")
    check_integer("the number of activations", len(arms))
    others = references(dataset.task)
    keys, names = zip(*((arm.key, arm.name) for arm in (*arms, *others)), strict=True)
    if len({*keys}) < len(keys):
        check_distinct("activations", names)
    check_kind("recipe", recipe, Recipe)
    if isinstance(dataset, OwnModel):
        return study._replace(arms=dataset.arms(arms))
    if dataset.x.ndim != 2:
        raise ValueError(
            "A fully connected network takes a table with one row of numbers per "
            f"sample. Received: inputs of shape {(None, *dataset.x.shape[1:])}"
        )
    folds_of(dataset, recipe, seeds[0])
    for arm in arms:
        Table(dataset, recipe).network(arm, seeds[0], fold=0)
    return study


def folder_of(study: Study, prefix: str = "", *more: Any) -> Path:
    """Return the folder of a comparison, named by all settings and `more` of them."""
    dataset, recipe = study.dataset, study.recipe
    names = dataset.target, dataset.feature_names, dataset.class_names  # of best.keras
    parts = [recipe.digest(dataset), *recipe.learning_rates, names, *more]
    text = json.dumps([*parts, *(arm.key for arm in study.arms), *study.seeds])
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    # The name of a dataset may come from a path.
    name = "".join(c if c.isalnum() else "-" for c in dataset.name)[:60]
    return study.folder / f"{prefix}{name}-{digest}"


def train_missing(
    study: Study, verbose: bool = True, phase: str = "Training", further: bool = True
) -> pandas.DataFrame:
    """Train each activation in each fold, unless it has a record, and return all.

    With `further`, all get a further learning rate if one at the edge is selected.
    """
    for package in ("rich", "scipy", "sklearn", "threadpoolctl"):
        require(package, extra="experiments")  # not only after hours of training
    dataset, recipe, folder = study.dataset, study.recipe, study.folder
    settings = {**recipe.settings(dataset), "problem": dataset.name}
    path = folder / f"recipe-{recipe.digest(dataset)}.json"
    write_atomically(path, json.dumps(settings, indent=1))
    first = recipe.learning_rates
    further = further and len(first) >= len(LEARNING_RATES)
    note = " Further learning rates follow if the best one is at the edge." * further
    study = study._replace(rates=first)
    try:
        while True:
            _train(study, phase, note, verbose)
            found = study.records()
            selected = {*select(found)["learning_rate"]}
            more = further_rates(first, study.rates, selected) if further else ()
            if not more:
                return found
            study = study._replace(rates=(*study.rates, *more))
            rates = " and ".join(f"{rate:g}" for rate in more)
            phase, note = f"Training with learning rate {rates}", ""
    except _killed() as error:
        raise ChildProcessError(
            "A training process was killed, perhaps for lack of memory. Every finished "
            f"training is kept: run it again with fewer `jobs`. Received: {study.jobs}"
        ) from error
    finally:
        _folds.cache_clear()
        trainer_of.cache_clear()


def _train(study: Study, phase: str, note: str, verbose: bool) -> None:
    """Train what has no record, in processes, threads or on machines of a cluster."""
    joblib = require("joblib", extra="experiments")
    jobs = study.jobs if study.jobs > 1 else None  # those of `joblib.parallel_config`
    active, _ = joblib.parallel.get_active_backend()
    kind = "generator_unordered" if active.supports_return_generator else "list"
    if batches := list(study.missing()):
        digest, train = study.recipe.digest(study.dataset), joblib.delayed(train_batch)
        tasks = (train(own, digest, len(wanted)) for own, wanted in batches)
        total = sum(len(wanted) for _, wanted in batches)
        if done := len(study.records()):
            note = f" {done:,} of {done + total:,} are done.{note}"
        elif verbose:
            note += _old_results(study.folder)
        slow = isinstance(study.dataset, Dataset) and keras.backend.backend() != "jax"
        done = joblib.Parallel(n_jobs=jobs, return_as=kind)(tasks)
        follow(done, phase, total, verbose, note, _FASTER * slow)
    if any(study.missing()):
        raise FileNotFoundError(
            f"Records disappeared from {study.folder}. Keep the folder until all "
            "trainings have ended, and run the command again."
        )


def _old_results(folder: Path) -> str:
    """Name a file of version 0.3.0, if a folder has one."""
    names = "seed-*-fold-*.json", "trial_*/trial.json"
    found = next(itertools.chain.from_iterable(map(folder.rglob, names)), None)
    return f" Results of version 0.3.0, such as {found}, are not read." if found else ""


def _killed() -> tuple[type[Exception], ...]:
    """Return the errors of a worker that was killed; Dask and Ray try it again."""
    names = {"distributed": "KilledWorker", "ray.exceptions": "RayActorError"}
    modules = ((sys.modules.get(module), name) for module, name in names.items())
    own = (getattr(module, name) for module, name in modules if module)
    return BrokenExecutor, *own


def train_batch(study: Study, digest: str, count: int) -> tuple[str, int]:
    """Train a study of one arm and one seed; return its name and `count`."""
    dataset, [arm], recipe, [seed], *_ = study
    if digest != recipe.digest(dataset):
        raise RuntimeError(
            "All processes must have the same Keras backend and precision. Received: "
            f"{keras.backend.backend()}, {keras.config.dtype_policy().name} in a worker"
        )
    backend = importlib.import_module(keras.backend.backend())
    facts = info()
    kernels = facts["native kernels"].partition(":")[0]
    device = str(keras.ops.zeros(()).device).rpartition("device:")[2].lower()
    shared = {
        "problem": dataset.name,
        "task": dataset.task,
        "hidden": getattr(dataset, "network_name", "-".join(map(str, recipe.hidden))),
        "title": arm.title,
        "recipe": digest,
        "activation": arm.key[0],
        "arguments": arm.key[1],
        "environment": f"keras {keras.__version__}, {backend.__name__} "
        f"{backend.__version__}, numpy {np.__version__}, {device}, keras_vaf "
        f"{facts['keras_vaf']}, native kernels {kernels}",
    }
    train = fit_references if arm.reference else train_networks
    with _TURNS:
        # Dask repeats a batch whose worker was lost. What that worker trained is kept.
        for _, wanted in study.missing():
            for row in train(_folds(dataset, recipe, seed), arm, recipe, wanted):
                append(study.folder, shared | row)
    return f"{arm.title}, seed {seed}", count


def follow(
    batches: Iterable[tuple[str, int]],
    phase: str,
    total: int,
    verbose: bool,
    note: str = "",
    slow: str = "",
) -> None:
    """Show on standard error how many trainings of a phase are finished.

    `note` follows their number, and `slow` the first line that has a long time left.
    """
    console = require("rich.console", extra="experiments").Console(
        stderr=True, quiet=not verbose, markup=False, highlight=False, soft_wrap=True
    )
    hidden = not (verbose and console.is_terminal)
    rich = require("rich.progress", extra="experiments")
    console.print(f"{phase}: {total:,} models.{note}")
    with rich.Progress(console=console, transient=True, disable=hidden) as bar:
        bar.add_task(phase, total=total)
        [task] = bar.tasks
        for name, count in batches:
            bar.advance(task.id, count)
            left = task.elapsed * (total / task.completed - 1)
            text = f"{name}: {task.completed} of {total} in {_duration(task.elapsed)}"
            known = task.completed >= total / 10 or task.elapsed > _A_MINUTE
            if known and left:  # fewer do not tell the time that is left
                text += f", about {_duration(left)} left"
            console.print(visible(f"{text}."))
            if known and slow and left > _TEN_MINUTES:
                console.print(slow)
                slow = ""


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes:,} min {seconds} s" if minutes else f"{seconds} s"
