"""Modules that a conversion once got wrong, or said something false of."""

import copy
import logging
import os
import threading
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from keras_vaf.models import convert, freeze, report
from keras_vaf.torch import VAF
from keras_vaf.torch.recording import run

pytestmark = pytest.mark.filterwarnings("ignore:Nothing was replaced")
torch.manual_seed(0)
X, TOKENS = torch.randn(6, 8), torch.randn(2, 5, 8)


class Host(nn.Module):
    """A module with parts, and a function of itself and its inputs."""

    def __init__(self, run, **parts):
        super().__init__()
        self.a, self.b, self.run = nn.Linear(8, 8), nn.Linear(8, 8), run
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *inputs, **keywords):
        return self.run(self, *inputs, **keywords)


def network(*activations):
    """Return a network with a linear layer before, between and after activations."""
    layers = [part for each in activations for part in (nn.Linear(8, 8), each)]
    return nn.Sequential(*layers, nn.Linear(8, 8))


def lines(module, **arguments):
    return report(convert(module, **arguments)).details.splitlines()


@pytest.mark.parametrize(
    "end",
    [
        lambda z: 1e-6 * z,
        lambda z: torch.complex(0 * z, z),
        lambda z: torch.cat([z, torch.full_like(z, 1e6)], -1),
        lambda z: 0 * (1e3 * z).sin().sqrt(),  # NaN or 0
        lambda z: torch.cat([(1e7 * z[:, :1]).sin(), z], -1),  # a column is rounded
        lambda z: z.sum(0, keepdim=True),
    ],
)
def test_a_comparison_sees_every_element(end):
    """Its first sum reads what a ReLU wrote; a last layer of zeros would hide it."""
    last = nn.Linear(8, 8)
    nn.init.zeros_(last.weight)
    run = lambda s, x: end(s.last(s.b(s.r(h := s.a(x))) + h))  # noqa: E731
    module = Host(run, r=nn.ReLU(inplace=True), last=last)
    assert "because it computes in place" in lines(module, data=X)[0]


@pytest.mark.parametrize(
    "end",
    [
        lambda z: (1e4 * z.reshape(-1, 1)).sin(),
        lambda z: (z[:, None] - z) @ torch.eye(8),  # not in float64
    ],
)
def test_the_rounding_of_a_module_is_no_difference(end):
    module = Host(lambda s, x: end(s.b(s.r(s.a(x)))), r=nn.Hardsigmoid())
    assert isinstance(convert(module, data=X).r, VAF)


@pytest.mark.filterwarnings("ignore:.*torch.jit.script")
def test_data_is_followed_where_pytorch_does_not_tell():
    def written(s, x):
        s.view.copy_(y := s.r(s.a(x)))
        return s.b(y), s.whole

    buffer = Host(written, r=nn.ReLU())
    buffer.register_buffer("whole", torch.zeros(2, 6, 8))
    buffer.register_buffer("view", buffer.whole[0])
    assert "it shapes an output" in lines(buffer, data=X)[0]
    edges = Host(lambda s, x, e: s.b(torch.sparse.mm(e, s.r(s.a(x)))), r=nn.ReLU())
    assert isinstance(convert(edges, data=(X, torch.eye(6).to_sparse())).r, VAF)
    script = nn.Sequential(*network(nn.ReLU())[:2], torch.jit.script(nn.Linear(8, 8)))
    assert isinstance(convert(script, data=X)[1], VAF)


def test_outputs_without_tensors_and_without_gradients():
    class Hidden:
        __slots__ = ("y",)

    hidden = Host(lambda s, x: [Hidden(), s.b(s.r(s.a(x)))][:1], r=nn.ReLU())
    assert lines(hidden, data=X)[-1] == "no tensor was found in the outputs"
    made = convert(hidden, data=X)
    assert report(made).deviation is None and isinstance(made.r, VAF)
    zero = Host(lambda s, x: s.b(0 * s.r(s.a(x))), r=nn.ReLU())
    assert lines(zero, data=X)[0].endswith("no gradient for it")
    integers = Host(lambda s, x: s.b(s.r(s.a(x))).argmax(-1), r=nn.ReLU())
    said = lines(integers, data=X)
    assert said[0] == "r: relu kept, the outputs have no gradient for it"
    assert said[-1] == "the outputs have no gradient"


class Widening(nn.ReLU):
    """A ReLU that returns float32 at least."""

    def forward(self, x):
        return super().forward(x).to(torch.promote_types(x.dtype, torch.float32))


