"""Modules that use their activations in ways that a conversion may get wrong."""

import functools
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

X = torch.randn(6, 8, generator=torch.Generator().manual_seed(0))
TOKENS = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(0))
IMAGES = torch.randn(2, 3, 6, 6, generator=torch.Generator().manual_seed(0))


class Host(nn.Module):
    """A module with parts, in this order, and a forward pass of it and its inputs."""

    def __init__(self, run, **parts):
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)
        self.run = run

    def forward(self, *args, **kwargs):
        return self.run(self, *args, **kwargs)


class Case(NamedTuple):
    """A function that makes a host, and what is replaced in it."""

    make: Any
    wanted: str  # paths of the activations that are replaced with data
    without: str | None = None  # those without data, if they are others
    data: Any = X
    said: str = ""  # words of the report without data


def sequence(*parts):
    return lambda: nn.Sequential(*parts)


def lin(a=8, b=8):
    return nn.Linear(a, b)


RELU, GELU = nn.ReLU, nn.GELU
PARTS = {"h": RELU, "g": GELU, "t": nn.Tanh, "s": nn.Sigmoid, "p": nn.Softplus}


def hosted(wanted, run, order, without=None, data=X, said="", **others):
    """Return the case of a host with parts in an order. The others are layers."""
    makers = {name: PARTS.get(name, lin) for name in order.split()} | others

    def make():
        return Host(run, **{name: maker() for name, maker in makers.items()})

    return Case(make, wanted, without, data, said)


def lstm(m, x):
    h = c = torch.zeros_like(x)
    for _ in range(2):
        i, f, g, o = m.a(torch.cat([x, h], -1)).chunk(4, -1)
        c = m.s(f) * c + m.s(i) * m.t(g)
        h = m.s(o) * m.t(c)
    return m.o(h)


def physics(m, x):
    with torch.enable_grad():
        x = x.requires_grad_()
        u = m.c(m.act(m.a(x)))
        return u, torch.autograd.grad(u.sum(), x, create_graph=True)[0]


def assigned(m, x):
    y = m.o(m.h(m.a(x)))
    y[:, :2] = m.p(y[:, :2])
    return y


def pre_activation(m, x):
    h = m.n(m.j(m.h(m.i(x))))
    return m.o(m.l(m.r(h)) + h)


def hidden(m, x):
    return m.h(m.a(x))


class Norm(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x) if x.ndim > 1 else x


class OwnReLU(nn.Module):
    def forward(self, x):
        return functional.relu(x)


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


def transformer(kind, activation):
    return kind(8, 2, 16, dropout=0.0, activation=activation, batch_first=True)


encoder_layer = functools.partial(transformer, nn.TransformerEncoderLayer)
decoder_layer = functools.partial(transformer, nn.TransformerDecoderLayer)


def hooked():
    module = nn.Sequential(lin(), nn.ReLU(), lin(), nn.GELU(), lin())
    module[1].register_forward_hook(lambda module, inputs, output: None)
    return module


def parametrized():
    module = nn.Sequential(lin(), nn.PReLU(), lin(), nn.PReLU(), lin())
    nn.utils.parametrize.register_parametrization(module[0], "weight", nn.Softplus())
    nn.utils.parametrize.register_parametrization(module[1], "weight", nn.Sigmoid())
    return module


def head_of_zeros():
    module = nn.Sequential(lin(), nn.ReLU(), lin(8, 2))
    nn.init.zeros_(module[2].weight)
    return module


