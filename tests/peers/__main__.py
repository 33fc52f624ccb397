"""Run Keras's own tests of layers, models and saving with VAFs as activations.

    KERAS_BACKEND=jax VAF_SHARING=channel python -m tests.peers

The tests come with Keras's wheel. More arguments go to pytest: a test file, `-k`.
"""

import sys
from pathlib import Path

import keras
import pytest

FOLDERS = ("layers", "models", "saving")
# Layers without activations.
LEFT_OUT = ("preprocessing", "reshaping", "pooling", "merging", "normalization")


def main(arguments):
    """Return pytest's exit code."""
    source = Path(keras.__file__).parent / "src"
    paths = [
        str(path)
        for folder in FOLDERS
        for path in sorted((source / folder).rglob("*_test.py"))
        if not {*path.parts} & {*LEFT_OUT}
    ]
    if any(argument.endswith("_test.py") for argument in arguments):
        paths = []
    here = Path(__file__).parent
    options = ("-c", str(here / "pytest.ini"), "--rootdir", str(here))
    plugin = ("-p", "tests.peers.vaf_activations")
    return pytest.main([*options, *plugin, *paths, *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
