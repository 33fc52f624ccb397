"""`freeze`, which returns a model that no longer needs this package."""

import functools
import json
import re
import warnings
from typing import Any

import keras
import numpy as np

from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.activation_inputs import trainable_activations
from keras_vaf.layers.sharing import unshared_axes
from keras_vaf.models.changes import Change, KeptError, keep_report
from keras_vaf.models.fixed import label
from keras_vaf.models.graph import (
    check_finite_weights,
    check_graph,
    is_torch_module,
    sample_inputs,
)
from keras_vaf.models.rebuild import Place, rebuild
from keras_vaf.models.vaf_equivalent import built_shape, to_vaf, weights_of
from keras_vaf.ops.activations import KERAS_NAMES, elementwise, name_of

_LARGEST_DEVIATION = 0.01
"""Deviations above this share of the largest output cause a warning."""
_SUBCLASSED = (
    "A model whose class defines `call` can be converted, but not frozen. "
    "`model.export` writes it as it is, for a process without keras_vaf."
)


def freeze(model: Any, data: Any = None) -> Any:
    """Turn a trained model into one that needs only Keras.

    Each VAF becomes a small model of `Rescaling`, `Activation` and `Add` layers, which
    hold the weights of the VAF as constants. Hidden units that contribute nothing are
    left out. The saved result loads without keras_vaf and can be exported like any
    other Keras model.

    The file of a model with custom layers needs the package of these layers. A layer
    must have an argument for each VAF inside it.

    A converted `torch.nn.Module` becomes a copy without parameters of VAFs: their
    numbers are buffers. `torch.export` writes it as a program that needs only PyTorch.

    Args:
        model: A Sequential or Functional model with weights. Its trainable activations
            must be VAFs, or activations that `to_vaf` supports.
        data: Inputs on which the two models are compared. By default, four random
            samples, with 32 or 8 entries along axes of unknown size.

    Returns:
        A model that is not compiled. `keras_vaf.models.report` lists its replaced
        activations and the largest difference between the outputs of the two models.

    Raises:
        ValueError: If the model has no trainable activation that can be replaced, is
            not built, has a weight that is not finite, needs other parts of keras_vaf,
            has a layer that cannot be copied, or cannot be called on the samples.

    Example:

    >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8),
    ...     keras_vaf.layers.VAFActivation(name="vaf"), keras.layers.Dense(1)])
    >>> frozen = freeze(model)
    >>> "keras_vaf" in frozen.to_json(), report(frozen).deviation < 1e-5
    (False, True)
    """
    if is_torch_module(model):
        from keras_vaf.models.modules_on_torch import freeze_module

        return freeze_module(model)
    check_graph(model, _SUBCLASSED)
    if not getattr(model, "inputs", None):
        raise ValueError(
            "A model needs its weights before it is frozen: call it on an input first. "
            "If that does not help, a layer inside needs a `compute_output_shape`. "
            f"Received: the model {model.name!r}, which is not built"
        )
    trainable_activations(model)
    check_finite_weights(model)
    expected = _run_samples(model) if data is None else _run(model, data)
    frozen, changes = rebuild(model, _constant, edit=_without_own)
    _check_free(frozen, changes)
    y = _run(frozen, sample_inputs(model) if data is None else data)
    deviation, size = _deviation(expected, y)
    if deviation > _LARGEST_DEVIATION * size:
        warnings.warn(
            "The outputs of the frozen model differ from those of the model by up to "
            f"{deviation:.2g}. The largest output is {size:.2g}.",
            stacklevel=2,
        )
    keep_report(frozen, changes, deviation)
    return frozen


def _run_samples(model: keras.Model) -> list[np.ndarray]:
    """Return the outputs of a model on samples, whose sizes it may not accept."""
    try:
        return _run(model, sample_inputs(model))
    except Exception as error:  # each backend raises other errors
        reason = str(error).strip().partition("\n")[0]
        raise ValueError(
            "The model cannot be called on samples of a size chosen here: give inputs "
            f"of the model as `data=`. Received: {model.name!r} with inputs of shapes "
            f"{[each.shape for each in model.inputs]} ({reason})"
        ) from error


def _deviation(expected: list[np.ndarray], y: list[np.ndarray]) -> tuple[float, float]:
    """Return the largest difference and the largest expected value."""
    pairs = zip(expected, y, strict=True)
    differences = [np.max(np.abs(new - old), initial=0.0) for old, new in pairs]
    sizes = [np.max(np.abs(old), initial=0.0) for old in expected]
    return float(max(differences)), float(max(sizes))


def _run(model: keras.Model, x: Any) -> list[np.ndarray]:
    """Return the outputs of a model in float64."""
    outputs = keras.tree.flatten(model(x, training=False))
    return [keras.ops.convert_to_numpy(each).astype("float64") for each in outputs]


