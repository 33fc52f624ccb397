"""`freeze`, for a model without this package, and `train_only_activations`."""

import json
import re
import warnings
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from keras_vaf.layers import TrainableActivation
from keras_vaf.layers.activation_inputs import trainable_activations
from keras_vaf.layers.keras_internals import all_layers, own_variables
from keras_vaf.models.changes import Draft, KeptError, keep_report
from keras_vaf.models.fixed import attributes_of
from keras_vaf.models.graphs import checks, running
from keras_vaf.models.rebuild import Rebuilding
from keras_vaf.models.vaf_equivalent import units_of
from keras_vaf.ops.activations import KERAS_NAMES, name_of
from keras_vaf.utils import check_choice, check_flag

_LARGE = 0.01  # as a share of the largest output, above which a deviation is told


def freeze(model: Any, data: Any = None) -> Any:
    """Turn a trained model into one that needs only Keras.

    Each VAF becomes a small model of `Rescaling`, `Activation` and `Add` layers, which
    hold the weights of the VAF as constants, without hidden units that contribute
    nothing. The saved result needs only Keras and the packages of custom layers.

    In a converted `torch.nn.Module`, the parameters of VAFs become buffers.

    Args:
        model: A Sequential or Functional model with weights. Its trainable activations
            must be VAFs, or activations that `to_vaf` supports.
        data: Inputs on which the two models are compared. By default, four random
            samples, with 32 or 8 entries along axes of unknown size.

    Returns:
        A model that is not compiled. Its `report` has the largest difference between
        the outputs of the two models.

    Raises:
        ValueError: If the model has no trainable activation that can be replaced, is
            not built, has a weight that is not finite, or cannot be copied or called.

    Example:

    >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8),
    ...     keras_vaf.layers.VAFActivation(name="vaf"), keras.layers.Dense(1)])
    >>> frozen = freeze(model)
    >>> "keras_vaf" in frozen.to_json(), report(frozen).deviation < 1e-5
    (False, True)
    """
    if modules := checks.functions_on_torch(model):
        checks.check_finite_weights(model)
        return modules.freeze(model)
    checks.check_model(
        model,
        "A model whose class defines `call` cannot be frozen, because its file needs "
        "that class. `model.export` writes it without keras_vaf.",
    )
    trainable_activations(model)
    expected = running.outputs_of(model, data)
    frozen, drafts = of_keras_alone(model)
    deviation = running.largest_gap(frozen, data, expected)
    size = np.max(np.abs(expected), initial=0.0)
    if deviation > _LARGE * size:
        warnings.warn(
            "The outputs of the frozen model differ from those of the model by up to "
            f"{deviation:.2g}. The largest output is {size:.2g}.",
            stacklevel=2,
        )
    keep_report(frozen, drafts, deviation)
    return frozen


def of_keras_alone(model: keras.Model) -> tuple[keras.Model, list[Draft]]:
    """Return a copy of a model without this package, and what became of its VAFs."""

    def replace(change: Draft) -> None:
        if isinstance(change.old, TrainableActivation):
            change.new = _layers_of_keras(change.old, change.name)
            change.after, change.error = "layers of Keras", 0.0

    work = Rebuilding(model, replace)
    made = work.finish()
    for layer in all_layers(made):
        _leave_out_own(layer)
    found = set(re.findall(r"keras_vaf>\w+", json.dumps(made.get_config())))
    if found:
        reasons = "; ".join(str(each) for each in work.drafts if each.kept)
        raise ValueError(
            "The frozen model would still need keras_vaf. Make the activations layers "
            "of a Sequential or Functional model. Received: a model with "
            f"{', '.join(sorted(found))} {reasons and f'({reasons})'}"
        )
    return made, work.drafts


