"""`TrainableActivation`, the base class of all trainable activations."""

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, Self

import keras
import numpy as np

from keras_vaf.layers.keras_internals import (
    list_in_outer_layers,
    needs_no_checks,
    place_weights,
)
from keras_vaf.layers.learned_function import LearnedFunction, equation_of
from keras_vaf.layers.sharing import (
    Sharing,
    unshared_axes,
    unshared_sizes,
    validate_data_format,
    validate_sharing,
)
from keras_vaf.layers.weight_arguments import (
    check_names,
    get_for_weight,
    get_function_regularizer,
    initial_value,
    regularizer_of,
    shown,
    to_config,
)
from keras_vaf.ops import pointwise
from keras_vaf.ops.equation import names_of
from keras_vaf.ops.functions import check_can_be_found
from keras_vaf.removed import refuse
from keras_vaf.types import Tensor

KINDS = ("regularizer", "constraint", "initializer")


class TrainableActivation(LearnedFunction, keras.layers.Layer):
    """A function R -> R with trainable parameters, applied to every element.

    A subclass defines its equation and the start values of its weights. This base class
    handles sharing, weights, precision, penalties and saving. A subclass sets

    - `value(self, x, ...)`: the function, in `keras.ops`. Its required arguments after
      x are the names of the weights, in the order of their creation. It reads no other
      attributes than `equation_fields`. Instead, a subclass may set `equation_class` to
      a `keras_vaf.ops.Pointwise`;
    - `equation_fields`: names of the arguments that `value` reads;
    - `start_values`: start value of each weight, the same in every function. For start
      values that depend on arguments or are random, define `start(unshared)` instead;
    - `default_sharing`: `sharing` unless the caller gives another;
    - `default_constraints`: constraints of weights that apply unless the caller gives
      others;
    - `non_trainable_weight_names`: weights that the optimizer must not update, such as
      running statistics.

    `__init__` of a subclass stores each additional argument under its name. Then it
    calls `super().__init__(**kwargs)`, which creates the weights if they do not depend
    on the input.

    Args:
        sharing: Elements that share one function: `"layer"` (one function for all),
            `"channel"` (one function per channel), `"neuron"` (one function per
            position, shared only over the batch), or a tuple of the axes along which
            the function is shared. Axes count over the whole input. The batch axis, 0,
            is always shared and must not be in the tuple. `None` means
            `default_sharing`.
        data_format: `"channels_last"` or `"channels_first"`: position of the channel
            axis for inputs of rank 3 or more. `None` means
            `keras.config.image_data_format()`.
        function_regularizer: A registered callable that maps the layer to a scalar
            tensor, for penalties that depend on several weights (see
            `keras_vaf.regularizers`).
        **kwargs: `NAME_regularizer`, `NAME_constraint` and `NAME_initializer` for each
            weight, and the arguments of `keras.layers.Layer`, such as `name` and
            `dtype`. An initializer replaces the start values of its weight.

    Input shape:
        Floating-point tensors of rank 2 or more. With `sharing="layer"`, each call may
        use a different shape. Otherwise the rank and the sizes of the unshared axes are
        fixed when the layer is built.

    Output shape:
        Same as the input.

    Raises:
        ValueError: If an argument is invalid, if the size of an unshared axis is
            unknown, or if the input is not of a floating-point type.
    """

    weight_names: tuple[str, ...] = ()
    non_trainable_weight_names: tuple[str, ...] = ()
    start_values: tuple[float, ...] = ()
    default_sharing: Sharing = "layer"
    default_constraints: tuple[tuple[str, Any], ...] = ()
    _training_is_ignored = False
    _has_paths = True  # until the weights exist
    _loaded_shape: tuple[int | None, ...] | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Set the names of the weights from the equation."""
        super().__init_subclass__(**kwargs)
        own_call = cls.call is not TrainableActivation.call
        is_torch = keras.backend.backend() == "torch"
        cls._training_is_ignored = is_torch and not own_call
        if "value" in vars(cls):
            cls.equation_class = equation_of(cls)
        if "equation_class" in vars(cls):
            cls.weight_names, cls.equation_fields = names_of(cls.equation_class)

    def __init__(
        self,
        sharing: str | Sequence[int] | None = None,
        data_format: str | None = None,
        *,
        function_regularizer: Callable[[Any], Tensor] | None = None,
        **kwargs: Any,
    ) -> None:
        if not self.weight_names:
            name = type(self).__name__
            raise ValueError(f"{name} must define its function, `value(self, x, ...)`.")
        slots, own = self._slots(*KINDS), self._arguments()
        defaults = {f"{name}_constraint": c for name, c in self.default_constraints}
        given = {name: kwargs.pop(name, defaults.get(name)) for name in slots}
        check_names(self, kwargs, [*own, *slots, "function_regularizer"])
        super().__init__(**kwargs)
        self.supports_masking = True
        self.input_spec = keras.InputSpec(min_ndim=2)
        chosen = self.default_sharing if sharing is None else sharing
        self.sharing = validate_sharing(chosen)
        self.data_format = validate_data_format(data_format)
        for name, value in given.items():
            setattr(self, name, get_for_weight(name, value))
        self.function_regularizer = get_function_regularizer(function_regularizer, self)
        check_can_be_found(self.activity_regularizer, "activity_regularizer")
        if self.sharing == "layer":  # so that `Dense(activation=...)` is complete
            self._add_weights(())
            if keras.backend.backend() == "torch":
                list(self.parameters())  # `state_dict` contains them from now on
                self._has_paths = False

    def _slots(self, *kinds: str) -> list[str]:
        """Return the names of the arguments that each weight has, kind by kind."""
        return [f"{name}_{kind}" for kind in kinds for name in self.weight_names]

    @classmethod
    def _arguments(cls) -> list[str]:
        """Return the names of the arguments that are not of a weight or of Keras."""
        parameters = inspect.signature(cls.__init__).parameters.values()
        named = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        return list(dict.fromkeys([*named[1:], "sharing", "data_format"]))

    def start(self, unshared: tuple[int, ...]) -> Sequence[np.ndarray]:
        """Return the start values of the weights, in the order of `weight_names`.

        Args:
            unshared: Sizes of the axes that are not shared. Every shape begins with
                them.
        """
        return [np.full(unshared, value) for value in self.start_values]

    def build(self, input_shape: tuple[int | None, ...]) -> None:
        if self.sharing == "layer":  # the weights exist
            if not self._has_paths:
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
        if keras.backend.backend() == "torch":
            list_in_outer_layers(self)

    def build_from_config(self, config: dict[str, Any]) -> None:
        """Build a layer that is loaded, if its weights do not exist yet."""
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
        """List of all variables of the layer (see `keras.layers.Layer`)."""
        if not self._has_paths:
            self._has_paths = place_weights(self)
        return super().variables

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        if self._training_is_ignored:
            kwargs.pop("training", None)  # Keras takes longer over named arguments
            if not kwargs and len(args) == 1 and needs_no_checks(self, args[0]):
                import torch

                return torch.nn.Module.__call__(self, args[0])
        return super().__call__(*args, **kwargs)

    def stateless_call(self, *args: Any, **kwargs: Any) -> Any:
        """Call the layer with given weights (see `keras.layers.Layer`)."""
        built = self.built  # type: ignore[has-type]
        self.built = built or self.sharing == "layer"  # the weights exist
        try:
            return super().stateless_call(*args, **kwargs)
        finally:
            self.built = built

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
        module: Any = super()
        module._apply(convert, *args)
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
        given = {name: getattr(self, name, None) for name in self._arguments()}
        given.pop("data_format")
        parts = {"name": self.name, **given, "built": self.built}
        text = ", ".join(f"{name}={shown(value)}" for name, value in parts.items())
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
        activity = to_config(self.activity_regularizer, "activity_regularizer")
        config = super().get_config()
        if activity is not None:
            config["activity_regularizer"] = activity
        names = (
            *self._arguments(),
            *self._slots("regularizer", "constraint"),
            "function_regularizer",
            *self._slots("initializer"),
        )
        return config | {name: to_config(getattr(self, name), name) for name in names}
