"""`Conversion`, which puts VAFs in the place of the activations of a module."""

import copy
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from keras_vaf.initializers import PiecewiseLinearStart
from keras_vaf.torch import checks
from keras_vaf.torch.copies import clone, exchange, settle
from keras_vaf.torch.functions import G, checked, of_package
from keras_vaf.torch.reading import is_followed, outside_vafs
from keras_vaf.torch.recognition import GRID, Found, held_functions, recognize
from keras_vaf.torch.recording import Recording, same_random_numbers
from keras_vaf.torch.vaf import VAF

NOT_RUN = "nothing was run, so outputs were not compared: give `data` to check them"
_GIVE_DATA = "give `data`, or name it in `layers`"
_BY_CODE = "the code of {} computes it; give that class a module instead"


@dataclasses.dataclass
class Line:
    """An activation that was replaced, or kept for a reason.

    Attributes:
        path: Its path.
        before: The old activation.
        kept: Why it was kept, or "".
        error: Largest difference between the VAF and the old module.
        parameters: Number of parameters added.
        remark: Other changes.
    """

    path: str
    before: str
    kept: str = ""
    error: float = 0.0
    parameters: int = 0
    remark: str = ""


class Conversion:
    """The conversion of one module.

    Args:
        module: Any module.
        data: What the module is called with, or `None`: one input, a tuple of
            arguments, or a dictionary.
        k: Number of hidden units.
        g: Fixed function of the VAFs, or `None` for an exact start.
        sharing: `"layer"` or `"channel"`.
        selection: The `Selection` of the user, or `None` for all activations.
        inplace: Whether to change the module instead of a copy.

    Attributes:
        module: The converted module.
        lines: What became of each activation.
        notes: What concerns the whole module.
        deviation: Largest difference of the outputs, or `None` without data.

    Raises:
        ValueError: If an argument is not supported or does not fit the module.
    """

    def __init__(
        self,
        module: torch.nn.Module,
        data: Any,
        k: int,
        g: str | G | None,
        sharing: Any,
        selection: Any,
        inplace: bool,
    ) -> None:
        if sharing != "layer" and (sharing != "channel" or data is None):
            raise ValueError(
                "In a module of PyTorch, `sharing` is 'layer', or 'channel' if `data` "
                f"is given. Received: sharing={sharing!r}"
            )
        self._k, self._g = k, None if g is None else checked(g)
        self._sharing, self._selection, self._data = sharing, selection, data
        self.module = module if inplace else clone(module)
        self.notes: list[str] = []
        self.deviation: float | None = None
        self._parts = outside_vafs(self.module)
        if selection is not None:
            selection.check([path for path in self._parts if path], self._parts)
        self._find()
        self._seen = None if data is None else Recording(self.module, self._found, data)
        self.lines = [self._line(path) for path in self._found]
        self._old = {
            line.path: self._replacement(line) for line in self.lines if not line.kept
        }
        for old, vaf in self._old.values():
            exchange(self.module, old, vaf)
        settle(self.module)
        if self._seen is None:
            self.notes.append(NOT_RUN)
        else:
            self._check(self._seen.outputs)
        self.lines += self._without_modules()

    def _find(self) -> None:
        with same_random_numbers(self.module):  # of dropout, for example
            every = {path: recognize(m) for path, m in self._parts.items() if path}
        self._found: dict[str, Found] = {p: f for p, f in every.items() if f}

    def _line(self, path: str) -> Line:
        part, found = self._parts[path], self._found[path]
        return Line(path, found.name, self._reason(path, part, found))

    def _reason(self, path: str, part: torch.nn.Module, found: Found) -> str:
        """Return why an activation is kept, or ""."""
        hooks = (part._forward_hooks, part._forward_pre_hooks)
        if any((*hooks, part._backward_hooks, part._backward_pre_hooks)):
            return "it has hooks, which a new module would lose"
        parametrized = torch.nn.utils.parametrize.is_parametrized(part)
        if parametrized or "parametrizations" in path.split("."):
            return "it is a parametrization, or has one"
        if any(not p.requires_grad for p in part.parameters()):
            return "it is frozen"
        if self._selection is not None:
            if not self._selection.takes(part, path):
                return "it was not chosen"
            if self._selection.names(part, path):
                return ""
        elif not found.known:
            return "no known function has its values; name it in `layers`"
        if self._seen is not None:
            return self._seen.reason(path, found.bounded)
        return self._by_order(part, found)

    def _by_order(self, part: torch.nn.Module, found: Found) -> str:
        """Return why an activation is kept where only the order of modules is known."""
        every = [*self.module.named_modules(remove_duplicate=False)]
        places = [i for i, (_, each) in enumerate(every) if each is part]
        certain = [is_followed(self.module, every[i][0]) for i in places]
        if False in certain:
            return "it shapes an output of the model"
        if all(certain):
            return ""
        if found.shaping:
            return f"it may be a gate, or shape an output; {_GIVE_DATA}"
        later = (each for _, each in every[max(places) + 1 :])
        if any([*each.parameters(recurse=False)] for each in later):
            return ""
        return f"no layer with weights is registered after it; {_GIVE_DATA}"

    def _replacement(self, line: Line) -> tuple[torch.nn.Module, VAF]:
        """Return an activation and the VAF for it, and describe the change."""
        part = self._parts[line.path]
        try:
            vaf, line.remark = self._vaf(line.path, part, self._found[line.path])
        except ValueError as error:
            raise ValueError(f"The activation of {line.path!r}: {error}") from error
        line.error = _error(part, vaf)
        count = vaf.weight.numel() - sum(p.numel() for p in part.parameters())
        line.parameters = count
        if getattr(part, "inplace", False):
            advice = "" if self._seen else ": compare the outputs"
            line.remark += f"; it computed in place, the VAF does not{advice}"
        line.remark = line.remark.removeprefix("; ")
        like = _like(self.module, line.path, vaf.weight)
        vaf.train(part.training).to(device=like.device, dtype=like.dtype)
        return part, vaf

    def _vaf(self, path: str, part: torch.nn.Module, found: Found) -> tuple[VAF, str]:
        """Return a VAF that starts as an activation, and a remark."""
        remark = ""
        place: tuple[int, int] | None = None  # axis and size
        if self._seen is not None and self._sharing == "channel":
            place = self._seen.channels(path)
            if place is None:
                remark = "shared per layer, its calls have no one number of channels"
        slopes = part.weight.tolist() if isinstance(part, torch.nn.PReLU) else []
        if len(slopes) > 1:
            place = (1, len(slopes))
        axes, sizes = ((), ()) if place is None else (place[:1], place[1:])
        g = found.g if self._g is None else self._g
        vaf = VAF(self._k, g, sizes, axes, found.start)
        if len(slopes) > 1:
            starts = [PiecewiseLinearStart([0], [slope, 1]) for slope in slopes]
            each = [start((), self._k, of_package(vaf.g)) for start in starts]
            vaf.set_weights([np.stack(values) for values in zip(*each, strict=True)])
        return vaf, remark

    def _check(self, expected: list[torch.Tensor]) -> None:
        """Put back what changes the outputs or is not used, and measure the rest."""
        lines = {line.path: line for line in self.lines if not line.kept}

        def gap() -> float:
            now = checks.outputs(self.module, self._data)
            return checks.difference(expected, now)

        self.deviation = gap()
        if self.deviation > checks.limit(expected):
            self._put_back_what_differs(lines, gap, checks.limit(expected))
        paths = [path for path, line in lines.items() if not line.kept]
        reasons, notes = checks.unused(self.module, paths, self._data)
        for path, reason in reasons.items():
            lines[path].kept = reason
            self._put_back(path)
        self.notes += notes
        if any(line.kept for line in lines.values()):
            self.deviation = gap()

    def _put_back_what_differs(
        self, lines: dict[str, Line], gap: Callable[[], float], limit: float
    ) -> None:
        """Put all activations back, and replace again those that change no output."""
        for path in lines:
            self._put_back(path)
        stable = gap() <= limit
        if not stable:
            self.notes.append("the outputs differ from call to call")
        for path, line in lines.items():
            exchange(self.module, *self._old[path])
            settle(self.module)
            if stable and gap() > limit:
                self._put_back(path)
                line.kept = "the outputs differ without it"
                if getattr(self._old[path][0], "inplace", False):
                    line.kept += ", because it computes in place"

    def _put_back(self, path: str) -> None:
        old, vaf = self._old[path]
        exchange(self.module, vaf, old)
        settle(self.module)

    def _without_modules(self) -> list[Line]:
        """Return a line for each activation that is computed without a module."""
        fixed = (
            *(torch.nn.RNNBase, torch.nn.RNNCellBase),
            *(torch.nn.RReLU, torch.nn.GLU),
        )
        lines = [
            Line(path, type(part).__name__, "no VAF computes it")
            for path, part in self._parts.items()
            if isinstance(part, fixed)
        ]
        if self._seen is None:
            named = [
                (p.rpartition(".")[0], p, n) for p, n in held_functions(self.module)
            ]
        else:
            named = [(path, path, name) for path, name in self._seen.called_by_code()]
        for host, path, name in named:
            kind = type(self.module.get_submodule(host)).__name__
            lines.append(Line(path, name, _BY_CODE.format(kind)))
        return lines


def _like(module: torch.nn.Module, path: str, default: torch.Tensor) -> torch.Tensor:
    """Return a parameter of the nearest host that has one of a floating-point type."""
    while path:
        path = path.rpartition(".")[0]
        for parameter in module.get_submodule(path).parameters():
            if parameter.is_floating_point():
                return parameter
    return default


def _error(part: torch.nn.Module, vaf: VAF) -> float:
    """Return the largest difference between a VAF and the module that was there."""
    if isinstance(part, torch.nn.PReLU) or vaf.axes:
        x = GRID.reshape(-1, 1, 1, 1, 1).expand(-1, *[1] * 4)
        shape = [len(GRID), 1, 1, 1, 1]
        for axis, size in zip(vaf.axes, vaf.weight.shape, strict=False):
            shape[axis] = size
        x = x.expand(shape)
    else:
        x = GRID.reshape(5, 33)
    old = copy.deepcopy(part).cpu().float()
    with torch.no_grad():
        return float((vaf(x) - old.forward(x.clone())).abs().max())
