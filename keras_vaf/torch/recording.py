"""`Recording`, one forward pass as a graph of calls, and its facts on activations."""

import contextlib
import copy
import dataclasses
import random
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import Module
from torch.overrides import TorchFunctionMode

from keras_vaf.torch.modules import clone, tensors

_KINDS = torch.nn.modules.activation.__all__
CALLED = {kind.lower() for kind in _KINDS if "max" not in kind}
"""Names of activations that code calls, without underscores."""
_PLACES = torch.bool, torch.int32, torch.int64  # masks and indices
# Names of operators without underscores at their ends.
_PRODUCTS = {
    *("mul", "rmul", "imul", "multiply", "matmul", "rmatmul", "imatmul", "mm", "bmm"),
    *("einsum", "lerp", "addcmul", "scaled_dot_product_attention"),
}
_COPIES = {
    *("cat", "concat", "concatenate", "stack", "hstack", "vstack", "dstack"),
    *("column_stack", "where", "copy", "setitem", "index_put", "index_copy", "scatter"),
    *("masked_scatter", "slice_scatter", "select_scatter", "written"),
}
_NORMS = "batch_norm", "group_norm", "instance_norm"  # channels are axis 1
# The axis of the channels in the output of each operator with weights.
_AXES = {f"conv{kind}{n}d": -1 - n for kind in ("", "_transpose") for n in (1, 2, 3)}
_AXES |= dict.fromkeys(("linear", "layer_norm", "rms_norm", "embedding", "addmm"), -1)
_AXES["matmul"] = -1


@contextlib.contextmanager
def same_random_numbers(module: Module) -> Iterator[None]:
    """Use fixed random numbers in this context, and keep those outside as they were."""
    devices = {p.device for p in module.parameters() if p.device.type == "cuda"}
    with torch.random.fork_rng(devices), contextlib.ExitStack() as after:
        after.callback(random.setstate, random.getstate())
        after.callback(np.random.set_state, np.random.get_state())
        for seed in (torch.manual_seed, random.seed, np.random.seed):
            seed(0)
        yield


def run(module: Module, data: Any) -> list[Tensor]:
    """Return the tensors that a module returns for one input, a tuple, or keywords."""
    data = copy.deepcopy(data)
    with same_random_numbers(module):
        if isinstance(data, Mapping):
            return tensors(module(**data))
        return tensors(module(*data) if isinstance(data, tuple) else module(data))


@dataclasses.dataclass(eq=False)
class _Node:
    """A tensor that depends on the data, the call that made it, and facts about it."""

    name: str
    path: str
    sources: list["_Node"]
    weighted: bool
    tensor: Tensor
    axis: int | None  # of the channels
    after: bool = False  # a layer with weights comes after it
    returned: bool = False  # its values are, through operations of one input
    multiplied: bool = False  # its values meet other data in a product
    reaches: bool = False  # an output depends on it


