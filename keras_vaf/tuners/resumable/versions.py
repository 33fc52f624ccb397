"""Import KerasTuner in a version that this package was tested with."""

from importlib.metadata import version
from types import ModuleType

from keras_vaf.utils import require

# Resuming a search relies on private parts of KerasTuner, which may change.
_FIRST, _BEYOND = (1, 4, 7), (1, 5)


def keras_tuner() -> ModuleType:
    """Import KerasTuner.

    Returns:
        The module.

    Raises:
        ImportError: If it is not installed, or in a version that this package was not
            tested with.
    """
    module = require("keras_tuner", extra="tune")
    installed = version("keras-tuner")
    numbers = tuple(int(part) for part in installed.split(".")[:3] if part.isdigit())
    if not _FIRST <= numbers < _BEYOND:
        raise ImportError(
            "keras_vaf.tuners relies on private parts of KerasTuner to resume a "
            "search, and is tested with versions from 1.4.7 to below 1.5. Install "
            "one with: pip install 'keras-tuner>=1.4.7,<1.5'. "
            f"Received: keras-tuner {installed}",
            name="keras_tuner",
        )
    return module
