"""`keras-vaf reproduce`: run an experiment of the paper."""

import argparse
import sys
from typing import TYPE_CHECKING

from keras_vaf_cli.choices import EXPERIMENTS
from keras_vaf_cli.progress import Progress
from keras_vaf_cli.shared import (
    add_data_dir,
    add_run_options,
    add_seeds,
    integers,
    names,
    print_table,
    say,
)

if TYPE_CHECKING:
    from keras_vaf.research.paper import Reproduction

SUMMARY = "run an experiment of the paper"
DESCRIPTION = """\
Run an experiment of the paper and compare its results with the published numbers. If
the command is run again, it trains only missing cells. With --quick it runs a small
version of the experiment, which checks that everything works; its results are not
meaningful.
"""
EXAMPLES = """\
examples:
  keras-vaf reproduce classification --quick
  keras-vaf reproduce regression --datasets servo,yacht --seeds 0,1,2
  keras-vaf reproduce regression --datasets yacht --set epochs=3000 \\
    --set optimizer.arguments.learning_rate=0.1
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `reproduce`."""
    parser.add_argument("name", help=f"experiment: {', '.join(EXPERIMENTS)}")
    parser.add_argument(
        "--quick", action="store_true", help="run a small version that takes minutes"
    )
    _add_protocol_options(parser.add_argument_group("protocol"))
    parser.add_argument(
        "--selection",
        default="validation",
        help="select learning rates, starts and architectures by validation; paper: by "
        "test scores, as published; literal: one architecture per fold by its test "
        "score (default: %(default)s)",
    )
    parser.add_argument(
        "--from",
        nargs="+",
        default=(),
        dest="sources",
        metavar="FILE",
        help="make the table from .json.xz files of earlier runs, without training",
    )
    add_data_dir(parser)
    parser.add_argument(
        "--output",
        default="runs",
        metavar="FOLDER",
        help="output folder for reports and table (default: %(default)s)",
    )
    add_run_options(parser.add_argument_group("how the trainings run"))


def _add_protocol_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--protocol",
        default="paper",
        help="paper (as published), or ours (with more careful training) "
        "(default: %(default)s)",
    )
    group.add_argument(
        "--datasets",
        type=names,
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
        type=names,
        default=(),
        metavar="NAMES",
        help="activations, separated by commas (default: all of the experiment)",
    )
    add_seeds(group)
    group.add_argument(
        "--set",
        action="append",
        default=[],
        dest="settings",
        metavar="FIELD=VALUE",
        help="change a field of the protocol, such as epochs=600 or "
        "optimizer.arguments.eta_plus=1.2; may be given several times",
    )


def run(arguments: argparse.Namespace) -> None:
    """Run the experiment that the command line asks for, and show the table."""
    from keras_vaf.experiments.results.selection import check_selection
    from keras_vaf.research.paper import keep

    check_selection(arguments.selection)  # before the training, not after it
    done = _done(arguments)
    for path in done.set_aside:
        say(
            f"keras-vaf: a file that was not a report was renamed to {path}",
            file=sys.stderr,
        )
    if done.others:
        say(
            f"keras-vaf: {done.others} other protocols on the same data are in "
            f"{arguments.output}; they are not changed.",
            file=sys.stderr,
        )
    table = done.experiment.table(done, arguments.selection)
    path = keep(done, table, arguments.selection, arguments.output)
    print_table(table.title, table.shown, table.shown_lines, table.notes)
    say(f"\nWritten to {path}, with more columns, and to files next to it.")


def _done(arguments: argparse.Namespace) -> "Reproduction":
    """Train the missing cells, or read the reports of earlier runs."""
    from keras_vaf.research.paper import (
        Form,
        find_experiment,
        read_reproduction,
        reproduce,
    )

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
        track=Progress(),
    )


def _architectures(text: str) -> tuple[tuple[int, ...], ...]:
    return tuple(integers(widths.replace("-", ",")) for widths in text.split(","))
