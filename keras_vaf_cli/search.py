"""`keras-vaf search`: search the hyperparameters of a VAF on a dataset."""

import argparse
from typing import TYPE_CHECKING

from keras_vaf_cli.choices import TUNERS
from keras_vaf_cli.compare import show_comparison
from keras_vaf_cli.shared import add, integer_from, print_table, say
from keras_vaf_cli.tables import add_table_options, open_data

if TYPE_CHECKING:
    from keras_vaf.tuners import Search

SUMMARY = "search the hyperparameters of a VAF on a dataset"
DESCRIPTION = """\
Search k, g, sharing, initialization and learning rate of a VAF on a dataset. ReLU, SiLU
and GELU get as many trainings on the same folds, and all are compared as by `compare`.
If the command is run again, it continues the search.
"""
EXAMPLES = """\
examples:
  keras-vaf search wine
  keras-vaf search houses.csv --target price --trials 30
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `search`."""
    add(parser, "data", "--output", "--data-dir")
    add_table_options(parser.add_argument_group("a table of your own"))
    _add_search_options(parser.add_argument_group("the search"))


def run(arguments: argparse.Namespace) -> None:
    """Run the search that the command line asks for, and show its results."""
    from keras_vaf.experiments import Recipe, find_arms
    from keras_vaf.tuners import search
    from keras_vaf.tuners.table_search import LEARNING_RATES
    from keras_vaf.utils import require

    require("keras_tuner", extra="tune")  # before the table is read
    names = arguments.baselines
    baselines = () if names == "none" else find_arms(names)
    settings = {
        name: getattr(arguments, name) for name in ("hidden", "epochs", "folds")
    } | ({"missing": arguments.missing} if arguments.missing else {})
    dataset = open_data(arguments)
    titles = ", ".join(each.title for each in baselines)
    others = f", and as many trainings of each of {titles}" if titles else ""
    say(f"{arguments.trials} trials of a VAF{others}, on {arguments.folds} folds.")
    try:
        found = search(
            dataset,
            arguments.trials,
            arguments.tuner,
            baselines,
            Recipe(learning_rates=LEARNING_RATES, **settings),
            seed=arguments.seed,
            output=arguments.output,
        )
    except RuntimeError as error:
        raise ValueError(str(error).strip()) from error
    _print_trials(found)
    show_comparison(found, "comparison.png, trials.csv, trials.png")


def _add_search_options(group: argparse._ArgumentGroup) -> None:
    for name, least, default, text in (
        ("trials", 1, 24, "largest number of trials of the VAF"),
        ("folds", 2, 3, "number of folds"),
        ("epochs", 1, 300, "largest number of epochs"),
        ("seed", 0, 0, "seed of folds, initial weights and trials"),
    ):
        group.add_argument(
            f"--{name}",
            type=integer_from(least),
            default=default,
            help=f"{text} (default: {default})",
        )
    add(group, "--hidden")
    group.add_argument(
        "--baselines",
        default="relu,silu,gelu",
        metavar="NAMES",
        help="other activations with as many trainings; the first one is the baseline "
        "(default: %(default)s); names as for `compare`, or none",
    )
    group.add_argument(
        "--tuner",
        choices=TUNERS,
        default="random",
        help="method that draws the trials; hyperband runs 6, 23 or 70 trials, most of "
        "them for few epochs (default: %(default)s)",
    )


def _print_trials(found: "Search") -> None:
    """Print the best trials of a search."""
    from keras_vaf.experiments.tables import SCORE, task_of, written

    task, trials = task_of(found.records), found.trials
    names = [*trials.columns[: trials.columns.get_loc("score")]]
    best = trials.head(10)[["score", "deviation", *names]]
    lines = [
        [*(written(number, task) for number in scores), *map(str, values)]
        for *scores, values in zip(
            best["score"], best["deviation"], best[names].values.tolist(), strict=True
        )
    ]
    failed = trials["score"].isna().sum()
    print_table(
        f"Trials of the VAF: the best {len(best)} of {len(trials)}",
        [SCORE[task], "deviation", *names],
        lines,
        [
            f"{SCORE[task][0].upper()}{SCORE[task][1:]}: mean on the validation rows "
            "of the folds, with its deviation.",
            *([f"{failed} trials failed."] if failed else []),
        ],
    )
