"""`Trials`, which tries VAFs on copies of a module, and `Run`, which compares."""

import copy
import functools
import math
from typing import Any

import torch
from torch.nn import Module

from keras_vaf.torch.modules import clone, exchange, tensors
from keras_vaf.torch.recording import run, same_random_numbers

_MODES = "train", "eval", "no_grad", "inference_mode"
_ROUNDING = 16  # times the largest difference between two runs of the same module
_AROUND = 5  # numbers of a row or column that tell about one of them


class Run:
    """A run of a copy of a module, and of its gradient, in a mode.

    It has `outputs`, their numbers as `values` in float64, an `error` or "", and the
    paths of the new parts that were `called`, and of those with a gradient (`trained`).
    """

    def __init__(self, module: Module, data: Any, mode: str, new: Any = ()) -> None:
        self._given = module, data, mode
        self.outputs, self.error, self.called = list[torch.Tensor](), "", set[str]()
        trial, parts = clone(module, shared=True), copy.deepcopy(dict(new))
        exchange(trial, parts)
        for path, part in parts.items():  # no hooks: hosts may compute differently
            part.forward = functools.partial(self._call, path, part.forward)
        try:
            with same_random_numbers(trial), getattr(torch, mode, torch.enable_grad)():
                self.outputs = run(trial.train(mode == "train"), data)
                y = [t for t in self.outputs if t.requires_grad]
                if y and torch.is_grad_enabled():
                    torch.autograd.backward(y, [torch.randn_like(t) for t in y])
        except Exception as error:  # the code of modules may raise anything
            self.error = f"{error!r:.120}"
        gradients = {path: part.weight.grad for path, part in parts.items()}
        self.trained = {p for p, g in gradients.items() if g is not None and g.any()}
        real = [torch.view_as_real(t) if t.is_complex() else t for t in self.outputs]
        self.dtypes = [t.dtype for t in real]
        self.values = [t.detach().double() for t in real]
        self._sizes = [t.abs().nan_to_num(0, 0) for t in self.values]
        floating = [dtype for dtype in self.dtypes if dtype.is_floating_point]
        self.limit = max([1e-5, *(8 * torch.finfo(dtype).eps for dtype in floating)])

    def _call(self, path: str, forward: Any, x: torch.Tensor) -> Any:
        self.called.add(path)
        return forward(x)

    def deviation(self, new: "Run") -> float:
        """Return the largest difference of an element, relative to its size.

        Above the limit, what runs of the module itself differ by does not count.
        """
        gaps = self._gaps(new)
        if gaps is None or self.dtypes != new.dtypes:
            return math.inf
        if (largest := self._relative(gaps)) > self.limit:
            over = zip(gaps, self._own, strict=True)
            largest = self._relative([(gap - own).clamp(0) for gap, own in over])
        return largest

    @functools.cached_property
    def _own(self) -> list[torch.Tensor]:
        """Differences to a run in float64, or else to a second run and the limit."""
        module, data, mode = self._given
        floating = [t for t in tensors(data) if t.is_floating_point()]
        wide = copy.deepcopy(data, {id(t): t.double() for t in floating})
        gaps = self._gaps(Run(clone(module, shared=True).double(), wide, mode))
        if gaps is None:
            again = self._gaps(Run(*self._given)) or self._sizes
            both = zip(again, self._sizes, strict=True)
            gaps = [gap + self.limit / _ROUNDING * size for gap, size in both]
        return [_ROUNDING * _around(gap) for gap in gaps]

    def _gaps(self, new: "Run") -> list[torch.Tensor] | None:
        """Return differences, infinite where NaN and infinities are not the same."""
        if [t.shape for t in self.values] != [t.shape for t in new.values]:
            return None
        gaps = []
        for a, b in zip(self.values, new.values, strict=True):
            gap = (a - b).abs().nan_to_num(math.inf, math.inf)
            gaps.append(gap.masked_fill((a == b) | (a.isnan() & b.isnan()), 0))
        return gaps

    def _relative(self, gaps: list[torch.Tensor]) -> float:
        every = zip(gaps, self._sizes, strict=True)
        found = [(gap / size).nan_to_num(0, math.inf) for gap, size in every]
        return max((float(each.max()) for each in found if each.numel()), default=0.0)


def _around(t: torch.Tensor) -> torch.Tensor:
    """Return the largest number of each row, or of each column where it is less."""
    axes = {*range(t.ndim)} if t.numel() else set()
    enough = [axis for axis in axes if t.numel() >= _AROUND * t.shape[axis]]
    largest = [t.amax([*(axes - {axis})], keepdim=True) for axis in enough]
    return functools.reduce(torch.minimum, largest, t.amax() if axes else t)


class Trials:
    """Runs of copies of a module, in which parameters of zeros are filled.

    Outputs say nothing of what is before a last layer of zeros. `deviation` is their
    largest difference, or `None` if no tensor was found. `notes` are on the module.
    """

    def __init__(self, module: Module, data: Any) -> None:
        self._module, self._data = clone(module, shared=True), data
        with torch.no_grad(), same_random_numbers(module):
            for p in self._module.parameters():
                if p.is_floating_point() and not p.any():
                    p.copy_(0.1 * torch.randn_like(p))
                p.requires_grad_(p.is_floating_point())
        self._known = {mode: Run(self._module, data, mode) for mode in _MODES}
        runs = self._known.items()
        self.notes = [f"not checked in mode {m}: {y.error}" for m, y in runs if y.error]
        found = [t for _, y in runs for t in y.outputs]
        self._start = self.deviation = 0.0 if found else None
        self._tells_gradients = any(t.requires_grad for t in found)
        if not self._tells_gradients:
            kind = "the outputs have no gradient"
            self.notes.append(kind if found else "no tensor was found in the outputs")
            self._tells_gradients = bool(self._known["train"].outputs)

    def keep(self, lines: list[Any]) -> list[Any]:
        """Return the lines whose VAFs change no output and are used."""
        self.deviation = self._start
        lines = self._fitting(lines, [])
        used = [line for line in lines if not line.kept]
        return lines if len(used) == len(lines) else self.keep(used)

    def _fitting(self, lines: list[Any], good: list[Any]) -> list[Any]:
        """Return the good lines, and those that can be replaced together with them."""
        fault = self._fault([*good, *lines]) if lines else ""
        if not fault:
            return [*good, *lines]
        if len(lines) == 1:
            lines[0].kept = fault
            return good
        half = len(lines) // 2
        return self._fitting(lines[half:], self._fitting(lines[:half], good))

    def _fault(self, lines: list[Any]) -> str:
        """Return what these VAFs change, or "" and note which of them are not used."""
        new, largest = {line.layer: line.new for line in lines}, self._start
        idle = dict.fromkeys(new, "the outputs have no gradient for it")
        missed = dict[str, str]()
        for mode, before in self._known.items():
            after = Run(self._module, self._data, mode, new)
            if after.error and not before.error:
                return f"its host refuses a VAF: {after.error}"
            if before.outputs and mode in _MODES[:2]:
                largest = max(largest or 0.0, before.deviation(after))
                if largest > before.limit:
                    inplace = getattr(lines[-1].old, "inplace", False)
                    cause = ", because it computes in place" if inplace else ""
                    return f"the outputs differ without it{cause}"
            if after.outputs or not after.error:
                reason = f"its host does not call it in mode {mode}"
                missed |= dict.fromkeys(new.keys() - after.called, reason)
            for path in after.trained if self._tells_gradients else new:
                idle.pop(path, None)
        for line in lines:
            line.kept = (idle | missed).get(line.layer, "")
        self.deviation = largest
        return ""
