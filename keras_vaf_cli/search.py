"""Search the hyperparameters of a VAF on a dataset.

Search k, g, sharing, initialization and learning rate of a VAF on a dataset. ReLU, SiLU
and GELU get as many trainings on the same folds, and all are compared as by `compare`.
If the command is run again, it continues the search.

examples:
  keras-vaf search wine
  keras-vaf search houses.csv --target price --trials 30
"""

import argparse
from typing import TYPE_CHECKING

from keras_vaf_cli.compare import show_comparison
from keras_vaf_cli.shared import add, print_table
from keras_vaf_cli.tables import add_table_options, open_data

if TYPE_CHECKING:
    from keras_vaf.tuners import Search


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `search`."""
    add_table_options(parser)
    group = parser.add_argument_group("the search")
    for name, default, text in (
        ("trials", 24, "largest number of trials of the VAF"),
        ("folds", 3, "number of folds"),
        ("epochs", 300, "largest number of epochs"),
        ("seed", 0, "seed of folds, initial weights and trials"),
    ):
        group.add_argument(
            f"--{name}", type=int, default=default, help=f"{text} (default: {default})"
        )
    add(group, "--hidden")
    group.add_argument(
        "--baselines",
        default="relu,silu,gelu",
        metavar="NAMES",
        help="other activations with as many trainings, the baseline first (default: "
        "%(default)s); names as for `compare`, or none",
    )
    group.add_argument(
        "--tuner",
        default="random",
        metavar="NAME",
        help="random (the default), bayesian, grid or hyperband, which runs 6, 23 or "
        "70 trials, most of them for few epochs",
    )


def run(arguments: argparse.Namespace) -> None:
    """Run the search that the command line asks for, and show its results."""
    from keras_vaf.experiments import Recipe
    from keras_vaf.tuners import search
    from keras_vaf.tuners.table_search import LEARNING_RATES
    from keras_vaf.utils import require

    require("keras_tuner", extra="tune")  # before the table is read
    recipe = Recipe(
        arguments.hidden,
        LEARNING_RATES,
        epochs=arguments.epochs,
        folds=arguments.folds,
        missing=arguments.missing,
    )
    found = search(
        open_data(arguments),
        arguments.trials,
        arguments.tuner,
        arguments.baselines,
        recipe,
        seed=arguments.seed,
        output=arguments.output,
    )
    _print_trials(found)
    show_comparison(found, "comparison.png, trials.csv")


def _print_trials(found: "Search") -> None:
    """Print the best trials of a search."""
    from keras_vaf.experiments.tables import SCORE, task_of, written

    task, trials = task_of(found.records), found.trials
    names = [*trials.columns[: trials.columns.get_loc("score")]]
    lines = [
        [written(score, task), written(deviation, task), *map(str, values)]
        for score, deviation, *values in trials[["score", "deviation", *names]]
        .head(10)
        .itertuples(index=False)
    ]
    failed = trials["score"].isna().sum()
    notes = [
        f"{SCORE[task]}: mean on the validation rows of the folds, with its deviation.",
        *([f"{failed} trials failed."] if failed else []),
    ]
    title = f"Trials of the VAF: the best {len(lines)} of {len(trials)}"
    print_table(title, [SCORE[task], "deviation", *names], lines, notes)
