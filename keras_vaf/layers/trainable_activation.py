"""The base of all trainable activations: sharing, weights, precision, configuration."""

import inspect
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import keras
import numpy as np
from keras import ops

from keras_vaf.constraints import Monotone
from keras_vaf.layers.sharing import (
    unshared_axes,
    validate_data_format,
    validate_sharing,
)
from keras_vaf.ops import Pointwise, pointwise
from keras_vaf.ops.functions import evaluate, function_identifier
from keras_vaf.ops.layout import Layout
from keras_vaf.types import Tensor


class TrainableActivation(keras.layers.Layer):
    """A function R -> R with trainable parameters, applied to every element.

    A subclass says what is computed, by which parameters, and where they start; the
    rest is here, the same for all of them. It defines

    - `parameters`: names of its weights, in the order of their creation;
    - `equation`: the function, a `keras_vaf.ops.Pointwise`;
    - `start(unshared)`: start values of its weights, whose shapes begin with the sizes
      of the axes that are not shared;
    - `__init__`, which stores each argument under its own name and ends with
      `self.add_layer_weights()`;
    - `not_trained`, where some of its weights are no business of the optimizer.

    Args:
        sharing: Which elements share one function: `"layer"` (all), `"channel"` (those
            of a channel), `"neuron"` (none but those of the same place in each sample),
            or a tuple of the axes along which it is shared. Axes count over the whole
            input; the batch axis 0 is always shared and not named.
        data_format: `"channels_last"` or `"channels_first"`, where the channel axis is
            for an input of rank 3 or more. `None` means
            `keras.config.image_data_format()`.
        function_regularizer: A registered callable that maps the layer to a penalty, a
            scalar tensor: for penalties that need more than one weight (see
            `keras_vaf.regularizers`).
        **kwargs: `NAME_regularizer` and `NAME_constraint` for each weight, and the
            arguments of `keras.layers.Layer`, such as `name` and `dtype`.

    Input shape:
        Any, of rank 2 or more, of floats. Under `"layer"` sharing every call may have
        another shape. Otherwise rank and sizes of unshared axes are fixed when the
        layer is built.

    Output shape:
        That of the input.

    Raises:
        ValueError: If an argument is not one of the above, if an unshared axis has no
            known size, or if the input is not of floats.
    """

    parameters: tuple[str, ...] = ()
    not_trained: tuple[str, ...] = ()

    def __init__(
        self,
        sharing: str | Sequence[int] = "layer",
        data_format: str | None = None,
        function_regularizer: Callable[[Any], Tensor] | None = None,
        **kwargs: Any,
    ) -> None:
        weight_arguments = {
            f"{parameter}_{kind}": kwargs.pop(f"{parameter}_{kind}", None)
            for kind in ("regularizer", "constraint")
            for parameter in self.parameters
        }
        super().__init__(**kwargs)
        self.supports_masking = True
        self.input_spec = keras.InputSpec(min_ndim=2)
        self.sharing = validate_sharing(sharing)
        self.data_format = validate_data_format(data_format)
        for name, value in weight_arguments.items():
            get = getattr(keras, f"{name.rpartition('_')[2]}s").get
            setattr(self, name, get(value))
        self.function_regularizer = _get_callable(function_regularizer)
        self._unshared_axes: tuple[int, ...] = ()

    @property
    def equation(self) -> Pointwise:
        """What the layer computes."""
        raise NotImplementedError(f"{type(self).__name__} must define `equation`.")

    def start(self, unshared: tuple[int, ...]) -> Sequence[np.ndarray]:
        """Start values of the weights, in the order of `parameters`."""
        raise NotImplementedError(f"{type(self).__name__} must define `start`.")

    def add_layer_weights(self) -> None:
        """Create the weights at once where they depend on no input.

        So a layer given as `Dense(activation=...)` is complete when `Dense` is built.
        """
        if self.sharing == "layer":
            self._add_weights(())

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        if self.sharing == "layer":
            return
        rank = len(input_shape)
        self._unshared_axes = unshared_axes(self.sharing, rank, self.data_format)
        sizes = tuple(input_shape[axis] for axis in self._unshared_axes)
        if None in sizes:
            raise ValueError(
                "Axes along which the function is not shared must have a known size: "
                "give the input a full shape, or share the function along them (see "
                f"`sharing`). Received: input_shape={tuple(input_shape)} with "
                f"sharing={self.sharing!r}"
            )
        axes = dict(zip(self._unshared_axes, sizes, strict=True))
        self.input_spec = keras.InputSpec(ndim=rank, axes=axes)
        self._add_weights(sizes)

    def _add_weights(self, unshared: tuple[Any, ...]) -> None:
        # Keras's `result_type` knows no float64.
        dtype = "float64" if self.variable_dtype == "float64" else "float32"
        for name, value in zip(self.parameters, self.start(unshared), strict=True):
            weight = self.add_weight(
                name=name,
                shape=value.shape,
                dtype=dtype,
                initializer=_Constant(value),
                regularizer=self._regularizer(name),
                constraint=self._constraint(name),
                trainable=name not in self.not_trained,
                autocast=False,
            )
            setattr(self, name, weight)

    def _regularizer(self, name: str) -> Callable[[Tensor], Tensor] | None:
        regularizer = getattr(self, f"{name}_regularizer")
        penalty = self.function_regularizer
        trained = [p for p in self.parameters if p not in self.not_trained]
        if penalty is None or name != trained[0]:
            return regularizer
        # Keras sums the regularizers of all trained weights, wherever the layer is
        # nested and however the step is compiled. The penalty rides on the first.
        return _PenaltyOnLayer(self, penalty, regularizer)

    def _constraint(self, name: str) -> Callable[[Tensor], Tensor] | None:
        constraint = getattr(self, f"{name}_constraint")
        # What one weight may be can depend on another.
        return (
            constraint.of(self, name)
            if isinstance(constraint, Monotone)
            else constraint
        )

    def call(self, inputs: Tensor, training: bool | None = None) -> Tensor:
        if not keras.backend.is_float_dtype(inputs.dtype):
            raise ValueError(
                f"{type(self).__name__} acts on floating-point numbers; convert the "
                "input with `keras.ops.cast(x, 'float32')`. Received: an input of "
                f"dtype {keras.backend.standardize_dtype(inputs.dtype)}"
            )
        weights = [getattr(self, name) for name in self.parameters]
        return pointwise(
            self.equation, inputs, weights, self._unshared_axes, training is True
        )

    def compute_output_shape(
        self, input_shape: tuple[int | None, ...]
    ) -> tuple[int | None, ...]:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        own = [
            name
            for name, parameter in inspect.signature(type(self)).parameters.items()
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        ]
        weights = [
            f"{parameter}_{kind}"
            for kind in ("regularizer", "constraint")
            for parameter in self.parameters
        ]
        config = super().get_config()
        for name in (*own, *weights, "function_regularizer"):
            config[name] = _to_config(getattr(self, name), name)
        return config

    def function(self, x: Any) -> np.ndarray:
        """The learned function, as plain numbers.

        Args:
            x: Number or array of any shape.

        Returns:
            f(x) in float64, of shape `(*x.shape, *unshared)`: the values of all
            functions of the layer.

        Raises:
            ValueError: If the layer has no weights yet.

        Example:

        >>> layer = keras_vaf.layers.VAFActivation(initialization="relu")
        >>> print(layer.function([-1, 0, 2]))
        [0. 0. 2.]
        """
        weights = self._weight_values()
        x = np.asarray(x, "float64")
        count = len(self._unshared_axes)
        rank = x.ndim + count
        layout = Layout(rank, tuple(range(x.ndim, rank)))

        def value(x: Tensor, *weights: Tensor) -> Tensor:
            return self.equation.value(x, *(layout.align(w) for w in weights))

        y = evaluate(value, x.reshape((*x.shape, *[1] * count)), *weights)
        unshared = weights[-1].shape[:count]
        return np.broadcast_to(y, (*x.shape, *unshared)).copy()

    def _weight_values(self) -> list[np.ndarray]:
        if not hasattr(self, self.parameters[0]):
            raise ValueError(
                f"The layer {self.name!r} has no weights yet; build it, or call it on "
                "an input, first."
            )
        return [
            ops.convert_to_numpy(getattr(self, name).value) for name in self.parameters
        ]


