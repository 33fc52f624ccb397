"""`keras_tuner`, which imports KerasTuner if its version was tested."""

from importlib.metadata import version
from types import ModuleType

from keras_vaf.utils import require

# Resuming a search uses private parts of KerasTuner, which may change.
_FIRST, _BEYOND = (1, 4, 7), (1, 5)


def keras_tuner() -> ModuleType:
    """Import KerasTuner.

    Returns:
        The module.

    Raises:
        ImportError: If KerasTuner is not installed, or if this package was not tested
            with the installed version.
    """
    module = require("keras_tuner", extra="tune")
    installed = version("keras-tuner")
    numbers = tuple(int(part) for part in installed.split(".")[:3] if part.isdigit())
    if not _FIRST <= numbers < _BEYOND:
        raise ImportError(
            "keras_vaf.tuners uses private parts of KerasTuner to resume a search, "
            "and is tested with versions from 1.4.7 to below 1.5. Install such a "
            "version with: pip install 'keras-tuner>=1.4.7,<1.5'. "
            f"Received: keras-tuner {installed}",
            name="keras_tuner",
        )
    return module
