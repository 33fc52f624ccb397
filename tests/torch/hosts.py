"""Modules that use their activations in ways that a conversion may get wrong."""

import functools
import inspect
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from keras_vaf.torch import VAF

torch.manual_seed(0)
X, TOKENS, IMAGES = torch.randn(6, 8), torch.randn(2, 5, 8), torch.randn(2, 3, 6, 6)
MASKED = {"x": X, "mask": torch.ones(6, 1)}
RELU, GELU, TANH = nn.ReLU(), nn.GELU(), nn.Tanh()
BY_NAME = {"h": nn.ReLU, "g": nn.GELU, "t": nn.Tanh, "s": nn.Sigmoid, "p": nn.Softplus}


def trained(module):
    """Change all VAFs, as training does."""
    with torch.no_grad():
        for part in module.modules():
            if isinstance(part, VAF):
                part.weight.add_(0.2 * torch.randn(part.weight.shape))
    return module


def lin(a=8, b=8):
    return nn.Linear(a, b)


class Case(NamedTuple):
    """A module, and what is replaced in it."""

    module: nn.Module
    wanted: str  # paths of the activations that are replaced with data
    without: str | None = None  # those without data, if they are others
    data: Any = X
    said: str = ""  # words of the report without data


class Host(nn.Module):
    """A module with parts, and a function of its inputs and parts."""

    def __init__(self, run, parts):
        super().__init__()
        self.run, self.names = run, [*parts]
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, x, **inputs):
        parts = {name: getattr(self, name) for name in self.names}
        return self.run(x=x, **inputs, **parts)


def hosted(wanted, run, without=None, data=X, said="", **others):
    """Return the case of a function. Its arguments are inputs and parts, in order."""
    inputs = data if isinstance(data, dict) else {"x"}
    names = [name for name in inspect.signature(run).parameters if name not in inputs]
    parts = {name: others.get(name) or BY_NAME.get(name, lin)() for name in names}
    return Case(Host(run, parts), wanted, without, data, said)


def sequence(wanted, *parts, data=X, said=""):
    return Case(nn.Sequential(*parts), wanted, None, data, said)


def lstm(x, a, s, t, o):
    h = c = torch.zeros_like(x)
    for _ in range(2):
        i, f, g, z = a(torch.cat([x, h], -1)).chunk(4, -1)
        c = s(f) * c + s(i) * t(g)
        h = s(z) * t(c)
    return o(h)


def physics(x, t, a, c):
    with torch.enable_grad():
        u = c(t(a(x.requires_grad_())))
        return u, torch.autograd.grad(u.sum(), x, create_graph=True)[0]


def assigned(x, a, h, o, p):
    y = o(h(a(x)))
    y[:, :2] = p(y[:, :2])
    return y


class Norm(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x) if x.ndim > 1 else x


