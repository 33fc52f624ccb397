"""`check_graph`, `read`, `run` and what else concerns models, and `reasons_to_keep`."""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import keras
import numpy as np

from keras_vaf.layers import TrainableActivation, activation_inputs
from keras_vaf.layers.activation_inputs import arrays_of
from keras_vaf.layers.keras_internals import all_layers, history
from keras_vaf.models import fixed

OUTPUT = "it shapes an output of the model"
GATE = "it is a gate that multiplies other values"
GATES = ("hard_sigmoid", "sigmoid", "tanh")
_MAY_BE_A_GATE = "it may be a gate, or shape an output; name it in `layers`"
_JOINS = ("Average", "Concatenate", "Maximum", "Minimum", "Stack")
# Layers that may end in an activation.
_SHAPING = (*fixed.BUILT_IN, keras.layers.Wrapper)
_SCALING = ("Divide", "Multiply", "Rescaling", "TrueDivide")


def is_graph(layer: Any) -> bool:
    """Return whether a layer is a Sequential or Functional model."""
    of_keras = isinstance(layer, keras.Sequential | keras.Function)
    return of_keras and isinstance(layer, keras.Model)


def functions_on_torch(model: Any) -> Any:
    """Return `modules_on_torch` for a module of PyTorch, and `None` for any other."""
    if keras.backend.backend() != "torch" or isinstance(model, keras.layers.Layer):
        return None
    import torch

    from keras_vaf.models import modules_on_torch

    return modules_on_torch if isinstance(model, torch.nn.Module) else None


def read(
    model: Any, data: Any = None, *options: Any
) -> tuple[dict[str, TrainableActivation], dict[str, np.ndarray]]:
    """Return trainable activations by their paths, and with data their inputs.

    Those of a module of PyTorch are layers with the functions of its VAFs. The options
    are further arguments of `activation_inputs`.

    Raises:
        ValueError: If there is no trainable activation, or if an input is not finite.
    """
    reader = functions_on_torch(model) or activation_inputs
    layers = reader.trainable_activations(model)
    if data is None:
        return layers, {}
    inputs = reader.activation_inputs(model, data, *options)
    for path, values in inputs.items():
        if not np.isfinite(values).all():
            raise ValueError(
                "The inputs of an activation must be finite: check `data`. Received: "
                f"NaN or infinite inputs of {path}"
            )
    return layers, inputs


def check_data(model: keras.Model, data: Any) -> None:
    """Raise a `ValueError` if data hold NaN, or if a model cannot be called on them."""
    arrays = [np.asarray(each) for each in keras.tree.flatten(arrays_of(data))]
    shapes = ", ".join(str(each.shape) for each in arrays)
    if any(each.dtype.kind == "f" and not np.isfinite(each).all() for each in arrays):
        raise ValueError(
            "`data` must be finite: leave out rows with missing entries. Received: NaN "
            f"or infinite values in arrays of shapes {shapes}"
        )
    try:
        outputs_of(model, keras.tree.map_structure(lambda each: each[:1], data))
    except Exception as error:  # each backend raises other errors
        shape = getattr(model, "input_shape", None)
        raise ValueError(
            f"`data` must be inputs of the model, of shape {shape}. Received: arrays "
            f"of shapes {shapes}"
        ) from error


def outputs_of(model: keras.Model, data: Any) -> np.ndarray:
    """Return all outputs of a model in one float64 vector (see `run`)."""
    outputs = keras.tree.flatten(run(model, data))
    arrays = [keras.ops.convert_to_numpy(each) for each in outputs]
    return np.concatenate([each.astype("float64").ravel() for each in arrays])


INPLACE = (
    "A model whose class defines `call` cannot be copied. Build it by a call, and pass "
    "`inplace=True` to change the model itself; save it by its weights."
)


def check_graph(model: Any, advice: str = INPLACE) -> None:
    """Raise an error with the way to go if a model has no graph."""
    if is_graph(model):
        return
    hint = "Load a file with keras.saving.load_model first."
    if isinstance(model, keras.layers.Layer):
        hint = advice
    raise ValueError(
        f"Expected one Sequential or Functional model. {hint} Received: {model!r}"
    )


def check_built(model: keras.Model, built: Any) -> None:
    """Raise an error if a model has not been built."""
    if not built:
        raise ValueError(
            "A model needs its weights first: call it on an input. If that does not "
            "help, a layer inside needs a `compute_output_shape`. Received: the model "
            f"{model.name!r}, which is not built"
        )


def check_finite_weights(model: Any) -> None:
    """Raise a `ValueError` that names a weight that is not finite."""
    if functions_on_torch(model):
        weights = list(model.named_parameters())
    else:
        weights = [(weight.path, weight.value) for weight in model.weights]
    for path, weight in weights:
        if not np.isfinite(keras.ops.convert_to_numpy(weight)).all():
            raise ValueError(
                "Every weight must be finite: train the model again, with a lower "
                "learning rate. Received: a model with NaN or infinite values in "
                f"{path}"
            )


