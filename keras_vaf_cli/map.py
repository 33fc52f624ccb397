"""`keras-vaf map`: show on which tasks a trainable activation is worth its cost."""

import argparse

from keras_vaf_cli.shared import integers, names, print_table, say

SUMMARY = "show on which tasks a trainable activation is worth its cost"
DESCRIPTION = """\
Train fixed and trainable activations on several tasks, for equal steps and for equal
time, and write a table and a picture for each. If the command is run again, it trains
only missing runs. It needs the backend JAX. With --quick it runs a small version that
takes minutes and whose results are not meaningful.
"""
EXAMPLES = """\
examples:
  keras-vaf map --quick
  keras-vaf map --measure
  keras-vaf map --tasks oscillating,images --activations relu,silu,vaf-silu
  keras-vaf map --tasks oscillating --activations relu,mine.py:MyActivation
  keras-vaf map --tasks mine.py:my_task
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `map`."""
    parser.add_argument(
        "--tasks",
        type=names,
        default=(),
        metavar="NAMES",
        help="tasks, or FILE.py:FUNCTION for a function that returns a Task "
        "(default: all)",
    )
    parser.add_argument(
        "--activations",
        type=names,
        default=(),
        metavar="NAMES",
        help="activations, or FILE.py:CLASS for a class of layers (default: all)",
    )
    parser.add_argument(
        "--seeds",
        type=integers,
        default=(),
        help="seeds to score (default: those of the task)",
    )
    parser.add_argument(
        "--quick", action="store_true", help="train a small version that takes minutes"
    )
    parser.add_argument(
        "--measure",
        action="store_true",
        help="only measure the time per step of each activation, which is needed for "
        "equal time; run it on an idle machine",
    )
    parser.add_argument(
        "--show", action="store_true", help="show the existing results without training"
    )
    parser.add_argument(
        "--tabular",
        nargs="+",
        default=(),
        metavar="FILE",
        help="reports of `keras-vaf reproduce --protocol ours`, or a folder of them, "
        "from which the two tabular tasks are read",
    )
    parser.add_argument(
        "--output",
        default="runs/map",
        metavar="FOLDER",
        help="output folder for reports, tables and pictures (default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> None:
    """Train the map and show its tables."""
    from keras_vaf.research.map.making import make_map
    from keras_vaf.research.map.own import find_tasks

    tables = make_map(
        find_tasks(arguments.tasks),
        arguments.activations,
        arguments.seeds,
        arguments.quick,
        arguments.output,
        arguments.measure,
        not arguments.show,
        arguments.tabular,
        say,
    )
    for table in tables.values():
        print_table(table.title, table.shown, table.shown_lines, table.notes)
    if not tables:
        say("No dataset is complete yet.")
    else:
        say(f"\nWritten to {arguments.output}: tables and pictures.")
