"""`TrainableActivation`, the base class of all trainable activations."""

import dataclasses
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Self

import keras
import numpy as np

from keras_vaf.layers.keras_internals import (
    needs_no_checks,
    place_weights,
    tell_apart,
)
from keras_vaf.layers.learned_function import kept_in_half, values_of
from keras_vaf.layers.sharing import (
    Sharing,
    unshared_axes,
    unshared_sizes,
    validate_data_format,
    validate_sharing,
)
from keras_vaf.layers.weight_arguments import (
    check_names,
    get_slot,
    initial_value,
    regularizer_of,
    shown,
    to_config,
)
from keras_vaf.ops import Pointwise, pointwise
from keras_vaf.ops.equation import names_of
from keras_vaf.ops.functions import check_can_be_found
from keras_vaf.regularizers import FunctionRegularizer
from keras_vaf.removed import refuse
from keras_vaf.types import Tensor


class TrainableActivation(keras.layers.Layer):
    """A function R -> R with trainable parameters, applied to every element.

    It handles sharing, weights, precision, penalties and saving. A subclass sets

    - `value(self, x, ...)`: the function, in `keras.ops`. Its required arguments after
      x are the names of the weights, in the order of their creation. It reads no other
      attributes than `equation_fields`. Instead, a subclass may set `equation_class` to
      a `keras_vaf.ops.Pointwise`;
    - `equation_fields`: names of the arguments that `value` reads;
    - `start_values`: start value of each weight, the same in every function. For start
      values that depend on arguments or are random, define `start(unshared)` instead;
    - `default_sharing`: `sharing` unless the caller gives another;
    - `default_constraints`: constraints of weights unless the caller gives others;
    - `non_trainable_weight_names`: weights that no optimizer updates.

    `__init__` of a subclass stores each additional argument under its name. Then it
    calls `super().__init__(**kwargs)`, which creates the weights if they do not depend
    on the input.

    Args:
        sharing: Elements that share one function, as in `VAFActivation`. `None` means
            `default_sharing`.
        data_format: Position of the channel axis, as in `VAFActivation`.
        **kwargs: `NAME_regularizer`, `NAME_constraint` and `NAME_initializer` for each
            weight, `function_regularizer`, and the arguments of `keras.layers.Layer`,
            such as `name` and `dtype`.

    Shapes and errors are those of `VAFActivation`.
    """

    equation_class: type[Pointwise]
    equation_fields: tuple[str, ...] = ()
    weight_names: tuple[str, ...] = ()
    non_trainable_weight_names: tuple[str, ...] = ()
    start_values: tuple[float, ...] = ()
    default_sharing: Sharing = "layer"
    default_constraints: tuple[tuple[str, Any], ...] = ()
    _training_is_ignored = False
    _unshared_axes: tuple[int, ...] = ()
    _has_paths = True  # until the weights exist
    _is_apart = True  # until the layer is built
    _loaded_shape: tuple[int | None, ...] | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Set the names of the weights from the equation."""
        super().__init_subclass__(**kwargs)
        plain = cls.call is TrainableActivation.call
        cls._training_is_ignored = plain and keras.backend.backend() == "torch"
        if "value" in vars(cls):
            # Equal equations share their compiled programs.
            cls.equation_class = dataclasses.make_dataclass(
                cls.__name__,
                cls.equation_fields,
                bases=(Pointwise,),
                namespace={"value": cls.value},
                frozen=True,
            )
        if "equation_class" in vars(cls):
            cls.weight_names, cls.equation_fields = names_of(cls.equation_class)

    def __init__(
        self,
        sharing: str | Sequence[int] | None = None,
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        defaults = {f"{name}_constraint": c for name, c in self.default_constraints}
        slots = {name: kwargs.pop(name, defaults.get(name)) for name in self._slots()}
        check_names(self, kwargs, [*self._arguments(), *slots])
        super().__init__(**kwargs)
        self.supports_masking = True
        self.input_spec = keras.InputSpec(min_ndim=2)
        sharing = self.default_sharing if sharing is None else sharing
        self.sharing = validate_sharing(sharing)
        self.data_format = validate_data_format(data_format)
        for name, value in slots.items():
            setattr(self, name, get_slot(name, value))
        if isinstance(self.function_regularizer, FunctionRegularizer):
            self.function_regularizer.check_layer(self)
        check_can_be_found(self.activity_regularizer, "activity_regularizer")
        if self.sharing == "layer":  # so that `Dense(activation=...)` is complete
            self._add_weights(())
            if keras.backend.backend() == "torch":
                list(self.parameters())  # `state_dict` contains them from now on
            self._has_paths = False

    def _slots(self) -> list[str]:
        """Return the names of the arguments of the weights, and of the function."""
        kinds = ("regularizer", "constraint", "initializer")
        names = [f"{name}_{kind}" for kind in kinds for name in self.weight_names]
        names.insert(2 * len(self.weight_names), "function_regularizer")
        return names

    @classmethod
    def _arguments(cls) -> list[str]:
        """Return the names of the arguments that are not of a weight or of Keras."""
        parameters = inspect.signature(cls.__init__).parameters.values()
        named = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        return list(dict.fromkeys([*named[1:], "sharing", "data_format"]))

    @property
    def equation(self) -> Pointwise:
        """The function, configured by the layer's arguments."""
        fields = (getattr(self, name) for name in self.equation_fields)
        return self.equation_class(*fields)

    def value(self, x: Tensor, *parameters: Any, **named: Any) -> Tensor:
        """Return f(x), element by element; parameters broadcast against x."""
        raise NotImplementedError(f"{type(self).__name__} must define `value`.")

    def function(self, x: Any) -> np.ndarray:
        """Return values of the learned function as a NumPy array.

        Args:
            x: Number or array of any shape.

        Returns:
            f(x) of all functions, as a float64 array of shape `(*x.shape, *unshared)`.
            On TensorFlow, constants of gelu and leaky_relu are in float32.

        Raises:
            ValueError: If the layer has no weights yet.

        Example:

        >>> layer = keras_vaf.layers.VAFActivation(initialization="relu")
        >>> print(layer.function([-1, 0, 2]))
        [0. 0. 2.]
        """
        return values_of(self, np.asarray(x, "float64"))

    def start(self, unshared: tuple[int, ...]) -> Sequence[np.ndarray]:
        """Return the start values of the weights, in the order of `weight_names`.

        Args:
            unshared: Sizes of the axes that are not shared. Every shape begins with
                them.
        """
        return [np.full(unshared, value) for value in self.start_values]

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        if self.sharing == "layer":  # the weights exist
            if not self._has_paths or keras.backend.backend() != "torch":
                self._has_paths = place_weights(self, self.path)
        else:
            rank = len(input_shape)
            axes = unshared_axes(self.sharing, rank, self.data_format)
            sizes = unshared_sizes(axes, input_shape, self.sharing)
            self._unshared_axes = axes
            self.input_spec = keras.InputSpec(
                ndim=rank, axes=dict(zip(axes, sizes, strict=True))
            )
            self._add_weights(sizes)
        self._is_apart = tell_apart(self)

    def build_from_config(self, config: dict[str, Any]) -> None:
        self._loaded_shape = tuple(config["input_shape"])
        if self.sharing != "layer":
            super().build_from_config(config)

    def get_build_config(self) -> dict[str, Any] | None:
        loaded = {"input_shape": self._loaded_shape} if self._loaded_shape else None
        return super().get_build_config() or loaded

    def _add_weights(self, unshared: tuple[int, ...]) -> None:
        # `result_type` of Keras does not support float64.
        dtype = "float64" if self.variable_dtype == "float64" else "float32"
        for name, start in zip(self.weight_names, self.start(unshared), strict=True):
            value = initial_value(self, name, start, dtype)
            weight = self.add_weight(
                name=name,
                shape=value.shape,
                dtype=dtype,
                initializer=lambda _, dtype, value=value: keras.ops.convert_to_tensor(
                    np.array(value, dtype=dtype)
                ),
                regularizer=regularizer_of(self, name),
                constraint=getattr(self, f"{name}_constraint"),
                trainable=name not in self.non_trainable_weight_names,
                autocast=False,
            )
            setattr(self, name, weight)

    @property
    def variables(self) -> list[keras.Variable]:
        """All variables of the layer (see `keras.layers.Layer`)."""
        if not self._has_paths:
            self._has_paths = place_weights(self)
        return super().variables

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        if not self._is_apart and tell_apart(self):
            self._is_apart = True
        if self._training_is_ignored:
            kwargs.pop("training", None)  # Keras takes longer over named arguments
            if not kwargs and len(args) == 1 and needs_no_checks(self, args[0]):
                import torch

                return torch.nn.Module.__call__(self, args[0])
        with kept_in_half(self, args):
            return super().__call__(*args, **kwargs)

    def rematerialized_call(self, layer_call: Any, *args: Any, **kwargs: Any) -> Any:
        """Return `call` for a `keras.RematScope` (see `keras.layers.Layer`).

        TensorFlow recomputes functions of positional arguments only.
        """
        if not kwargs:
            return super().rematerialized_call(layer_call, *args)
        bound = functools.partial(layer_call, **kwargs)
        call = super().rematerialized_call(bound, *args)
        return lambda *args, **kwargs: call(*args)

    def _apply(self, convert: Callable[[Tensor], Tensor], *args: Any) -> Any:
        """Compute in the dtype that `to`, `double` or `half` of PyTorch sets."""
        super()._apply(convert, *args)
        empty = convert(keras.ops.zeros((0,), self.variable_dtype))
        dtype = keras.backend.standardize_dtype(empty.dtype)
        if dtype != self.variable_dtype:
            self.dtype_policy = dtype
        return self

    def call(self, inputs: Tensor, training: bool | None = None) -> Tensor:
        if not keras.backend.is_float_dtype(inputs.dtype):
            raise ValueError(
                f"{type(self).__name__} acts on floating-point numbers; convert the "
                "input with `keras.ops.cast(x, 'float32')`. Received: an input of "
                f"dtype {keras.backend.standardize_dtype(inputs.dtype)}"
            )
        weights = [getattr(self, name) for name in self.weight_names]
        axes = self._unshared_axes
        return pointwise(self.equation, inputs, weights, axes, training is True)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def __repr__(self) -> str:
        """Return the class and arguments as text, such as k, g and sharing of a VAF."""
        names = ["name", *self._arguments(), "built"]
        names.remove("data_format")
        text = ", ".join(f"{name}={shown(getattr(self, name, None))}" for name in names)
        return f"<{type(self).__name__} {text}>"

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Return the layer of a configuration, unless it has a removed argument."""
        config = dict(config)
        if config.pop("function_constraint", None) is not None:
            refuse("`function_constraint`")
        if isinstance(config.get("sharing"), dict):
            refuse("A dictionary as `sharing`")
        return super().from_config(config)

    def get_config(self) -> dict[str, Any]:
        names = [*self._arguments(), *self._slots()]
        if self.activity_regularizer is not None:
            names.append("activity_regularizer")
        own = {name: to_config(getattr(self, name), name) for name in names}
        return super().get_config() | own
