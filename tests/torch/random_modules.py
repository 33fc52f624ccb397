"""`RandomModule`, a module of PyTorch made by chance, whose data flow is known."""

import dataclasses
import random
from types import SimpleNamespace

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

ACTIVATIONS = (
    *(nn.ReLU, nn.GELU, nn.Tanh, nn.Sigmoid, nn.Softplus, nn.SiLU, nn.LeakyReLU),
    *(nn.ELU, nn.PReLU),
)
LINEAR = (lambda: nn.Linear(8, 8),) * 4
PARTS = {
    "l": (*LINEAR, lambda: nn.LayerNorm(8), lambda: nn.BatchNorm1d(8)),
    "a": ACTIVATIONS,
    "i": (lambda: nn.ReLU(inplace=True),),
    "r": (nn.ReLU, nn.Tanh),  # which do not need their inputs for the gradient
    "k": (lambda: nn.PReLU().requires_grad_(False), lambda: hooked(nn.GELU())),
}
# The parts that a step gets; how its result depends on each value: through weights
# (w), alone (a), as a copy next to others (c), as a term (m) or a factor (p), by a
# column that scales (s), as a mask or a condition (M, C), or not at all (-).
STEPS = {
    "layer": ("l", "w", lambda m, p, a: p(a)),
    "activation": ("a", "a", lambda m, r, a: r(a)),
    "kept": ("k", "a", lambda m, r, a: r(a)),
    "checkpoint": ("a", "a", lambda m, r, a: checkpoint(r, a, use_reentrant=False)),
    "training": ("a", "a", lambda m, r, a: (r if m.training else torch.relu)(a)),
    "mode": ("a", "a", lambda m, r, a: {True: r}.get(torch.is_grad_enabled(), abs)(a)),
    "refused": ("a", "a", lambda m, r, a: {True: r}[isinstance(r, ACTIVATIONS)](a)),
    "in_place": ("li", "w", lambda m, p, r, a: ((h := p(a)), r(h))),
    "overwritten": ("lr", "w-", lambda m, p, r, a, b: (h := p(a), r(h), h.add_(b))[1]),
    "code": ("", "a", lambda m, a: torch.relu(a)),
    "sum": ("", "mm", lambda m, a, b: a + b),
    "product": ("", "pp", lambda m, a, b: a * b),
    "scaled": ("", "as", lambda m, a, b: a * b[:, :1]),
    "cat": ("", "cc", lambda m, a, b: torch.cat([a, b], -1)[:, ::2]),
    "where": ("", "Ccc", lambda m, a, b, c: torch.where(a > 0, b, c)),
    "masked": ("", "aM", lambda m, a, b: a.masked_fill(b > 0, 0)),
    "assigned": ("", "cc", lambda m, a, b: assigned(a.clone(), b)),
    "view": ("", "cc", lambda m, a, b: assigned(a.clone(), b, m)),
    "ones_like": ("", "-a", lambda m, a, b: torch.ones_like(a) - b),
    "zeros_like": ("", "-a", lambda m, a, b: torch.zeros_like(a).add_(b)),
    "new_zeros": ("", "-a", lambda m, a, b: a.new_zeros(5, 8).index_add(0, ROWS, b)),
    "broadcast": ("", "-a", lambda m, a, b: torch.broadcast_tensors(a, b)[1]),
    "type_as": ("", "a-", lambda m, a, b: a.type_as(b).view_as(b)),
    "detached": ("", "a", lambda m, a: a.detach()),
    "compared": ("", "a", lambda m, a: (a > 0).to(a.dtype)),
    "no_grad": ("", "a", lambda m, a: torch.no_grad()(lambda: a * 2)()),
    "noise": ("", "a", lambda m, a: a + 0.1 * torch.randn_like(a)),
    "dropout": ("", "a", lambda m, a: functional.dropout(a, 0.3, m.training)),
}
COMMON = ["layer", "activation"] * 5 + ["sum"] * 2
ROWS = torch.arange(5)
ENDS = {
    "plain": lambda y: y,
    "tiny": lambda y: 1e-6 * y,
    "huge": lambda y: torch.cat([y, torch.full_like(y, 1e6)], -1),
    "logarithm": torch.log,
    "integer": lambda y: (9.99 * y).long(),
    "complex": torch.fft.rfft,
}
FORMS = {
    "one": lambda y, x: y[0],
    "tuple": lambda y, x: (*y, None),
    "nested": lambda y, x: [{"y": y}, {"first": y[0]}],
    "object": lambda y, x: SimpleNamespace(y=y),
    "normal": lambda y, x: torch.distributions.Normal(x, y[0].abs() + 0.1, False),
}


def assigned(y, b, to_view=False):
    if to_view:
        y[:, :2].copy_(b[:, :2])
    else:
        y[:, :2] = b[:, :2]
    return y


