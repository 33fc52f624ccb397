"""`require`, which imports an optional package."""

import importlib
from types import ModuleType


def require(module: str, extra: str) -> ModuleType:
    """Import an optional module, or raise an error with the command that installs it.

    Args:
        module: Dotted name of the module, such as `"matplotlib.pyplot"`.
        extra: The extra of `keras-vaf` that installs the module, such as `"plot"`.

    Returns:
        The imported module.

    Raises:
        ImportError: If the module, or a package that it needs, is not installed.

    Example:

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
