"""What the commands on model files have in common."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras

from keras_vaf.cli.shared import add_command


def add_model_parser(
    subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    summary: str,
    description: str,
    examples: str,
) -> argparse.ArgumentParser:
    """Add a command that reads a `.keras` file (see `add_command`)."""
    parser = add_command(subparsers, name, summary, description, examples)
    parser.add_argument("model", metavar="MODEL.keras", help="a saved Keras model")
    return parser


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add the option that says where the new model is written."""
    parser.add_argument(
        "--output",
        "-o",
        required=True,
        metavar="OUT.keras",
        help="where the new model is written",
    )


def load(path: str) -> keras.Model:
    """Load a model, in Keras's safe mode.

    Args:
        path: A `.keras` file.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it holds no model that Keras can load here.
    """
    if not Path(path).is_file():
        raise FileNotFoundError(f"There is no model at {path}")
    try:
        return keras.saving.load_model(path)
    except (TypeError, ValueError, KeyError, OSError) as error:
        raise ValueError(
            f"Keras cannot load {path}. A model with classes or functions of your own "
            "is converted in Python, where they are registered, with keras_vaf.models. "
            f"Received: {error}"
        ) from error


def write(
    source: str, output: str, change: Callable[[keras.Model], Any]
) -> keras.Model:
    """Load a model, change it, save the result and print what was done.

    Args:
        source: A `.keras` file.
        output: Where the result is written, with the ending `.keras`.
        change: Returns a new model with a `report`.

    Raises:
        ValueError: If the output has another ending or is the source.
    """
    if Path(output).suffix != ".keras":
        raise ValueError(f"The output must end in .keras. Received: --output {output}")
    if Path(output).resolve() == Path(source).resolve():
        raise ValueError(
            "The output must be another file than the model, which is left alone. "
            f"Received: --output {output}"
        )
    result = change(load(source))
    Path(output).parent.mkdir(parents=True, exist_ok=True)
    result.save(output)
    print(result.report)
    print(f"Written to {output}.")
    return result
