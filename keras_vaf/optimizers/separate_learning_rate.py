"""`activations_apart`, which trains activation parameters separately."""

from collections.abc import Iterable, Sequence
from typing import Any

import keras

from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.traversal import find_layers
from keras_vaf.types import Tensor
from keras_vaf.utils import check_positive


def activations_apart(
    model: keras.Model,
    optimizer: str | keras.optimizers.Optimizer,
    learning_rate_factor: float = 1.0,
) -> "ActivationsApart":
    """Exclude activation parameters from weight decay and orthogonalization.

    They are the weights of all `keras_vaf.layers.TrainableActivation` and
    `keras.layers.PReLU` layers. Weight decay would pull them to 0, which has no special
    meaning for them, and `keras.optimizers.Muon` trains them by its AdamW rule. A copy
    of the optimizer trains them, with its own norm for `global_clipnorm`.

    Args:
        model: A built model. Set `trainable` of its layers first.
        optimizer: An unused Keras optimizer, or the name of one. To scale the loss,
            wrap the result in a `keras.optimizers.LossScaleOptimizer`.
        learning_rate_factor: Learning rate of the activation parameters, relative to
            that of the other weights. Schedules and callbacks change both together.

    Returns:
        The optimizer to compile the model with. It is saved with the model.

    Raises:
        ValueError: If the model has no activation parameters to train, or an argument
            is wrong.

    Example:

    >>> layers = [keras.layers.Dense(16), keras_vaf.layers.VAFActivation()]
    >>> model = keras.Sequential([keras.Input((20,)), *layers])
    >>> optimizer = keras.optimizers.AdamW(1e-3, weight_decay=0.1)
    >>> model.compile(activations_apart(model, optimizer), loss="mse")
    """
    if not isinstance(model, keras.Model) or not model.built:
        raise ValueError(
            f"Expected a model with weights: build it first. Received: model={model!r}"
        )
    found = find_layers(model, (TrainableActivation, keras.layers.PReLU)).values()
    parameters = {id(weight) for layer in found for weight in layer.trainable_weights}
    is_activation = [id(weight) in parameters for weight in model.trainable_variables]
    if not any(is_activation):
        raise ValueError(
            "The model has no activation parameters to train: add a layer of "
            f"`keras_vaf.layers`, or set `trainable`. Received: model={model.name!r}"
        )
    return ActivationsApart(optimizer, is_activation, learning_rate_factor)


@keras.saving.register_keras_serializable(package="keras_vaf")
class ActivationsApart(keras.optimizers.Optimizer):
    """Two optimizers of the same class that act as one; see `activations_apart`.

    `is_activation` says of each trainable variable which of the two trains it.
    """

    def __init__(
        self,
        optimizer: Any,
        is_activation: Sequence[bool],
        learning_rate_factor: float = 1.0,
        name: str = "activations_apart",
    ) -> None:
        given = keras.optimizers.get(optimizer)
        config = given.get_config()
        if given.built:
            raise ValueError(
                "Expected an optimizer that has not trained a model: make a new one. "
                f"Received: optimizer={optimizer!r}"
            )
        if "learning_rate" not in config:
            raise ValueError(
                "Expected an optimizer with a learning rate: apply LossScaleOptimizer "
                f"to the result instead. Received: optimizer={optimizer!r}"
            )
        check_positive("learning_rate_factor", learning_rate_factor)
        # Its own learning rate is not used, and both undo the scale of the loss.
        super().__init__(0.0, name=name, loss_scale_factor=given.loss_scale_factor)
        self.optimizer = given
        self.is_activation = tuple(is_activation)
        self.learning_rate_factor = learning_rate_factor
        config["learning_rate"] = lambda: learning_rate_factor * given.learning_rate
        config["name"] = f"{given.name}_of_activations"
        # The empty pattern excludes every weight from orthogonalization. Keras 3.12 has
        # no separate weight decay for the other weights.
        of_muon = {"exclude_layers": [""], "adam_weight_decay": 0.0}
        config |= {name: of_muon[name] for name in of_muon if name in config}
        if config["weight_decay"] is not None:
            config["weight_decay"] = 0.0
        self.activation_optimizer = type(given).from_config(config)

    @property
    def learning_rate(self) -> Any:
        """Learning rate of all weights except the activation parameters."""
        return self.optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        self.optimizer.learning_rate = value

    @property
    def variables(self) -> list[keras.Variable]:
        """State of this object and of the two optimizers."""
        both = (self.activation_optimizer, self.optimizer)
        return [*super().variables, *(v for each in both for v in each.variables)]

    def build(self, variables: Sequence[keras.Variable]) -> None:
        """Create the state of the model's trainable variables."""
        if not self.built:
            parts = self._parts(variables)
            super().build(variables)
            for optimizer, part in parts:
                optimizer.build(part)

    def apply(
        self,
        grads: Sequence[Tensor | None],
        trainable_variables: Iterable[keras.Variable] | None = None,
    ) -> None:
        """Move all variables by one step, given the gradients of the loss."""
        given: list[Any] = [None, None]
        if trainable_variables is not None:
            variables = list(trainable_variables)
            self.build(variables)
            given = [part for _, part in self._parts(variables)]
        if all(gradient is None for gradient in grads):
            raise ValueError("No gradients provided for any variable.")
        for (optimizer, part), own in zip(self._parts(grads), given, strict=True):
            if any(gradient is not None for gradient in part):
                optimizer.apply(part, own)
            else:  # Keras takes no step, but the schedule must advance
                optimizer.variables[0].assign_add(1)
        self.iterations.assign_add(1)

    def finalize_variable_values(self, var_list: Iterable[keras.Variable]) -> None:
        """Replace the variables by their moving averages, if the optimizer has them."""
        for optimizer, part in self._parts(list(var_list)):
            optimizer.finalize_variable_values(part)

    def _parts(self, values: Sequence[Any]) -> list[tuple[Any, list[Any]]]:
        """Return each optimizer with its part of a sequence, one value per variable."""
        if len(values) != len(self.is_activation):
            raise ValueError(
                "Call `activations_apart` after the last change of `trainable`. "
                f"Received: {len(values)} trainable variables in place of "
                f"{len(self.is_activation)}"
            )
        marked = [*zip(values, self.is_activation, strict=True)]
        return [  # first the one that reads the other's learning rate before its step
            (self.activation_optimizer, [value for value, apart in marked if apart]),
            (self.optimizer, [value for value, apart in marked if not apart]),
        ]

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            "optimizer": keras.saving.serialize_keras_object(self.optimizer),
            "is_activation": list(self.is_activation),
            "learning_rate_factor": self.learning_rate_factor,
            "name": self.name,
        }
