"""Search the hyperparameters of a VAF on a dataset.

Search k, g, sharing, initialization and learning rate of a VAF on a dataset. ReLU, SiLU
and GELU get as many trainings on the same folds, and all are compared as by `compare`.
If the command is run again, it continues the search.

examples:
  keras-vaf search wine
  keras-vaf search houses.csv --target price --trials 30
"""

from typing import TYPE_CHECKING, Any

from keras_vaf_cli.options import TABLE
from keras_vaf_cli.shared import open_data, pick, print_table, show_comparison

if TYPE_CHECKING:
    from keras_vaf.tuners import Search

ARGUMENTS = TABLE | {
    "the search": (
        *("--trials", "--tuner", "--baselines", "--folds", "--epochs", "--hidden"),
        *("--learning-rates", "--seed"),
    )
}


def run(given: dict[str, Any]) -> None:
    """Run the search that the command line asks for, and show its results."""
    from keras_vaf.experiments import Recipe
    from keras_vaf.tuners import search
    from keras_vaf.tuners.table_search import FOLDS, LEARNING_RATES
    from keras_vaf.utils import require

    require("keras_tuner", extra="tune")  # before the table is read
    settings: dict[str, Any] = {"learning_rates": LEARNING_RATES, "folds": FOLDS}
    settings |= pick(given, "hidden", "learning_rates", "epochs", "folds", "missing")
    found = search(
        open_data(given),
        recipe=Recipe(**settings),
        **pick(given, "trials", "tuner", "baselines", "seed", "output"),
    )
    _print_trials(found)
    show_comparison(found, "comparison.png, trials.csv")


def _print_trials(found: "Search") -> None:
    """Print the best trials of a search."""
    from keras_vaf.experiments.results import score_of
    from keras_vaf.experiments.tables import task_of, written

    task, trials = task_of(found.records), found.trials
    score, names = score_of(task)[0], [*trials.columns]
    names = ["score", "deviation", *names[: names.index("score")]]
    lines = [
        [*(written(each, task) for each in row[:2]), *map(str, row[2:])]
        for row in trials[names].head(10).itertuples(index=False)
    ]
    notes = [f"{score}: mean on the validation rows of the folds, with its deviation."]
    if failed := trials["score"].isna().sum():
        notes += [f"{failed} trials failed."]
    title = f"Trials of the VAF: the best {len(lines)} of {len(trials)}"
    print_table(title, [score, *names[1:]], lines, notes)
