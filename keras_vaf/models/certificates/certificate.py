"""`lipschitz_certificate`, a proven bound on the slope of a whole model."""

import math
from typing import Any, NamedTuple

import keras

from keras_vaf.layers.keras_internals import history
from keras_vaf.models.analysis.graphs import check_graph, is_graph
from keras_vaf.models.certificates.constants import ROUNDING, constant_of
from keras_vaf.models.certificates.merges import MERGES, merged_bound

_METHOD = (
    "Give its class a method `lipschitz_constant()`, or use another layer. Only layers "
    "with finite weights have a bound."
)
_SIZES = (
    "The layer may broadcast its inputs. Give them the same rank and known sizes, for "
    "example by a fixed shape of each `keras.Input`, and do not join them along the "
    "axis of the batch."
)
_ALONE = "Call it with its input alone, without an argument such as `training=True`."
_CALL = "A class that defines `call` itself may compute anything."


class LipschitzCertificate(NamedTuple):
    """A bound on how much the output of a model can change.

    Attributes:
        bound: The distance of two outputs is at most `bound` times the distance of
            their inputs, in the Euclidean norm.
        layers: The bound of each layer, by path.

    Example:

    >>> model = keras.Sequential([keras.Input((1,)), keras.layers.ReLU(name="relu")])
    >>> certificate = keras_vaf.models.lipschitz_certificate(model)
    >>> print(f"{certificate.bound:.3f}", *certificate.layers)
    1.000 relu
    """

    bound: float
    layers: dict[str, float]


def lipschitz_certificate(model: keras.Model) -> LipschitzCertificate:
    """Return a proven bound on the Lipschitz constant of a model.

    For all inputs x and y, |F(x) - F(y)| <= bound |x - y|, where F is the model at
    inference and without masks, in exact arithmetic. Several inputs count as a single
    vector. The bound is computed in float64 from the weights as the layers use them. It
    is a product over layers, summed over the branches of a graph, so the true constant
    may be smaller. For a `Dense` layer, the bound is the largest singular value of its
    kernel. The bound of a convolution holds for every padding, stride and image size. A
    merge that broadcasts a tensor to n times its size multiplies the tensor's bound by
    sqrt(n). The bound of a VAF is that of `keras_vaf.regularizers.lipschitz_bound`: for
    a piecewise-linear g, the slope of its steepest line.

    A network has a small bound if its kernels have a constraint, such as
    `keras_vaf.constraints.SpectralNorm`, and its VAFs have
    `function_constraint=keras_vaf.constraints.SlopeBound(1.0)`.

    Args:
        model: A Sequential or Functional model with weights.

    Returns:
        The bound of the model and of each layer.

    Raises:
        ValueError: If the model is not Sequential or Functional, or has no weights yet,
            or if the bound of a layer is unknown. The message names the layer. A custom
            layer states its bound by a method `lipschitz_constant()`.

    Example:

    >>> model = keras.Sequential([
    ...     keras.Input((4,)),
    ...     keras.layers.Rescaling(0.5, name="half"),
    ...     keras_vaf.layers.VAFActivation(name="vaf"),
    ... ])
    >>> round(lipschitz_certificate(model).bound, 9)
    0.5
    """
    check_graph(model)
    if not getattr(model, "inputs", None):
        raise ValueError(
            "A certificate needs the weights of the model: call the model on an input "
            f"first. Received: the model {model.name!r}, which is not built"
        )
    walk = _Walk()
    return LipschitzCertificate(walk.model(model, ""), walk.layers)


class _Walk:
    """Bounds of the tensors of a model, from its inputs to its outputs."""

    def __init__(self) -> None:
        self.layers: dict[str, float] = {}

    def model(self, model: Any, prefix: str) -> float:
        """Return the bound of a model. Several outputs count as a single vector."""
        if not type(model).call.__module__.startswith("keras."):
            raise _unknown(prefix.rstrip("/") or model.name, model, _CALL)
        known = {id(tensor): 1.0 for tensor in model.inputs}
        bounds = [self._tensor(each, known, prefix) for each in model.outputs]
        return math.hypot(*bounds)

    def _tensor(self, tensor: Any, known: dict[int, float], prefix: str) -> float:
        """Return the bound of everything between the inputs and a tensor."""
        waiting = [tensor]
        while waiting:
            now = waiting.pop()
            if id(now) in known:
                continue
            _, node, _ = history(now)
            inputs = node.arguments.keras_tensors
            missing = [each for each in inputs if id(each) not in known]
            if missing:
                waiting += [now, *missing]
                continue
            before = [known[id(each)] for each in inputs]
            known[id(now)] = self._operation(node, before, prefix) * ROUNDING
        return known[id(tensor)]

    def _operation(self, node: Any, before: list[float], prefix: str) -> float:
        """Return the bound of a layer's output from the bounds of its inputs."""
        layer, path = node.operation, f"{prefix}{node.operation.name}"
        shapes = [tensor.shape for tensor in node.arguments.keras_tensors]
        if _has_options(node):
            raise _unknown(path, layer, _ALONE)
        if type(layer) in MERGES:
            merged = merged_bound(layer, before, shapes)
            if merged is None:
                raise _unknown(path, layer, f"{_SIZES} Its inputs: {shapes}.")
            return merged
        constant = None
        if len(before) == 1 and is_graph(layer):
            constant = self.model(layer, f"{path}/")
        elif len(before) == 1:
            constant = constant_of(layer, shapes[0])
        if constant is None or not math.isfinite(constant):
            raise _unknown(path, layer, _METHOD)
        if not is_graph(layer):
            self.layers[path] = max(constant * ROUNDING, self.layers.get(path, 0.0))
        return before[0] * constant


def _has_options(node: Any) -> bool:
    """Return whether a call has arguments besides its tensors, such as `training`."""
    values = keras.tree.flatten((node.arguments.args, node.arguments.kwargs))
    return any(
        not isinstance(value, keras.KerasTensor)
        and value is not None
        and value is not False
        for value in values
    )


def _unknown(path: str, layer: Any, remedy: str) -> ValueError:
    return ValueError(
        f"The layer {path!r} has no known bound. {remedy} "
        f"Received: {type(layer).__name__}"
    )