class Unused(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.h, self.o = lin(), nn.ReLU(), lin()

    def forward(self, x):
        return self.o(torch.relu(self.a(x)))


class Scaled(nn.Module):
    """Not an activation: it depends on the other elements."""

    def forward(self, x):
        return torch.relu(x) / x.abs().max()


def encoder_layer(activation, kind=nn.TransformerEncoderLayer):
    return kind(8, 2, 16, dropout=0.0, activation=activation, batch_first=True)


decoder_layer = functools.partial(encoder_layer, kind=nn.TransformerDecoderLayer)


def parametrized(part, by):
    return nn.utils.parametrize.register_parametrization(part, "weight", by)


hooked, zeros = nn.ReLU(), lin()
hooked.register_forward_hook(lambda module, inputs, output: None)
nn.init.zeros_(zeros.weight)
BLOCK = nn.Sequential(lin(), RELU, lin())

CASES = {
    # Activations that shape an output are kept.
    "output_tanh": sequence("1", lin(), RELU, lin(8, 2), TANH),
    "output_relu": sequence("1", lin(), RELU, lin(), nn.ReLU()),
    "norm_after": sequence("1", lin(), TANH, nn.LayerNorm(8)),
    "registered_last": hosted("h", lambda x, a, b, h: b(h(a(x))), without=""),
    "hidden_and_output": hosted("", lambda x, h, a, b: h(b(h(a(x)))), without="h"),
    "latent": hosted("h", lambda x, a, h, b, t, c: ((z := t(b(h(a(x))))), c(z))),
    "residual_output": hosted("h", lambda x, a, h, b, t: x + t(b(h(a(x))))),
    "parts_of_the_output": hosted(
        "h", lambda x, i, h, a, b, t, p: torch.cat([t(a(z := h(i(x)))), p(b(z))], -1)
    ),
    "assigned_output": hosted("h", assigned),
    "outputs_in_containers": hosted(
        "h", lambda x, a, h, m, v, p: {"m": m(z := h(a(x))), "v": [p(v(z)).flatten()]}
    ),
    # Gates are kept.
    "lstm": hosted("", lstm, a=lin(16, 32)),
    "wavenet": hosted("", lambda x, a, t, b, s, o: o(t(a(x)) * s(b(x)))),
    "squeeze_and_excite": hosted(
        "h", lambda x, a, h, b, s, o: o(x * s(b(h(a(x))))), s=nn.Hardsigmoid()
    ),
    "lerp": hosted("g", lambda x, a, g, b, s, o: o(torch.lerp(g(a(x)), x, s(b(x))))),
    "swiglu": hosted("h", lambda x, a, h, b, o: o(h(a(x)) * b(x)), h=nn.SiLU()),
    "own_hard_swish": hosted(
        "", lambda x, a, h, o: o((z := a(x)) * h(z + 3) / 6), h=nn.ReLU6()
    ),
    "masked": hosted("t", lambda x, mask, a, t, o: o(t(a(x)) * mask), "", MASKED),
    "masked_gate": hosted(
        "", lambda x, mask, a, s, b, o: o(s(a(x)) * mask * b(x)), data=MASKED
    ),
    # Parts that are not called, or are called in some modes only.
    "unused": hosted("", lambda x, a, h, o: o(torch.relu(a(x))), without="h"),
    "other_way_in_inference": hosted(
        "",
        lambda x, a, h, o: o((h if torch.is_grad_enabled() else torch.relu)(a(x))),
        without="h",
    ),
    "training_only": hosted(
        "", lambda x, a, g, o: o((g if g.training else functional.gelu)(a(x))), "g"
    ),
    "called_by_code": Case(Unused(), "", said="the code of Unused may compute it"),
    "unregistered": hosted("", lambda x, a, f, o: o(f[0](a(x))), f=[RELU]),
    "experts": hosted(
        "e.1",
        lambda x, e, f, o: o((e if len(x) > 2 else f)(x)),
        "e.1 f.1",
        e=BLOCK,
        f=nn.Sequential(lin(), nn.ReLU(), lin()),
    ),
    "by_code": hosted("", lambda x, a, o: o(functional.relu(a(x)))),
    "held_function": hosted(
        "",
        lambda x, a, f, o: o(f(a(x))),
        said="gelu kept, the code of Host computes it",
        f=functional.gelu,
    ),
    "encoder_of_words": Case(
        nn.TransformerEncoder(encoder_layer("relu"), 2, enable_nested_tensor=False),
        "",
        data=TOKENS,
        said="relu kept, the code of TransformerEncoderLayer computes it",
    ),
    # Computing in place.
    "in_place": hosted(
        "h",
        lambda x, i, h, j, n, r, k, o: o(k(r(z := n(j(h(i(x)))))) + z),
        without="h r",
        said="it computed in place",
        n=nn.BatchNorm1d(8),
        r=nn.ReLU(inplace=True),
    ),
    "in_place_without_harm": sequence("1", lin(), nn.ReLU(inplace=True), lin()),
    # Hosts of PyTorch.
    "encoder": Case(
        nn.TransformerEncoder(encoder_layer(RELU), 2),
        "layers.0.activation layers.1.activation",
        data=TOKENS,
    ),
    "decoder_layer": Case(
        decoder_layer(GELU), "activation", data=(TOKENS, TOKENS[:, :3])
    ),
    "checkpoint": hosted(
        "b.1", lambda x, b, o: o(checkpoint(b, x, use_reentrant=False)), b=BLOCK
    ),
    "lstm_of_torch": hosted("h", lambda x, r, h, o: o(h(r(x)[0])), r=nn.LSTM(8, 8)),
    # Modules of every kind.
    "norm_with_if": sequence("1", lin(), RELU, Norm(8), lin()),
    "own_class": sequence("1", lin(), Host(lambda x: functional.relu(x), {}), lin()),
    "no_function_of_elements": sequence("", lin(), Scaled(), nn.Softmax(-1), lin()),
    "one_part_twice": hosted("h", lambda x, a, h, b, c: c(h(b(h(a(x)))))),
    "convolutions": sequence(
        "2",
        *(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.SiLU(), nn.Flatten(), lin(64, 2)),
        data=IMAGES,
    ),
    "hooked": sequence("3", lin(), hooked, lin(), GELU, lin(), said="hooks"),
    "parametrized": sequence(
        "3",
        parametrized(lin(), nn.Softplus()),
        *(parametrized(nn.PReLU(), nn.Sigmoid()), lin(), nn.PReLU(), lin()),
        said="parametrization",
    ),
    "frozen_slopes": sequence(
        "3", lin(), nn.PReLU().requires_grad_(False), lin(), RELU, lin()
    ),
    "head_of_zeros": sequence("1", lin(), RELU, zeros),
    # Outputs that change, are complex, or have a gradient only in part.
    "random": hosted("h", lambda x, a, h, o: o(h(a(x)) + torch.randn_like(x))),
    "complex": hosted("h", lambda x, a, h, o: torch.fft.rfft(o(h(a(x))))),
    "detached": hosted(
        "h t", lambda x, a, h, o, t, q: o(h(a(x))) + q(t(a(x).detach())), without="h"
    ),
    "physics": hosted("t", physics, without=""),
}
