"""`REMOVED`, classes of version 0.3.0 whose saved configurations are refused."""

from typing import Any, NoReturn

import keras

REMOVED = (
    "CurveStart",
    "Derf",
    "DyT",
    "Lipschitz",
    "NActivation",
    "PolyReLU",
    "SirenKernel",
)


class _Removed:
    """Base of the classes that stand for removed ones when a file is loaded."""

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> NoReturn:
        """Raise a `ValueError` that names the version that has the class."""
        raise ValueError(
            f"{cls.__name__} was removed; install keras-vaf 0.3.0 to load this file."
        )

    def get_config(self) -> dict[str, Any]:
        """Return no arguments. Keras registers only classes with this method."""
        return {}


for _name in REMOVED:
    _class = type(_name, (_Removed,), {"__module__": __name__})
    keras.saving.register_keras_serializable(package="keras_vaf")(_class)
