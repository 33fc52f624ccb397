"""Modules that use their activations in ways that a conversion may get wrong."""

from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

X = torch.randn(6, 8, generator=torch.Generator().manual_seed(0))
TOKENS = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(0))
IMAGES = torch.randn(2, 3, 6, 6, generator=torch.Generator().manual_seed(0))


class Host(nn.Module):
    """A module with given parts and a given forward pass.

    Args:
        run: The forward pass, a function of the module and its inputs.
        **parts: The parts, in the order of their registration.
    """

    def __init__(self, run, **parts):
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)
        self.run = run

    def forward(self, *args, **kwargs):
        return self.run(self, *args, **kwargs)


class Case(NamedTuple):
    """A host, what is replaced with and without data, and its data.

    Args:
        make: Function that makes the host.
        wanted: Paths of the activations that are replaced with data.
        without: Those without data, if they are others.
        data: What the host is called with.
        said: Words of the report without data.
    """

    make: Any
    wanted: str
    without: str | None = None
    data: Any = X
    said: str = ""


def sequence(*parts):
    return lambda: nn.Sequential(*parts)


def lin(a=8, b=8):
    return nn.Linear(a, b)


RELU, GELU = nn.ReLU, nn.GELU
PARTS = {"h": RELU, "g": GELU, "t": nn.Tanh, "s": nn.Sigmoid, "p": nn.Softplus}


def host(run, order, **others):
    """Return a function that makes a host.

    Args:
        run: The forward pass.
        order: Names of the parts. Those that are not in `PARTS` are layers.
        **others: Functions that make other parts.
    """
    makers = {name: PARTS.get(name, lin) for name in order.split()} | others
    return lambda: Host(run, **{name: make() for name, make in makers.items()})


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


class QuickGELU(nn.Module):
    def forward(self, x):
        return x * torch.sigmoid(1.702 * x)


class OwnReLU(nn.Module):
    def forward(self, x):
        return functional.relu(x)


class Scaled(nn.Module):
    """Not an activation: it depends on the other elements."""

    def forward(self, x):
        return torch.relu(x) / x.abs().max()


def encoder_layer(activation):
    return nn.TransformerEncoderLayer(
        8, 2, 16, dropout=0.0, activation=activation, batch_first=True
    )


