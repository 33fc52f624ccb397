"""`activations_apart`, which trains activation parameters separately."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import Any

import keras

from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.traversal import find_layers
from keras_vaf.types import Tensor
from keras_vaf.utils import check_flag, check_positive


def activations_apart(
    model: keras.Model,
    optimizer: str | keras.optimizers.Optimizer,
    learning_rate_factor: float = 1.0,
) -> "ActivationsApart":
    """Exclude activation parameters from weight decay and orthogonalization.

    Activation parameters are trained without weight decay, which would pull them to 0.
    Unlike for a kernel, 0 has no special meaning for them: on a VAF, decay shrinks the
    signal of the whole layer. `keras.optimizers.Muon` orthogonalizes the weights that
    are matrices, as kernels are. Activation parameters are matrices if functions are
    shared per channel, but no linear maps, so Muon trains them by its AdamW rule here.
    `learning_rate_factor` can also give them a separate
    learning rate; by default it is that of all other weights. All other settings are
    those of the optimizer.

    Activation parameters are the weights of all `keras_vaf.layers.TrainableActivation`
    and `keras.layers.PReLU` layers, including nested layers.

    Args:
        model: A built model. Set `trainable` of its layers first, because only
            trainable weights are included.
        optimizer: An unused Keras optimizer, or the name of one. To scale the loss,
            wrap the result in a `keras.optimizers.LossScaleOptimizer`; under
            `mixed_float16`, `model.compile` does so itself.
        learning_rate_factor: Learning rate of the activation parameters, relative to
            that of the other weights. Schedules and callbacks change both together.

    Returns:
        The optimizer to compile the model with. It is saved and loaded with the model.

    Raises:
        ValueError: If the model is not built or has no activation parameters to train,
            the factor is not positive, or the optimizer has no learning rate.

    Example:

    >>> model = keras.Sequential([
    ...     keras.Input((20,)),
    ...     keras.layers.Dense(16),
    ...     keras_vaf.layers.VAFActivation(),
    ...     keras.layers.Dense(1),
    ... ])
    >>> optimizer = keras.optimizers.AdamW(1e-3, weight_decay=0.1)
    >>> model.compile(activations_apart(model, optimizer), loss="mse")
    """
    if not isinstance(model, keras.Model) or not model.built:
        raise ValueError(
            "Expected a model with weights: build it, or call it on a batch, first. "
            f"Received: model={model!r}, which is not built"
        )
    found = find_layers(model, (TrainableActivation, keras.layers.PReLU))
    parameters = {
        id(weight) for layer in found.values() for weight in layer.trainable_weights
    }
    is_activation = [id(weight) in parameters for weight in model.trainable_variables]
    if not any(is_activation):
        raise ValueError(
            "The model has no activation parameters to train: add a layer of "
            "`keras_vaf.layers`, or set `trainable` of those that it has. "
            f"Received: model={model.name!r}"
        )
    return ActivationsApart(
        keras.optimizers.get(optimizer), is_activation, learning_rate_factor
    )


@keras.saving.register_keras_serializable(package="keras_vaf")
class ActivationsApart(keras.optimizers.Optimizer):
    """Two optimizers of the same class that act as one; see `activations_apart`.

    A copy of the given optimizer, without weight decay, trains the activation
    parameters. Each of the two optimizers computes the global norm for
    `global_clipnorm` from its own gradients.

    Args:
        optimizer: The optimizer of all other weights.
        is_activation: Whether each trainable variable of the model is an activation
            parameter, in the order of the variables.
        learning_rate_factor: Factor of the learning rate of activation parameters.
        name: Name of the optimizer.

    Raises:
        ValueError: If the factor is not positive, the optimizer has no learning rate,
            or the number of variables differs from the length of `is_activation`.

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
        known = isinstance(optimizer, keras.optimizers.Optimizer)
        config = optimizer.get_config() if known else {}
        if "learning_rate" not in config:
            raise ValueError(
                "Expected an optimizer with a learning rate. Apply wrappers such as "
                "LossScaleOptimizer to the result instead. "
                f"Received: optimizer={optimizer!r}"
            )
        # The learning rate and loss scale of this object itself are not used.
        super().__init__(learning_rate=0.0, name=name)
        self.is_activation = tuple(
            check_flag("is_activation", each) for each in is_activation
        )
        self.learning_rate_factor = check_positive(
            "learning_rate_factor", learning_rate_factor
        )
        self.optimizer = optimizer
        config["learning_rate"] = self._activation_learning_rate
        config["name"] = f"{optimizer.name}_of_activations"
        if config["weight_decay"] is not None:
            config["weight_decay"] = 0.0
        # Muon: the empty pattern excludes every weight from orthogonalization. Keras
        # 3.12 has no separate weight decay for the other weights.
        of_muon = {"exclude_layers": [""], "adam_weight_decay": 0.0}
        config |= {name: of_muon[name] for name in of_muon if name in config}
        self.activation_optimizer = type(optimizer).from_config(config)

    def _activation_learning_rate(self) -> Tensor:
        return self.learning_rate_factor * self.optimizer.learning_rate

    @property
    def learning_rate(self) -> Any:
        """Learning rate of all weights except the activation parameters."""
        return self.optimizer.learning_rate

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        self.optimizer.learning_rate = value

    @property
    def loss_scale_factor(self) -> float | None:
        """Factor of the loss before the gradients are computed."""
        return self.optimizer.loss_scale_factor

    @loss_scale_factor.setter
    def loss_scale_factor(self, value: float | None) -> None:
        # The constructor of Keras sets it before the two optimizers exist.
        if hasattr(self, "activation_optimizer"):
            self.optimizer.loss_scale_factor = value
            self.activation_optimizer.loss_scale_factor = value

    @property
    def variables(self) -> list[keras.Variable]:
        """State of this object and of the two optimizers."""
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
            ValueError: If the number of variables differs from the length of
                `is_activation`.
        """
        if self.built:
            return
        if len(variables) != len(self.is_activation):
            raise ValueError(
                "The trainable variables differ from those for which the optimizer was "
                "made. Call `activations_apart` after the last change of `trainable`. "
                f"Received: {len(variables)} variables instead of "
                f"{len(self.is_activation)}"
            )
        super().build(variables)
        marked = zip(variables, self.is_activation, strict=True)
        self._keys = frozenset(self._var_key(v) for v, apart in marked if apart)
        for optimizer, part in self._parts(variables):
            optimizer.build(part)

    def apply(
        self,
        grads: Sequence[Tensor | None],
        trainable_variables: Iterable[keras.Variable] | None = None,
    ) -> None:
        """Move all variables by one step.

        Args:
            grads: Gradients of the loss.
            trainable_variables: Their variables; by default those of `build`.
        """
        if trainable_variables is None:
            trainable_variables = self._trainable_variables
        variables = list(trainable_variables)
        if not self.built:
            self.build(variables)
        if all(gradient is None for gradient in grads):
            raise ValueError("No gradients provided for any variable.")
        for optimizer, part, gradients in self._parts(variables, grads):
            if any(gradient is not None for gradient in gradients):
                optimizer.apply(gradients, part)
            else:
                # Without gradients Keras takes no step, but the schedule must advance.
                optimizer.iterations.assign_add(1)
        self._iterations.assign_add(1)

    def finalize_variable_values(self, var_list: Iterable[keras.Variable]) -> None:
        """Replace the variables by their moving averages, if the optimizer has them.

        Args:
            var_list: The model's trainable variables.
        """
        for optimizer, part in self._parts(list(var_list)):
            optimizer.finalize_variable_values(part)

    def _parts(
        self, variables: Sequence[keras.Variable], *others: Sequence[Any]
    ) -> Iterator[tuple[Any, ...]]:
        """Yield each optimizer with its variables and its part of the other sequences.

        The activation parameters come first, because their learning rate is that of the
        other optimizer before its step.
        """
        apart = [self._var_key(variable) in self._keys for variable in variables]
        for mine, optimizer in (
            (apart, self.activation_optimizer),
            ([not each for each in apart], self.optimizer),
        ):
            columns = (variables, *others)
            yield optimizer, *(list(compress(column, mine)) for column in columns)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            "optimizer": keras.saving.serialize_keras_object(self.optimizer),
            "is_activation": list(self.is_activation),
            "learning_rate_factor": self.learning_rate_factor,
            "name": self.name,
        }

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> "ActivationsApart":
        """Return the optimizer that a configuration describes.

        Args:
            config: The result of `get_config`.
            custom_objects: Classes and functions that are not registered, by name.
        """
        optimizer = keras.saving.deserialize_keras_object(
            config["optimizer"], custom_objects=custom_objects
        )
        return cls(**{**config, "optimizer": optimizer})
