"""Run an experiment of the paper.

Run an experiment of the paper and compare its results with the published numbers. If
the command is run again, it trains only what is missing. With --quick it runs a small
version of the experiment, which checks that everything works; its results are not
meaningful.

examples:
  keras-vaf reproduce classification --quick
  keras-vaf reproduce regression --datasets servo,yacht --seeds 0,1,2
"""

import argparse

from keras_vaf_cli.shared import add, names, print_table, say


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `reproduce`."""
    parser.add_argument(
        "name", help="regression, classification, convolution, sensorless or curves"
    )
    parser.add_argument(
        "--quick", action="store_true", help="run a small version that takes minutes"
    )
    for option in ("datasets", "activations"):
        parser.add_argument(
            f"--{option}",
            type=names,
            default=(),
            metavar="NAMES",
            help=f"{option}, separated by commas (default: all of the experiment)",
        )
    parser.add_argument(
        "--selection",
        default="validation",
        help="select learning rates and architectures by validation scores, or by test "
        "scores, as the paper: paper (default: %(default)s)",
    )
    add(parser, "--seeds", "--data-dir", "--output", "--jobs")


def run(arguments: argparse.Namespace) -> None:
    """Run the experiment that the command line asks for, and show the table."""
    from keras_vaf.paper import reproduce

    words = vars(arguments).copy()
    del words["run"], words["without"]
    done = reproduce(**words)
    print_table(*done.text)
    pictures = ", with pictures next to it" if done.figures else ""
    say(f"\nWritten to {done.path}{pictures}.")
