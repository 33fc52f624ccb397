"""`Conversion`, which puts VAFs in the place of the activations of a module."""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from keras_vaf.initializers import FunctionStart, PiecewiseLinearStart
from keras_vaf.ops.functions_on_torch import Found, G, of_package, recognize
from keras_vaf.torch import modules
from keras_vaf.torch.checks import Trials
from keras_vaf.torch.recording import CALLED, Recording, same_random_numbers
from keras_vaf.torch.vaf import VAF

_NOT_RUN = "nothing was run, so outputs were not compared: give `data` to check them"
_BY_CODE = "the code of {} computes it; give that class a module instead"
_GIVE_DATA = "give `data`, or name it in `layers`"
_LOST = (
    "`save_pretrained` of this module does not keep the VAFs: call "
    "`keras_vaf.torch.save_vafs(module, path)`, too, and `load_vafs` after loading"
)


@dataclasses.dataclass
class Conversion:
    """The conversion of a `module`. Arguments are those of `convert`, and `change`.

    This makes the record of an activation, one of `lines`. `deviation` is the largest
    difference of outputs, or `None`. Only the last step changes the module itself.
    """

    change: Callable[..., Any]
    module: torch.nn.Module
    data: Any
    k: int
    g: str | G | None
    sharing: Any
    selection: Any
    inplace: bool
    lines: list[Any] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)
    deviation: float | None = None
    seen: Recording | None = None

    def __post_init__(self) -> None:
        """Check the arguments, and convert the module."""
        if self.sharing not in ("layer", "layer" if self.data is None else "channel"):
            raise ValueError(
                "In a module of PyTorch, `sharing` is 'layer', or 'channel' if `data` "
                f"is given. Received: sharing={self.sharing!r}"
            )
        with torch.inference_mode(False):  # its parameters would not be trained
            self.module = self.module if self.inplace else modules.clone(self.module)
            self._convert()

    def _convert(self) -> None:
        """Find the activations, choose, try the VAFs on copies, and put them in."""
        every = dict(self.module.named_modules())
        if self.selection is not None:
            self.selection.check([path for path in every if path], every)
        away = (m for m in every.values() if any(p.is_meta for p in m.parameters()))
        if any("forward" in vars(part) for part in away):
            raise ValueError(
                "The module is offloaded: its weights are on the device meta until it "
                "is called. Convert it before. Received: modules with another `forward`"
            )
        vafs = [path for path, part in every.items() if isinstance(part, VAF)]
        inside = tuple(path and f"{path}." for path in vafs)
        parts = {p: m for p, m in every.items() if not f"{p}.".startswith(inside)}
        with same_random_numbers(self.module), torch.device("cpu"):
            tried = {path: recognize(part) for path, part in parts.items()}
        found = {path: each for path, each in tried.items() if each}
        if self.data is not None:
            self.seen = Recording(self.module, [*found, *vafs], self.data)
        chosen = self._chosen(parts, found)
        if self.data is None:
            self.notes.append(_NOT_RUN)
        else:
            trials = Trials(self.module, self.data)
            chosen = trials.keep(chosen)
            self.deviation, self.notes = trials.deviation, trials.notes
        hosts = {path: part for path, part in parts.items() if path not in found}
        codes = self.seen.by_code() if self.seen else _held_functions(hosts)
        for host, name in dict.fromkeys(codes):
            reason = _BY_CODE.format(kind := type(every[host]).__name__)
            self.lines.append(self.change(host or kind, name, kept=reason))
        modules.exchange(self.module, {line.layer: line.new for line in chosen})
        peft = any(type(p).__module__.startswith("peft.") for p in every.values())
        if chosen and (peft or hasattr(self.module, "save_pretrained")):
            self.notes.append(_LOST)

    def _chosen(self, parts: dict[str, Any], found: dict[str, Any]) -> list[Any]:
        """Make the lines of activations. Return those to replace, with their VAFs."""
        made: dict[int, Any] = {}
        for path, each in found.items():
            old, reason = parts[path], self._reason(path, parts[path], each)
            line = self.change(path, each.name, "VAF", kept=reason, old=old)
            slopes = [PiecewiseLinearStart([0], [slope, 1]) for slope in each.slopes]
            line.starts = slopes or [FunctionStart(each.function)]
            self.lines.append(line)
            if not reason:
                key = id(next(old.parameters(), line))  # a weight that others may share
                first = made.setdefault(key, line)
                line.new = first.new or self._replacement(line, each.g)
                line.error = first.error
        return [line for line in self.lines if not line.kept]

    def _reason(self, path: str, part: torch.nn.Module, found: Found) -> str:
        """Return why an activation is kept, or ""."""
        host, _, name = path.rpartition(".")
        if not path:
            return "it shapes an output of the model"
        if vars(self.module.get_submodule(host)).get(name, part) is not part:
            return "another attribute of its host hides it"
        if any(p.is_meta for p in part.parameters()):
            return "its weights have no storage"
        if any(held for name, held in vars(part).items() if name.endswith("hooks")):
            return "it has hooks, which a new module would lose"
        if "parametrizations" in (*path.split("."), *dict(part.named_children())):
            return "it is a parametrization, or has one"
        if any(not p.requires_grad for p in part.parameters()):
            return "it is frozen"
        if self.selection is not None:
            if not self.selection.takes(part, path):
                return "it was not chosen"
            if self.selection.names(part, path):
                return ""
        elif not found.known:
            return "no known function has its values; name it in `layers`"
        if self.seen is not None:
            return self.seen.reason(path, found.bounded)
        return self._by_order(part, found)

    def _by_order(self, part: torch.nn.Module, found: Found) -> str:
        """Return why an activation is kept where only the order of modules is known."""
        every = [*self.module.named_modules(remove_duplicate=False)]
        last = max(i for i, (_, each) in enumerate(every) if each is part)
        path, later = every[last][0], every[last + 1 :]
        weighted = [p for p, each in later if [*each.parameters(recurse=False)]]
        hosts = modules.hosts_of(self.module, path)
        for place, host in hosts.items():
            if isinstance(host, modules.HOSTS):
                return ""
            if type(host).forward is not torch.nn.Sequential.forward:
                break
            if any(each.startswith(place and f"{place}.") for each in weighted):
                return ""
        host = next(iter(hosts.values()))
        code = getattr(type(host).forward, "__code__", None)
        if found.name in {*getattr(code, "co_names", ())} - {*dir(host)}:
            return f"the code of {type(host).__name__} may compute it; {_GIVE_DATA}"
        if found.bounded or found.name in ("softplus", "log_sigmoid", "exponential"):
            return f"it may be a gate, or shape an output; {_GIVE_DATA}"
        if weighted:
            return ""
        return f"no layer with weights is registered after it; {_GIVE_DATA}"

    def _replacement(self, line: Any, g: str | G) -> VAF:
        """Return the VAF for an activation, and describe the change."""
        part, count, remarks = line.old, len(line.starts), []
        place: tuple[int, ...] = (1, count) if count > 1 else ()  # axis and size
        if self.seen and self.sharing == "channel":
            place = place or self.seen.channels(line.layer)
            if not place:
                remarks.append("shared per layer: its calls differ in channels")
        try:
            with torch.device("cpu"):
                vaf = VAF(self.k, self.g or g, place[1:], place[:1], line.starts[0])
            own = of_package(vaf.g)
            units = [(start, start.units(self.k, own)) for start in line.starts]
            if count > 1:
                rows = zip(*[values for _, values in units], strict=True)
                vaf.set_weights([*map(np.stack, rows)])
            line.error = max(s.errors_of(values, own).largest for s, values in units)
        except ValueError as error:
            raise ValueError(f"The activation of {line.layer!r}: {error}") from error
        if getattr(part, "inplace", False):
            remarks.append("it computed in place, the VAF does not")
        line.remark = "; ".join(remarks)
        like = modules.parameter_like(self.module, line.layer, vaf.weight)
        if not like.is_meta:
            modules.in_memory(vaf.weight, line.layer)  # a context may forbid it
        return vaf.train(part.training).to(like)


def _held_functions(parts: dict[str, torch.nn.Module]) -> Iterator[tuple[str, str]]:
    """Yield the paths of modules, and the names of functions that they hold."""
    for path, part in parts.items():
        names = [getattr(each, "__name__", "") for each in vars(part).values()]
        if isinstance(part, torch.nn.RNN | torch.nn.RNNCell):
            names.append(part.nonlinearity)
        yield from ((path, n) for n in names if n.replace("_", "") in CALLED)
