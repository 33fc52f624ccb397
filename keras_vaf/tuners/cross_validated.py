"""`CrossValidated`, which adds K-fold cross-validation to a tuner of KerasTuner."""

from __future__ import annotations

import json
import math
import os
import shutil
import statistics
import tempfile
import time
import warnings
import weakref
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from keras_vaf.experiments.store import append_line, read_lines
from keras_vaf.training import NetworkRun, Trainer, fold_rows, train
from keras_vaf.training.data import take, to_arrays
from keras_vaf.training.folds import Preprocess, preprocess_folds
from keras_vaf.training.seeds import independent_seeds
from keras_vaf.training.trainer import widest
from keras_vaf.utils import checksum, deviation, require

if TYPE_CHECKING:
    import pandas
    from keras_tuner import HyperParameters, Tuner
    from keras_tuner.engine.trial import Trial
else:
    Tuner = object


def CrossValidated(tuner_class: type) -> type:
    """Return a tuner class that scores each trial by K-fold cross-validation.

    Each fold is the validation set of one training on the other folds, which keeps its
    best epoch (Algorithm 1). The score of a trial is the mean over the folds. Do not
    pass rows that are reserved for a test to the search. On JAX, a single program
    trains all folds of a trial.

    The class takes the arguments of the tuner, and in addition `folds` and `stratify`,
    which is `False` for a regression. `objective` is one metric on validation rows, and
    `seed` also determines the folds. A search that was interrupted, even by `kill -9`,
    goes on if it is run again. Each finished trial is kept in the file `trials.jsonl`.

    Args:
        tuner_class: `keras_tuner.RandomSearch`, `BayesianOptimization`, `Hyperband`,
            `GridSearch` or another subclass of `keras_tuner.Tuner`.

    Raises:
        ValueError: If the argument is not a tuner class.
        ImportError: If KerasTuner is not installed.

    Example:

    >>> import keras_tuner
    >>> def build(hp):
    ...     layers = [keras.layers.Dense(4), activation(hp), keras.layers.Dense(1)]
    ...     model = keras.Sequential(layers)
    ...     model.compile("adam", "mse")
    ...     return model
    >>> tuner = CrossValidated(keras_tuner.RandomSearch)(
    ...     build, objective="val_loss", max_trials=2, folds=2, stratify=False, seed=1
    ... )
    >>> tuner.oracle.verbose = 0
    >>> x = np.random.normal(size=(20, 3))
    >>> tuner.search(x, x[:, 0], epochs=2)
    >>> tuner.results()["status"].tolist()
    ['COMPLETED', 'COMPLETED']
    >>> tuner.refit_best().count_params() > 21
    True
    """
    kind = require("keras_tuner", extra="tune").Tuner
    if not isinstance(tuner_class, type) or not issubclass(tuner_class, kind):
        raise ValueError(
            "`tuner_class` must be a tuner class such as keras_tuner.RandomSearch. "
            f"Received: tuner_class={tuner_class!r}"
        )
    name = f"CrossValidated{tuner_class.__name__}"
    return type(name, (CrossValidatedTuner, tuner_class), {})