def test_a_comparison_knows_types_rounding_and_what_no_seed_repeats():
    run = lambda s, x: s.b((h := s.r(s.a(x))).to(x.dtype)) * h[:, :1]  # noqa: E731
    module = Host(run, r=Widening()).bfloat16()
    assert "the outputs differ without it" in lines(module, data=X.bfloat16())[0]

    def noisy(s, x):
        noise = torch.frombuffer(bytearray(os.urandom(48)), dtype=torch.uint8)
        return s.b(s.r(s.a(x.float()))) + noise.view(6, 8) / 255

    rounded = lambda s, x: (1e4 * s.b(s.r(s.a(x)))).sin()  # noqa: E731
    for run in (noisy, rounded):
        assert isinstance(convert(Host(run, r=nn.Hardsigmoid()), data=X).r, VAF)


def test_a_part_is_replaced_wherever_it_is_held():
    def run(s, x):
        return s.b(s.held.r[0][0](s.b(s.more["r"][0](s.b(s.r(s.a(x)))))))

    part, tied = nn.GELU(), (nn.PReLU(), nn.PReLU())
    held = {"twin": part, "held": SimpleNamespace(r=((part,),)), "more": {"r": [part]}}
    module = Host(run, r=part, **held)
    tied[1].weight = tied[0].weight
    for inplace in (False, True):
        found = convert(module, data=X, inplace=inplace)
        assert isinstance(found.r, VAF)
        assert "1 replaced, 0 kept, parameters +10" in report(found).details
        assert found.r is found.twin is found.held.r[0][0] is found.more["r"][0]
        both = convert(network(*tied), data=X, inplace=inplace)
        assert isinstance(both[1], VAF) and both[1] is both[3]
        assert report(both).parameters == 9
        assert {each.error for each in report(both).replaced} == {0.0}


def test_errors_change_nothing():
    module = network(nn.LeakyReLU(), nn.GELU())
    before = [*map(type, module)]
    for wrong in ({"k": 1}, {"data": TOKENS[..., :3]}):
        with pytest.raises((ValueError, RuntimeError)):
            convert(module, inplace=True, **wrong)
        assert [*map(type, module)] == before and module.training


def test_what_cannot_be_copied_is_named_and_not_needed():
    module = Host(lambda s, x: s.b(s.r(s.a(x))), r=nn.ReLU(), lock=threading.Lock())
    with pytest.raises(ValueError, match="because of lock: cannot pickle"):
        convert(module)
    for data in (X, None):
        module.r = nn.ReLU()
        done = convert(module, layers="r", data=data, inplace=True)
        assert isinstance(done.r, VAF)
    module = Host(lambda s, x: s.b(s.r(s.a(x))) + s.count.add_(1), r=nn.ReLU())
    module.register_buffer("count", torch.zeros(1))
    module.register_buffer("last", module.a(X))  # a tensor of its last call
    convert(module, data=X, inplace=True)
    assert module.count == 0
    property_ = property(lambda self: logging.nothing)
    kind = type("Raises", (nn.Sequential,), {"activation": property_})
    assert isinstance(convert(kind(*network(nn.ReLU())))[1], VAF)


def test_lines_name_what_computes():
    held = Host(lambda s, x: s.act(x), act=nn.functional.gelu)
    held.a = held.b = None
    said = lines(network(held))
    assert said[0].startswith("1: gelu -> VAF") and len(said) == 3
    recurrent = nn.Sequential(nn.RNN(8, 8, nonlinearity="relu"))
    root = Host(lambda s, x: s.b(torch.relu(s.a(x))))
    for arguments in ({}, {"data": X}):
        said = lines(recurrent, **arguments)[0]
        assert said.startswith("0: relu kept, the code of RNN computes it; ")
        said = lines(nn.ReLU(), **arguments)[0]
        assert said == ": relu kept, it shapes an output of the model"
    assert lines(root, data=X)[0].startswith("Host: relu kept, the code of Host")
    decoder = nn.Transformer(8, 2, 1, 1, 8, activation=nn.GELU(), batch_first=True)
    hidden = copy.deepcopy(decoder).eval()
    found = convert(hidden)(TOKENS, TOKENS)
    torch.testing.assert_close(found, hidden(TOKENS, TOKENS))


class Counted(list):
    """A list that counts how often something goes through it."""

    visits = 0

    def __iter__(self):
        Counted.visits += 1
        return super().__iter__()


