"""Show versions, the backend, its devices and the native kernels.

Show the versions, backend and devices of this installation, for reports of errors or
speed. Show whether the native kernels are active, and if not, why.

example:
  KERAS_BACKEND=jax keras-vaf info
"""

from typing import Any

from keras_vaf_cli.shared import say

ARGUMENTS: dict[str, tuple[str, ...]] = {"": ()}


def run(given: dict[str, Any]) -> None:
    """Print one fact per line."""
    from importlib import metadata

    try:
        from keras_vaf.ops import info

        facts = info()
    except ImportError as error:
        names = {"keras_vaf": "keras-vaf", "keras": "keras", "numpy": "numpy"}
        facts = {name: metadata.version(package) for name, package in names.items()}
        facts["backend"] = f"not usable: {error}"
    width = max(map(len, facts))
    for name, value in facts.items():
        say(f"{name:{width}}  {value}")
