"""`search`, which compares a VAF with drawn values with fixed activations."""

from __future__ import annotations

import itertools
import json
import math
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from keras_vaf.datasets import Dataset
from keras_vaf.experiments import comparison, run
from keras_vaf.experiments.advice import advice
from keras_vaf.experiments.arms import Arm, find_arms, references
from keras_vaf.experiments.own_model import own_model
from keras_vaf.experiments.recipe import Data, Recipe
from keras_vaf.experiments.results import numbers_of, sign
from keras_vaf.experiments.tables import option
from keras_vaf.training import recipe as defaults
from keras_vaf.training.compiled import takes_values
from keras_vaf.training.seeds import independent_seeds
from keras_vaf.tuners.space import activation, check_one_process
from keras_vaf.utils import check_choice, check_integer, require, write_atomically

if TYPE_CHECKING:
    import pandas

SEARCHED = Arm("vaf-searched", "VAF, searched", "VAFActivation")
TUNERS = {
    "random": "RandomSearch",
    "bayesian": "BayesianOptimization",
    "grid": "GridSearch",
    "hyperband": "Hyperband",
}
"""Classes of KerasTuner, by the names of the command line."""

TRIALS = 24
FOLDS = 3
BASELINES = "relu,silu,gelu"
LEARNING_RATES = (0.0001, *defaults.LEARNING_RATES, 0.03)
"""Those of the recipe, and a further one at each end."""

_UNITS = {70: 27, 23: 9, 6: 3}  # Hyperband's `max_epochs`, by its number of trials
_TRIAL = ["arguments", "learning_rate", "recipe"]


@dataclass(frozen=True, eq=False)
class Search(comparison.Comparison):
    """The result of `search`: a comparison of the searched VAF with other activations.

    `records` has the trials as tries of one activation, like the learning rates of the
    others. `drawn` has the records of the trials, with their values in `arguments`.
    """

    drawn: pandas.DataFrame

    @property
    def trials(self) -> pandas.DataFrame:
        """The trials of the VAF, best first.

        The columns are the values, the mean `score` on the validation rows (accuracy,
        or RMSE), its `deviation` over the folds, the median of the best `epochs`, and
        the `seconds` of all folds. `score` is NaN if a training had no finite loss.
        """
        return _trials(self.drawn).reset_index(drop=True)

    def _selected(self, key: tuple[str, str]) -> tuple[Arm, pandas.DataFrame]:
        """Return an activation and its records; of a VAF, the best trial."""
        if key[0] != SEARCHED.name:
            return super()._selected(key)
        best = _trials(self.drawn).index[0]
        arm = replace(self.arms[0], arguments=json.loads(best[0]))
        return arm, self.drawn.groupby(_TRIAL).get_group(best)

    @property
    def advice(self) -> str:
        """Two sentences: the model to use with its evidence, and the next step."""
        cost = self.drawn["seconds"].sum()
        more = option(self.records, "trials", 2 * len(self.trials), cost)
        return advice(self.records, f"Next, try more trials: {more}.")


def search(
    data: Dataset | str | os.PathLike[str] | pandas.DataFrame | tuple[Any, ...],
    trials: int = TRIALS,
    tuner: str = "random",
    baselines: str | Sequence[Arm] | None = None,
    recipe: Recipe | None = None,
    *,
    model: Any = None,
    test_data: tuple[Any, ...] | None = None,
    epochs: int | None = None,
    metric: str | None = None,
    mode: str | None = None,
    seed: int = 0,
    output: str | os.PathLike[str] = "runs",
    target: str | None = None,
    verbose: bool = True,
) -> Search:
    """Search k, g, sharing, initialization and learning rate of a VAF on a dataset.

    The search is a comparison whose VAF has drawn values. In each fold, the trial with
    the best validation score is tested. If the function is called again, it trains only
    what is missing, so that an interrupted search can be continued.

    `data`, `test_data`, `epochs`, `metric`, `mode`, `output`, `target` and `verbose`
    are as in `compare`.

    Args:
        trials: Number of trials of the VAF. Each other activation is trained with as
            many learning rates, or up to four more by default: those of the recipe, and
            others between them.
        tuner: `"random"`, `"bayesian"`, `"grid"` or `"hyperband"`, which runs 6, 23 or
            70 trials, at most `trials`. Each of its trials starts from new weights.
        baselines: The other activations, or their names as for `find_arms`, or
            `"none"`. The first one is the baseline.
        recipe: How the networks are trained. By default, 3 folds, and learning rates
            from 0.0001 to 0.03.
        model: A function that returns a compiled model, as in `compare`: a VAF with
            drawn values takes the place of its activations. Or a function of `hp`, the
            `HyperParameters` of KerasTuner, that draws whatever it needs, such as
            widths, and VAFs by `activation(hp)`.
        seed: Seed of folds, initial weights and trials.

    Raises:
        ValueError: As in `compare`, or if there are too few trials or learning rates.
        ImportError: If KerasTuner is not installed.

    Example:

    ```python
    found = keras_vaf.tuners.search("wine", trials=8)
    print(found.table, found.advice)
    ```
    """
    check_one_process("search")
    check_choice("tuner", tuner, TUNERS)
    check_integer("trials", trials, minimum=min(_UNITS) if tuner == "hyperband" else 1)
    if tuner == "hyperband":
        trials = max(number for number in _UNITS if number <= trials)
    seed = check_integer("seed", seed, 0, 2**32 - 2)
    dataset: Data
    if model is None:
        recipe = recipe or Recipe(learning_rates=LEARNING_RATES, folds=FOLDS)
        dataset = comparison.as_dataset(data, target)
    else:
        dataset = own_model(model, data, test_data, metric, mode, searched=True)
        given, recipe = recipe, dataset.recipe(recipe, epochs, quick=False)
        recipe = recipe if given else replace(recipe, folds=FOLDS)
    if baselines is None:
        usual = "as-it-is" if takes_values(model) else "as-it-is,prelu"
        baselines = BASELINES if model is None else usual
    if isinstance(baselines, str):
        baselines = () if baselines == "none" else find_arms(baselines)
    # A function of drawn values draws its activations, too.
    searched = replace(SEARCHED, layer="") if takes_values(model) else SEARCHED
    arms = searched, *baselines
    study = run.check_study(run.Study(dataset, arms, recipe, (seed,), Path(output)))
    check_integer("the number of learning rates", len(recipe.learning_rates), minimum=2)
    drawn = _drawn(tuner, trials, study, verbose)
    others = study._replace(
        arms=(*study.arms[1:], *references(dataset.task)),
        recipe=replace(recipe, learning_rates=_between(recipe.learning_rates, trials)),
    )
    records = run.train_missing(others, verbose, phase="Other models", further=False)
    # All trials are tries of one activation, before those of the references.
    name, arguments = SEARCHED.key
    words = {"activation": name, "arguments": arguments}
    tries = drawn.assign(**words, recipe=recipe.digest(dataset))
    records = require("pandas", extra="tune").concat([records, tries])
    order = records["learning_rate"].isna().argsort(kind="stable")
    records = records.iloc[order].reset_index(drop=True)
    folder = run.folder_of(study, "search-", tuner, trials)
    found = Search(records, folder, dataset, study.arms, recipe, drawn)
    comparison.write_files(found)
    write_atomically(folder / "trials.csv", found.trials.to_csv(index=False))
    return found