class CrossValidatedTuner(Tuner):
    """The mixin that `CrossValidated` adds to a tuner.

    A search is deterministic: the same seed and the same scores give the same values.
    So a search that is resumed runs from the beginning, and a trial whose result is in
    the file `trials.jsonl` returns at once. No state of KerasTuner is read.
    """

    def __init__(
        self, *args: Any, folds: int = 5, stratify: bool = True, **kwargs: Any
    ) -> None:
        if chief := os.environ.get("KERASTUNER_ORACLE_IP"):
            raise ValueError(
                "`CrossValidated` searches in one process: unset KERASTUNER_ORACLE_IP, "
                "or use a tuner of KerasTuner. "
                f"Received: KERASTUNER_ORACLE_IP={chief}"
            )
        self._folds, self._stratify = folds, stratify
        self._seed = kwargs.get("seed") or 0
        if "oracle" not in kwargs:
            kwargs["seed"] = self._seed or 1  # KerasTuner ignores the seed 0
        project = kwargs.get("project_name") or "untitled_project"
        self._file = Path(kwargs.get("directory") or ".") / project / "trials.jsonl"
        if kwargs.pop("overwrite", False):
            self._file.unlink(missing_ok=True)
        self._found: dict[str, dict[str, Any]] = {}
        # Nothing reads the files that KerasTuner writes.
        scratch = tempfile.mkdtemp(prefix="keras_vaf-")
        weakref.finalize(self, shutil.rmtree, scratch, ignore_errors=True)
        super().__init__(*args, **{**kwargs, "directory": scratch})
        self._metric = getattr(self.oracle.objective, "name", "")
        if not self._metric.startswith("val_"):
            raise ValueError(
                "`objective` must be one metric on validation rows, such as 'val_loss' "
                f"or 'val_accuracy'. Received: objective={self._metric!r}"
            )

    def search(
        self,
        x: Any,
        y: Any,
        epochs: int,
        batch_size: int | None = None,
        patience: int | None = None,
        preprocess: Preprocess | None = None,
        groups: Any = None,
        times: Any = None,
    ) -> None:
        """Run trials until the search is complete; resume an interrupted search.

        A finished trial is remembered for the same data, folds and arguments of this
        method. A changed hypermodel needs another `project_name`, or `overwrite=True`.

        Data, `batch_size` and `patience` are those of `keras_vaf.training.train`, and
        `groups` and `times` those of `fold_rows`. A trial of Hyperband gets a part of
        the `epochs`, from new weights. `preprocess` takes the training inputs of a fold
        and returns a function, which is applied to all inputs of this fold.

        Raises:
            ValueError: If the data cannot be split into the folds.
            RuntimeError: If too many consecutive trials failed.
        """
        self._data: Any = to_arrays("`(x, y)`", (x, y))
        self._preprocess, self._epochs = preprocess, epochs
        self._options = batch_size, patience
        split = self._folds, self._seed, self._stratify, None, groups, times
        rows = fold_rows(keras.tree.flatten(self._data[1])[0], *split)
        self._copies: Any = self._data, rows
        if preprocess is not None:
            self._copies = preprocess_folds(self._data, rows, preprocess)
        settings = keras.backend.backend(), checksum(self._copies), epochs
        self._settings = [*settings, *self._options, self._seed, self._metric]
        lines = (line for line in read_lines(self._file) if {"key", "error"} <= {*line})
        self._remembered = {line["key"]: line for line in lines}
        self._attempts: Counter[str] = Counter()
        with warnings.catch_warnings():
            # KerasTuner calls deprecated functions of Python in every trial.
            warnings.simplefilter("ignore", DeprecationWarning)
            super().search()

    def run_trial(self, trial: Trial, *_: Any, **__: Any) -> dict[str, float]:
        """Return the means of all metrics over the folds, and remember them.

        KerasTuner retries a trial with an error up to `max_retries_per_trial` times.
        """
        attempt = self._attempts[trial.trial_id]
        self._attempts[trial.trial_id] += 1
        values = trial.hyperparameters.values
        key = json.dumps([*self._settings, values, attempt], sort_keys=True)
        if key not in self._remembered:
            record = self._train(trial.hyperparameters, attempt)
            self._remembered[key] = {"key": key, **record}
            self._file.parent.mkdir(parents=True, exist_ok=True)
            append_line(self._file, self._remembered[key])
        found = self._remembered[key]
        if found["error"]:
            raise FloatingPointError(found["error"])
        self._found[trial.trial_id] = found["results"]
        return found["metrics"]

    def results(self) -> pandas.DataFrame:
        """Return one row for each trial, best first and failed ones last.

        The index is the number of the trial. The columns are KerasTuner's `status`, the
        hyperparameters, and of the objective at the best epoch the mean over the folds
        (`score`), the `deviation` (n - 1) and the value in each fold (`fold_0` and so
        on). Further columns are the median of the best `epochs`, the `seconds`, and the
        `error` of a failed trial.
        """
        rows = {
            number: {
                "status": trial.status,
                **trial.hyperparameters.values,
                "score": trial.score,
                **self._found.get(number, {}),
                "error": trial.message,
            }
            for number, trial in self.oracle.trials.items()
        }
        frame = require("pandas", extra="tune").DataFrame.from_dict(rows, "index")
        lowest_first = self.oracle.objective.direction == "min"
        return frame.sort_values("score", ascending=lowest_first) if rows else frame

    def refit_best(self) -> keras.Model:
        """Train a model with the best hyperparameters on all rows.

        The number of epochs is the median of the best epochs of its folds. Inputs are
        preprocessed with statistics of all rows.

        Raises:
            ValueError: If no trial was completed. Call `search` first, which returns at
                once if the search is complete.
        """
        best = self.oracle.get_best_trials()
        if not best or best[0].trial_id not in self._found:
            raise ValueError(
                "A completed trial is needed to train its model on all rows; call "
                f"`search` first. Received: {len(self.oracle.trials)} trials"
            )
        return self.load_model(best[0])

    def load_model(self, trial: Trial) -> keras.Model:
        """Train a model with the hyperparameters of a trial (see `refit_best`)."""
        model = self._build(trial.hyperparameters, self._folds, attempt=0)
        [seed] = independent_seeds(self._seed, self._folds, "shuffling")
        x, y = self._data
        x = x if self._preprocess is None else self._preprocess(x)(x)
        epochs = self._found[trial.trial_id]["epochs"]
        train(model, x, y, None, epochs, self._options[0], seed=seed)
        return model

    def _build(self, hp: HyperParameters, fold: int, attempt: int) -> keras.Model:
        """Return a new model, whose start depends only on seed, fold and attempt."""
        keras.utils.set_random_seed(*independent_seeds(self._seed, fold, attempt))
        model = self.hypermodel.build(hp)
        if not model.built:
            model(take(self._copies[0][0], slice(1)))
        return model

    def _train(self, hp: HyperParameters, attempt: int) -> dict[str, Any]:
        """Train a model on every fold, and return what is remembered of the trial."""
        started, name = time.perf_counter(), self._metric
        keras.utils.clear_session()
        most = getattr(self.oracle, "max_epochs", 1)  # Hyperband's
        epochs = math.ceil(self._epochs * hp.values.get("tuner/epochs", most) / most)
        (data, folds), runs = self._copies, []
        for fold, (rest, held, _) in enumerate(folds):
            model = self._build(hp, fold, attempt)
            [seed] = independent_seeds(self._seed, fold, "shuffling")
            runs.append(NetworkRun(model.get_weights(), rest, held, seed))
        # Convolutions are slower together, on a CPU.
        flat = all(np.ndim(leaf) == 2 for leaf in keras.tree.flatten(data[0]))
        width = min(widest(), len(folds)) if flat else 1
        how = *self._options, name, self.oracle.objective.direction, width
        trained, _ = zip(
            *Trainer(model, *how).train_runs(data, runs, epochs), strict=True
        )
        if bad := ", ".join(str(n) for n, e in enumerate(trained) if not e.best_epoch):
            return {"error": f"{name} was not finite in any epoch of fold {bad}"}
        best = [each.best for each in trained]
        results = {
            "deviation": deviation([each[name] for each in best]),
            "epochs": statistics.median_high(each.best_epoch for each in trained),
            "seconds": round(time.perf_counter() - started, 3),
            **{f"fold_{fold}": each[name] for fold, each in enumerate(best)},
        }
        means = {n: math.fsum(b[n] for b in best) / len(best) for n in best[0]}
        return {"error": None, "metrics": means, "results": results}
