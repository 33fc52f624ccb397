"""The command `keras-vaf`.

Each subcommand is a module of this package with `add_parser(subparsers)`, which says
what the command takes, and `run(arguments) -> int`, which calls the modules that do
the work. Bad input and missing packages end in one sentence and exit code 2.
"""

import argparse
import sys
from collections.abc import Sequence

import keras_vaf
from keras_vaf.cli import (
    compare,
    convert,
    data,
    freeze,
    inspect,
    merge,
    reproduce,
    search,
    simplify,
)

__all__ = ["main"]

COMMANDS = (
    compare,
    convert,
    inspect,
    simplify,
    freeze,
    data,
    merge,
    reproduce,
    search,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run `keras-vaf` and return its exit code.

    Args:
        argv: The words after the command's name; those of the process by default.

    Returns:
        0 when all went well, 2 for bad input or a missing package, 130 after Ctrl-C.

    Example:

    >>> main(["compare", "no-such-data"])
    2
    """
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.func(arguments))
    except (ValueError, ImportError, OSError) as error:
        print(f"keras-vaf: {_sentence(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(
            "keras-vaf: interrupted. What was finished is kept: the same command goes "
            "on from there.",
            file=sys.stderr,
        )
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="keras-vaf",
        description="Trainable activation functions for Keras 3: compare them on data.",
        epilog="Example: keras-vaf compare wine",
    )
    parser.add_argument(
        "--version", action="version", version=f"keras-vaf {keras_vaf.__version__}"
    )
    subparsers = parser.add_subparsers(title="commands", required=True)
    for command in COMMANDS:
        command.add_parser(subparsers)
    return parser


def _sentence(error: Exception) -> str:
    """Return the error's message, without the number that the system gives it."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.strerror}: {error.filename}"
    return str(error)
