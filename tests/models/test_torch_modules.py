"""`convert` and `freeze` of modules of PyTorch that are not layers of Keras."""

import io

import keras
import numpy as np
import pytest

from keras_vaf.layers import VAFActivation
from keras_vaf.models import convert, freeze, report

if keras.backend.backend() != "torch":
    # TensorFlow and PyTorch in one process may end in a segmentation fault.
    pytest.skip("These tests need PyTorch as the backend.", allow_module_level=True)

import torch

nn, functional = torch.nn, torch.nn.functional

EXACT = (
    *(nn.ReLU(), nn.LeakyReLU(), nn.LeakyReLU(0.3), nn.ReLU6()),
    *(nn.Hardtanh(), nn.Softshrink(), nn.PReLU(), nn.PReLU(12)),
)
SMOOTH = (
    *(nn.GELU(), nn.GELU("tanh"), nn.SiLU(), nn.Tanh(), nn.ELU(), nn.SELU()),
    *(nn.Softplus(), nn.Mish(), nn.Hardswish(), nn.CELU(), nn.Softsign()),
    *(nn.LogSigmoid(), nn.Tanhshrink()),
)
X = torch.linspace(-5, 5, 48).reshape(4, 12)


class Block(nn.Module):
    """A residual block, as in torchvision: one ReLU is used twice."""

    def __init__(self, channels):
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)
        self.second = nn.Conv2d(channels, channels, 3, padding=1, bias=False)

    def forward(self, x):
        y = self.second(self.relu(self.norm(self.first(x))))
        return self.relu(x + y)


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 3, padding=1)
        self.act = nn.PReLU(4)
        self.blocks = nn.Sequential(Block(4), Block(4))
        self.gate = nn.Sigmoid()
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        y = self.blocks(self.act(self.stem(x)))
        y = functional.relu(y.mean(dim=(2, 3))).tanh()
        return self.head(y * self.gate(y))


class OwnReLU(nn.Module):
    def forward(self, x):
        return functional.relu(x)