def run(model: keras.Model, data: Any = None) -> Any:
    """Return the outputs of a model on data, or else on samples of its inputs.

    A graph gets four random samples, or zeros for integers. Axes of unknown size get 32
    entries for images and volumes, and 8 otherwise. A model whose class defines `call`
    gets zeros of the shape that built it, and `data` may be a tuple of arguments.
    """
    if data is not None:
        several = isinstance(data, tuple) and not is_graph(model)
        return model(*(data if several else (data,)), training=False)
    random = np.random.default_rng(0)

    def sample(entry: Any) -> np.ndarray:
        unknown = 32 if len(entry.shape) > 3 else 8
        shape = (4, *(size or unknown for size in entry.shape[1:]))
        if keras.backend.is_float_dtype(entry.dtype):
            return random.normal(size=shape).astype("float32")
        return np.zeros(shape, entry.dtype)

    try:
        if is_graph(model):
            # A Sequential model has no `input` before its first call.
            sequential = isinstance(model, keras.Sequential)
            inputs = model.inputs[0] if sequential else model.input
            samples = keras.tree.map_structure(sample, inputs)
        else:
            samples = keras.tree.map_shape_structure(
                lambda shape: keras.ops.zeros([size or 2 for size in shape]),
                model.get_build_config()["input_shape"],
            )
        return model(samples, training=False)
    except Exception as error:  # each backend raises other errors
        reason = str(error).strip().partition("\n")[0]
        raise ValueError(
            "The model cannot be called on samples of a size chosen here: give inputs "
            f"of the model as `data=`. Received: {model.name!r} ({reason})"
        ) from error


def compile_like(copy: keras.Model, model: keras.Model) -> None:
    """Compile a copy like its model, or warn that it must be compiled again."""
    if not getattr(model, "compiled", False):  # a module of PyTorch never is
        return
    try:
        # A class with its own `compile` is not compiled by `compile_from_config`.
        config = keras.saving.deserialize_keras_object(model.get_compile_config())
        keras.Model.compile(copy, **config)
        if copy.built:
            copy.optimizer.build(copy.trainable_variables)
    except ValueError as error:
        copy.compiled = False
        warnings.warn(
            "The new model is not compiled, because the optimizer was made for the "
            f"weights of the original model: compile it again. ({error})",
            stacklevel=3,
        )


def reasons_to_keep(model: keras.Model) -> dict[int, str]:
    """Return the reasons to keep activations, by the id of the layer.

    An activation shapes an output, or a sigmoid or tanh gates a product, if only
    operations without weights follow that have one input or join their inputs. In a
    model without a graph, the last layer, and each sigmoid or tanh, may do so.
    """
    found: dict[int, str] = {}
    if not is_graph(model):
        for layer in all_layers(model, include_self=False):
            own = (*fixed.held_by(layer).values(), layer)
            if any(fixed.label(each) in GATES for each in own):
                found[id(layer)] = _MAY_BE_A_GATE
        found[id(model)] = _MAY_BE_A_GATE
        last = all_layers(model.layers[-1]) if model.layers else ()
        return found | {id(layer): OUTPUT for layer in last}
    outputs = getattr(model, "outputs", None)
    if not outputs:  # a Sequential model that is not built
        for layer in reversed(model.layers):
            found[id(layer)] = OUTPUT
            if hasattr(layer, "activation") or fixed.is_activation(layer):
                break
        return found
    _follow(outputs, OUTPUT, found)
    for node in _nodes(outputs):
        tensors = {id(tensor): tensor for tensor in node.input_tensors}
        if type(node.operation).__name__ == "Multiply" and len(tensors) > 1:
            _follow([*tensors.values()], GATE, found)
    return found


def _follow(tensors: Sequence[Any], reason: str, found: dict[int, str]) -> set[int]:
    """Go back while operations keep the range of their input, and return inputs."""
    sources, seen = set[int](), set[int]()
    waiting = [(tensor, False) for tensor in tensors]
    while waiting:
        tensor, scaled = waiting.pop()
        if id(tensor) in seen:
            continue
        seen.add(id(tensor))
        operation, node, place = history(tensor)
        if node is None:
            sources.add(id(tensor))
            continue
        if is_graph(operation):
            reached = _follow([operation.outputs[place]], reason, found)
            pairs = zip(operation.inputs, node.input_tensors, strict=False)
            waiting += [(outer, scaled) for t, outer in pairs if id(t) in reached]
            continue
        activation = operation if fixed.is_activation(operation) else None
        if fixed.has_built_in(operation):
            activation = operation.activation
        free = not getattr(operation, "weights", ())
        if reason == OUTPUT:
            if activation is not None or free or isinstance(operation, _SHAPING):
                found.setdefault(id(operation), reason)
        elif activation is not None and _is_gate(activation, scaled):
            found.setdefault(id(operation), reason)
        name = type(operation).__name__
        arguments = keras.tree.flatten((node.arguments.args, node.arguments.kwargs))
        weighted = any(isinstance(each, keras.Variable) for each in arguments)
        one = len(node.input_tensors) == 1 or name in _JOINS
        if activation is None and free and one and not weighted:
            scaled = scaled or name in _SCALING
            waiting += [(each, scaled) for each in node.input_tensors]
    return sources


def _is_gate(activation: Any, scaled: bool) -> bool:
    """Return whether an activation whose output is multiplied by others is a gate."""
    name = fixed.label(activation)
    limited = name == "relu6" or getattr(activation, "max_value", None) == 6
    return name in GATES or (limited and scaled)  # relu6(x + 3) / 6


def _nodes(outputs: Sequence[Any]) -> Iterator[Any]:
    """Yield the calls in a graph and in the models inside, each once."""
    waiting, seen = list(outputs), set()
    while waiting:
        operation, node, _ = history(waiting.pop())
        if node is not None and id(node) not in seen:
            seen.add(id(node))
            yield node
            waiting += node.input_tensors
            if is_graph(operation):
                yield from _nodes(operation.outputs)
