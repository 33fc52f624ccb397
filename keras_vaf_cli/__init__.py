"""The command line: `main` runs `keras-vaf`.

Each command is a module of this package. Its docstring is its help: a summary, the
description and examples. `ARGUMENTS` names its arguments, below their titles in the
help, and `run(given)` gets those that were given. `options` declares the arguments of
all commands. A command imports `keras_vaf` only inside `run`, because that import loads
Keras. Therefore `--help` and `--version` respond at once.
"""

import argparse
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
    to_relu,
)
from keras_vaf_cli.options import OPTIONS
from keras_vaf_cli.shared import check_target, say, shown

__all__ = ["COMMANDS", "main"]

COMMANDS = (
    *(compare, predict, convert, inspect, simplify, freeze, to_relu),
    *(data, reproduce, search, info),
)
"""All commands, in the order of the help."""


def main(
    argv: Sequence[str] | None = None, load: Callable[[], None] | None = None
) -> int:
    """Run `keras-vaf`, and return its exit code.

    It is 0, or 2 for invalid input, a missing file or package, or a folder that cannot
    be written. Any other exception is a bug, and raised.

    Args:
        argv: Arguments after the name of the command. By default, those of the process.
        load: Function called before the command runs.
    """
    given = vars(_parser().parse_args(argv))
    command = given.pop("command")
    try:
        if command in (compare, search):
            check_target(given)
        try:
            if load is not None:
                load()
        except ImportError:
            if command is not info:  # it prints what is missing
                raise
        command.run(given)
        return 0
    except (ValueError, ImportError, OSError) as error:
        text = str(error)
        if isinstance(error, OSError) and error.strerror and error.filename:
            text = f"{error.strerror}: {error.filename}"
        for name in given:
            if (option := f"--{name.replace('_', '-')}") in OPTIONS:
                text = text.replace(f"`{name}`", f"`{option}`")
        say(f"keras-vaf: {text}", file=sys.stderr)
        return 2


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
            command.__name__.rpartition(".")[2].replace("_", "-"),
            help=summary,
            description=description,
            epilog=examples,
            usage="%(prog)s [options] data"
            if "data" in command.ARGUMENTS[""]
            else None,
            argument_default=argparse.SUPPRESS,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        inner.set_defaults(command=command)
        for title, names in command.ARGUMENTS.items():
            group = inner.add_argument_group(title) if title else inner
            for name in names:
                group.add_argument(*name.split(), **OPTIONS[name])
    return parser


class _Parser(argparse.ArgumentParser):
    """A parser whose errors repeat no control characters of the command line."""

    def error(self, message: str) -> NoReturn:
        super().error(shown(message))
