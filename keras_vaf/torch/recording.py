"""`Recording`, one forward pass as a graph of calls, and its facts on activations."""

import contextlib
import copy
import random
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from keras_vaf.torch.copies import clone
from keras_vaf.torch.recognition import CALLED

_PRODUCTS = {
    *("mul", "mul_", "__mul__", "__rmul__", "__imul__", "multiply", "einsum"),
    *("matmul", "__matmul__", "bmm", "lerp", "addcmul"),
}
_COPIES = {
    *("cat", "concat", "concatenate", "stack", "hstack", "vstack", "where"),
    *("index_put", "__setitem__", "scatter", "index_copy"),
}
# The axis of the channels in the output of each operator with weights.
_AXES = {
    **dict.fromkeys(("linear", "layer_norm", "rms_norm", "embedding", "addmm"), -1),
    **dict.fromkeys(("matmul", "__matmul__"), -1),
    **{f"conv{n}d": -1 - n for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": -1 - n for n in (1, 2, 3)},
}
_CONSTANT, _WEIGHT = -2, -1


def tensors(value: Any, seen: tuple[int, ...] = ()) -> list[torch.Tensor]:
    """Return the tensors in nested containers and plain objects, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if id(value) in seen or isinstance(value, torch.nn.Module | type):
        return []
    if isinstance(value, Mapping):
        inner = [*value.values()]
    elif isinstance(value, list | tuple | set):
        inner = [*value]
    else:
        inner = [*getattr(value, "__dict__", {}).values()]
    return [t for each in inner for t in tensors(each, (*seen, id(value)))]


@contextlib.contextmanager
def same_random_numbers(module: torch.nn.Module) -> Iterator[None]:
    """Use fixed random numbers in this context, and keep those outside as they were."""
    devices = {p.device for p in module.parameters() if p.device.type == "cuda"}
    states = random.getstate(), np.random.get_state()
    try:
        with torch.random.fork_rng(devices):
            torch.manual_seed(0)
            random.seed(0)
            np.random.seed(0)
            yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])


def run(module: torch.nn.Module, data: Any) -> list[torch.Tensor]:
    """Return the tensors that a module returns for one input, a tuple, or keywords."""
    with same_random_numbers(module):
        return tensors(_call(module, copy.deepcopy(data)))


def _call(module: torch.nn.Module, data: Any) -> Any:
    if isinstance(data, Mapping):
        return module(**data)
    return module(*data) if isinstance(data, tuple) else module(data)


class _Node(NamedTuple):
    """A tensor that depends on the data, and the call that made it."""

    name: str
    path: str
    sources: tuple[int, ...]
    weighted: bool
    tensor: torch.Tensor
    axis: int | None


class Recording(TorchFunctionMode):
    """The calls of PyTorch's functions, and of each activation, in one forward pass.

    A copy of the module runs in evaluation mode. `outputs` are the tensors that it
    returned.
    """

    def __init__(
        self, module: torch.nn.Module, activations: Collection[str], data: Any
    ) -> None:
        super().__init__()
        module, data = clone(module).eval(), copy.deepcopy(data)
        self._nodes: list[_Node] = []
        self._stack: list[tuple[str, bool]] = []
        self._held: list[Any] = []  # the id of a tensor is used again without it
        held = [[*m.buffers(), vars(m)] for m in module.modules()]
        self._of = {id(t): _CONSTANT for t in tensors(held)}
        self._of |= {id(p): _WEIGHT for p in module.parameters()}
        for path, part in module.named_modules():
            if not isinstance(part, torch.jit.ScriptModule):
                self._watch(part, path, path in activations)
        with same_random_numbers(module), self:
            self._add("input", [], tensors([data]))
            self.outputs = tensors(_call(module, data))
        self._search()

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Call a function of PyTorch, and record it."""
        y = func(*args, **(kwargs or {}))
        if not any(activation for _, activation in self._stack):
            name = getattr(func, "__name__", "")
            made = args[0] if name == "__setitem__" else y
            self._add(name, tensors([args, kwargs]), tensors(made))
        return y

    def _watch(self, part: torch.nn.Module, path: str, activation: bool) -> None:
        """Record when a part is called: an activation as one call."""

        def enter(part: torch.nn.Module, inputs: Any) -> None:
            self._stack.append((path, activation))

        def leave(part: torch.nn.Module, args: Any, kwargs: Any, y: Any) -> None:
            self._stack.pop()
            inputs, outputs = tensors([args, kwargs]), tensors(y)
            if activation:
                self._add("activation", inputs, outputs, path)
                return
            # Code that PyTorch does not see, such as TorchScript, made other outputs.
            lost = [t for t in outputs if id(t) not in self._of]
            if lost and any(self._of.get(id(t), -1) >= 0 for t in inputs):
                self._add("code", [*inputs, *part.parameters()], lost)

        part.register_forward_pre_hook(enter)
        part.register_forward_hook(leave, with_kwargs=True)

    def _add(
        self,
        name: str,
        inputs: list[torch.Tensor],
        outputs: list[torch.Tensor],
        path: str = "",
    ) -> None:
        """Add a node for each output of a call that depends on the data.

        An input that no recorded call made comes from code that PyTorch does not see,
        so it counts as an output of the last node.
        """
        last = len(self._nodes) - 1
        kinds = {self._of.get(id(t), last) for t in inputs}
        data = tuple(sorted(kinds - {_WEIGHT, _CONSTANT}))
        weight = _WEIGHT in kinds
        where = path or (self._stack[-1][0] if self._stack else "")
        self._held += outputs
        for t in outputs:
            if not data and name != "input":
                self._of[id(t)] = _WEIGHT if weight else _CONSTANT
                continue
            self._of[id(t)] = len(self._nodes)
            axes = [_AXES.get(name) if weight else None]
            axes += [_kept_axis(self._nodes[i], t) for i in data]
            axes.append(1 - t.ndim if "_norm" in name else None)
            axis = next(filter(None, axes), None)
            weighted = weight and name not in _COPIES
            self._nodes.append(_Node(name, where, data, weighted, t, axis))

    def _search(self) -> None:
        """Find facts about each node, from the last to the first.

        A layer with weights comes after it; its values are returned through operations
        of one input, or meet other data in a product; it reaches an output.
        """
        facts = [[False] * len(self._nodes) for _ in range(4)]
        self._after, self._returned, self._multiplied, self._reaches = facts
        for t in self.outputs:
            if (i := self._of.get(id(t), _WEIGHT)) >= 0:
                self._returned[i] = self._reaches[i] = True
        for i, node in reversed([*enumerate(self._nodes)]):
            alone = len(node.sources) == 1 and not node.weighted
            product = node.name in _PRODUCTS and len(node.sources) > 1
            returns = self._returned[i] and (alone or node.name in _COPIES)
            for s in node.sources:
                self._after[s] |= node.weighted or self._after[i]
                self._reaches[s] |= self._reaches[i]
                self._returned[s] |= returns
                self._multiplied[s] |= product or (self._multiplied[i] and alone)

    def reason(self, path: str, bounded: bool) -> str:
        """Return why an activation, whose values may be bounded, is kept, or ""."""
        calls = self._calls(path)
        if not calls:
            return "`data` does not reach it"
        if bounded and any(self._multiplied[i] for i in calls):
            return "it is a gate that multiplies other values"
        last = [i for i in calls if not self._after[i]]
        if any(self._returned[i] for i in calls) or any(self._reaches[i] for i in last):
            return "it shapes an output of the model"
        return "the operations after it cannot be seen" if last else ""

    def _calls(self, path: str) -> list[int]:
        pairs = enumerate(self._nodes)
        return [i for i, n in pairs if n.path == path and n.name == "activation"]

    def channels(self, path: str) -> tuple[int, int] | None:
        """Return the axis and the number of channels, if all calls agree."""
        nodes = [self._nodes[i] for i in self._calls(path)]
        found = {n.axis and (n.axis, n.tensor.shape[n.axis]) for n in nodes}
        return found.pop() or None if len(found) == 1 else None

    def by_code(self) -> dict[tuple[str, str, str], None]:
        """Return the paths of modules whose code calls activations, and the names."""
        names = ((n.path, n.path, n.name.strip("_")) for n in self._nodes)
        return dict.fromkeys(each for each in names if each[2] in CALLED)


def _kept_axis(node: _Node, t: torch.Tensor) -> int | None:
    """Return the axis of a node's channels if a tensor made of it has them there."""
    axis, shape = node.axis, node.tensor.shape
    if not axis or not t.ndim:
        return None
    kept = t.ndim == len(shape) and t.shape[axis] == shape[axis]
    last = t.shape[-1] == shape[-1] or t.shape[:-1] == shape[:-1]
    return axis if kept or (axis == -1 and last) else None
