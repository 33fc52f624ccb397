"""`Trials`, which tries VAFs on copies of a module, and `Outputs`, which compares."""

import copy
import functools
import math
from typing import Any

import torch

from keras_vaf.torch.modules import clone, exchange
from keras_vaf.torch.recording import run, same_random_numbers, tensors

_MODES = "train", "eval", "no_grad", "inference_mode"
_ROUNDING = 16  # times the largest difference between two runs of the same module
_AROUND = 5  # numbers of a row or column that tell about one of them


class Outputs:
    """The `tensors` that a copy of a module returns in a mode, and an `error` or ""."""

    def __init__(self, module: torch.nn.Module, data: Any, mode: str) -> None:
        self._copy, self._data, self._mode = clone(module, shared=True), data, mode
        self.tensors, self.error = attempt(clone(module, shared=True), data, mode)
        self._sizes = [_wide(t).abs().nan_to_num(0, 0) for t in self.tensors]
        floating = [t.dtype for t in self.tensors if t.is_floating_point()]
        self.limit = max([1e-5, *(8 * torch.finfo(dtype).eps for dtype in floating)])

    def deviation(self, new: list[torch.Tensor]) -> float:
        """Return the largest difference of an element, relative to its size.

        Above the limit, what runs of the module itself differ by does not count.
        """
        gaps = self._gaps(new)
        if gaps is None or [t.dtype for t in self.tensors] != [t.dtype for t in new]:
            return math.inf
        if (largest := self._relative(gaps)) > self.limit:
            over = zip(gaps, self._own, strict=True)
            largest = self._relative([(gap - own).clamp(0) for gap, own in over])
        return largest

    @functools.cached_property
    def _own(self) -> list[torch.Tensor]:
        """Differences to a run in float64, or else to a second run and the limit."""
        floating = [t for t in tensors(self._data) if t.is_floating_point()]
        wide = copy.deepcopy(self._data, {id(t): t.double() for t in floating})
        exact, _ = attempt(clone(self._copy, shared=True).double(), wide, self._mode)
        if (gaps := self._gaps(exact)) is None:
            again, _ = attempt(self._copy, self._data, self._mode)
            both = zip(self._gaps(again) or self._sizes, self._sizes, strict=True)
            gaps = [gap + self.limit / _ROUNDING * size for gap, size in both]
        return [_ROUNDING * _around(gap) for gap in gaps]

    def _gaps(self, new: list[torch.Tensor]) -> list[torch.Tensor] | None:
        """Return differences, infinite where NaN and infinities are not the same."""
        if [t.shape for t in self.tensors] != [t.shape for t in new]:
            return None
        gaps = []
        for a, b in zip(map(_wide, self.tensors), map(_wide, new), strict=True):
            gap = (a - b).abs().nan_to_num(math.inf, math.inf)
            gaps.append(gap.masked_fill((a == b) | (a.isnan() & b.isnan()), 0))
        return gaps

    def _relative(self, gaps: list[torch.Tensor]) -> float:
        every = zip(gaps, self._sizes, strict=True)
        found = [(gap / size).nan_to_num(0, math.inf) for gap, size in every]
        return max((float(each.max()) for each in found if each.numel()), default=0.0)


def attempt(
    module: torch.nn.Module, data: Any, mode: str
) -> tuple[list[torch.Tensor], str]:
    """Run a module, and its gradient, in a mode. Return outputs, and an error or ""."""
    found = list[torch.Tensor]()
    try:
        with same_random_numbers(module), getattr(torch, mode, torch.enable_grad)():
            found = run(module.train(mode == "train"), data)
            if y := [t for t in found if t.requires_grad and torch.is_grad_enabled()]:
                torch.autograd.backward(y, [torch.randn_like(t) for t in y])
    except Exception as error:  # the code of modules may raise anything
        return found, f"{error!r:.120}"
    return found, ""


def _wide(t: torch.Tensor) -> torch.Tensor:
    """Return real numbers in float64."""
    return (torch.view_as_real(t) if t.is_complex() else t).detach().double()


