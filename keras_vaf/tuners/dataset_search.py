"""`DatasetSearch`, a search on a dataset or on a user's table."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import keras
import numpy as np

from keras_vaf.datasets import Preprocessing, TableEncoder
from keras_vaf.datasets.scores import Rows, baseline_scores
from keras_vaf.datasets.tables.networks import with_encoder
from keras_vaf.experiments import RPROP
from keras_vaf.models import mlp
from keras_vaf.training import fold_rows
from keras_vaf.training.divisions import hold_out
from keras_vaf.training.losses import loss_of
from keras_vaf.tuners import (
    CrossValidated,
    TrialResult,
    activation,
    figures,
    ranked,
    to_csv,
    to_json,
)
from keras_vaf.tuners.baselines import (
    baseline_activation,
    baseline_choices,
    gain,
    row_errors,
    score,
)
from keras_vaf.tuners.search_settings import TUNERS, Settings
from keras_vaf.utils import atomic_path, png_bytes, require, write_atomically
from keras_vaf.utils.engines import HERE, Engine
from keras_vaf.visualization import plot_activations

TRIALS = "trials"
"""Subfolder with the trials of a search."""

_TEST_FRACTION = 0.2


class DatasetSearch:
    """A search on a dataset, with its files.

    Args:
        settings: All settings that determine the result.
        folder: Folder of all files of the search.

    Raises:
        ValueError: If the dataset is not a table, or if its rows differ from those with
            which the search began.
    """

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings = settings
        self.folder = folder
        self._dataset = settings.open()
        if self._dataset.x.ndim != 2:
            raise ValueError(
                "A fully connected network takes a table with one row of numbers per "
                f"sample. Received: inputs of shape {self._dataset.x.shape}"
            )
        if settings.checksum != self._dataset.checksum:
            raise ValueError(
                f"The rows of {settings.dataset!r} differ from those with which the "
                f"search in {folder} began. "
                f"Received: checksum {self._dataset.checksum}"
            )
        classes = self._dataset.class_names
        self._outputs = len(classes) if classes else 1
        self._classes = classes is not None
        self._rows, self._test = hold_out(
            self._dataset.y,
            _TEST_FRACTION,
            settings.seed,
            stratify=self._classes,
            groups=self._dataset.groups,
            times=self._dataset.times,
        )
        targets: Any = "none" if self._classes else "standard"
        missing: Any = settings.table.get("missing") or "mean"
        self._preprocessing = Preprocessing(targets=targets, missing=missing)
        if missing == "drop":
            complete = ~np.isnan(self._dataset.x).any(axis=1)
            self._rows, self._test = (
                rows[complete[rows]] for rows in (self._rows, self._test)
            )
        self._fitted = self._preprocessing.fit(self._dataset, self._rows)

    def check_folds(self) -> None:
        """Raise a `ValueError` if the rows of the search cannot be split into folds."""
        groups, times = self._divisions()
        fold_rows(
            self._dataset.y[self._rows],
            self.settings.folds,
            self.settings.seed,
            self._classes,
            validation_fraction=None,
            groups=groups,
            times=times,
        )

    def tuner(self, baseline: str = "") -> Any:
        """Return the tuner, which resumes the search.

        Args:
            baseline: A key of `BASELINES`. By default, the tuner searches a VAF.
        """
        settings = self.settings
        name = "random" if baseline else settings.tuner
        kind = getattr(require("keras_tuner", extra="tune"), TUNERS[name])
        budget = {"max_trials": settings.trials} if baseline else settings.budget
        return CrossValidated(kind)(
            partial(self._build_baseline, baseline) if baseline else self._build,
            objective="val_loss",
            max_retries_per_trial=1,
            seed=settings.seed + 1,
            folds=settings.folds,
            stratify=self._classes,
            **budget,
            directory=self.folder,
            project_name=f"{TRIALS}-{baseline}" if baseline else TRIALS,
        )

    def run(self, tuner: Any, engine: str | Engine = HERE) -> None:
        """Run the remaining trials of a tuner.

        Args:
            tuner: A tuner returned by the method `tuner`.
            engine: Where the trials are trained, as in `CrossValidatedTuner.search`.
        """
        x, y = self._dataset.x[self._rows], self._dataset.y[self._rows]
        groups, times = self._divisions()
        tuner.search(
            x,
            self._fitted.transform_targets(y),
            epochs=self.settings.epochs,
            preprocess=self._preprocess,
            groups=groups,
            times=times,
            engine=engine,
        )

    def finish(self, tuner: Any, baselines: Mapping[str, Any]) -> dict[str, Any]:
        """Train the best trials on all rows of the search and write all files.

        Args:
            tuner: The tuner of the VAF.
            baselines: The tuners of the baselines, by name.

        Returns:
            The report.
        """
        trained = tuner.refit_best()
        model = self._complete(trained)
        with atomic_path(self.folder / "best.keras") as temporary:
            model.save(temporary)
        ours = self._test_errors(model)
        compared = {}
        for name, other in baselines.items():
            theirs = self._test_errors(self._complete(other.refit_best()))
            better, interval = gain(ours, theirs, self._classes)
            compared[name] = {
                "best": asdict(ranked(other.results(), "min")[0]),
                self.metric: score(theirs, self._classes),
                "gain": better,
                "interval": interval,
            }
        report = {
            "settings": asdict(self.settings),
            "backend": keras.backend.backend(),
            "rows": {"search": len(self._rows), "test": len(self._test)},
            "best": asdict(ranked(tuner.results(), "min")[0]),
            "test": {self.metric: score(ours, self._classes), **self._constant()},
            "baselines": compared,
        }
        write_atomically(
            self.folder / "report.json", json.dumps(report, indent=1) + "\n"
        )
        write_results(self.folder, tuner.results())
        inputs = self._fitted.transform_inputs(self._dataset.x[self._rows])
        figure: Any = plot_activations(trained, inputs)[0].figure
        picture = png_bytes(figure, bbox_inches="tight")
        write_atomically(self.folder / "curve.png", picture)
        return report

    @property
    def metric(self) -> str:
        """Name of the test score."""
        return "accuracy" if self._classes else "rmse"

    def _divisions(self) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Return the groups and the times of the rows of the search."""
        groups, times = self._dataset.groups, self._dataset.times
        return (
            None if groups is None else groups[self._rows],
            None if times is None else times[self._rows],
        )

    def _preprocess(self, x: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        part = replace(
            self._dataset,
            x=x,
            y=np.zeros(len(x), self._dataset.y.dtype),
            groups=None,
            times=None,
        )
        return Preprocessing().fit(part, slice(None)).transform_inputs

    def _build(self, hp: Any) -> keras.Model:
        # The tuner calls `keras.utils.set_random_seed` with a different seed in each
        # fold.
        seed = random.getrandbits(31)
        return self._compiled(lambda: activation(hp), seed, RPROP.build())

    def _build_baseline(self, name: str, hp: Any) -> keras.Model:
        rate, seed = baseline_choices(hp, random.getrandbits(31))
        optimizer = RPROP.build()
        optimizer.learning_rate = rate
        return self._compiled(lambda: baseline_activation(name), seed, optimizer)

    def _compiled(
        self, make: Callable[[], keras.layers.Layer], seed: int, optimizer: Any
    ) -> keras.Model:
        inputs = self._fitted.transform_inputs(self._dataset.x[:1]).shape[1]
        model = mlp(inputs, self.settings.hidden, self._outputs, make, seed=seed)
        model.compile(optimizer, loss_of(self._classes))
        return model

    def _complete(self, trained: keras.Model) -> keras.Model:
        """Return the network with inputs and outputs in the units of the dataset."""
        encoder = TableEncoder.of(self._dataset, self._fitted)
        return with_encoder(trained, encoder, self._fitted)

    def _test_errors(self, model: keras.Model) -> np.ndarray:
        x, y = self._dataset.x[self._test], self._dataset.y[self._test]
        return row_errors(y, model.predict(x, verbose=0), self._classes)

    def _constant(self) -> dict[str, float]:
        rows = Rows(self._rows, self._rows, self._test)
        scores = baseline_scores(self._dataset, self._fitted, rows)
        return {"constant": scores[self.metric]}


def write_results(folder: Path, results: Sequence[TrialResult]) -> None:
    """Write the tables and figures of the trials.

    Args:
        folder: The folder of a search.
        results: The trials of the search.
    """
    write_atomically(folder / "trials.csv", to_csv(results))
    write_atomically(folder / "trials.json", to_json(results))
    for name, draw in (
        ("parallel", figures.parallel_coordinates),
        ("progress", figures.best_so_far),
        ("effects", figures.marginal_effects),
    ):
        picture = png_bytes(draw(results, "min"), bbox_inches="tight")
        write_atomically(folder / f"{name}.png", picture)
