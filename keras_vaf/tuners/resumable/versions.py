"""Which KerasTuner this package stands on."""

from importlib.metadata import version
from types import ModuleType

from keras_vaf.utils import require

# What is kept, leased and repaired are parts of it that it may change at any time.
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
            "keras_vaf.tuners keeps a search safe by changing private parts of "
            "KerasTuner, and is tested with versions from 1.4.7 to below 1.5. Install "
            "one with: pip install 'keras-tuner>=1.4.7,<1.5'. "
            f"Received: keras-tuner {installed}",
            name="keras_tuner",
        )
    return module