class _PenaltyOnLayer(keras.regularizers.Regularizer):
    """A penalty on a layer, and the one on the weight that it rides on, if any."""

    def __init__(
        self,
        layer: TrainableActivation,
        penalty: Callable[[Any], Tensor],
        regularizer: Callable[[Tensor], Tensor] | None,
    ) -> None:
        self.layer = layer
        self.penalty = penalty
        self.regularizer = regularizer

    def __call__(self, weight: Tensor) -> Tensor:
        own = 0.0 if self.regularizer is None else self.regularizer(weight)
        return self.penalty(self.layer) + own


class _Constant(keras.initializers.Initializer):
    """A given array; `keras.initializers.Constant` would store it in no file either."""

    def __init__(self, value: np.ndarray) -> None:
        self.value = value

    def __call__(self, shape: Sequence[int], dtype: str | None = None) -> Tensor:
        return ops.convert_to_tensor(np.array(self.value, dtype=dtype))


def _get_callable(identifier: Any) -> Callable[[Any], Tensor] | None:
    if isinstance(identifier, dict):
        identifier = keras.saving.deserialize_keras_object(identifier)
    elif isinstance(identifier, str):
        identifier = keras.saving.get_registered_object(identifier) or identifier
    if identifier is None or callable(identifier):
        return identifier
    raise ValueError(
        "`function_regularizer` must be a callable that maps the layer to a scalar "
        f"tensor, or None. Received: function_regularizer={identifier!r}"
    )


def _to_config(value: Any, argument: str) -> Any:
    if isinstance(value, FunctionType):
        return function_identifier(value, argument)
    return keras.saving.serialize_keras_object(value)
