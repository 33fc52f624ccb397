"""`keras-vaf compare`: compare ReLU with trainable activations by cross-validation."""

import argparse
import shlex
import sys
from typing import TYPE_CHECKING

from keras_vaf_cli.choices import COMPARED, CONTROLS, FAMILY, OPTIMIZERS
from keras_vaf_cli.shared import (
    add_data_dir,
    add_hidden,
    add_k_and_g,
    add_run_options,
    add_seeds,
    numbers,
    print_missing,
    print_table,
    say,
    track,
)
from keras_vaf_cli.tables import add_table_options, open_data, table_options

if TYPE_CHECKING:
    from keras_vaf.experiments import Comparison

SUMMARY = "compare ReLU with trainable activations on a dataset"
DESCRIPTION = """\
Train a fully connected network with each activation in cross-validation, and compare
test accuracy (or RMSE), parameters, training time and the learned functions. If the
command is run again, it trains only missing cells.
"""
EXAMPLES = """\
examples:
  keras-vaf compare wine
  keras-vaf compare houses.csv --target price --activations relu,vaf-relu --seeds 0,1
  keras-vaf compare houses.csv --target price --learning-rates 0.0003,0.001,0.003,0.01
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `compare`."""
    parser.add_argument(
        "data", help="name of a dataset, or path of a CSV, Parquet or Excel file"
    )
    parser.add_argument(
        "--output",
        default="runs",
        metavar="FOLDER",
        help="output folder for reports, table, picture and networks (default: "
        "%(default)s)",
    )
    data = parser.add_argument_group("a table of your own")
    add_table_options(data)
    add_data_dir(parser)
    _add_training_options(parser.add_argument_group("training"))
    add_run_options(parser.add_argument_group("where and how the trainings run"))


def run(arguments: argparse.Namespace) -> None:
    """Run the comparison that the command line asks for, and show the table."""
    from keras_vaf.experiments import Shard, compare, find_variants
    from keras_vaf.experiments.comparison_protocols import comparison_protocols
    from keras_vaf.experiments.runs.rows import usable_rows

    shard = Shard.parse(arguments.shard) if arguments.shard else None
    variants = find_variants(arguments.activations)
    dataset = open_data(arguments, arguments.data, table_options(arguments))
    protocols = comparison_protocols(
        dataset,
        variants,
        k=arguments.k,
        g=arguments.g,
        hidden=arguments.hidden,
        optimizer=arguments.rprop,
        learning_rates=arguments.learning_rates,
        epochs=arguments.epochs,
        folds=arguments.folds,
        missing=arguments.missing,
        equal_parameters=arguments.equal_parameters,
        replicas=arguments.replicas,
    )
    comparison = compare(
        dataset,
        protocols,
        seeds=arguments.seeds,
        output=arguments.output,
        engine=arguments.engine,
        shard=shard,
        track=track,
    )
    missing = protocols[0].preprocessing.missing
    _show(comparison, rows=len(usable_rows(dataset, missing)))


def _add_training_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--activations",
        default=",".join(COMPARED),
        metavar="NAMES",
        help="activations to compare; the first one is the baseline (default: "
        f"%(default)s); also: {', '.join((*CONTROLS, *FAMILY))}",
    )
    add_k_and_g(group)
    add_hidden(group)
    group.add_argument(
        "--equal-parameters",
        action="store_true",
        help="also compare with a wider ReLU network with as many parameters as the "
        "largest of the other networks",
    )
    group.add_argument(
        "--folds", type=int, default=10, help="number of folds (default: %(default)s)"
    )
    add_seeds(group)
    group.add_argument(
        "--epochs",
        type=int,
        default=300,
        help="largest number of epochs (default: %(default)s)",
    )
    optimizer = group.add_mutually_exclusive_group()
    optimizer.add_argument(
        "--learning-rates",
        type=numbers,
        default=(),
        metavar="NUMBERS",
        help="train with Adam, and select one of these learning rates for each "
        "activation and fold on validation rows (default: Rprop, which adapts its "
        "steps)",
    )
    optimizer.add_argument(
        "--rprop",
        choices=OPTIMIZERS,
        default=OPTIMIZERS[0],
        help="growth of Rprop's steps: 1.2, or the paper's 1.01 (default: %(default)s)",
    )


def _show(comparison: "Comparison", rows: int) -> None:
    from keras_vaf.experiments import comparison_table

    for path in comparison.set_aside:
        say(
            f"keras-vaf: a file that was not a valid report was renamed to {path}; "
            "its training was repeated.",
            file=sys.stderr,
        )
    if comparison.missing:
        print_missing(len(comparison.reports), comparison.missing)
        return
    table = comparison_table(comparison.reports)
    print_table(table.title, table.shown, table.shown_lines, table.notes)
    folder, choice = comparison.folder, comparison.choice
    say(
        f"\n{comparison.verdict}\n\n"
        f"best.keras: {choice.reason} It was trained again on all {rows:,} rows, for "
        f"{choice.arm.epochs} epochs (the median of the best epochs of the folds).\n\n"
        f"Written to {folder}: report.json, table.md (with more columns), "
        "comparison.png and best.keras. Predict new rows with:\n"
        f"  keras-vaf predict {shlex.quote(str(folder / 'best.keras'))} NEW.csv "
        "-o OUT.csv"
    )
