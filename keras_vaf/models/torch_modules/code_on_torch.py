"""`functional_calls`, which finds the activations that a module's code calls."""

from collections.abc import Collection, Iterator
from typing import Any

import torch

from keras_vaf.models.surgery.report import KeptActivation

_FUNCTIONS = {
    *("relu", "relu_", "relu6", "leaky_relu", "prelu", "gelu", "silu", "tanh", "elu"),
    *("celu", "selu", "softplus", "mish", "hardswish", "hardtanh"),
}


class _OwnCode(torch.fx.Tracer):
    """Traces the code of one module, without that of its parts."""

    def is_leaf_module(self, m: torch.nn.Module, name: str) -> bool:
        return True


def functional_calls(
    parts: dict[str, torch.nn.Module], known: Collection[str]
) -> Iterator[KeptActivation]:
    """Yield the activations that code calls, such as `F.relu`, and code not searched.

    Args:
        parts: Modules by their paths. Only classes outside of `torch.nn` are searched.
        known: Paths of modules that are activations themselves, which are not searched.
    """
    for path, part in parts.items():
        of_package = type(part).__module__.startswith(("torch.nn.", "keras"))
        if of_package or path in known:
            continue
        own = type(part).__name__
        try:
            nodes = _OwnCode().trace(part).nodes
        except Exception:  # code may depend on values, or take other inputs
            if any(part.children()) or any(part.parameters(recurse=False)):
                reason = "torch.fx cannot trace it, so it may call activations"
                yield KeptActivation(path, f"code of {own}", reason)
            continue
        for name in sorted({_name(node) for node in nodes} & _FUNCTIONS):
            yield KeptActivation(path, name, f"the code of {own} calls it")


def _name(node: Any) -> str:
    if node.op == "call_function":
        return str(getattr(node.target, "__name__", ""))
    return str(node.target) if node.op == "call_method" else ""