def _constant(place: Place) -> Change | None:
    layer = place.activation
    if not isinstance(layer, TrainableActivation):
        return None
    try:
        new = _Constant(layer, place.name).model()
    except ValueError as reason:
        raise KeptError(str(reason)) from reason
    return Change(place.path, label(layer), "layers of Keras", 0.0, new=new)


class _Constant:
    """The function of a VAF, made of Keras layers."""

    def __init__(self, layer: TrainableActivation, name: str) -> None:
        vaf = to_vaf(layer)
        alpha, alpha_bias, beta, self._beta_bias = weights_of(vaf)
        if elementwise(vaf.g).homogeneous:  # g(c h) = c g(h) for c > 0
            size = np.where(alpha == 0, 1, np.abs(alpha))
            alpha, alpha_bias, beta = alpha / size, alpha_bias / size, beta * size
        self._name, self._layer = name, layer
        self._units: list[list[Any]] = []
        for j in range(vaf.k):
            if np.any(beta[..., j]):
                self._add_unit(vaf.g, alpha[..., j], alpha_bias[..., j], beta[..., j])
        if not self._units:
            self._units = [[self._rescaling("constant", 0.0, self._beta_bias)]]

    def model(self) -> keras.Model:
        """Return a model that applies the function."""
        shape = (self._layer.get_build_config() or {}).get("input_shape")
        if shape is None:
            raise ValueError("the layer around it has never called it")
        rank = len(shape)
        inputs = keras.Input([None] * (rank - 1))
        outputs = [
            functools.reduce(lambda x, layer: layer(x), unit, inputs)
            for unit in self._units
        ]
        total = keras.layers.Add(name=f"{self._name}_sum", dtype="float32")
        # The arithmetic is in float32. The next layer receives its original dtype.
        last = keras.layers.Activation(
            "linear", name=f"{self._name}_out", dtype=self._layer.dtype_policy
        )
        y = last(total(outputs) if len(outputs) > 1 else outputs[0])
        return keras.Model(inputs, y, name=self._name)

    def _add_unit(
        self, g: Any, alpha: np.ndarray, alpha_bias: np.ndarray, beta: np.ndarray
    ) -> None:
        """Add beta g(alpha x + alpha_bias), plus the constant for the first unit."""
        j = len(self._units)
        constant = np.zeros_like(self._beta_bias) if self._units else self._beta_bias
        fixed = name_of(g)
        inner = g
        if fixed in KERAS_NAMES:
            inner = keras.layers.Activation(
                fixed, name=f"{self._name}_g{j}", dtype="float32"
            )
        before = self._rescaling(f"in{j}", alpha, alpha_bias)
        after = self._rescaling(f"out{j}", beta, constant)
        self._units.append([before, inner, after])

    def _rescaling(self, name: str, scale: Any, offset: Any) -> keras.layers.Layer:
        """Return a layer that computes scale * x + offset for each function."""
        return keras.layers.Rescaling(
            self._aligned(scale),
            self._aligned(offset),
            name=f"{self._name}_{name}",
            dtype="float32",
        )

    def _aligned(self, values: Any) -> Any:
        """Reshape values, one per function, to the axes of a sample."""
        values = np.asarray(values)
        if values.ndim == 0:
            return [float(values)]  # tf2onnx fails at a scalar
        shape = built_shape(self._layer)
        axes = unshared_axes(self._layer.sharing, len(shape), self._layer.data_format)
        full = [size if axis in axes else 1 for axis, size in enumerate(shape)][1:]
        return values.reshape(full).tolist()


def _without_own(config: Any, key: str = "") -> Any:
    """Return a configuration without initializers, regularizers and constraints."""
    if isinstance(config, list | tuple):
        return type(config)(map(_without_own, config))
    if not isinstance(config, dict):
        return config
    if str(config.get("registered_name")).startswith("keras_vaf>"):
        if key.endswith("initializer"):
            return "zeros"
        if key.endswith(("regularizer", "constraint")):
            return None
    return {name: _without_own(value, name) for name, value in config.items()}


def _check_free(model: keras.Model, changes: list[Change]) -> None:
    """Raise a `ValueError` if a model still needs this package."""
    try:
        config = json.dumps(model.get_config())
    except (NotImplementedError, TypeError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise ValueError(
            "The frozen model cannot be saved, because one of its layers has no "
            f"complete `get_config`. Received: {reason}"
        ) from error
    found = sorted(set(re.findall(r"keras_vaf>\w+", config)))
    if found:
        reasons = "; ".join(str(each) for each in changes if each.kept)
        raise ValueError(
            "The frozen model would still need keras_vaf. Make the activations layers "
            "of a Sequential or Functional model. "
            f"Received: a model with {', '.join(found)} {reasons and f'({reasons})'}"
        )