class Branching(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.GELU()

    def forward(self, x):
        return self.act(x) if x.sum() > 0 else x


def images():
    return torch.randn(2, 3, 6, 6, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def network():
    torch.manual_seed(0)
    module = Network().eval()
    module.act.weight.data = torch.tensor([0.1, 0.25, -0.5, 1.0])
    return module


@pytest.mark.parametrize("activation", (*EXACT, *SMOOTH), ids=str)
def test_every_kind_of_activation_starts_as_it_was(activation):
    module = nn.Sequential(nn.Linear(12, 12), activation)
    module[0].weight.data = torch.eye(12)
    converted = convert(module)
    y, expected = converted(X), module(X)
    limit = 0.0 if activation in EXACT[:2] else 1e-6
    torch.testing.assert_close(y, expected, rtol=limit, atol=limit)
    assert any(isinstance(part, VAFActivation) for part in converted[1].modules())
    assert module[1] is activation
    y.sum().backward()
    assert all(weight.grad is not None for weight in converted[1].parameters())


def test_modules_alone_and_other_modules():
    assert isinstance(convert(nn.ReLU()), VAFActivation)
    others = (nn.Dropout(), nn.Identity(), nn.Softmax(-1), nn.Flatten(), nn.RReLU())
    for module in (*others, nn.Linear(2, 2)):
        with pytest.raises(ValueError, match="Nothing to replace"):
            convert(nn.Sequential(module))


def test_a_network_with_shared_modules_and_its_report(network):
    converted = convert(network, k=4)
    x = images()
    torch.testing.assert_close(converted(x), network(x), rtol=1e-6, atol=1e-6)
    changes = report(converted)
    assert [each.layer for each in changes.replaced] == [
        *("act", "blocks.0.relu", "blocks.1.relu")
    ]
    assert changes.parameters == 4 * 13 + 2 * 13 and changes.error == 0
    assert {(each.layer, each.activation) for each in changes.kept} == {
        ("", "relu"),
        ("", "tanh"),
        ("gate", "Sigmoid"),
    }
    assert converted.blocks[0].relu.k == 4
    assert not any(isinstance(part, VAFActivation) for part in network.modules())
    assert convert(network, inplace=True) is network


def test_a_selection(network):
    converted = convert(network, layers=["blocks.0.*", "gate"])
    assert isinstance(converted.gate, VAFActivation)
    assert isinstance(converted.blocks[1].relu, nn.ReLU)
    assert isinstance(convert(network, layers=nn.PReLU).blocks[0].relu, nn.ReLU)
    for arguments, message in (
        ({"layers": "block"}, "Did you mean 'blocks'"),
        ({"layers": 3}, "Received: layers=3"),
        ({"sharing": "channel"}, "leave out `to` and `sharing`"),
    ):
        with pytest.raises(ValueError, match=message):
            convert(network, **arguments)


def test_an_activation_module_is_named_once():
    changes = report(convert(nn.Sequential(OwnReLU(), OwnReLU()), layers="0"))
    assert [(each.layer, each.before) for each in changes.replaced] == [("0", "relu")]
    assert [(each.layer, each.reason) for each in changes.kept] == [
        ("1", "it was not chosen")
    ]


def test_code_that_cannot_be_traced_is_named():
    kept = report(convert(nn.Sequential(Branching()))).kept
    assert [each.activation for each in kept] == ["code of Branching"]
    assert "cannot trace" in kept[0].reason


def test_a_trained_state_is_saved_and_loaded(network):
    first, second = convert(network).train(), convert(network)
    optimizer = torch.optim.SGD(first.parameters(), lr=0.1)
    first(images()).square().sum().backward()
    optimizer.step()
    file = io.BytesIO()
    torch.save(first.state_dict(), file)
    file.seek(0)
    second.load_state_dict(torch.load(file))
    x = images()
    torch.testing.assert_close(second.eval()(x), first.eval()(x))
    assert not torch.equal(second(x), network(x))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_the_dtype_of_the_module(dtype):
    module = nn.Sequential(nn.Linear(12, 3), nn.ReLU()).to(dtype)
    y = convert(module)(X.to(dtype))
    assert y.dtype == dtype
    torch.testing.assert_close(y, module(X.to(dtype)))


@pytest.mark.filterwarnings("ignore:The .grad attribute")  # of torch.compile itself
def test_compile_export_and_data_parallel(network):
    converted, x = convert(network).eval(), images()
    expected = network(x)
    modules = [torch.compile(converted, backend="eager"), nn.DataParallel(converted)]
    # With Keras 3.12, PyTorch 2.6 exports no layer of Keras.
    if not torch.__version__.startswith("2.6."):
        modules.append(torch.export.export(converted, (x,)).module())
    for module in modules:
        torch.testing.assert_close(module(x), expected, rtol=1e-5, atol=1e-6)


def test_freeze_needs_only_pytorch(network):
    converted, x = convert(network).eval(), images()
    random = np.random.default_rng(0)
    for part in converted.modules():
        if isinstance(part, VAFActivation):
            part.set_weights([random.normal(size=w.shape) for w in part.weights])
    frozen = freeze(converted)
    torch.testing.assert_close(frozen(x), converted(x), rtol=1e-4, atol=1e-5)
    assert report(frozen).parameters == -report(converted).parameters
    file = io.BytesIO()
    torch.save(frozen.act, file)
    torch.save(frozen.blocks[0].relu, file)
    assert b"keras" not in file.getvalue()
    with pytest.raises(ValueError, match="trainable activations"):
        freeze(network)


def test_tools_that_exchange_parameters_are_ignored():
    """The table of pitfalls in docs/torch.md."""
    from torch.nn.utils import parametrize, prune

    def made():
        return VAFActivation(k=2, g="tanh", name="vaf")

    pruned, parametrized, loaded = made(), made(), made()
    zeros = {name: 0 * value for name, value in loaded.state_dict().items()}
    prune.random_unstructured(pruned._torch_params, "vaf/beta", 2)
    zero = nn.Hardtanh(0.0, 1e-9)
    where = parametrized._torch_params
    parametrize.register_parametrization(where, "vaf/beta", zero)
    loaded.load_state_dict(zeros, assign=True)
    expected = made()(X)
    for layer in (pruned, parametrized, loaded):
        torch.testing.assert_close(layer(X), expected)
    y = torch.func.functional_call(made(), zeros, (X,))
    torch.testing.assert_close(y, expected)

    y, _ = made().stateless_call([*zeros.values()], [], X)
    torch.testing.assert_close(y, torch.zeros_like(X))
    loaded.load_state_dict(zeros)
    torch.testing.assert_close(loaded(X), torch.zeros_like(X))
    frozen = freeze(nn.Sequential(made()))
    zeros = {name: 0 * value for name, value in frozen.state_dict().items()}
    y = torch.func.functional_call(frozen, zeros, (X,))
    torch.testing.assert_close(y, torch.zeros_like(X))
    frozen.load_state_dict(zeros, assign=True)
    torch.testing.assert_close(frozen(X), torch.zeros_like(X))


def test_a_layer_of_keras_is_no_such_module():
    parts = [keras.Input((2,)), keras.layers.ReLU(), keras.layers.Dense(1)]
    model = keras.Sequential(parts)
    assert isinstance(convert(model), keras.Sequential)
