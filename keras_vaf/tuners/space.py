"""`SearchSpace`, the search space of a VAF, and `activation`, which draws a VAF."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from keras_vaf.initializers import Start
from keras_vaf.layers import VAFActivation
from keras_vaf.ops.functions import function_identifier

if TYPE_CHECKING:
    from keras_tuner import HyperParameters


@dataclass(frozen=True)
class SearchSpace:
    """Values to try for each of the four hyperparameters of a VAF.

    The default is the paper's grid, and a start at ReLU. Axes, starts and functions are
    searched by name: `"(1, 2)"`, `"RandomStart(seed=7, rescale=False)"`, `"bump
    (my_package)"`.

    Args:
        k: Numbers of hidden units.
        g: Fixed functions of the hidden units.
        sharing: Values of `sharing`: the elements that share a function.
        initialization: Starts of f.

    Raises:
        ValueError: If an argument is empty, if two values have one name, or if
            `VAFActivation` refuses a value of `k`, `g` or `sharing`.

    Example:

    >>> space = SearchSpace(k=(3, 5), sharing=("layer", (1, 2)))
    >>> space.choices("sharing")
    {'layer': 'layer', '(1, 2)': (1, 2)}
    """

    k: Sequence[int] = (3, 5, 7, 9, 11, 15)
    g: Sequence[Any] = ("relu", "tanh", "sigmoid")
    sharing: Sequence[Any] = ("layer", "neuron")
    initialization: Sequence[Any] = ("g", "random", "relu")

    def __post_init__(self) -> None:
        """Raise a `ValueError` for a space without a choice."""
        for name, values in vars(self).items():
            listed = isinstance(values, Sequence) and not isinstance(values, str)
            if not listed or not 0 < len(values) == len(self.choices(name)):
                raise ValueError(
                    f"`{name}` must be a sequence of different values, at least one. "
                    f"Received: {name}={values!r}"
                )
            for value in values:
                VAFActivation(**{name: value})

    def choices(self, name: str) -> dict[Any, Any]:
        """Return the values of a hyperparameter by the names that a tuner searches."""
        return {_name_of(value, name): value for value in getattr(self, name)}


def activation(
    hp: HyperParameters,
    prefix: str = "",
    space: SearchSpace | None = None,
    **fixed: Any,
) -> VAFActivation:
    """Return a VAF whose hyperparameters a tuner of KerasTuner draws.

    They are `k`, `g`, `sharing` and `initialization`. Layers with the same prefix share
    their values.

    Args:
        hp: The `HyperParameters` that a tuner passes to a model-building function.
        prefix: Prefix of the names of the hyperparameters, such as `"first_"`.
        space: The search space. By default, `SearchSpace()`.
        **fixed: Arguments of `VAFActivation` that are not searched.

    Example:

    >>> import keras_tuner
    >>> hp = keras_tuner.HyperParameters()
    >>> layer = activation(hp, g="tanh")
    >>> hp.values
    {'k': 3, 'sharing': 'layer', 'initialization': 'g'}
    """
    space = space or SearchSpace()
    arguments = dict(fixed)
    for argument in vars(space):
        if argument not in fixed:
            choices = space.choices(argument)
            name = hp.Choice(prefix + argument, list(choices))
            # An inactive one is None. A fixed value may be outside of the choices.
            default = next(iter(choices.values())) if name is None else name
            arguments[argument] = choices.get(name, default)
    return VAFActivation(**arguments)


def check_one_process(name: str) -> None:
    """Refuse to search as one of several processes, which would wait for each other."""
    if (chief := os.environ.get("KERASTUNER_ORACLE_IP")) is not None:
        raise ValueError(
            f"`{name}` searches in one process: use a tuner of KerasTuner. "
            f"Received: KERASTUNER_ORACLE_IP={chief}"
        )


def _name_of(value: Any, argument: str) -> Any:
    if isinstance(value, int):
        return value
    if isinstance(value, Start):
        arguments = (f"{name}={given!r}" for name, given in value.get_config().items())
        return f"{type(value).__name__}({', '.join(arguments)})"
    if not isinstance(value, str) and not callable(value):
        return str(tuple(value))
    # Under its registered name, a tuner would replace the name by the function.
    package, _, name = function_identifier(value, argument).rpartition(">")
    return f"{name} ({package})" if package else name
