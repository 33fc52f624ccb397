"""VAFs as plain modules of PyTorch.

`VAF` takes the place of an activation in any `torch.nn.Module`. `parameter_groups`
gives VAFs their own learning rate in any optimizer of PyTorch. Both need
`KERAS_BACKEND=torch`.
"""

from typing import TYPE_CHECKING, Any

import keras

if TYPE_CHECKING:
    from keras_vaf.torch.reading import parameter_groups
    from keras_vaf.torch.vaf import VAF

__all__ = ["VAF", "parameter_groups"]


def __getattr__(name: str) -> Any:
    """Import PyTorch on first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if keras.backend.backend() != "torch":
        raise ImportError(
            "keras_vaf.torch needs Keras's PyTorch backend: set the environment "
            "variable KERAS_BACKEND to torch. Received: the backend "
            f"{keras.backend.backend()!r}"
        )
    from keras_vaf.torch import reading, vaf

    return vaf.VAF if name == "VAF" else reading.parameter_groups
