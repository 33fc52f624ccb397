"""Modules that use their activations in ways that a conversion may get wrong."""

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
PADDED = {"src": TOKENS, "src_key_padding_mask": torch.arange(10).view(2, 5) == 9}
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
    return Case(nn.Sequential(*parts).to(data.dtype), wanted, None, data, said)


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


class Unused(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.h, self.o = lin(), nn.ReLU(), lin()

    def forward(self, x):
        return self.o(torch.relu(self.a(x)))


def transformer(activation, kind=nn.TransformerEncoderLayer):
    return kind(8, 2, 16, dropout=0.0, activation=activation, batch_first=True)


hooked, zeros, positive, slopes = nn.ReLU(), lin(), lin(), nn.PReLU()
hooked.register_forward_hook(lambda module, inputs, output: None)
nn.init.zeros_(zeros.weight)
nn.utils.parametrize.register_parametrization(positive, "weight", nn.Softplus())
nn.utils.parametrize.register_parametrization(slopes, "weight", nn.Sigmoid())

CASES = {
    # Activations that shape an output are kept.
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
        "h", lambda x, a, h, g, o: o((h if len(x) > 2 else g)(a(x))), "h g"
    ),
    "encoder_of_words": Case(
        nn.TransformerEncoder(transformer("relu"), 2, enable_nested_tensor=False),
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
    "in_place_without_harm": sequence(
        "2", lin(), nn.BatchNorm1d(8), nn.ReLU(inplace=True), nn.Dropout(), lin()
    ),
    # Hosts of PyTorch.
    "padded_encoder": Case(
        nn.TransformerEncoder(transformer(RELU), 2),
        "layers.0.activation layers.1.activation",
        data=PADDED,
    ),
    "decoder_layer": Case(
        transformer(GELU, nn.TransformerDecoderLayer),
        "activation",
        data=(TOKENS, TOKENS[:, :3]),
    ),
    "checkpoint": hosted(
        "h", lambda x, a, h, o: o(checkpoint(h, a(x), use_reentrant=False))
    ),
    "lstm_of_torch": hosted("h", lambda x, r, h, o: o(h(r(x)[0])), r=nn.LSTM(8, 8)),
    # Modules of every kind.
    "norm_with_if": hosted(
        "h", lambda x, a, h, n, o: o(n(z) if (z := h(a(x))).ndim > 1 else z)
    ),
    "own_class": sequence("1", lin(), Host(lambda x: functional.relu(x), {}), lin()),
    "no_activation": sequence("", lin(), Host(lambda x: x / x.max(), {}), lin()),
    "one_part_twice": hosted("h", lambda x, a, h, b, c: c(h(b(h(a(x)))))),
    "half_precision": sequence("1", lin(), RELU, lin(), data=X.bfloat16()),
    "convolutions": sequence(
        "2",
        *(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.SiLU(), nn.Flatten(), lin(64, 2)),
        data=IMAGES,
    ),
    "hooked": sequence("3", lin(), hooked, lin(), GELU, lin(), said="hooks"),
    "parametrized": sequence(
        "3", positive, slopes, lin(), nn.PReLU(), lin(), said="parametrization"
    ),
    "frozen_slopes": sequence(
        "3", lin(), nn.PReLU().requires_grad_(False), lin(), RELU, lin()
    ),
    # Outputs that change, are complex, or have a gradient only in part.
    "random": hosted("h", lambda x, a, h, o: o(h(a(x)) + torch.randn_like(x))),
    "complex": hosted("h", lambda x, a, h, o: torch.fft.rfft(o(h(a(x))))),
    "zeros_and_detached": hosted(
        "h t",
        lambda x, a, h, g, o, t, z: o(h(a(x)) + g(x).detach()) + z(t(a(x).detach())),
        without="h g",
        z=zeros,
    ),
    "physics": hosted("t", physics, without=""),
}
