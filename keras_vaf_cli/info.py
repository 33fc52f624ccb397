"""`keras-vaf info`: what this installation computes with."""

import argparse
from importlib import metadata

SUMMARY = "show versions, the backend, its devices and the native kernels"
DESCRIPTION = """\
Show what this installation computes with, for a report of an error or of a speed. Says
whether the native kernels are active, and why they are not.
"""
EXAMPLES = "Example: KERAS_BACKEND=jax keras-vaf info"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no arguments. The command runs without a backend too."""
    parser.set_defaults(without=(ImportError,))


def run(arguments: argparse.Namespace) -> None:
    """Print each fact in a line."""
    facts = _facts()
    width = max(map(len, facts))
    for name, value in facts.items():
        print(f"{name:{width}}  {value}")


def _facts() -> dict[str, str]:
    try:
        from keras_vaf.ops import info

        return info()
    except ImportError as error:
        versions = {"keras_vaf": "keras-vaf", "keras": "keras", "numpy": "numpy"}
        facts = {name: metadata.version(package) for name, package in versions.items()}
        return facts | {"backend": f"not usable: {error}"}
