"""`keras-vaf search`: search the hyperparameters of a VAF on a dataset."""

import argparse
import shlex
import sys
from typing import TYPE_CHECKING

from keras_vaf_cli.choices import TUNERS
from keras_vaf_cli.progress import Progress
from keras_vaf_cli.shared import (
    add_data_dir,
    add_hidden,
    add_output_folder,
    check_packages,
    integer_from,
    print_table,
    say,
)
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
    parser.add_argument(
        "data", help="name of a dataset, or path of a CSV, Parquet or Excel file"
    )
    add_output_folder(parser)
    add_data_dir(parser)
    add_table_options(parser.add_argument_group("a table of your own"))
    _add_search_options(parser.add_argument_group("the search"))


def check(arguments: argparse.Namespace) -> None:
    """Refuse a missing package before Keras is imported."""
    check_packages("tune", "keras_tuner")
    check_packages("experiments", "matplotlib", "rich", "scipy", "sklearn")


def run(arguments: argparse.Namespace) -> None:
    """Run the search that the command line asks for, and show its results."""
    from keras_vaf.experiments import find_variants
    from keras_vaf.tuners import search

    names = arguments.baselines
    baselines = () if names == "none" else find_variants(names)
    dataset = open_data(arguments)
    titles = ", ".join(each.title for each in baselines)
    others = f", and as many trainings of each of {titles}" if titles else ""
    say(f"{arguments.trials} trials of a VAF{others}, on {arguments.folds} folds.")
    try:
        with Progress() as progress:
            found = search(
                dataset,
                trials=arguments.trials,
                tuner=arguments.tuner,
                baselines=baselines,
                folds=arguments.folds,
                hidden=arguments.hidden,
                epochs=arguments.epochs,
                seed=arguments.seed,
                missing=arguments.missing,
                output=arguments.output,
                on_progress=progress.show,
            )
    except RuntimeError as error:
        raise ValueError(str(error).strip()) from error
    _print_trials(found)
    files = "trials.csv, parallel.png, progress.png, effects.png"
    _show_comparison(found, files)


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
    add_hidden(group)
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
    from keras_vaf.tuners.trial_table import trial_table

    table = trial_table(found)
    print_table(table.title, table.shown, table.shown_lines, table.notes)


def _show_comparison(comparison: "Search", files: str) -> None:
    """Print the table of a comparison, the advice and the files."""
    from keras_vaf.experiments import comparison_table

    for path in comparison.set_aside:
        say(
            f"keras-vaf: a file that was not a valid report was renamed to {path}; "
            "its training was repeated.",
            file=sys.stderr,
        )
    table = comparison_table(comparison.reports)
    print_table(table.title, table.shown, table.shown_lines, table.shown_notes)
    folder, choice = comparison.folder, comparison.choice
    say(
        f"\n{comparison.advice}\n\n"
        f"best.keras is the network with {choice.title}, trained again on all "
        f"{comparison.rows:,} rows for {choice.epochs} epochs.\n"
        f"Written to {folder}: report.json, table.md (with more columns), "
        f"comparison.png, {files} and best.keras. Predict new rows "
        "with:\n"
        f"  keras-vaf predict {shlex.quote(str(folder / 'best.keras'))} NEW.csv "
        "-o OUT.csv"
    )
