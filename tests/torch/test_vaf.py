"""`keras_vaf.torch.VAF`, a VAF as a plain module of PyTorch."""

import copy
import io
import pickle
from pathlib import Path

import pytest
import torch
from torch import nn
from torch._dynamo.utils import counters

from keras_vaf.layers import VAFActivation
from keras_vaf.ops.activations import BY_NAME, IN_KERNELS
from keras_vaf.ops.functions_on_torch import FUNCTIONS, function_of
from keras_vaf.torch import VAF, parameter_groups
from tests.layers.test_torch_module import saved

torch.manual_seed(0)
X = torch.linspace(-6, 6, 240).reshape(4, 3, 4, 5)
HALVES = torch.bfloat16, torch.float16
LIMITS = {torch.float64: 1e-12, torch.float32: 1e-5}
LIMITS |= {torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11}
INPUTS = (
    *(X.to(dtype) for dtype in (torch.float64, *HALVES)),
    *(torch.zeros(0, 3), torch.tensor(1.5), torch.randn(3, 4, 5).transpose(0, 2)),
    X.contiguous(memory_format=torch.channels_last),
    torch.randn(4, 3, 1, 1).expand(4, 3, 2, 2),
)
PLACES = ((), ()), ((3,), (1,)), ((5,), (-1,)), ((3, 5), (1, 3))
OWN = nn.ELU(0.5), nn.Softplus(2.0), lambda h: h * torch.sigmoid(1.702 * h)
NAMES = [name for name in FUNCTIONS if name in BY_NAME]
close = torch.testing.assert_close


def trained(g="gelu", **arguments):
    """Return a VAF with random numbers."""
    vaf = VAF(g=g, **arguments)
    random = torch.Generator().manual_seed(0)
    vaf.weight.data = torch.randn(vaf.weight.shape, generator=random)
    return vaf


def network():
    layers = nn.Linear(4, 8), trained("gelu"), nn.Linear(8, 8), trained("relu")
    return nn.Sequential(*layers, nn.Linear(8, 1))


def in_double(vaf, x, weight):
    """Return f(x), computed by its equation."""
    shape = [1] * x.ndim
    for axis in vaf.axes:
        shape[axis] = x.shape[axis]
    a, b, w, c = weight.reshape(*shape, -1).split([vaf.k] * 3 + [1], -1)
    return (w * function_of(vaf.g)(a * x[..., None] + b)).sum(-1) + c[..., 0]


def check(vaf, x):
    """Compare f(x) and its gradients with float64. They keep dtype and layout."""
    leaves = x.detach().requires_grad_(), vaf.weight
    wide = [leaf.detach().double().requires_grad_() for leaf in leaves]
    y, exact = vaf(leaves[0]), in_double(vaf, *wide)
    assert y.stride() == x.stride() or not x.numel() or 0 in x.stride()
    d = torch.randn(x.shape, dtype=x.dtype)
    found = y, *torch.autograd.grad(y, leaves, d)
    wanted = exact, *torch.autograd.grad(exact, wide, d.double())
    for value, want, like in zip(found, wanted, (x, *leaves), strict=True):
        assert value.dtype == like.dtype
        size = want.abs().max().clamp_min(1) if want.numel() else 1
        close(value.double() / size, want / size, rtol=0, atol=LIMITS[like.dtype])


