"""`CrossValidated`, which adds K-fold cross-validation to a tuner of KerasTuner."""

from __future__ import annotations

import json
import shutil
import statistics
import tempfile
import time
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from keras_vaf.experiments.recipe import Recipe
from keras_vaf.experiments.store import append_line, read_lines
from keras_vaf.training import NetworkRun, Trainer, fold_rows, train
from keras_vaf.training.data import take, to_arrays
from keras_vaf.training.seeds import independent_seeds
from keras_vaf.training.trainer import widest
from keras_vaf.tuners.space import check_one_process, epochs_of
from keras_vaf.utils import check_integer, checksum, deviation, require

if TYPE_CHECKING:
    import pandas
    from keras_tuner import HyperParameters, Tuner
    from keras_tuner.engine.trial import Trial
else:
    Tuner = object

_UNUSED = {"executions_per_trial", "max_model_size", "distribution_strategy"}


def CrossValidated(tuner_class: type) -> type:
    """Return a tuner class that scores each trial by K-fold cross-validation.

    Each fold is the validation set of one training on the other folds, which keeps its
    best epoch (Algorithm 1). The score of a trial is the mean over the folds. Keep rows
    that are reserved for a test out of the search. On JAX, one program trains all folds
    of a trial.

    The class takes the arguments of the tuner, without `executions_per_trial`,
    `max_model_size` and `distribution_strategy`, and also `folds` (by default 5) and
    `stratify`, which must be `False` for a regression. `seed` also determines the
    folds. A search that was interrupted goes on if it is run again. Each finished trial
    is a line of `trials.jsonl`. `get_best_models` trains the best trials on all rows.

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
    >>> [best] = tuner.get_best_models()
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

    The same seed and scores give the same values. So a resumed search runs from the
    beginning, and a trial in `trials.jsonl` returns at once. No state is read.
    """

    def __init__(
        self, *args: Any, folds: int = 5, stratify: bool = True, **kwargs: Any
    ) -> None:
        check_one_process("CrossValidated")
        if unused := _UNUSED & {*kwargs}:
            raise ValueError(
                "`CrossValidated` trains each fold once: use a tuner of KerasTuner for "
                f"other trainings. Received: {', '.join(sorted(unused))}"
            )
        self._folds, self._stratify = folds, stratify
        self._seed = check_integer("seed", kwargs.get("seed") or 0, minimum=0)
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
                "`objective` must be one metric on validation rows, such as 'val_loss'."
                f" Received: objective={self._metric!r}"
            )

    def search(
        self,
        x: Any,
        y: Any,
        epochs: int,
        batch_size: int | None = None,
        patience: int | None = None,
        groups: Any = None,
        times: Any = None,
    ) -> None:
        """Run trials until the search is complete; resume an interrupted search.

        A finished trial is remembered for the same data, folds and arguments of this
        method. A changed hypermodel needs another `project_name`, or `overwrite=True`.

        Data, `batch_size` and `patience` are those of `keras_vaf.training.train`, and
        `groups` and `times` those of `fold_rows`. A trial of Hyperband gets a part of
        the `epochs`, from new weights.

        Raises:
            ValueError: If the data cannot be split into the folds.
            RuntimeError: If too many consecutive trials failed.
        """
        # The recipe checks them now: KerasTuner would go on after an error in a trial.
        recipe = Recipe(epochs=epochs, batch_size=batch_size, patience=patience)
        self._epochs, *self._options = recipe.epochs, recipe.batch_size, recipe.patience
        self._data: Any = to_arrays("`(x, y)`", (x, y))
        split = self._folds, self._seed, self._stratify, None, groups, times
        self._rows = fold_rows(keras.tree.flatten(self._data[1])[0], *split)
        data = keras.backend.backend(), checksum((self._data, self._rows))
        how = self._epochs, *self._options, self._seed, self._metric
        self._settings = *data, *how
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.touch()  # raises an error now rather than in each trial
        lines = (line for line in read_lines(self._file) if {"key", "error"} <= {*line})
        self._remembered = {line["key"]: line for line in lines}
        super().search()

    def run_trial(self, trial: Trial, *_: Any, **__: Any) -> dict[str, float]:
        """Return the means of all metrics over the folds, and remember them."""
        values = trial.hyperparameters.values
        key = json.dumps([*self._settings, values], sort_keys=True)
        if key not in self._remembered:
            self._remembered[key] = {"key": key, **self._train(trial.hyperparameters)}
            append_line(self._file, self._remembered[key])
        found = self._remembered[key]
        if found["error"]:
            raise FloatingPointError(found["error"])
        self._found[trial.trial_id] = found["results"]
        return found["metrics"]

    def results(self) -> pandas.DataFrame:
        """Return one row for each trial, best first and failed ones last.

        The columns are KerasTuner's `status`, the hyperparameters, and of the objective
        at the best epoch the mean over the folds (`score`), the `deviation` (n - 1) and
        the value in each fold (`fold_0` and so on); then the median of the best
        `epochs`, the `seconds`, and the `error` of a failed trial.
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

    def load_model(self, trial: Trial) -> keras.Model:
        """Train a model on all rows, for the median of the best epochs of the folds."""
        if trial.trial_id not in self._found:
            raise ValueError(
                f"The trial must be completed. Received: the status {trial.status}"
            )
        model, (x, y) = self._build(trial.hyperparameters, self._folds), self._data
        [seed] = independent_seeds(self._seed, self._folds, "shuffling")
        epochs = self._found[trial.trial_id]["epochs"]
        train(model, x, y, None, epochs, self._options[0], seed=seed)
        return model

    def _build(self, hp: HyperParameters, fold: int) -> keras.Model:
        """Return a new model, whose start depends only on seed and fold."""
        keras.utils.set_random_seed(*independent_seeds(self._seed, fold, 0))
        model = self.hypermodel.build(hp)
        self._override_compile_args(model)  # with those of the tuner
        if not model.built:
            model(take(self._data[0], slice(1)))
        return model

    def _train(self, hp: HyperParameters) -> dict[str, Any]:
        """Train a model on every fold, and return what is remembered of the trial."""
        started, name = time.perf_counter(), self._metric
        keras.utils.clear_session()
        epochs = epochs_of(self.oracle, hp.values, self._epochs)
        runs = []
        for fold, (rest, held, _) in enumerate(self._rows):
            model = self._build(hp, fold)
            [seed] = independent_seeds(self._seed, fold, "shuffling")
            runs.append(NetworkRun(model.get_weights(), rest, held, seed))
        # Convolutions are slower together, on a CPU.
        flat = all(np.ndim(leaf) == 2 for leaf in keras.tree.flatten(self._data[0]))
        width = min(widest(), len(runs)) if flat else 1
        how = *self._options, name, self.oracle.objective.direction, width
        found = Trainer(model, *how).train_runs(self._data, runs, epochs)
        trained = [network.history for network in found]
        if bad := ", ".join(str(n) for n, e in enumerate(trained) if not e.best_epoch):
            return {"error": f"{name} was not finite in any epoch of fold {bad}"}
        best = [each.best for each in trained]
        results = {
            "deviation": deviation([each[name] for each in best]),
            "epochs": statistics.median_high(each.best_epoch for each in trained),
            "seconds": round(time.perf_counter() - started, 3),
            **{f"fold_{fold}": each[name] for fold, each in enumerate(best)},
        }
        means = {n: statistics.fmean(b[n] for b in best) for n in best[0]}
        return {"error": None, "metrics": means, "results": results}