def _drawn(tuner: str, trials: int, study: run.Study, verbose: bool) -> Any:
    """Train the trials of the VAF that have no records, and return all records."""
    # A search that goes on draws from the beginning. Nothing reads KerasTuner's files.
    keras_tuner = require("keras_tuner", extra="tune")
    parts = {"max_epochs": _UNITS.get(trials), "factor": 3}
    budget = parts if tuner == "hyperband" else {"max_trials": trials}
    draw: Any = activation
    seed = study.seeds[0] + 1  # KerasTuner ignores the seed 0
    if takes_values(build := getattr(study.dataset, "build", None)):
        # With small seeds, the first trials of KerasTuner are alike.
        draw, [seed] = build, independent_seeds(seed, "trials")

    def space(hp: Any) -> None:
        draw(hp)
        hp.Choice("learning_rate", list(study.recipe.learning_rates))

    found: list[pandas.DataFrame] = []
    with tempfile.TemporaryDirectory(prefix="keras_vaf-") as scratch:
        oracle = getattr(keras_tuner, TUNERS[tuner])(
            space,
            objective=keras_tuner.Objective("error", "min"),
            seed=seed,
            max_consecutive_failed_trials=trials + 1,  # a failed one is a result, too
            directory=scratch,
            **budget,
        ).oracle
        oracle.verbose = 0
        batches = _train(oracle, study, found)
        run.follow(batches, "Trials of the VAF", trials * study.recipe.folds, verbose)
    return require("pandas", extra="tune").concat(found).drop_duplicates()


def _train(
    oracle: Any, study: run.Study, found: list[pandas.DataFrame]
) -> Iterator[tuple[str, int]]:
    """Train each trial, append its records, and yield its name and their number."""
    while (trial := oracle.create_trial("search")).status == "RUNNING":
        values = trial.hyperparameters.values
        rate = values["learning_rate"]
        most = getattr(oracle, "max_epochs", 1)  # of Hyperband
        part = values.get("tuner/epochs", most) / most
        epochs = math.ceil(study.recipe.epochs * part)
        recipe = replace(study.recipe, learning_rates=(rate,), epochs=epochs)
        own = {n: v for n, v in values.items() if not n.startswith("tuner/")}
        del own["learning_rate"]
        arm = replace(study.arms[0], arguments=own)
        tried = study._replace(arms=(arm,), recipe=recipe)
        found.append(run.train_missing(tried, verbose=False, further=False))
        error = numbers_of(found[-1])["error"]
        if math.isfinite(error):
            oracle.update_trial(trial.trial_id, {"error": error})
        trial.status = "COMPLETED" if math.isfinite(error) else "FAILED"
        oracle.end_trial(trial)
        text = ", ".join(map(str, own.values()))
        yield f"VAF, {text}, learning rate {rate:g}", recipe.folds


def _between(rates: Sequence[float], trials: int) -> tuple[float, ...]:
    """Return at least as many learning rates as trials: the given ones and others."""
    rates = sorted(rates)
    steps = max(1, math.ceil((trials - 1) / (len(rates) - 1)))
    more = [np.geomspace(*pair, steps + 1)[1:-1] for pair in itertools.pairwise(rates)]
    return tuple(sorted([*rates, *(float(f"{r:.3g}") for r in np.concatenate(more))]))


def _trials(drawn: pandas.DataFrame) -> pandas.DataFrame:
    """Return the values and scores of the trials, best first."""
    rows = {}
    for key, own in drawn.groupby(_TRIAL, sort=False):
        scores = own["validation"].where(own["val_loss"].notna())
        rows[key] = {
            **json.loads(key[0]),
            "learning_rate": key[1],
            "score": scores.mean(skipna=False),
            "deviation": scores.std(skipna=False),
            "epochs": own["best_epoch"].median(),
            "seconds": own["seconds"].sum(),
        }
    frame = require("pandas", extra="tune").DataFrame.from_dict(rows, "index")
    lowest_first = sign(drawn["task"].iloc[0]) > 0
    return frame.sort_values("score", ascending=lowest_first, kind="stable")
