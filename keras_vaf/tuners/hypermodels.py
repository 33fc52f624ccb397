"""Any model with its activations left to a tuner."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import keras

from keras_vaf import layers as family
from keras_vaf.models import convert
from keras_vaf.tuners.space import SearchSpace, activation

if TYPE_CHECKING:
    from keras_tuner import HyperParameters

VAF, *_OTHERS = [each.layer.__name__ for each in family.ACTIVATIONS if each.name]

ACTIVATIONS = (VAF, "ReLU", "ELU", "PReLU", *_OTHERS)
"""Layers that a tuner may choose from, of `keras_vaf.layers` or else of Keras."""


def hypermodel(
    model_or_builder: keras.Model | Callable[[HyperParameters], keras.Model],
    space: SearchSpace | None = None,
    activations: Sequence[str] = (VAF,),
    layers: Any = None,
) -> Callable[[HyperParameters], keras.Model]:
    """Return a hypermodel in which a tuner chooses the activations of a model.

    All hidden activations are replaced, through `keras_vaf.models.convert`, by VAFs
    with the hyperparameters `k`, `g`, `sharing` and `initialization`. With more than
    one of `activations`, which of them it is becomes the hyperparameter `activation`,
    so that a VAF competes with the others for the same trials; these have the default
    arguments, from their papers.

    Args:
        model_or_builder: A Sequential or Functional model, compiled, whose weights
            every training starts from: a fresh one, if folds are to score it. Or a
            function from hyperparameters to a model, which may ask for others, such as
            a learning rate.
        space: As in `activation`.
        activations: Names from `ACTIVATIONS`.
        layers: As in `keras_vaf.models.convert`.

    Returns:
        A function that takes hyperparameters and returns a compiled model, for
        `CrossValidated` or any tuner of KerasTuner.

    Raises:
        ValueError: If a name is none of `ACTIVATIONS`; when called, if the model has no
            activation to replace.

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
    known = set(ACTIVATIONS)
    if not activations or isinstance(activations, str) or set(activations) - known:
        raise ValueError(
            f"`activations` must be names from {', '.join(ACTIVATIONS)}. "
            f"Received: activations={activations!r}"
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
    """Return a fresh activation; all layers of a model get the same choice."""
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
