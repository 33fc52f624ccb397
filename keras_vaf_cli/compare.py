"""`keras-vaf compare`: compare ReLU with trainable activations by cross-validation."""

import argparse
import shlex
from typing import TYPE_CHECKING, Any

from keras_vaf_cli.choices import COMPARED, LEARNING_RATES, OTHERS
from keras_vaf_cli.shared import add, numbers, print_table, say
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `compare`."""
    add(parser, "data", "--output", "--data-dir")
    add_table_options(parser.add_argument_group("a table of your own"))
    _add_training_options(parser.add_argument_group("training"))


def run(arguments: argparse.Namespace) -> None:
    """Run the comparison that the command line asks for, and show the table."""
    from keras_vaf.experiments import Recipe, compare, find_arms
    from keras_vaf.training import recipe

    changed = {"k": arguments.k} | ({"g": arguments.g} if arguments.g else {})
    arms = [arm.updated(**changed) for arm in find_arms(arguments.activations)]
    settings = {**(recipe.QUICK if arguments.quick else {}), **_given(arguments)}
    comparison = compare(
        open_data(arguments),
        arms,
        Recipe(**settings),
        seeds=arguments.seeds,
        output=arguments.output,
        jobs=arguments.jobs,
    )
    show_comparison(comparison)


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of the training that the command line names."""
    names = ("hidden", "learning_rates", "epochs", "folds", "missing")
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
        f"%(default)s); also: {', '.join(OTHERS)}",
    )
    group.add_argument(
        "--k", type=int, default=3, help="hidden units of a VAF (default: 3)"
    )
    group.add_argument(
        "--g",
        metavar="ACTIVATION",
        help="fixed activation of a VAF's hidden units (default: the function at which "
        "the VAF starts)",
    )
    group.add_argument("--folds", type=int, help="number of folds (default: 5)")
    group.add_argument(
        "--epochs", type=int, help="largest number of epochs (default: 300)"
    )
    group.add_argument(
        "--learning-rates",
        type=numbers,
        metavar="NUMBERS",
        help="learning rates of Adam, one of which is selected for each activation and "
        f"fold on validation rows (default: {', '.join(map(str, LEARNING_RATES))}, and "
        "further ones if one at the edge is selected)",
    )
    add(group, "--hidden", "--seeds", "--jobs")


def show_comparison(comparison: "Comparison", files: str = "comparison.png") -> None:
    """Print the table of a comparison, the advice and the files."""
    from keras_vaf.experiments.results import settings_of
    from keras_vaf.experiments.tables import text_of

    print_table(*text_of(comparison.records))
    arm, result = comparison.choice
    _, epochs, _ = settings_of(result)
    folder, rows = comparison.folder, comparison.recipe.usable_rows(comparison.dataset)
    say(
        f"\n{comparison.advice}\n\n"
        f"best.keras is the network with {arm.title}, trained again on all "
        f"{len(rows):,} rows for {epochs} epochs.\n"
        f"Written to {folder}: table.md, {files} and best.keras. Predict new "
        "rows with:\n"
        f"  keras-vaf predict {shlex.quote(str(folder / 'best.keras'))} NEW.csv "
        "-o OUT.csv"
    )
