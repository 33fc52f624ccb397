"""`Conversion`, which puts VAFs in the place of the activations of a module."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from keras_vaf.torch import checks
from keras_vaf.torch.copies import clone, exchange
from keras_vaf.torch.functions import G, checked, of_package
from keras_vaf.torch.reading import is_followed
from keras_vaf.torch.recognition import GRID, Found, held_functions, leaky, recognize
from keras_vaf.torch.recording import Recording, run, same_random_numbers
from keras_vaf.torch.vaf import VAF, apply

NOT_RUN = "nothing was run, so outputs were not compared: give `data` to check them"
_GIVE_DATA = "give `data`, or name it in `layers`"
_BY_CODE = "the code of {} computes it; give that class a module instead"
_WITHOUT_VAF = (torch.nn.RNNBase, torch.nn.RNNCellBase, torch.nn.RReLU, torch.nn.GLU)


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
        every = dict(self.module.named_modules())
        vafs = [path for path, part in every.items() if isinstance(part, VAF)]
        inside = tuple(path and f"{path}." for path in vafs)
        parts = {p: m for p, m in every.items() if not f"{p}.".startswith(inside)}
        if selection is not None:
            selection.check([path for path in every if path], every)
        with same_random_numbers(self.module):  # of dropout, for example
            tried = {path: recognize(m) for path, m in parts.items() if path}
        found = {path: each for path, each in tried.items() if each}
        self._seen = None
        if data is not None:
            self._seen = Recording(self.module, [*found, *vafs], data)
        self.lines = [
            change(path, each.name, "VAF", kept=reason, old=parts[path])
            for path, each in found.items()
            for reason in [self._reason(path, parts[path], each)]
        ]
        chosen = [line for line in self.lines if not line.kept]
        for line in chosen:
            line.new = self._replacement(line, found[line.layer])
        for line in chosen:
            exchange(self.module, line.old, line.new)
        if self._seen is None:
            self.notes.append(NOT_RUN)
        else:
            self._check(chosen, self._seen.outputs)
        for path, name, reason in self._others(parts):
            self.lines.append(change(path, name, kept=reason))

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
        host = self.module.get_submodule(every[places[0]][0].rpartition(".")[0])
        code = getattr(type(host).forward, "__code__", None)
        if found.name in getattr(code, "co_names", ()) and not hasattr(
            host, found.name
        ):
            return f"the code of {type(host).__name__} may compute it; {_GIVE_DATA}"
        if found.shaping:
            return f"it may be a gate, or shape an output; {_GIVE_DATA}"
        later = (each for _, each in every[max(places) + 1 :])
        if any([*each.parameters(recurse=False)] for each in later):
            return ""
        return f"no layer with weights is registered after it; {_GIVE_DATA}"

    def _replacement(self, line: Any, found: Found) -> VAF:
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
            start = leaky(slopes[0]) if slopes else found.start
            vaf = VAF(self._k, self._g or found.g, sizes, axes, start)
            if len(slopes) > 1:
                each = [leaky(s)((), self._k, of_package(vaf.g)) for s in slopes]
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

    def _gap(self, expected: list[torch.Tensor]) -> float:
        """Return the largest difference of the outputs of a copy."""
        now = run(clone(self.module).eval(), self._data)
        return checks.difference(expected, now)

    def _check(self, lines: list[Any], expected: list[torch.Tensor]) -> None:
        """Put back what changes the outputs or is not used, and measure the rest."""
        limit = checks.limit(expected)
        self.deviation = self._gap(expected)
        if self.deviation > limit:  # put all back, and find those that change no output
            for line in lines:
                self._put_back(line)
            stable = self._gap(expected) <= limit
            if not stable:
                self.notes.append("the outputs differ from call to call")
            for line in lines:
                exchange(self.module, line.old, line.new)
                if stable and self._gap(expected) > limit:
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
            self.deviation = self._gap(expected)

    def _others(self, parts: dict[str, torch.nn.Module]) -> Iterator[tuple[str, ...]]:
        """Yield each activation that is computed without a module, and the reason."""
        for path, part in parts.items():
            if isinstance(part, _WITHOUT_VAF):
                yield path, type(part).__name__, "no VAF computes it"
        named = held_functions(parts) if self._seen is None else self._seen.by_code()
        for host, path, name in named:
            kind = type(self.module.get_submodule(host)).__name__
            yield path, name, _BY_CODE.format(kind)


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
    old = copy.deepcopy(part).cpu().float()
    rows = vaf.weight.reshape(-1, vaf.weight.shape[-1])
    x = GRID[:, None].expand(-1, len(rows))
    with torch.no_grad():
        y = apply(x, rows, vaf.g, (1,))
        return float((y - old.forward(x.clone())).abs().max())