def _around(t: torch.Tensor) -> torch.Tensor:
    """Return the largest number of each row, or of each column where it is less."""
    least = t.amax() if t.numel() else t
    for axis in range(t.ndim if t.numel() else 0):
        if t.numel() >= _AROUND * t.shape[axis]:  # enough numbers have this index
            others = [each for each in range(t.ndim) if each != axis]
            least = torch.minimum(least, t.amax(others, keepdim=True))
    return least


class Trials:
    """Runs of copies of a module, in which parameters of zeros are filled.

    Outputs say nothing of what is before a last layer of zeros. `deviation` is their
    largest difference, or `None` if no tensor was found. `notes` are on the module.
    """

    def __init__(self, module: torch.nn.Module, data: Any) -> None:
        self._module, self._data = clone(module, shared=True), data
        with torch.no_grad(), same_random_numbers(module):
            for p in self._module.parameters():
                if p.is_floating_point() and not p.any():
                    p.copy_(0.1 * torch.randn_like(p))
                p.requires_grad_(p.is_floating_point())
        self._known = {mode: Outputs(self._module, data, mode) for mode in _MODES}
        self._reasons: dict[str, str] = {}
        errors = {mode: y.error for mode, y in self._known.items() if y.error}
        self.notes = [
            f"not checked in mode {m}: {error}" for m, error in errors.items()
        ]
        found = [t for y in self._known.values() for t in y.tensors]
        self._start = self.deviation = 0.0 if found else None
        if not found:
            self.notes.append("no tensor was found in the outputs")
        elif not any(t.requires_grad for t in found):
            self.notes.append("the outputs have no gradient")
        ran = [t for y in self._known.values() if not y.error for t in y.tensors]
        self._tells_gradients = any(t.requires_grad for t in ran) or (
            bool(found) and "train" not in errors
        )

    def keep(self, lines: list[Any]) -> list[Any]:
        """Return the lines whose VAFs change no output and are used."""
        self.deviation, self._reasons = self._start, {}
        lines = self._fitting(lines, [])
        for line in lines:
            line.kept = self._reasons.get(line.layer, "")
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
        unused = {line.layer: "the outputs have no gradient for it" for line in lines}
        trained, missed, largest = set[str](), dict[str, str](), self._start
        for mode, before in self._known.items():
            trial, called = self._with(lines)
            y, error = attempt(trial, self._data, mode)
            if error and not before.error:
                return f"its host refuses a VAF: {error}"
            if before.tensors and mode in _MODES[:2]:
                largest = max(largest or 0.0, before.deviation(y))
                if largest > before.limit:
                    inplace = getattr(lines[-1].old, "inplace", False)
                    cause = ", because it computes in place" if inplace else ""
                    return f"the outputs differ without it{cause}"
            if y or not error:
                reason = f"its host does not call it in mode {mode}"
                missed |= dict.fromkeys(unused.keys() - called, reason)
            grads = {p: trial.get_parameter(f"{p}.weight").grad for p in unused}
            trained |= {p for p, g in grads.items() if g is not None and g.any()}
        idle = unused.keys() - trained if self._tells_gradients else ()
        self._reasons = {path: unused[path] for path in idle} | missed
        self.deviation = largest
        return ""

    def _with(self, lines: list[Any]) -> tuple[torch.nn.Module, set[str]]:
        """Return a copy with VAFs, and the paths of those that were called."""
        trial, called = clone(self._module, shared=True), set[str]()
        vafs: dict[str, Any] = copy.deepcopy({line.layer: line.new for line in lines})
        exchange(trial, vafs)

        def count_and_call(path: str, forward: Any, x: torch.Tensor) -> Any:
            called.add(path)
            return forward(x)

        for path, vaf in vafs.items():  # no hooks: hosts may compute differently
            vaf.forward = functools.partial(count_and_call, path, vaf.forward)
        return trial, called