class Recording(TorchFunctionMode):
    """One forward pass of a copy in evaluation mode, and its `outputs`."""

    def __init__(self, module: Module, activations: Collection[str], data: Any) -> None:
        super().__init__()
        module = clone(module, shared=True).eval()
        self._nodes: list[_Node] = []
        self._calls: dict[str, list[_Node]] = defaultdict(list)  # of activations
        self._activations, self._stack = {*activations}, [""]
        # Tensors by their memory. The id of one that is not held is used again.
        self._held: dict[int, list[Tensor]] = defaultdict(list)
        self._of: dict[int, _Node | str] = {}
        for t in tensors([vars(part) for part in module.modules()]):
            is_weight = isinstance(t, torch.nn.Parameter)
            self._of[id(t)] = "weight" if is_weight else "constant"
            self._held[_memory(t)].append(t)
        for path, part in module.named_modules():
            if not isinstance(part, torch.jit.ScriptModule):
                self._watch(part, path)
        with self:
            self._add("input", [], tensors(data))
            self.outputs = run(module, data)
        self._search()

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Call a function of PyTorch, and record it."""
        y = func(*args, **(kwargs or {}))
        if self._activations.isdisjoint(self._stack):
            name = getattr(func, "__name__", "").strip("_")
            made = args[0] if name == "setitem" else y
            if name.endswith("_like") or name.startswith("new_"):
                args = args[1:]  # the values of the first do not matter
            if name.endswith("_as"):
                args = args[:1]
            self._add(name, tensors([args, kwargs]), tensors(made))
        return y

    def _watch(self, part: Module, path: str) -> None:
        """Record when a part is called: an activation as one call."""

        def leave(part: Module, args: Any, kwargs: Any, y: Any) -> None:
            inputs, outputs = tensors([args, kwargs]), tensors(y)
            if path in self._activations:
                self._add("activation", inputs, outputs)
            elif any(isinstance(self._of.get(id(t)), _Node) for t in inputs):
                # PyTorch does not see all code, such as that of TorchScript.
                lost = [t for t in outputs if id(t) not in self._of]
                self._add("code", [*inputs, *part.parameters()], lost)
            self._stack.pop()

        part.register_forward_pre_hook(lambda *_: self._stack.append(path))
        part.register_forward_hook(leave, with_kwargs=True)

    def _add(self, name: str, inputs: list[Tensor], outputs: list[Tensor]) -> None:
        """Add a node for each output of a call that depends on the data."""
        # Tensors that no recorded call made come from code that PyTorch does not see.
        # Masks and indices may be constants of the code.
        last = self._nodes[-1] if self._nodes else "constant"
        unseen = {t: "constant" if t.dtype in _PLACES else last for t in inputs}
        known = {id(t): self._of.get(id(t), kind) for t, kind in unseen.items()}
        for t in outputs:
            alike = self._held[_memory(t)]
            written = id(t) in known and len(outputs) == 1
            viewed = {id(each) for each in alike} & known.keys()
            chosen = known if written or not viewed else viewed
            self._put(name, [known[each] for each in chosen], t)
            for other in alike if written else ():
                if other is not t:
                    self._put("written", [self._of[id(t)], self._of[id(other)]], other)
            alike.append(t)

    def _put(self, name: str, kinds: list[_Node | str], t: Tensor) -> None:
        """Note what a tensor is, which is made of these kinds."""
        sources = [*dict.fromkeys(kind for kind in kinds if isinstance(kind, _Node))]
        weight = "weight" in kinds
        self._of[id(t)] = "weight" if weight else "constant"
        if sources or name == "input":
            weighted = weight and name not in _COPIES
            axis = (_AXES.get(name) if weight else None) or _kept_axis(sources, t)
            axis = axis or (1 - t.ndim if name in _NORMS else None)
            node = _Node(name, self._stack[-1], sources, weighted, t, axis)
            self._nodes.append(node)
            self._of[id(t)] = node
            if name == "activation":
                self._calls[node.path].append(node)

    def _search(self) -> None:
        """Find the facts about each node, from the last to the first."""
        for t in self.outputs:
            if isinstance(last := self._of.get(id(t)), _Node):
                last.returned = last.reaches = True
        for node in reversed(self._nodes):
            node.reaches |= not self.outputs  # they may be in unknown objects
            for source in node.sources:
                others = [o.tensor for o in node.sources if o is not source]
                sizes = [t.numel() for t in others if t.dtype not in _PLACES]
                # Fewer numbers, such as a mask, scale values: then it is not a gate.
                fewer = max(sizes, default=0) < source.tensor.numel()
                scaled = fewer and source.tensor.shape == node.tensor.shape
                alone = not node.weighted and (scaled or not sizes)
                product = node.name in _PRODUCTS and bool(sizes) and not alone
                source.after |= node.reaches and (node.weighted or node.after)
                source.reaches |= node.reaches
                source.returned |= node.returned and (alone or node.name in _COPIES)
                source.multiplied |= product or (node.multiplied and alone)

    def reason(self, path: str, bounded: bool) -> str:
        """Return why an activation, whose values may be bounded, is kept, or ""."""
        calls = self._calls[path]
        if not calls:
            return "`data` does not reach it"
        calls = [node for node in calls if node.reaches]
        if not calls:
            return "no output is seen to depend on it"
        if bounded and any(node.multiplied for node in calls):
            return "it is a gate that multiplies other values"
        if any(node.returned or not node.after for node in calls):
            return "it shapes an output of the model"
        return ""

    def channels(self, path: str) -> tuple[int, ...]:
        """Return the axis and the number of channels, or () if calls differ."""
        found = {n.axis and (n.axis, n.tensor.shape[n.axis]) for n in self._calls[path]}
        return found.pop() or () if len(found) == 1 else ()

    def by_code(self) -> Iterator[tuple[str, str]]:
        """Yield the paths of modules whose code calls activations, and the names."""
        for node in self._nodes:
            name = node.name.removeprefix("rnn_").removesuffix("_cell")
            if name.replace("_", "") in CALLED:
                yield node.path, name


def _memory(t: Tensor) -> int:
    """Return a number that is equal for tensors of the same memory."""
    with contextlib.suppress(NotImplementedError, RuntimeError):  # a sparse tensor
        return t.untyped_storage().data_ptr() or id(t)
    return id(t)


def _kept_axis(sources: list[_Node], t: Tensor) -> int | None:
    """Return the axis of the channels of a source if a tensor has them there, too."""
    for source in sources if t.ndim else ():
        axis, shape = source.axis, source.tensor.shape
        kept = axis and t.ndim == len(shape) and t.shape[axis] == shape[axis]
        last = t.shape[-1:] == shape[-1:] or t.shape[:-1] == shape[:-1]
        if kept or (axis == -1 and last):
            return axis
    return None