def _layers_of_keras(layer: TrainableActivation, name: str) -> keras.Model:
    """Return a model of Keras layers that computes the function of an activation."""
    try:
        function, units, constant = units_of(layer)
    except ValueError as reason:
        raise KeptError(str(reason)) from reason
    alpha, alpha_bias, beta = np.moveaxis(units, -1, 1)
    shape = (layer.get_build_config() or {}).get("input_shape")
    if shape is None:
        raise KeptError("the layer around it has never called it")
    shared = [i - 1 for i in range(1, len(shape)) if i not in layer._unshared_axes]

    def rescaling(part: str, scale: np.ndarray, offset: np.ndarray) -> Any:
        """Return a layer that computes scale * x + offset for each function."""
        # Of one function, each is a list of one number: tf2onnx fails at a scalar.
        values = [
            np.expand_dims(each, shared if each.ndim else 0).tolist()
            for each in (scale, offset)
        ]
        return keras.layers.Rescaling(*values, name=f"{name}_{part}", dtype="float32")

    inputs = keras.Input([None] * (len(shape) - 1))
    outputs: list[Any] = []
    # Units without effect are left out, but for one that holds the constant.
    for j in [j for j, each in enumerate(beta) if each.any()] or [0]:
        g: Any = function
        if name_of(g) in KERAS_NAMES:
            g = keras.layers.Activation(g, name=f"{name}_g{j}", dtype="float32")
        offset = 0 * constant if outputs else constant
        y = rescaling(f"in{j}", alpha[j], alpha_bias[j])(inputs)
        outputs.append(rescaling(f"out{j}", beta[j], offset)(g(y)))
    together = keras.layers.Add(name=f"{name}_sum", dtype="float32")
    y = together(outputs) if len(outputs) > 1 else outputs[0]
    # The arithmetic is in float32. The next layer receives its original dtype.
    policy = layer.dtype_policy
    last = keras.layers.Activation("linear", name=f"{name}_out", dtype=policy)
    return keras.Model(inputs, last(y), name=name)


def _leave_out_own(layer: keras.layers.Layer) -> None:
    """Leave out initializers, regularizers and constraints of this package."""
    for name, value in attributes_of(layer).items():
        own = type(value).__module__.startswith("keras_vaf.")
        if own and name.endswith("initializer"):
            setattr(layer, name, keras.initializers.Zeros())
        elif own and name.endswith(("regularizer", "constraint")):
            setattr(layer, name, None)


def train_only_activations(
    model: Any, also: Sequence[str] = (), inplace: bool = False
) -> Any:
    """Return a model in which only the trainable activations are trained.

    Fine-tuning then has few parameters: a VAF shared per layer has 3k + 1. Batch
    normalization keeps its statistics, but not in a module of PyTorch.

    Args:
        model: A built model, or a module of PyTorch, with trainable activations.
        also: Names of other layers with weights, or paths of modules, that stay
            trainable, such as the head.
        inplace: Whether to freeze the weights of the model itself. A model whose class
            defines `call` cannot be copied.

    Returns:
        A copy of the model, which is not compiled, or the model itself.

    Raises:
        ValueError: If the model has no trainable activation or no weights yet, if
            `also` has another name, or if the model cannot be copied.

    Example:

    >>> model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8),
    ...     keras_vaf.layers.VAFActivation(), keras.layers.Dense(2, name="head")])
    >>> tuned = train_only_activations(model, also=["head"])
    >>> len(tuned.trainable_weights)
    6
    """
    running.read(model)  # raises an error without trainable activations
    check_flag("inplace", inplace)
    also = (also,) if isinstance(also, str) else also
    if modules := checks.functions_on_torch(model):
        return modules.train_only_vafs(model, also, inplace)
    checks.check_built(model, model.weights)
    if not inplace:
        checks.check_graph(model)
        model = Rebuilding(model, lambda change: None).finish()
    inside = all_layers(model, include_self=False)
    named = [each.name for each in inside if each.weights]
    chosen = {check_choice("also", name, named) for name in also}
    model.trainable = True  # a frozen outer layer would freeze its inner layers
    for layer in inside:
        if not all_layers(layer, include_self=False):
            layer.trainable = False
        for weight in own_variables(layer):
            weight.trainable = False
    others = [each for each in inside if each.name in chosen]
    for layer in (*trainable_activations(model).values(), *others):
        layer.trainable = True
    return model
