"""`keras-vaf compare`: ReLU against trainable activations, cross-validated."""

import argparse
import dataclasses
import sys

import numpy as np

from keras_vaf.cli.shared import (
    add_command,
    add_data_dir,
    add_hidden,
    add_run_options,
    integers,
    print_table,
    track,
)
from keras_vaf.datasets import Dataset, load, read_csv
from keras_vaf.experiments import (
    FAMILY,
    PAPER_RPROP,
    RPROP,
    VARIANTS,
    Comparison,
    Protocol,
    Shard,
    as_wide,
    compare,
    comparison_table,
    find_variants,
    with_replicas,
)

_OPTIMIZERS = {"careful": RPROP, "paper": PAPER_RPROP}
_DESCRIPTION = """\
Train one fully connected network with each activation in cross-validation, and
compare test accuracy (or RMSE), parameters, seconds and the learned functions.
Called again, it trains only what is missing.
"""
_EXAMPLES = """\
examples:
  keras-vaf compare wine
  keras-vaf compare houses.csv --target price --activations relu,vaf-relu --seeds 0,1
"""


def add_parser(
    subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]",
) -> None:
    """Add `compare` to the commands of `keras-vaf`."""
    parser = add_command(
        subparsers,
        "compare",
        "compare ReLU with trainable activations on a dataset",
        _DESCRIPTION,
        _EXAMPLES,
    )
    parser.add_argument("data", help="name of a dataset, or path of a CSV file")
    parser.add_argument(
        "--output",
        default="runs",
        metavar="FOLDER",
        help="where reports, table, picture and networks go (default: %(default)s)",
    )
    _add_data_options(parser.add_argument_group("data"))
    _add_training_options(parser.add_argument_group("training"))
    add_run_options(parser.add_argument_group("where and how the trainings run"))
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the comparison that the command line asks for, and show the table."""
    shard = Shard.parse(arguments.shard) if arguments.shard else None
    variants = [
        variant.updated(k=arguments.k, g=arguments.g)
        for variant in find_variants(arguments.activations)
    ]
    dataset = _dataset(arguments)
    protocol = Protocol.of(
        dataset,
        variants[0],
        hidden=arguments.hidden,
        optimizer=_OPTIMIZERS[arguments.rprop],
        epochs=arguments.epochs,
        folds=arguments.folds,
    )
    if arguments.missing:
        preprocessing = dataclasses.replace(
            protocol.preprocessing, missing=arguments.missing
        )
        protocol = dataclasses.replace(protocol, preprocessing=preprocessing)
    protocols = [dataclasses.replace(protocol, variant=each) for each in variants]
    if arguments.equal_parameters:
        wide = (as_wide(protocol, dataset) for protocol in protocols)
        protocols.append(max(wide, key=lambda protocol: protocol.hidden))
    comparison = compare(
        dataset,
        [with_replicas(protocol, arguments.replicas) for protocol in protocols],
        seeds=arguments.seeds,
        output=arguments.output,
        engine=arguments.engine,
        shard=shard,
        track=track,
    )
    _show(comparison)
    return 0


def _add_data_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--target", metavar="COLUMN", help="column of the CSV file to predict"
    )
    group.add_argument(
        "--task",
        choices=("classification", "regression"),
        help="what a CSV file is for (default: by the target's values)",
    )
    group.add_argument(
        "--categories",
        default="",
        metavar="COLUMNS",
        help="columns of the CSV file that hold categories, separated by commas",
    )
    group.add_argument(
        "--missing",
        choices=("mean", "drop"),
        help="fill in missing values, or drop their rows (say which for a CSV file)",
    )
    add_data_dir(group)


def _add_training_options(group: argparse._ArgumentGroup) -> None:
    names = [variant.name for variant in VARIANTS]
    group.add_argument(
        "--activations",
        default=",".join(names),
        metavar="NAMES",
        help="what to compare, the first with all others (default: %(default)s); also: "
        + ", ".join(variant.name for variant in FAMILY),
    )
    group.add_argument(
        "--k", type=int, default=3, help="hidden units of a VAF (default: %(default)s)"
    )
    group.add_argument(
        "--g",
        default="relu",
        metavar="ACTIVATION",
        help="fixed activation of a VAF's hidden units (default: %(default)s)",
    )
    add_hidden(group)
    group.add_argument(
        "--equal-parameters",
        action="store_true",
        help="compare with a wider ReLU network as well, which has as many parameters "
        "as the largest other one",
    )
    group.add_argument(
        "--folds", type=int, default=10, help="number of folds (default: %(default)s)"
    )
    group.add_argument(
        "--seeds",
        type=integers,
        default=(0,),
        help="seeds, each with folds of its own (default: 0)",
    )
    group.add_argument(
        "--epochs",
        type=int,
        default=300,
        help="largest number of epochs (default: %(default)s)",
    )
    group.add_argument(
        "--rprop",
        choices=tuple(_OPTIMIZERS),
        default="careful",
        help="growth of Rprop's steps: 1.2, or the paper's 1.01 (default: %(default)s)",
    )


def _dataset(arguments: argparse.Namespace) -> Dataset:
    """Load the named dataset, or read the CSV file that comes with a target."""
    if arguments.target is None:
        if arguments.data.lower().endswith(".csv"):
            raise ValueError(
                "A CSV file needs the name of the column to predict: add "
                f"`--target COLUMN`. Received: {arguments.data!r}"
            )
        return load(arguments.data, arguments.data_dir)
    categories = [name for name in arguments.categories.split(",") if name]
    dataset = read_csv(arguments.data, arguments.target, arguments.task, categories)
    if arguments.missing is None:
        _check_complete(dataset)
    return dataset


def _check_complete(dataset: Dataset) -> None:
    counts = np.isnan(dataset.x).sum(axis=0)
    if counts.any():
        columns = zip(dataset.feature_names, counts, strict=True)
        listed = ", ".join(f"{name} ({count})" for name, count in columns if count)
        raise ValueError(
            "The table has missing values: say `--missing mean` to fill them in, or "
            f"`--missing drop` to leave out their rows. Received: missing in {listed}"
        )


def _show(comparison: Comparison) -> None:
    for path in comparison.set_aside:
        print(
            f"keras-vaf: a file that was no report of its training is now {path}; the "
            "training was done again.",
            file=sys.stderr,
        )
    if comparison.missing:
        print(
            f"{len(comparison.reports)} reports are there, {comparison.missing} belong "
            "to other shards. Merge the shards' folders with `keras-vaf merge`; the "
            "same command without --shard then makes the table."
        )
        return
    table, best = comparison_table(comparison.reports), comparison.best
    print_table(table.title, table.shown, table.shown_lines, table.notes)
    print(
        f"\nWritten to {comparison.folder}: report.json, table.md (with more columns), "
        f"comparison.png and best.keras ({best.protocol.variant.title}, fold "
        f"{best.fold + 1}: chosen by validation loss)."
    )
