"""`hypermodel`, which lets a tuner choose the activations of any model."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import keras

from keras_vaf import layers as family
from keras_vaf.models import convert
from keras_vaf.tuners.space import SearchSpace, activation
from keras_vaf.utils import check_kind

if TYPE_CHECKING:
    from keras_tuner import HyperParameters

VAF, *_OTHERS = [each.layer.__name__ for each in family.ACTIVATIONS if each.name]

ACTIVATIONS = (VAF, "ReLU", "ELU", "PReLU", *_OTHERS)
"""Layers that a tuner can choose, from `keras_vaf.layers` or Keras."""


def hypermodel(
    model_or_builder: keras.Model | Callable[[HyperParameters], keras.Model],
    space: SearchSpace | None = None,
    activations: Sequence[str] = (VAF,),
    layers: Any = None,
) -> Callable[[HyperParameters], keras.Model]:
    """Return a hypermodel in which a tuner chooses the activations of a model.

    `keras_vaf.models.convert` replaces all hidden activations by VAFs with the
    hyperparameters `k`, `g`, `sharing` and `initialization`. If `activations` has
    several names, the choice among them is the hyperparameter `activation`, so that a
    VAF competes with the others for the same trials. The others have their default
    arguments, which come from their papers.

    Args:
        model_or_builder: A compiled Sequential or Functional model, or a function from
            hyperparameters to such a model. Every training starts from the weights of
            the given model; use an untrained model for cross-validation. A function can
            use further hyperparameters, such as a learning rate.
        space: As in `activation`.
        activations: Names from `ACTIVATIONS`.
        layers: As in `keras_vaf.models.convert`.

    Returns:
        A function from hyperparameters to a compiled model, for `CrossValidated` or any
        tuner of KerasTuner.

    Raises:
        ValueError: If an argument is not of these kinds. When called, if the model has
            no activation to replace.

    Example:

    >>> import keras_tuner
    >>> model = keras.Sequential([
    ...     keras.Input((20,)),
    ...     keras.layers.Dense(16, activation="relu"),
    ...     keras.layers.Dense(1),
    ... ])
    >>> model.compile("adam", "mse")
    >>> hp = keras_tuner.HyperParameters()
    >>> built = hypermodel(model, activations=("VAFActivation", "KAF"))(hp)
    >>> hp.values["activation"], hp.values["k"]
    ('VAFActivation', 3)
    """
    if space is not None:
        check_kind("space", space, SearchSpace)
    known = set(ACTIVATIONS)
    if not activations or isinstance(activations, str) or set(activations) - known:
        raise ValueError(
            f"`activations` must be names from {', '.join(ACTIVATIONS)}. "
            f"Received: activations={activations!r}"
        )

    if not callable(model_or_builder):  # as models are, too
        raise ValueError(
            "`model_or_builder` must be a model, or a function from hyperparameters to "
            f"a model. Received: model_or_builder={model_or_builder!r}"
        )

    def build(hp: HyperParameters) -> keras.Model:
        model = model_or_builder
        if not isinstance(model, keras.Model):
            model = model(hp)
        return convert(
            model, layers, to=lambda _: _choose(hp, list(activations), space)
        )

    return build


def _choose(
    hp: HyperParameters, names: list[str], space: SearchSpace | None
) -> keras.layers.Layer:
    """Return a new activation. All layers of a model get the same choice."""
    several = len(names) > 1
    chosen = hp.Choice("activation", names) if several else names[0]
    vaf = None
    if VAF in names:
        # Only a VAF has these hyperparameters.
        scope = hp.conditional_scope("activation", [VAF]) if several else None
        with scope or contextlib.nullcontext():
            vaf = activation(hp, space=space)
    if chosen == VAF:
        return vaf
    kind = getattr(family, chosen, None) or getattr(keras.layers, chosen)
    return kind()
