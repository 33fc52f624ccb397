"""`keras-vaf compare`: compare ReLU with trainable activations by cross-validation."""

import argparse
import shlex
import sys
from typing import TYPE_CHECKING, Any

from keras_vaf_cli.choices import COMPARED, CONTROLS, FAMILY, LEARNING_RATES, VARIANTS
from keras_vaf_cli.progress import Progress
from keras_vaf_cli.shared import (
    add_data_dir,
    add_hidden,
    add_k_and_g,
    add_output_folder,
    add_run_options,
    add_seeds,
    numbers,
    print_table,
    say,
)
from keras_vaf_cli.tables import add_table_options, open_data

if TYPE_CHECKING:
    from keras_vaf.experiments import Comparison

SUMMARY = "compare ReLU with trainable activations on a dataset"
DESCRIPTION = """\
Train a fully connected network with each activation in cross-validation, and compare
test accuracy (or RMSE), parameters, training time and the learned functions. Networks
are trained with Adam, several learning rates and early stopping. If the command is run
again, it trains only missing cells.
"""
EXAMPLES = """\
examples:
  keras-vaf compare wine
  keras-vaf compare houses.csv --target price
  keras-vaf compare houses.csv --target price --quick
"""

_OTHERS = [name for name in (*VARIANTS, *CONTROLS, *FAMILY) if name not in COMPARED]
_HINT = "The option --quick compares in a fraction of this time, with fewer trainings."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `compare`."""
    parser.add_argument(
        "data", help="name of a dataset, or path of a CSV, Parquet or Excel file"
    )
    add_output_folder(parser)
    data = parser.add_argument_group("a table of your own")
    add_table_options(data)
    add_data_dir(parser)
    _add_training_options(parser.add_argument_group("training"))
    add_run_options(parser.add_argument_group("how the trainings run"))


def run(arguments: argparse.Namespace) -> None:
    """Run the comparison that the command line asks for, and show the table."""
    from keras_vaf.experiments import compare, find_variants
    from keras_vaf.experiments.comparison_protocols import comparison_protocols
    from keras_vaf.training import recipe

    variants = find_variants(arguments.activations)
    training = {**(recipe.QUICK if arguments.quick else {}), **_given(arguments)}
    dataset = open_data(arguments)
    protocols = comparison_protocols(
        dataset,
        variants,
        k=arguments.k,
        g=arguments.g,
        hidden=arguments.hidden,
        **training,
        missing=arguments.missing,
        equal_parameters=arguments.equal_parameters,
        replicas=arguments.replicas,
        references=True,
    )
    progress = Progress("" if arguments.quick else _HINT)
    comparison = compare(
        dataset,
        protocols,
        seeds=arguments.seeds,
        output=arguments.output,
        track=progress,
        on_progress=progress.train,
    )
    show_comparison(comparison)


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of the training that the command line names."""
    names = ("learning_rates", "epochs", "folds")
    values = {name: getattr(arguments, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _add_training_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--quick",
        action="store_true",
        help="train with one learning rate, 3 folds and at most 100 epochs, which "
        "finds large differences only",
    )
    group.add_argument(
        "--activations",
        default=",".join(COMPARED),
        metavar="NAMES",
        help="activations to compare; the first one is the baseline (default: "
        f"%(default)s); also: {', '.join(_OTHERS)}",
    )
    add_k_and_g(group)
    add_hidden(group)
    group.add_argument(
        "--equal-parameters",
        action="store_true",
        help="also compare with a wider ReLU network with as many parameters as the "
        "largest of the other networks",
    )
    group.add_argument("--folds", type=int, help="number of folds (default: 5)")
    add_seeds(group)
    group.add_argument(
        "--epochs",
        type=int,
        help="largest number of epochs (default: 300)",
    )
    group.add_argument(
        "--learning-rates",
        type=numbers,
        metavar="NUMBERS",
        help="learning rates of Adam, one of which is selected for each activation and "
        f"fold on validation rows (default: {', '.join(map(str, LEARNING_RATES))}, and "
        "further ones if one at the edge is selected)",
    )


def show_comparison(comparison: "Comparison", files: str = "") -> None:
    """Print the table of a comparison, the advice and the files.

    Args:
        comparison: The comparison.
        files: Names of further files.
    """
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
        f"comparison.png{files and ', '}{files} and best.keras. Predict new rows "
        "with:\n"
        f"  keras-vaf predict {shlex.quote(str(folder / 'best.keras'))} NEW.csv "
        "-o OUT.csv"
    )
