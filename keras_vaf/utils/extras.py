"""`require`, which imports an optional package, and `hide_tensorflow`."""

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType


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

    On every backend, Keras imports an installed TensorFlow to save a model or to set a
    seed. This import takes seconds, and PyTorch may crash in the same process.
    """
    finders = (_WithoutTensorFlow if f is PathFinder else f for f in sys.meta_path)
    sys.meta_path[:] = finders


class _WithoutTensorFlow(PathFinder):
    """An import finder that does not find TensorFlow.

    The finder does not raise an error, because JAX's cache of compiled programs only
    checks with `importlib.util.find_spec` whether TensorFlow is installed.
    """

    @classmethod
    def find_spec(
        cls,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if fullname == "tensorflow":
            return None
        return super().find_spec(fullname, path, target)
