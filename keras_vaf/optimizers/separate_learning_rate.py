"""Activation parameters with a learning rate of their own and without weight decay."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import keras

from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.traversal import find_layers
from keras_vaf.types import Tensor


def activations_apart(
    model: keras.Model,
    optimizer: str | keras.optimizers.Optimizer,
    learning_rate_factor: float = 1.0,
) -> "ActivationsApart":
    """Make an optimizer treat the activation parameters of a model apart.

    They are trained with `learning_rate_factor` times the learning rate of all other
    weights, and never decay: weight decay pulls a layer's weights to 0, which is no
    special place for the parameters of an activation, and on a VAF it shrinks the
    signal of the whole layer. Everything else is as the optimizer says.

    Activation parameters are those of the `keras_vaf.layers.TrainableActivation` and
    `keras.layers.PReLU` layers, wherever they are nested; names play no part.

    Args:
        model: A built model. Set `trainable` of its layers first: these decide which
            weights there are to train.
        optimizer: A Keras optimizer that has not been used, or the name of one. A
            `keras.optimizers.LossScaleOptimizer` goes around the result, as
            `model.compile` does by itself under `mixed_float16`.
        learning_rate_factor: What the learning rate is multiplied by. Schedules and
            callbacks change the learning rate of both together.

    Returns:
        The optimizer to compile the model with. It is saved and loaded with the model.

    Raises:
        ValueError: If the model is not built or has no activation parameters to train,
            if the factor is not positive, or the optimizer has no learning rate.

    Example:

    >>> model = keras.Sequential([
    ...     keras.Input((20,)),
    ...     keras.layers.Dense(16),
    ...     keras_vaf.layers.VAFActivation(initialization="relu"),
    ...     keras.layers.Dense(1),
    ... ])
    >>> optimizer = activations_apart(
    ...     model, keras.optimizers.AdamW(1e-3), learning_rate_factor=0.1
    ... )
    >>> model.compile(optimizer, loss="mse")
    """
    if not model.built:
        raise ValueError(
            "The model must have its weights: build it, or call it on a batch, first. "
            f"Received: model={model.name!r}, which is not built"
        )
    found = find_layers(model, (TrainableActivation, keras.layers.PReLU))
    parameters = {
        id(weight) for layer in found.values() for weight in layer.trainable_weights
    }
    is_activation = [id(weight) in parameters for weight in model.trainable_variables]
    if not any(is_activation):
        raise ValueError(
            "The model has no activation parameters to train: put in a layer of "
            "`keras_vaf.layers`, or set `trainable` of those that it has. "
            f"Received: model={model.name!r}"
        )
    return ActivationsApart(
        keras.optimizers.get(optimizer), is_activation, learning_rate_factor
    )


@keras.saving.register_keras_serializable(package="keras_vaf")
class ActivationsApart(keras.optimizers.Optimizer):
    """What `activations_apart` returns: two optimizers of one kind that act as one.

    A copy of the given optimizer, without weight decay, trains the activation
    parameters. Clipping by `global_clipnorm` is done for each of the two by itself.

    Args:
        optimizer: The optimizer of all other weights.
        is_activation: For each trainable variable of the model, in order, whether it is
            an activation parameter.
        learning_rate_factor: What the learning rate is multiplied by for these.
        name: Name of the optimizer.

    Raises:
        ValueError: If the factor is not positive, if the optimizer has no learning
            rate, or if it is used on another number of variables.

    Example:

    >>> optimizer = ActivationsApart(keras.optimizers.SGD(0.5), [False, True], 0.25)
    >>> weight, parameter = keras.Variable(1.0), keras.Variable(1.0)
    >>> optimizer.apply([keras.ops.ones(()), keras.ops.ones(())], [weight, parameter])
    >>> print(weight.numpy(), parameter.numpy())
    0.5 0.875
    """

    def __init__(
        self,
        optimizer: keras.optimizers.Optimizer,
        is_activation: Sequence[bool],
        learning_rate_factor: float = 1.0,
        name: str = "activations_apart",
    ) -> None:
        config = optimizer.get_config()
        if "learning_rate" not in config:
            raise ValueError(
                "Expected an optimizer with a learning rate. Wrappers such as "
                "LossScaleOptimizer go around the result, not inside. "
                f"Received: optimizer={optimizer!r}"
            )
        if not learning_rate_factor > 0:
            raise ValueError(
                "`learning_rate_factor` must be above 0; to keep the activations as "
                "they are, set `trainable=False` on these layers. "
                f"Received: learning_rate_factor={learning_rate_factor!r}"
            )
        # Neither the learning rate nor the loss scale of this object itself is used.
        super().__init__(learning_rate=0.0, name=name)
        self.is_activation = tuple(is_activation)
        self.learning_rate_factor = learning_rate_factor
        self.optimizer = optimizer
        config["learning_rate"] = self._activation_learning_rate
        config["name"] = f"{optimizer.name}_of_activations"
        if config["weight_decay"] is not None:
            config["weight_decay"] = 0.0
        self.activation_optimizer = type(optimizer).from_config(config)

    def _activation_learning_rate(self) -> Tensor:
        return self.learning_rate_factor * self.optimizer.learning_rate

    @property
    def learning_rate(self) -> Any:
        """Learning rate of the weights that are no activation parameters."""
        return self.optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        self.optimizer.learning_rate = value

    @property
    def loss_scale_factor(self) -> float | None:
        """What the loss is multiplied by before the gradients are computed."""
        return self.optimizer.loss_scale_factor

    @loss_scale_factor.setter
    def loss_scale_factor(self, value: float | None) -> None:
        # Keras's constructor sets it before there are optimizers.
        if hasattr(self, "activation_optimizer"):
            self.optimizer.loss_scale_factor = value
            self.activation_optimizer.loss_scale_factor = value

    @property
    def variables(self) -> list[keras.Variable]:
        """State of the optimizer: its own, and that of the two."""
        return [
            *self._variables,
            *self.activation_optimizer.variables,
            *self.optimizer.variables,
        ]

    def build(self, variables: Sequence[keras.Variable]) -> None:
        """Create the state of every variable.

        Args:
            variables: The model's trainable variables.

        Raises:
            ValueError: If there are more or fewer than expected.
        """
        if self.built:
            return
        if len(variables) != len(self.is_activation):
            raise ValueError(
                "The trainable variables are not those that the optimizer was made "
                "for. Call `activations_apart` after the last change of `trainable`. "
                f"Received: {len(variables)} variables instead of "
                f"{len(self.is_activation)}"
            )
        super().build(variables)
        marked = zip(variables, self.is_activation, strict=True)
        self._keys = frozenset(self._var_key(v) for v, apart in marked if apart)
        nothing = [None] * len(variables)
        for optimizer, _, part in self._parts(nothing, variables):
            optimizer.build(part)

    def apply(
        self,
        grads: Sequence[Tensor | None],
        trainable_variables: Iterable[keras.Variable] | None = None,
    ) -> None:
        """Move all variables by one step.

        Args:
            grads: Gradients of the loss.
            trainable_variables: Their variables; by default those that the optimizer
                was built with.
        """
        if trainable_variables is None:
            trainable_variables = self._trainable_variables
        variables = list(trainable_variables)
        if not self.built:
            self.build(variables)
        if all(gradient is None for gradient in grads):
            raise ValueError("No gradients provided for any variable.")
        for optimizer, gradients, part in self._parts(grads, variables):
            if any(gradient is not None for gradient in gradients):
                optimizer.apply(gradients, part)
            else:
                # Keras takes no step without gradients, but its schedule must go on.
                optimizer._iterations.assign_add(1)
        self._iterations.assign_add(1)

    def _parts(
        self, gradients: Sequence[Tensor | None], variables: Sequence[keras.Variable]
    ) -> Iterator[tuple[keras.optimizers.Optimizer, list[Any], list[keras.Variable]]]:
        """Yield each optimizer with its gradients and variables.

        The activations come first: their learning rate is that of the other optimizer
        before its step.
        """
        pairs = list(zip(gradients, variables, strict=True))
        for apart in (True, False):
            mine = [p for p in pairs if (self._var_key(p[1]) in self._keys) is apart]
            optimizer = self.activation_optimizer if apart else self.optimizer
            yield optimizer, [g for g, _ in mine], [v for _, v in mine]

    def finalize_variable_values(self, var_list: Iterable[keras.Variable]) -> None:
        """Give the variables their averages, where the optimizer keeps these.

        Args:
            var_list: The model's trainable variables.
        """
        variables = list(var_list)
        nothing = [None] * len(variables)
        for optimizer, _, part in self._parts(nothing, variables):
            optimizer.finalize_variable_values(part)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            "optimizer": keras.saving.serialize_keras_object(self.optimizer),
            "is_activation": [bool(value) for value in self.is_activation],
            "learning_rate_factor": self.learning_rate_factor,
            "name": self.name,
        }

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> "ActivationsApart":
        """Make the optimizer that a configuration describes.

        Args:
            config: What `get_config` returned.
            custom_objects: Classes and functions that are not registered, by name.
        """
        optimizer = keras.saving.deserialize_keras_object(
            config["optimizer"], custom_objects=custom_objects
        )
        return cls(**{**config, "optimizer": optimizer})
