"""`keras-vaf info`: show versions, backend, devices and native kernels."""

import argparse

from keras_vaf_cli.shared import say

SUMMARY = "show versions, the backend, its devices and the native kernels"
DESCRIPTION = """\
Show the versions, backend and devices of this installation, for reports of errors or
speed. Show whether the native kernels are active, and if not, why.
"""
EXAMPLES = "Example: KERAS_BACKEND=jax keras-vaf info"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add nothing, because the command has no arguments."""
    parser.set_defaults(without=(ImportError,))


def run(arguments: argparse.Namespace) -> None:
    """Print one fact per line."""
    facts = _facts()
    width = max(map(len, facts))
    for name, value in facts.items():
        say(f"{name:{width}}  {value}")


def _facts() -> dict[str, str]:
    from importlib import metadata

    try:
        from keras_vaf.ops import info

        return info()
    except ImportError as error:
        versions = {"keras_vaf": "keras-vaf", "keras": "keras", "numpy": "numpy"}
        facts = {name: metadata.version(package) for name, package in versions.items()}
        return facts | {"backend": f"not usable: {error}"}
