"""`require`, which imports an optional package, and `hide_tensorflow`."""

import importlib
import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any


def require(module: str, extra: str) -> ModuleType:
    """Import an optional module, or raise an error with the command that installs it.

    >>> require("json", extra="plot").dumps([1])
    '[1]'
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ImportError(
            f"`{module}` needs the package `{error.name}`, which is not installed. "
            f"Install it with: pip install 'keras-vaf[{extra}]'",
            name=error.name,
        ) from error


def hide_tensorflow() -> None:
    """Prevent the import of TensorFlow in this process.

    Keras imports it on every backend, which takes seconds. PyTorch may crash by it. An
    entry None in `sys.modules` would not do: Keras imports what it finds there.
    """
    finders = (_WithoutTensorFlow if f is PathFinder else f for f in sys.meta_path)
    sys.meta_path[:] = finders


class _WithoutTensorFlow(PathFinder):
    @classmethod
    def find_spec(cls, fullname: str, *args: Any, **kwargs: Any) -> ModuleSpec | None:
        hidden = fullname == "tensorflow"
        return None if hidden else super().find_spec(fullname, *args, **kwargs)