CASES = {
    # Activations that shape an output are kept.
    "output_tanh": Case(sequence(lin(), RELU(), lin(8, 2), nn.Tanh()), "1"),
    "output_relu": Case(sequence(lin(), RELU(), lin(), RELU()), "1"),
    "norm_after": Case(sequence(lin(), nn.Tanh(), nn.LayerNorm(8)), "1"),
    "registered_last": hosted("h", lambda m, x: m.b(m.h(m.a(x))), "a b h", without=""),
    "hidden_and_output": hosted(
        "", lambda m, x: m.h(m.b(m.h(m.a(x)))), "h a b", without="h"
    ),
    "latent_returned": hosted(
        "h", lambda m, x: ((z := m.t(m.b(m.h(m.a(x))))), m.c(z)), "a h b t c"
    ),
    "residual_output": hosted("h", lambda m, x: x + m.t(m.b(m.h(m.a(x)))), "a h b t"),
    "parts_of_the_output": hosted(
        "h",
        lambda m, x: torch.cat([m.t(m.a(z := m.h(m.i(x)))), m.p(m.b(z))], -1),
        "i h a b t p",
    ),
    "assigned_output": hosted("h", assigned, "a h o p"),
    "outputs_in_containers": hosted(
        "h",
        lambda m, x: {"m": m.m(z := m.h(m.a(x))), "v": [m.p(m.v(z)).unsqueeze(0)]},
        "a h m v p",
    ),
    # Gates are kept.
    "lstm": hosted("", lstm, "a s t o", a=lambda: lin(16, 32)),
    "wavenet": hosted("", lambda m, x: m.o(m.t(m.a(x)) * m.s(m.b(x))), "a t b s o"),
    "squeeze_and_excite": hosted(
        "h", lambda m, x: m.o(x * m.s(m.b(m.h(m.a(x))))), "a h b s o", s=nn.Hardsigmoid
    ),
    "lerp": hosted(
        "g", lambda m, x: m.o(torch.lerp(m.g(m.a(x)), x, m.s(m.b(x)))), "a g b s o"
    ),
    "swiglu": hosted("h", lambda m, x: m.o(m.h(m.a(x)) * m.b(x)), "a h b o", h=nn.SiLU),
    "own_hard_swish": hosted(
        "", lambda m, x: m.o((z := m.a(x)) * m.h(z + 3) / 6), "a h o", h=nn.ReLU6
    ),
    "masked": hosted(
        "t",
        lambda m, x, mask: m.o(m.t(m.a(x)) * mask),
        "a t o",
        without="",
        data={"x": X, "mask": torch.ones(6, 1)},
    ),
    "masked_gate": hosted(
        "",
        lambda m, x, mask: m.o(m.s(m.a(x)) * mask * m.b(x)),
        "a s b o",
        data={"x": X, "mask": torch.ones(6, 1)},
    ),
    # Parts that are not called, or are called in some modes only.
    "unused": hosted("", lambda m, x: m.o(torch.relu(m.a(x))), "a h o", without="h"),
    "other_way_in_inference": hosted(
        "",
        lambda m, x: m.o((m.h if torch.is_grad_enabled() else torch.relu)(m.a(x))),
        "a h o",
        without="h",
    ),
    "training_only": hosted(
        "",
        lambda m, x: m.o((m.g if m.training else functional.gelu)(m.a(x))),
        "a g o",
        without="g",
    ),
    "called_by_code": Case(Unused, "", said="the code of Unused may compute it"),
    "unregistered": hosted(
        "", lambda m, x: m.o(m.acts[0](m.a(x))), "a acts o", acts=lambda: [RELU()]
    ),
    "experts": hosted(
        "e.1",
        lambda m, x: m.o((m.e if len(x) > 2 else m.f)(x)),
        "e f o",
        without="e.1 f.1",
        **dict.fromkeys("ef", lambda: nn.Sequential(lin(), RELU(), lin())),
    ),
    "by_code": hosted("", lambda m, x: m.o(functional.relu(m.a(x))), "a o"),
    "held_function": hosted(
        "",
        lambda m, x: m.o(m.act(m.a(x))),
        "a act o",
        said="gelu kept, the code of Host computes it",
        act=lambda: functional.gelu,
    ),
    "encoder_of_words": Case(
        lambda: nn.TransformerEncoder(
            encoder_layer("relu"), 2, enable_nested_tensor=False
        ),
        "",
        data=TOKENS,
        said="relu kept, the code of TransformerEncoderLayer computes it",
    ),
    # Computing in place.
    "in_place": hosted(
        "h",
        pre_activation,
        "i h j n r l o",
        without="h r",
        said="it computed in place",
        n=lambda: nn.BatchNorm1d(8),
        r=lambda: RELU(inplace=True),
    ),
    "in_place_without_harm": Case(sequence(lin(), RELU(inplace=True), lin()), "1"),
    # Hosts of PyTorch.
    "encoder": Case(
        lambda: nn.TransformerEncoder(encoder_layer(RELU()), 2),
        "layers.0.activation layers.1.activation",
        data=TOKENS,
    ),
    "decoder_layer": Case(
        lambda: decoder_layer(GELU()), "activation", data=(TOKENS, TOKENS[:, :3])
    ),
    "checkpoint": hosted(
        "s.1",
        lambda m, x: m.o(checkpoint(m.s, x, use_reentrant=False)),
        "s o",
        s=sequence(lin(), RELU(), lin()),
    ),
    "lstm_of_torch": hosted(
        "h", lambda m, x: m.o(m.h(m.r(x)[0])), "r h o", r=lambda: nn.LSTM(8, 8)
    ),
    # Modules of every kind.
    "norm_with_if": Case(sequence(lin(), RELU(), Norm(8), lin()), "1"),
    "own_class": Case(sequence(lin(), OwnReLU(), lin()), "1"),
    "no_function_of_elements": Case(
        sequence(lin(), Scaled(), nn.Softmax(-1), lin()), ""
    ),
    "one_part_twice": hosted("h", lambda m, x: m.c(m.h(m.b(m.h(m.a(x))))), "a h b c"),
    "convolutions": Case(
        sequence(
            *(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.SiLU(), nn.Flatten()),
            nn.Linear(64, 2),
        ),
        "2",
        data=IMAGES,
    ),
    "hooked": Case(hooked, "3", said="hooks"),
    "parametrized": Case(parametrized, "3", said="parametrization"),
    "frozen_slopes": Case(
        sequence(lin(), nn.PReLU().requires_grad_(False), lin(), RELU(), lin()), "3"
    ),
    "head_of_zeros": Case(head_of_zeros, "1"),
    # Outputs that change, are complex, or have a gradient only in part.
    "random": hosted("h", lambda m, x: m.o(m.h(m.a(x)) + torch.randn_like(x)), "a h o"),
    "complex": hosted("h", lambda m, x: torch.fft.rfft(m.o(m.h(m.a(x)))), "a h o"),
    "detached": hosted(
        "h t",
        lambda m, x: m.o(m.h(m.a(x))) + m.q(m.t(m.a(x).detach())),
        "a h o t q",
        without="h",
    ),
    "physics": hosted("act", physics, "act a c", without="", act=nn.Tanh),
}