def decoder_layer(activation):
    return nn.TransformerDecoderLayer(
        8, 2, 16, dropout=0.0, activation=activation, batch_first=True
    )


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
    "output_softplus": Case(sequence(lin(), RELU(), lin(), nn.Softplus()), "1"),
    "output_relu": Case(sequence(lin(), RELU(), lin(), RELU()), "1"),
    "norm_after": Case(sequence(lin(), nn.Tanh(), nn.LayerNorm(8)), "1"),
    "registered_last": Case(host(lambda m, x: m.b(m.h(m.a(x))), "a b h"), "h", ""),
    "hidden_and_output": Case(
        host(lambda m, x: m.h(m.b(m.h(m.a(x)))), "h a b"),
        *("", "h"),
        said="nothing was run",
    ),
    "latent_returned": Case(
        host(lambda m, x: (z := m.t(m.b(m.h(m.a(x)))), m.c(z)), "a h b t c"), "h"
    ),
    "features_returned": Case(
        host(lambda m, x: (z := m.h(m.a(x)), m.o(z)), "a h o"),
        *("", "h"),
        said="nothing was run",
    ),
    "residual_output": Case(
        host(lambda m, x: x + m.t(m.b(m.h(m.a(x)))), "a h b t"), "h"
    ),
    "parts_of_the_output": Case(
        host(
            lambda m, x: torch.cat([m.t(m.a(z := m.h(m.i(x)))), m.p(m.b(z))], -1),
            "i h a b t p",
        ),
        "h",
    ),
    "assigned_output": Case(host(assigned, "a h o p"), "h"),
    "outputs_in_containers": Case(
        host(
            lambda m, x: {"m": m.m(z := m.h(m.a(x))), "v": [m.p(m.v(z)).unsqueeze(0)]},
            "a h m v p",
        ),
        "h",
    ),
    "scaled_output": Case(
        host(lambda m, x: 2 * m.t(m.b(m.g(m.a(x)))) + 1, "a g b t"), "g"
    ),
    # Gates are kept.
    "lstm": Case(host(lstm, "a s t o", a=lambda: lin(16, 32)), ""),
    "wavenet": Case(host(lambda m, x: m.o(m.t(m.a(x)) * m.s(m.b(x))), "a t b s o"), ""),
    "squeeze_and_excite": Case(
        host(
            lambda m, x: m.o(x * m.s(m.b(m.h(m.a(x))))), "a h b s o", s=nn.Hardsigmoid
        ),
        "h",
    ),
    "lerp": Case(
        host(lambda m, x: m.o(torch.lerp(m.g(m.a(x)), x, m.s(m.b(x)))), "a g b s o"),
        "g",
    ),
    "swiglu": Case(
        host(lambda m, x: m.o(m.h(m.a(x)) * m.b(x)), "a h b o", h=nn.SiLU), "h"
    ),
    "own_hard_swish": Case(
        host(lambda m, x: m.o((z := m.a(x)) * m.h(z + 3) / 6), "a h o", h=nn.ReLU6),
        *("", "h"),
        said="nothing was run",
    ),
    "masked": Case(  # kept without need, and named
        host(lambda m, x, mask: m.o(m.t(m.a(x)) * mask), "a t o"),
        "",
        data={"x": X, "mask": torch.ones(6, 1)},
    ),
    # Parts that are not called, or are called in some modes only.
    "unused": Case(
        host(lambda m, x: m.o(torch.relu(m.a(x))), "a h o"),
        *("", "h"),
        said="nothing was run",
    ),
    "other_way_in_inference": Case(
        host(
            lambda m, x: m.o((m.h if torch.is_grad_enabled() else torch.relu)(m.a(x))),
            "a h o",
        ),
        *("", "h"),
        said="nothing was run",
    ),
    "training_only": Case(
        host(
            lambda m, x: m.o((m.g if m.training else functional.gelu)(m.a(x))), "a g o"
        ),
        *("", "g"),
        said="nothing was run",
    ),
    "unregistered": Case(
        host(lambda m, x: m.o(m.acts[0](m.a(x))), "a acts o", acts=lambda: [RELU()]), ""
    ),
    "experts": Case(
        host(
            lambda m, x: m.o((m.e if len(x) > 2 else m.f)(x)),
            "e f o",
            **dict.fromkeys("ef", lambda: nn.Sequential(lin(), RELU(), lin())),
        ),
        *("e.1", "e.1 f.1"),
    ),
    "by_code": Case(host(lambda m, x: m.o(functional.relu(m.a(x))), "a o"), ""),
    "held_function": Case(
        host(lambda m, x: m.o(m.act(m.a(x))), "a act o", act=lambda: functional.gelu),
        "",
        said="gelu kept, the code of Host computes it",
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
    "in_place": Case(
        host(
            pre_activation,
            "i h j n r l o",
            n=lambda: nn.BatchNorm1d(8),
            r=lambda: RELU(inplace=True),
        ),
        *("h", "h r"),
        said="it computed in place",
    ),
    "in_place_without_harm": Case(sequence(lin(), RELU(inplace=True), lin()), "1"),
    # Hosts of PyTorch.
    "encoder_layer": Case(lambda: encoder_layer(GELU()), "activation", data=TOKENS),
    "encoder": Case(
        lambda: nn.TransformerEncoder(encoder_layer(RELU()), 2),
        "layers.0.activation layers.1.activation",
        data=TOKENS,
    ),
    "decoder_layer": Case(
        lambda: decoder_layer(GELU()), "activation", data=(TOKENS, TOKENS[:, :3])
    ),
    "checkpoint": Case(
        host(
            lambda m, x: m.o(checkpoint(m.s, x, use_reentrant=False)),
            "s o",
            s=sequence(lin(), RELU(), lin()),
        ),
        "s.1",
    ),
    "lstm_of_torch": Case(
        host(lambda m, x: m.o(m.h(m.r(x)[0])), "r h o", r=lambda: nn.LSTM(8, 8)), "h"
    ),
    # Modules of every kind.
    "norm_with_if": Case(sequence(lin(), RELU(), Norm(8), lin()), "1"),
    "own_class": Case(sequence(lin(), OwnReLU(), lin()), "1"),
    "unknown_function": Case(sequence(lin(), RELU(), lin(), QuickGELU(), lin()), "1"),
    "no_function_of_elements": Case(
        sequence(lin(), Scaled(), nn.Softmax(-1), lin()), ""
    ),
    "one_part_twice": Case(
        host(lambda m, x: m.c(m.h(m.b(m.h(m.a(x))))), "a h b c"), "h"
    ),
    "two_towers": Case(
        host(
            lambda m, x: functional.cosine_similarity(m.b(m.a(x)), m.b(m.a(-x))),
            "a b",
            a=sequence(lin(), RELU()),
            b=sequence(lin(), GELU(), lin(8, 4)),
        ),
        "a.1 b.1",
    ),
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
    "random": Case(
        host(lambda m, x: m.o(m.h(m.a(x)) + torch.randn_like(x)), "a h o"), "h"
    ),
    "complex": Case(host(lambda m, x: torch.fft.rfft(m.o(m.h(m.a(x)))), "a h o"), "h"),
    "detached": Case(
        host(lambda m, x: m.o(m.h(m.a(x))) + m.q(m.t(m.a(x).detach())), "a h o t q"),
        *("h t", "h"),
    ),
    "physics": Case(host(physics, "act a c", act=nn.Tanh), *("act", "")),
}