@pytest.mark.parametrize("g", [*FUNCTIONS, *OWN])
def test_the_equation_its_gradients_and_its_start(g, form):
    for k in (1, 3, 5):
        for sizes, axes in PLACES:
            vaf = trained(g, k=k, unshared=sizes, axes=axes)
            check(vaf, X)
            vaf.reset_parameters()
            close(vaf(X), function_of(g)(X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("g", ("relu", "gelu", "mish"))
def test_the_dtype_and_the_layout_of_an_input_are_kept(g, form):
    for x in INPUTS:
        check(trained(g), x)
        check(trained(g).to(x.dtype), x)
        if x.ndim == 4:
            check(trained(g, unshared=(3,)), x)


@pytest.mark.parametrize("g", NAMES)
def test_the_same_numbers_as_the_keras_layer(g, form):
    for unshared in ((), (3,)):
        vaf, sharing = trained(g, unshared=unshared), "channel" if unshared else "layer"
        layer = VAFActivation(g=g, sharing=sharing, data_format="channels_first")
        layer.build(X.shape)
        parts = (vaf.alpha, vaf.alpha_bias, vaf.beta, vaf.beta_bias)
        layer.set_weights([part.detach().numpy() for part in parts])
        same = form == "kernels" and g in IN_KERNELS  # both call the same kernel
        close(vaf(X), layer(X), **({"rtol": 0, "atol": 0} if same else {}))
        with torch.autocast("cpu", torch.bfloat16):
            close(layer(X), vaf(X))


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"g": "rellu"}, "Did you mean 'relu'"),
        ({"g": nn.ReLU}, "Received: g="),
        ({"unshared": (3,), "axes": 1}, "sequence of int"),
        ({"unshared": (3,), "axes": (1.0,)}, "sequence of int"),
        ({"unshared": 16}, "positive integers"),
        ({"unshared": (-1,)}, "positive integers"),
        ({"k": True}, "VGG"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        VAF(**arguments)


@pytest.mark.parametrize(
    ("sizes", "axes", "x"),
    [
        ((4,), (3,), torch.zeros(4, 4)),  # an axis that the input lacks
        ((4,), None, torch.zeros(4)),
        ((4,), None, torch.tensor(0.0)),
        ((4,), None, torch.zeros(2, 5)),
        ((4,), None, torch.zeros(2, 1)),
        ((3, 4), (-1, 1), torch.zeros(2, 4, 3)),  # not in ascending order
        ((3, 4), (2, 1), torch.zeros(2, 4, 3)),
        ((3,), (1, 2), torch.zeros(2, 3, 3)),  # not one for each size
        ((4, 4), (1, -1), torch.zeros(2, 4)),  # one axis
        ((), None, torch.tensor([1, -2])),  # no floating-point numbers
    ],
)
def test_an_input_must_have_the_axes(sizes, axes, x):
    with pytest.raises(ValueError, match=r"ascending order\. Received: an input"):
        VAF(unshared=sizes, axes=axes)(x)


@pytest.mark.parametrize("axes", [(1, -1), (-2, -1), (1, 2)])
def test_a_negative_axis_counts_from_the_end(axes):
    vaf = trained(unshared=(3, 4), axes=axes)
    vaf.weight.data[0, 1] = 0  # a function that is 0
    zeros = (vaf(torch.ones(2, 3, 4)) == 0).nonzero()
    assert zeros.tolist() == [[0, 0, 1], [1, 0, 1]]


@pytest.mark.parametrize("g", ["gelu", torch.sin, nn.ELU(0.5)])
def test_fx_keeps_a_vaf_as_a_module(g):
    x, module = torch.randn(3, 4), nn.Sequential(nn.Linear(4, 8), trained(g), nn.Tanh())
    traced = torch.fx.symbolic_trace(module)
    calls = [node.target for node in traced.graph.nodes if node.op == "call_module"]
    assert calls == ["0", "1", "2"]
    traced = pickle.loads(pickle.dumps(traced))
    assert torch.equal(traced(x), module(x))
    traced(x).sum().backward()
    assert traced.get_submodule("1").weight.grad.any()


def test_views_are_read_and_written_in_place():
    vaf = VAF()
    beta = vaf.beta
    with torch.no_grad():
        beta.add_(1)
        vaf.beta_bias.fill_(2)
        vaf.alpha[0] = 5
        vaf.alpha_bias[1] = 7
    assert vaf.weight[[0, 4, 6, 9]].tolist() == [5, 7, 2, 2]
    assert [name for name, _ in vaf.named_parameters()] == ["weight"]
    assert repr(vaf) == "VAF(k=3, g=relu, sharing=layer)"
    channels = VAF(unshared=(8,), inplace=True)
    assert "sharing=channel, unshared=(8,), axes=(1,)" in repr(channels)
    with pytest.raises(AttributeError):
        vaf.alpha = torch.ones(3)
    vaf.reset_parameters()
    close(vaf(X), torch.relu(X), rtol=0, atol=0)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("g", ("mish", "gelu"))
def test_autocast_keeps_as_much_as_a_fixed_function(dtype, g, form):
    x = torch.randn(64, 32).to(dtype).requires_grad_()
    assert saved(trained(g), x, dtype) == saved(nn.GELU(), x, dtype)


@pytest.mark.parametrize("g", ("tanh", "gelu", "mish"))
def test_second_derivatives(g, form):
    found, start = [], torch.randn(6)
    for vaf, x in ((trained(g), start), (trained(g).double(), start.double())):
        x.requires_grad_()
        (first,) = torch.autograd.grad(vaf(x).sum(), x, create_graph=True)
        first.square().sum().backward()
        found.append((x.grad.double(), vaf.weight.grad.double()))
    close(*found, rtol=1e-4, atol=1e-4)


def test_functions_of_torch_func(form):
    module, x = network(), torch.randn(6, 4)
    values = {name: p.detach() for name, p in module.named_parameters()}

    def total(values, x):
        return torch.func.functional_call(module, values, (x,)).sum()

    whole = torch.func.grad(total)(values, x)
    assert all(whole[name].any() for name in ("1.weight", "3.weight"))
    each = torch.func.vmap(torch.func.grad(total), (None, 0))(values, x)
    tangent = {name: torch.randn_like(value) for name, value in values.items()}
    _, slope = torch.func.jvp(lambda v: total(v, x), (values,), (tangent,))
    expected = sum((whole[name] * tangent[name]).sum() for name in values)
    close(slope, expected, rtol=1e-4, atol=1e-3)
    for name, value in whole.items():
        close(each[name].sum(0), value, rtol=1e-3, atol=1e-3)


def test_copies_and_files():
    module, x, file = network(), torch.randn(3, 4), io.BytesIO()
    torch.save(module.state_dict(), file)
    file.seek(0)
    loaded, assigned = network(), network()
    loaded.load_state_dict(torch.load(file, weights_only=True))
    assigned.load_state_dict(module.state_dict(), assign=True)
    copies = (copy.deepcopy(module), pickle.loads(pickle.dumps(module)))
    for other in (*copies, loaded, assigned):
        assert torch.equal(other(x), module(x))


def test_parameters_without_memory_are_set_later():
    vaf = VAF(3, "gelu", device="meta").to_empty(device="cpu")
    vaf.reset_parameters()
    close(vaf(X), nn.functional.gelu(X))
    nn.utils.parametrize.register_parametrization(vaf, "weight", nn.Tanh())
    vaf(X).sum().backward()
    assert vaf.parametrizations.weight.original.grad.any()


@pytest.mark.filterwarnings("ignore:The .grad attribute")  # of torch.compile itself
@pytest.mark.parametrize("called", (False, True))
@pytest.mark.parametrize("form", ["kernels"], indirect=True)
def test_fifty_vafs_are_one_graph(called, form):
    torch.compiler.reset()
    counters.clear()
    parts = [part for _ in range(50) for part in (nn.Linear(8, 8), VAF(3, "gelu"))]
    module, x = nn.Sequential(*parts, nn.Linear(8, 2)), torch.randn(4, 8)
    if called:
        module(x)
    compiled = torch.compile(module, backend="eager", fullgraph=True)
    for _ in range(2):
        compiled(x).sum().backward()
    assert counters["stats"]["unique_graphs"] == 1
    close(compiled(x), module(x))


@pytest.mark.parametrize("assign", (False, True))
def test_a_state_of_version_0_3_0_is_loaded(assign):
    """At commit 8533b88, with the seed 0, this wrote four weights for each VAF:

    ```
    module = convert(Sequential(Linear(4, 8), GELU(), Sequential(Linear(8, 8), PReLU(8),
        Linear(8, 8), LeakyReLU(0.1)), Linear(8, 8), ReLU6(), Linear(8, 2)))
    x, optimizer = torch.randn(16, 4), torch.optim.SGD(module.parameters(), lr=0.1)
    (module(x) - 1).square().mean().backward()
    optimizer.step()
    state = {name: value.clone() for name, value in module.state_dict().items()}
    torch.save({"state": state, "x": x, "y": module(x).detach()}, "state_0_3_0.pt")
    ```
    """
    file = torch.load(Path(__file__).with_name("state_0_3_0.pt"), weights_only=True)
    module = nn.Sequential(
        *(nn.Linear(4, 8), VAF(g="gelu")),
        nn.Sequential(nn.Linear(8, 8), VAF(unshared=(8,)), nn.Linear(8, 8), VAF()),
        *(nn.Linear(8, 8), VAF(), nn.Linear(8, 2)),
    )
    module.load_state_dict(file["state"], assign=assign)
    close(module(file["x"]), file["y"])


def test_parameter_groups_go_by_class():
    module = nn.Sequential(nn.Linear(4, 8), VAF(unshared=(8,)), nn.Linear(8, 1))
    others, vafs = parameter_groups(module, lr=0.5, weight_decay=0.0)
    assert [*map(id, vafs["params"])] == [id(module[1].weight)]
    assert (len(others["params"]), vafs["lr"], vafs["weight_decay"]) == (4, 0.5, 0.0)
    assert torch.optim.SGD([others, vafs], lr=0.1).param_groups[0]["lr"] == 0.1
