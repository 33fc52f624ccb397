"""VAFs as plain modules of PyTorch.

`VAF` takes the place of an activation in any `torch.nn.Module`. `parameter_groups`
gives VAFs their own learning rate in any optimizer of PyTorch. `save_vafs` and
`load_vafs` keep the VAFs of a converted module in a file. All need
`KERAS_BACKEND=torch`.
"""

from typing import Any

import keras

if keras.backend.backend() == "torch":
    from keras_vaf.torch.files import load_vafs, save_vafs
    from keras_vaf.torch.modules import parameter_groups
    from keras_vaf.torch.vaf import VAF

__all__ = ["VAF", "load_vafs", "parameter_groups", "save_vafs"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise ImportError(
        "keras_vaf.torch needs Keras's PyTorch backend: set the environment variable "
        f"KERAS_BACKEND to torch. Received: the backend {keras.backend.backend()!r}"
    )
