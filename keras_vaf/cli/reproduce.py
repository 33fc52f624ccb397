"""`keras-vaf reproduce`: the paper's experiments, beside the published numbers."""

import argparse
import sys

from keras_vaf.cli.shared import (
    add_command,
    add_data_dir,
    add_run_options,
    integers,
    print_table,
    track,
)
from keras_vaf.experiments import Shard
from keras_vaf.experiments.results.selection import check_selection
from keras_vaf.paper import (
    EXPERIMENTS,
    Form,
    Reproduction,
    find_experiment,
    keep,
    read_reproduction,
    reproduce,
)

_DESCRIPTION = """\
Run an experiment of the paper and hold its results against the published numbers.
Called again, it trains only what is missing. With --quick it is a small form of the
experiment, which shows that everything works; its numbers say little.
"""
_EXAMPLES = """\
examples:
  keras-vaf reproduce classification --quick
  keras-vaf reproduce regression --datasets servo,yacht --seeds 0,1,2
  keras-vaf reproduce regression --datasets yacht --set epochs=3000 \\
    --set optimizer.arguments.learning_rate=0.1
"""


def add_parser(
    subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]",
) -> None:
    """Add `reproduce` to the commands of `keras-vaf`."""
    parser = add_command(
        subparsers,
        "reproduce",
        "run an experiment of the paper",
        _DESCRIPTION,
        _EXAMPLES,
    )
    names = ", ".join(experiment.name for experiment in EXPERIMENTS)
    parser.add_argument("name", help=f"which experiment: {names}")
    parser.add_argument(
        "--quick", action="store_true", help="run a small form that takes minutes"
    )
    _add_protocol_options(parser.add_argument_group("what is trained"))
    parser.add_argument(
        "--selection",
        default="validation",
        help="pick rates, starts and architectures by validation; paper: by test "
        "scores, as published; literal: an architecture for each fold by its test "
        "score (default: %(default)s)",
    )
    parser.add_argument(
        "--from",
        nargs="+",
        default=(),
        dest="sources",
        metavar="FILE",
        help="train nothing, and make the table from the .json.gz files beside tables",
    )
    add_data_dir(parser)
    parser.add_argument(
        "--output",
        default="runs",
        metavar="FOLDER",
        help="where reports and table go (default: %(default)s)",
    )
    add_run_options(parser.add_argument_group("where and how the trainings run"))
    parser.set_defaults(func=run)


def _add_protocol_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--protocol",
        default="paper",
        help="paper (as published), or ours (as a careful person would) "
        "(default: %(default)s)",
    )
    group.add_argument(
        "--datasets",
        type=_names,
        default=(),
        metavar="NAMES",
        help="datasets, separated by commas (default: all of the experiment)",
    )
    group.add_argument(
        "--architectures",
        type=_architectures,
        default=(),
        metavar="WIDTHS",
        help="hidden layers, such as 100,50-25 (default: all of the experiment)",
    )
    group.add_argument(
        "--activations",
        type=_names,
        default=(),
        metavar="NAMES",
        help="activations, separated by commas (default: all of the experiment)",
    )
    group.add_argument(
        "--seeds",
        type=integers,
        default=(0,),
        help="seeds, each with folds of its own (default: 0)",
    )
    group.add_argument(
        "--set",
        action="append",
        default=[],
        dest="settings",
        metavar="FIELD=VALUE",
        help="another value of a protocol's field, such as epochs=600 or "
        "optimizer.arguments.eta_plus=1.2; may be given several times",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the experiment that the command line asks for, and show the table."""
    check_selection(arguments.selection)  # now, not after the training
    done = _done(arguments)
    for path in done.set_aside:
        print(f"keras-vaf: a file that was no report is now {path}", file=sys.stderr)
    if done.others:
        print(
            f"keras-vaf: {done.others} other protocols on the same data are in "
            f"{arguments.output}; they are left as they are.",
            file=sys.stderr,
        )
    if done.missing:
        print(
            f"{len(done.reports)} reports are there, {done.missing} belong to other "
            "shards. Merge the shards' folders with `keras-vaf merge`; the same "
            "command without --shard then makes the table."
        )
        return 0
    table = done.experiment.table(done, arguments.selection)
    path = keep(done, table, arguments.selection, arguments.output)
    print_table(table.title, table.shown, table.shown_lines, table.notes)
    print(f"\nWritten to {path}, with more columns; beside it, what it was made from.")
    return 0


def _done(arguments: argparse.Namespace) -> Reproduction:
    """Train what is missing, or read what was trained."""
    experiment = find_experiment(arguments.name)
    form = Form(
        arguments.protocol,
        arguments.quick,
        arguments.architectures,
        arguments.activations,
        tuple(arguments.settings),
    )
    if arguments.sources:
        return read_reproduction(experiment, form, arguments.sources)
    return reproduce(
        experiment,
        form,
        datasets=arguments.datasets,
        seeds=arguments.seeds,
        data_dir=arguments.data_dir,
        output=arguments.output,
        replicas=arguments.replicas,
        engine=arguments.engine,
        shard=Shard.parse(arguments.shard) if arguments.shard else None,
        track=track,
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in text.split(",") if name)


def _architectures(text: str) -> tuple[tuple[int, ...], ...]:
    return tuple(integers(widths.replace("-", ",")) for widths in text.split(","))