def test_what_a_module_holds_is_visited_a_fixed_number_of_times():
    visits = []
    for count in (3, 30):
        known = [SimpleNamespace() for _ in range(count)]
        for each in known:
            each.others = Counted(known)
        Counted.visits = 0
        module = Host(lambda s, x, known: s.b(s.r(s.a(x))), r=nn.ReLU(), known=known)
        assert isinstance(convert(module, data=(X, known)).r, VAF)
        visits.append(Counted.visits / count)
    assert 0 < visits[1] <= 2 * visits[0]  # by paths it would be 10 times and more


def test_modules_without_storage_and_in_inference_mode(monkeypatch):
    with torch.device("meta"):
        module, other = (network(nn.GELU(), nn.PReLU()) for _ in range(2))
        for made in (convert(module), convert(other)):
            assert isinstance(made[1], VAF) and made[1].weight.is_meta
            assert "prelu kept, its weights have no storage" in report(made).details
    module[0].forward = module[0].forward  # as accelerate does
    with pytest.raises(ValueError, match="Convert it before"):
        convert(module)
    module = network(nn.GELU())
    with torch.inference_mode():
        made = convert(module, data=X.clone())
    made(X).sum().backward()
    assert made[1].weight.grad.any()
    register = nn.Module.register_parameter  # which `init_empty_weights` changes

    def on_meta(part, name, weight):
        register(part, name, nn.Parameter(weight.to("meta")))

    monkeypatch.setattr(nn.Module, "register_parameter", on_meta)
    with pytest.raises(ValueError, match="weights in memory"):
        convert(module, data=X)


def physics(s, x):
    with torch.enable_grad():
        u = s.b(s.t(s.a(x.requires_grad_())))
        return u, torch.autograd.grad(u.sum(), x, create_graph=True)[0]


def layer(kind, activation):
    return kind(8, 2, 16, dropout=0.0, activation=activation, batch_first=True)


ENCODER = layer(nn.TransformerEncoderLayer, nn.ReLU())
DECODER = layer(nn.TransformerDecoderLayer, nn.GELU())
WORDS = nn.TransformerEncoder(layer(nn.TransformerEncoderLayer, "relu"), 2, None, False)
PADDED = {"src": TOKENS, "src_key_padding_mask": torch.arange(10).view(2, 5) == 9}
POSITIVE = network(nn.PReLU(), nn.GELU())
for part in POSITIVE[:2]:
    nn.utils.parametrize.register_parametrization(part, "weight", nn.Softplus())


@pytest.mark.parametrize(
    "module, data, count",
    [
        (nn.TransformerEncoder(ENCODER, 2), PADDED, 2),
        (WORDS, TOKENS, 0),
        (DECODER, (TOKENS, TOKENS[:, :3]), 1),
        (Host(physics, t=nn.Tanh()), X, 1),
        (POSITIVE, X, 1),
        (copy.deepcopy(POSITIVE).bfloat16(), X.bfloat16(), 1),
    ],
)
def test_hosts_that_compute_in_their_own_way(module, data, count):
    """Encoders have fused kernels, and copies of decoders forget parts."""
    expected, converted = run(module.eval(), data), convert(module, data=data)
    assert sum(isinstance(part, VAF) for part in converted.modules()) == count
    for part in converted.modules():
        if isinstance(part, VAF):
            part.weight.data += 0.1
    moved = run(converted, data)
    twice = copy.deepcopy(copy.deepcopy(converted))
    for other in (converted, twice, freeze(converted) if count else converted):
        with torch.set_grad_enabled(module is DECODER):
            torch.testing.assert_close(run(other, data), moved)
    assert count == 0 or not torch.equal(moved[0], expected[0])


def test_without_data_the_order_and_the_code_of_hosts_decide():
    last = nn.Linear(8, 8)
    for parts, said in (
        ({"r": nn.ReLU()}, "no layer with weights is registered"),
        ({"t": nn.Tanh(), "c": last}, "it may be a gate"),
        ({"r": nn.ReLU(), "c": last}, "-> VAF"),
        ({"r": nn.ReLU(True), "c": last}, "in place"),
    ):
        found = lines(Host(None, **parts))
        assert said in found[0] and found[-1].endswith("give `data` to check them")
    inner = nn.Sequential(nn.Linear(8, 8), nn.Tanh())
    encoder = layer(nn.TransformerEncoderLayer, nn.Tanh())
    for module in (nn.Sequential(inner, last), encoder):
        assert "tanh -> VAF" in lines(module)[0]
    code = {"forward": lambda s, x: torch.relu(s[0](x))}
    said = lines(type("Fixed", (nn.Sequential,), code)(*network(nn.ReLU())))[0]
    assert "the code of Fixed may compute it" in said
    assert "1 kept" in lines(nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Flatten()))[1]