def hooked(part):
    part.register_forward_hook(lambda part, inputs, output: None)
    return part


@dataclasses.dataclass(eq=False)
class Value:
    """A value, and what is true of it."""

    step: str
    sources: list
    part: str = ""  # the path of the activation that computes it
    data: bool = True  # it depends on the input
    reaches: bool = False  # an output
    after: bool = False  # weights stand between it and an output
    returned: bool = False  # alone, or as a copy
    multiplied: bool = False

    def look_back(self):
        """Say what is true of the sources."""
        used = [(source, mark) for source, mark in self.sources if mark != "-"]
        for source, mark in used:
            others = {s for s, m in used if s.data and m not in "MCs"}
            others -= set() if mark == "s" else {source}  # a column is another value
            alone = mark == "a" or (mark != "w" and not others)
            source.reaches |= self.reaches
            source.after |= self.reaches and (mark == "w" or self.after)
            source.returned |= self.returned and (alone or mark in "cC")
            product = mark in "ps" and bool(others)
            source.multiplied |= product or (alone and self.multiplied)


class RandomModule(nn.Module):
    """A module that runs random steps, and what is true of its activations."""

    def __init__(self, seed):
        super().__init__()
        torch.manual_seed(seed)
        draw = random.Random(seed)
        self.values, self.steps = [Value("input", [])], []
        self.facts = [*self.values]  # each value once
        self.again = []  # other ways to some parts
        for i in range(draw.randint(2, 9)):
            self.add_step(draw, i)
        self.end = draw.choice(["plain"] * 4 + [*ENDS])
        self.form = draw.choice(["one"] * 3 + [*FORMS])
        last = len(self.values) - 1
        self.outputs = [last, *draw.sample(range(last), draw.choice((0, 0, 1)))]
        for i in self.outputs[: 1 if self.form in ("one", "normal") else 2]:
            self.values[i].reaches = self.values[i].returned = True
        for value in reversed(self.facts):
            value.look_back()

    def add_step(self, draw, i):
        name = draw.choice(COMMON if draw.random() < 0.7 else [*STEPS])
        letters, marks, _ = STEPS[name]
        parts, path = [], ""
        for letter in letters:
            old = [n for n, _ in self.named_children() if n[0] == letter == "a"]
            path = draw.choice(old) if old and draw.random() < 0.15 else f"{letter}{i}"
            if path in old:
                self.again.append(self.get_submodule(path))
            else:
                self.add_module(path, draw.choice(PARTS[letter])())
            if letter == "l" and draw.random() < 0.05:
                nn.init.zeros_(self.get_submodule(path).weight)
            parts.append((path, len(self.again) if path in old else 0))
        last = len(self.values) - 1
        near = [draw.random() < 0.7 for _ in marks]
        inputs = [last if each else draw.randint(0, last) for each in near]
        self.steps.append((name, parts, inputs))
        sources = [*zip([self.values[j] for j in inputs], marks, strict=True)]
        if len(parts) > 1:
            self.facts.append(Value("layer", sources))
            sources = [(self.facts[-1], "a")]
        data = any(source.data for source, mark in sources if mark != "-")
        self.facts.append(Value(name, sources, path, data))
        self.values += [self.facts[-1]] * (2 if name == "in_place" else 1)

    def forward(self, x):
        values = [x]
        for name, parts, inputs in self.steps:
            got = [self.again[i - 1] if i else getattr(self, path) for path, i in parts]
            y = STEPS[name][2](self, *got, *[values[i] for i in inputs])
            values += y if isinstance(y, tuple) else [y]
        end = ENDS["plain" if self.form == "normal" else self.end]
        return FORMS[self.form]([end(values[i]) for i in self.outputs], x)

    @property
    def activations(self):
        return [name for name, _ in self.named_children() if name[0] != "l"]

    def facts_of(self, path):
        """Return which reasons to keep an activation are true."""
        every = [value for value in self.facts if value.part == path]
        calls = [value for value in every if value.step != "training"]
        seen = [value for value in calls if value.reaches]
        part = self.get_submodule(path)
        bounded = isinstance(part, nn.Tanh | nn.Sigmoid)
        steps = {value.step for value in every}
        return {
            "`data` does not reach it": not calls,
            "no output is seen to depend on it": bool(calls and not seen),
            "it shapes an output": any(v.returned or not v.after for v in seen),
            "it is a gate": bounded and any(value.multiplied for value in seen),
            "its host refuses a VAF": bool(steps & {"refused", "overwritten"}),
            "its host does not call it in mode": steps == {"mode"},
            "the outputs differ without it": steps == {"in_place"},
            "it is frozen": not all(p.requires_grad for p in part.parameters()),
            "it has hooks": bool(part._forward_hooks),
        }
