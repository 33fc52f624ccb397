"""`REMOVED`, names of version 0.3.0 whose saved configurations are refused."""

from typing import Any, NoReturn, Self

import keras

REMOVED = {
    "keras_vaf": (
        *(
            "ConvertedModel",
            "CurveStart",
            "Derf",
            "DyT",
            "Lipschitz",
            "Monotone",
            "NActivation",
        ),
        *("Orthogonal", "PolyReLU", "SirenKernel", "SlopeBound", "SpectralNorm"),
    ),
    "keras_vaf.experiments": ("CopiesStart", "MaxMin", "Staf"),
}
"""Registered classes, by package."""


def refuse(what: str) -> NoReturn:
    """Raise a `ValueError` that names the version that loads a removed thing."""
    raise ValueError(f"{what} was removed; install keras-vaf 0.3.0 to load this file.")


class _Removed:
    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        refuse(cls.__name__)

    def get_config(self) -> dict[str, Any]:  # Keras registers no class without it
        return {}


for _package, _names in REMOVED.items():
    for _name in _names:
        _class = type(_name, (_Removed,), {"__module__": __name__})
        keras.saving.register_keras_serializable(package=_package)(_class)


@keras.saving.register_keras_serializable(package="keras_vaf.experiments")
def finer(x: Any) -> Any:
    """Raise a `ValueError` that names the version that has this function."""
    refuse("finer")
