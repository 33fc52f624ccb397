"""`Conversion`, which puts VAFs in the place of the activations of a module."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from keras_vaf.ops import on_torch
from keras_vaf.torch import checks, functions
from keras_vaf.torch.modules import HOSTS, clone, exchange
from keras_vaf.torch.recording import Recording, run, same_random_numbers
from keras_vaf.torch.vaf import VAF

NOT_RUN = "nothing was run, so outputs were not compared: give `data` to check them"
_BY_CODE = "the code of {} computes it; give that class a module instead"
_GIVE_DATA = "give `data`, or name it in `layers`"


class Conversion:
    """The conversion of one module. The other arguments are those of `convert`.

    `change` makes the record of an activation, one of `lines`. `deviation` is the
    largest difference of the outputs, or `None` without data.
    """

    def __init__(
        self,
        change: Callable[..., Any],
        module: torch.nn.Module,
        data: Any,
        k: int,
        g: str | functions.G | None,
        sharing: Any,
        selection: Any,
        inplace: bool,
    ) -> None:
        if sharing != "layer" and (sharing != "channel" or data is None):
            raise ValueError(
                "In a module of PyTorch, `sharing` is 'layer', or 'channel' if `data` "
                f"is given. Received: sharing={sharing!r}"
            )
        self._k, self._g = k, None if g is None else functions.checked(g)
        self._sharing, self._selection, self._data = sharing, selection, data
        self.module = module if inplace else clone(module)
        self.notes: list[str] = []
        self.deviation: float | None = None
        every = dict(self.module.named_modules())
        vafs = [path for path, part in every.items() if isinstance(part, VAF)]
        inside = tuple(path and f"{path}." for path in vafs)
        parts = {p: m for p, m in every.items() if not f"{p}.".startswith(inside)}
        if selection is not None:
            selection.check([path for path in every if path], every)
        with same_random_numbers(self.module):  # of dropout, for example
            tried = {path: functions.recognize(part) for path, part in parts.items()}
        found = {path: each for path, each in tried.items() if path and each}
        self._seen = None
        if data is not None:
            self._seen = Recording(self.module, [*found, *vafs], data)
        self.lines = []
        for path, each in found.items():
            old, reason = parts[path], self._reason(path, parts[path], each)
            self.lines.append(change(path, each.name, "VAF", kept=reason, old=old))
        chosen = [line for line in self.lines if not line.kept]
        for line in chosen:
            line.new = self._replacement(line, found[line.layer])
        for line in chosen:
            exchange(self.module, line.old, line.new)
        if self._seen is None:
            self.notes.append(NOT_RUN)
        else:
            self._check(chosen, self._seen.outputs)
        held = functions.held_functions(parts)
        for host, path, name in self._seen.by_code() if self._seen else held:
            kind = type(self.module.get_submodule(host)).__name__
            self.lines.append(change(path, name, kept=_BY_CODE.format(kind)))

    def _reason(self, path: str, part: torch.nn.Module, found: functions.Found) -> str:
        """Return why an activation is kept, or ""."""
        if any(held for name, held in vars(part).items() if name.endswith("hooks")):
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

    def _by_order(self, part: torch.nn.Module, found: functions.Found) -> str:
        """Return why an activation is kept where only the order of modules is known."""
        every = [*self.module.named_modules(remove_duplicate=False)]
        certain = True
        for i in [i for i, (_, each) in enumerate(every) if each is part]:
            path, later = every[i][0], every[i + 1 :]
            weighted = [p for p, each in later if [*each.parameters(recurse=False)]]
            followed = _is_followed(self.module, path, weighted)
            if followed is False:
                return "it shapes an output of the model"
            certain = certain and followed is True
        if certain:
            return ""
        host = self.module.get_submodule(path.rpartition(".")[0])
        code = getattr(type(host).forward, "__code__", None)
        if found.name in {*getattr(code, "co_names", ())} - {*dir(host)}:
            return f"the code of {type(host).__name__} may compute it; {_GIVE_DATA}"
        if found.bounded or found.name in ("softplus", "log_sigmoid", "exponential"):
            return f"it may be a gate, or shape an output; {_GIVE_DATA}"
        if weighted:
            return ""
        return f"no layer with weights is registered after it; {_GIVE_DATA}"

    def _replacement(self, line: Any, found: functions.Found) -> VAF:
        """Return the VAF for an activation, and describe the change."""
        part, remarks = line.old, []
        place: tuple[int, int] | None = None  # axis and size
        if self._seen is not None and self._sharing == "channel":
            place = self._seen.channels(line.layer)
            if place is None:
                remarks.append(
                    "shared per layer, its calls have no one number of channels"
                )
        slopes = part.weight.tolist() if isinstance(part, torch.nn.PReLU) else []
        if len(slopes) > 1:
            place = (1, len(slopes))
        axes, sizes = ((), ()) if place is None else (place[:1], place[1:])
        try:
            start = functions.leaky(slopes[0]) if slopes else found.start
            vaf = VAF(self._k, self._g or found.g, sizes, axes, start)
            if len(slopes) > 1:
                g = functions.of_package(vaf.g)
                each = [functions.leaky(slope)((), self._k, g) for slope in slopes]
                vaf.set_weights([np.stack(rows) for rows in zip(*each, strict=True)])
        except ValueError as error:
            raise ValueError(f"The activation of {line.layer!r}: {error}") from error
        if getattr(part, "inplace", False):
            advice = "" if self._seen else ": compare the outputs"
            remarks.append(f"it computed in place, the VAF does not{advice}")
        line.remark, line.error = "; ".join(remarks), _error(part, vaf)
        like = _like(self.module, line.layer, vaf.weight)
        return vaf.train(part.training).to(device=like.device, dtype=like.dtype)

    def _put_back(self, line: Any, reason: str = "") -> None:
        exchange(self.module, line.new, line.old)
        line.kept = reason

    def _check(self, lines: list[Any], expected: list[torch.Tensor]) -> None:
        """Put back what changes the outputs or is not used, and measure the rest."""

        def gap() -> float:
            now = run(clone(self.module).eval(), self._data)
            return checks.difference(expected, now)

        limit, self.deviation = checks.limit(expected), gap()
        if self.deviation > limit:  # put all back, and find those that change no output
            for line in lines:
                self._put_back(line)
            stable = gap() <= limit
            if not stable:
                self.notes.append("the outputs differ from call to call")
            for line in lines:
                exchange(self.module, line.old, line.new)
                if stable and gap() > limit:
                    inplace = getattr(line.old, "inplace", False)
                    cause = ", because it computes in place" if inplace else ""
                    self._put_back(line, f"the outputs differ without it{cause}")
        paths = [line.layer for line in lines if not line.kept]
        reasons, notes = checks.unused(self.module, paths, self._data)
        self.notes += notes
        for line in lines:
            if line.layer in reasons:
                self._put_back(line, reasons[line.layer])
        if any(line.kept for line in lines):
            self.deviation = gap()


def _is_followed(module: torch.nn.Module, path: str, later: list[str]) -> bool | None:
    """Return whether one of the later layers comes after a part, if that is certain."""
    while path:
        path = path.rpartition(".")[0]
        host = module.get_submodule(path)
        if isinstance(host, HOSTS):
            return True
        if type(host).forward is not torch.nn.Sequential.forward:
            return None
        if any(each.startswith(path and f"{path}.") for each in later):
            return True
    return False


def _like(module: torch.nn.Module, path: str, default: torch.Tensor) -> torch.Tensor:
    """Return a parameter of the nearest host that has one of a floating-point type."""
    names = path.split(".")[:-1]
    paths = [".".join(names[:i]) for i in range(len(names), -1, -1)]
    each = (p for host in paths for p in module.get_submodule(host).parameters())
    return next((p for p in each if p.is_floating_point()), default)


def _error(part: torch.nn.Module, vaf: VAF) -> float:
    """Return the largest difference between a VAF and the module that was there."""
    old = copy.deepcopy(part).cpu().float()
    rows = vaf.weight.reshape(-1, vaf.weight.shape[-1])
    x = functions.GRID[:, None].expand(-1, len(rows))
    with torch.no_grad():
        y = on_torch.vaf(x, rows, vaf.g, (1,))
        return float((y - old.forward(x.clone())).abs().max())
