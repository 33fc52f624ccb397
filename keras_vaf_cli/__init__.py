"""The command line: `main` runs `keras-vaf`.

Each command is a module of this package with `add_arguments(parser)` and
`run(arguments)`. The docstring of the module is its help: a summary, the description
and examples. A command imports `keras_vaf` only inside `run`, because that import loads
Keras. Therefore `--help` and `--version` respond at once.
"""

import argparse
import contextlib
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from keras_vaf_cli import (
    compare,
    convert,
    data,
    freeze,
    info,
    inspect,
    predict,
    reproduce,
    search,
    simplify,
)
from keras_vaf_cli.shared import say, shown

__all__ = ["COMMANDS", "EXIT_CODES", "STOPPED", "main"]

COMMANDS = (
    *(compare, predict, convert, inspect, simplify, freeze),
    *(data, reproduce, search, info),
)
"""All commands, in the order of the help."""

EXIT_CODES = {
    0: "success",
    1: "keras-vaf has a bug and shows a traceback",
    2: "invalid input, a missing file or package, or a folder that cannot be written",
    130: "stopped by Ctrl-C",
    143: "stopped by SIGTERM",
}
"""The meaning of each exit code."""

STOPPED = "every finished result is kept; the same command continues from there"
"""What a command says when it is stopped."""


def main(
    argv: Sequence[str] | None = None, load: Callable[[], None] | None = None
) -> int:
    """Run `keras-vaf` and return its exit code.

    Args:
        argv: Arguments after the name of the command. By default, those of the process.
        load: Function called before the command runs.

    Returns:
        One of `EXIT_CODES`.
    """
    arguments = _parser().parse_args(argv)
    try:
        if load is not None:
            with contextlib.suppress(*arguments.without):
                load()
        arguments.run(arguments)
        return 0
    except (ValueError, ImportError, OSError) as error:
        text = str(error)
        if isinstance(error, OSError) and error.strerror and error.filename:
            text = f"{error.strerror}: {error.filename}"
        say(f"keras-vaf: {text}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        say(f"\nkeras-vaf: interrupted; {STOPPED}.", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    from importlib import metadata  # slow; signals are not handled before

    parser = _Parser(
        prog="keras-vaf",
        description="Trainable activation functions for Keras 3: compare them on data.",
        epilog="Example: keras-vaf compare wine",
    )
    version = f"keras-vaf {metadata.version('keras-vaf')}"
    parser.add_argument("--version", action="version", version=version)
    subparsers = parser.add_subparsers(title="commands", required=True)
    for command in COMMANDS:
        summary, _, text = (command.__doc__ or "").partition("\n\n")
        description, _, examples = text.partition("\n\n")
        inner = subparsers.add_parser(
            command.__name__.rpartition(".")[2],
            help=summary,
            description=description,
            epilog=examples,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        inner.set_defaults(run=command.run, without=())
        command.add_arguments(inner)
    return parser


class _Parser(argparse.ArgumentParser):
    """A parser whose errors repeat no control characters of the command line."""

    def error(self, message: str) -> NoReturn:
        super().error(shown(message))
