"""A search on one of the paper's datasets, and its files: `DatasetSearch`."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import keras
import numpy as np

from keras_vaf.datasets import Preprocessing, load
from keras_vaf.datasets.scores import Rows, baseline_scores, class_scores
from keras_vaf.experiments import RPROP
from keras_vaf.models import mlp
from keras_vaf.training import split
from keras_vaf.tuners import (
    CrossValidated,
    activation,
    figures,
    ranked,
    read_trials,
    to_csv,
    to_json,
)
from keras_vaf.tuners.resumable.versions import keras_tuner
from keras_vaf.tuners.search_settings import TUNERS, Settings
from keras_vaf.utils import atomic_path, png_bytes, write_atomically
from keras_vaf.visualization import plot_activations

TRIALS = "trials"
"""Subfolder of a search that holds its trials."""

_TEST_FRACTION = 0.2


class DatasetSearch:
    """A search on a dataset.

    Args:
        settings: Everything that decides the outcome.
        folder: Folder of all files of the search.

    Raises:
        ValueError: If the dataset has no table of numbers, or other rows than those
            with which the search began.
    """

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings = settings
        self.folder = folder
        self._dataset = load(settings.dataset, settings.data_dir)
        if self._dataset.x.ndim != 2:
            raise ValueError(
                "A fully connected network takes a table, with one row of numbers per "
                f"sample. Received: inputs of shape {self._dataset.x.shape}"
            )
        if settings.checksum != self._dataset.checksum:
            raise ValueError(
                f"The rows of {settings.dataset!r} are not those that the search in "
                f"{folder} began with. Received: checksum {self._dataset.checksum}"
            )
        classes = self._dataset.class_names
        self._outputs = len(classes) if classes else 1
        self._classes = classes is not None
        self._rows, self._test = split(
            self._dataset.y, _TEST_FRACTION, settings.seed, stratify=self._classes
        )
        targets: Any = "none" if self._classes else "standard"
        self._fitted = Preprocessing(targets=targets).fit(self._dataset, self._rows)

    def tuner(self) -> Any:
        """Return the tuner, which resumes the search."""
        settings = self.settings
        kind = getattr(keras_tuner(), TUNERS[settings.tuner])
        return CrossValidated(kind)(
            self._build,
            objective="val_loss",
            max_retries_per_trial=1,
            seed=settings.seed + 1,
            folds=settings.folds,
            stratify=self._classes,
            **settings.budget,
            directory=self.folder,
            project_name=TRIALS,
        )

    def run(self, tuner: Any) -> None:
        """Run the missing trials."""
        x, y = self._dataset.x[self._rows], self._dataset.y[self._rows]
        tuner.search(
            x,
            self._fitted.transform_targets(y),
            epochs=self.settings.epochs,
            preprocess=self._preprocess,
        )

    def finish(self, tuner: Any) -> dict[str, float]:
        """Train the best trial on all rows of the search, and write all files.

        Returns:
            Its score on the test rows, and the score of the best constant.
        """
        trained = tuner.refit_best()
        model = self._complete(trained)
        with atomic_path(self.folder / "best.keras") as temporary:
            model.save(temporary)
        scores = self._test_scores(model)
        best = ranked(tuner.results(), "min")[0]
        report = {
            "settings": asdict(self.settings),
            "backend": keras.backend.backend(),
            "rows": {"search": len(self._rows), "test": len(self._test)},
            "best": asdict(best),
            "test": scores,
        }
        write_atomically(
            self.folder / "report.json", json.dumps(report, indent=1) + "\n"
        )
        write_results(self.folder)
        inputs = self._fitted.transform_inputs(self._dataset.x[self._rows])
        figure: Any = plot_activations(trained, inputs)[0].figure
        picture = png_bytes(figure, bbox_inches="tight")
        write_atomically(self.folder / "curve.png", picture)
        return scores

    @cached_property
    def takes_raw_inputs(self) -> bool:
        """True if `best.keras` scales its inputs itself."""
        return not self._dataset.categories

    def _preprocess(self, x: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        part = replace(self._dataset, x=x, y=np.zeros(len(x), self._dataset.y.dtype))
        return Preprocessing().fit(part, slice(None)).transform_inputs

    def _build(self, hp: Any) -> keras.Model:
        # The tuner calls `keras.utils.set_random_seed` with another seed in each fold.
        seed = random.getrandbits(31)
        inputs = self._fitted.transform_inputs(self._dataset.x[:1]).shape[1]
        hidden = self.settings.hidden
        model = mlp(inputs, hidden, self._outputs, lambda: activation(hp), seed=seed)
        if self._classes:
            loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        else:
            loss = keras.losses.MeanSquaredError()
        model.compile(RPROP.build(), loss)
        return model

    def _complete(self, trained: keras.Model) -> keras.Model:
        """Return the network with inputs and outputs in the dataset's units."""
        *body, last = trained.layers
        head = keras.layers.Dense(last.units, "softmax" if self._classes else None)
        layers = [*body, head]
        if self.takes_raw_inputs:
            scale = self._fitted.input_scale
            # A constant column becomes 0 for every later value.
            variance = np.where(scale.spread > 0, scale.spread, 1e18) ** 2
            layers.insert(
                0,
                keras.layers.Normalization(
                    mean=scale.center.tolist(), variance=variance.tolist()
                ),
            )
        shape = self._dataset.x.shape[1:] if self.takes_raw_inputs else None
        inputs = keras.Input(shape or trained.input_shape[1:])
        model = keras.Sequential([inputs, *layers])
        kernel, bias = last.get_weights()
        target = self._fitted.target_scale
        if target is not None:
            kernel = kernel * target.spread
            bias = bias * target.spread + target.center
        head.set_weights([kernel, bias])
        return model

    def _test_scores(self, model: keras.Model) -> dict[str, float]:
        x, y = self._dataset.x[self._test], self._dataset.y[self._test]
        if self.takes_raw_inputs:
            x = np.where(np.isnan(x), self._fitted.input_scale.fill, x)
        else:
            x = self._fitted.transform_inputs(x)
        outputs = model.predict(x.astype("float32"), verbose=0)
        rows = Rows(self._rows, self._rows, self._test)
        constant = baseline_scores(self._dataset, self._fitted, rows)
        if self._classes:
            scores = class_scores(y, outputs.argmax(axis=1))
            return {"accuracy": scores["accuracy"], "constant": constant["accuracy"]}
        rmse = float(np.sqrt(np.mean((outputs[:, 0] - y) ** 2)))
        return {"rmse": rmse, "constant": constant["rmse"]}


def write_results(folder: Path) -> None:
    """Write tables and pictures of the trials.

    Args:
        folder: The folder of a search.
    """
    results = read_trials(folder / TRIALS)
    write_atomically(folder / "trials.csv", to_csv(results))
    write_atomically(folder / "trials.json", to_json(results))
    for name, draw in (
        ("parallel", figures.parallel_coordinates),
        ("progress", figures.best_so_far),
        ("effects", figures.marginal_effects),
    ):
        picture = png_bytes(draw(results, "min"), bbox_inches="tight")
        write_atomically(folder / f"{name}.png", picture)
