"""`convert` of modules of PyTorch, and what reads the result."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn

from keras_vaf.layers import KAF
from keras_vaf.models import (
    convert,
    formula,
    freeze,
    report,
    simplify,
    train_only_activations,
)
from keras_vaf.torch import VAF
from keras_vaf.visualization import plot_activations
from tests.formula_text import values_of_text
from tests.torch.test_faults import Host, X

close, IMAGES = torch.testing.assert_close, torch.randn(2, 3, 6, 6)
KINDS = (
    *(nn.ReLU(), nn.LeakyReLU(), nn.LeakyReLU(0.3), nn.PReLU(8)),
    *(nn.ReLU6(), nn.Hardtanh(), nn.Softshrink(), nn.PReLU(), nn.Hardsigmoid()),
    *(nn.GELU(), nn.GELU("tanh"), nn.SiLU(), nn.Tanh(), nn.ELU(), nn.SELU()),
    *(nn.Softplus(), nn.Mish(), nn.Hardswish(), nn.CELU(), nn.Softsign()),
    *(nn.LogSigmoid(), nn.Tanhshrink(), nn.Sigmoid(), nn.ELU(0.5), nn.Hardshrink()),
)
nn.init.uniform_(KINDS[3].weight)  # slopes that differ


def network():
    torch.manual_seed(0)
    layers = nn.Linear(8, 6), nn.GELU(), nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 2)
    return nn.Sequential(*layers)


def trained(module):
    """Change all VAFs, as training does."""
    for part in module.modules():
        if isinstance(part, VAF):
            part.weight.data.add_(0.2 * torch.randn(part.weight.shape))
    return module


@pytest.fixture
def module():
    return trained(convert(network(), data=X))


@pytest.mark.filterwarnings("ignore:Nothing was replaced")
@pytest.mark.parametrize("activation", KINDS, ids=str)
def test_every_kind_of_activation_starts_as_it_was(activation):
    module = nn.Sequential(nn.Linear(8, 8), activation, nn.Linear(8, 1))
    converted = convert(module, data=X)
    limit = 0.0 if activation in KINDS[:2] else 1e-6
    close(converted(X), module(X), rtol=limit, atol=limit)
    assert isinstance(converted[1], VAF) and module[1] is activation
    assert report(converted).error <= limit
    again = convert(converted), convert(converted, data=X), convert(converted[1])
    assert not any(report(each).replaced or report(each).kept for each in again)


def test_the_report():
    module = nn.Sequential(*network(), nn.Tanh(), nn.Flatten())
    with torch.no_grad():
        changes = report(convert(module, data=X, k=4))
    assert changes.details.splitlines() == [
        "1: gelu -> VAF, parameters +13, largest error 0",
        "3: relu -> VAF, parameters +13, largest error 0",
        "5: tanh kept, it shapes an output of the model",
        "2 replaced, 1 kept, parameters +26, largest deviation of an output 0",
    ]
    prelu = nn.Sequential(nn.PReLU(8), nn.Linear(8, 1))
    assert report(convert(prelu)).parameters == 80 - 8


def test_a_selection():
    names = {"layers": ["3"]}, {"layers": nn.ReLU}, {"layers": "[23]"}
    for arguments in (*names, {"layers": lambda part: isinstance(part, nn.ReLU)}):
        converted = convert(network(), data=X, **arguments)
        assert isinstance(converted[3], VAF) and isinstance(converted[1], nn.GELU)
        assert "1: gelu kept, it was not chosen" in report(converted).details
    gates = Host(lambda s, x: s.b(s.t(s.a(x)) * s.s(x)), t=nn.Tanh(), s=nn.Sigmoid())
    assert isinstance(convert(gates, data=X, layers=["s"]).s, VAF)


def test_an_unknown_function_becomes_g_where_it_is_chosen():
    quick = Host(lambda s, x: x * torch.sigmoid(1.702 * x), a=None, b=None)
    module = nn.Sequential(nn.Linear(8, 8), quick, nn.Linear(8, 2))
    with pytest.warns(UserWarning, match="no known function has its values"):
        convert(module)
    for layers in ("1", Host):
        converted = convert(module, layers=layers)
        close(converted(X), module(X), rtol=0, atol=0)
        assert report(converted).error == 0
    fitted = convert(module, layers="1", g="relu", k=5)
    measured = report(fitted).error
    difference = (fitted[1](X) - module[1](X)).abs().max()
    assert measured > 0.01 and difference <= measured


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"layers": "fc"}, "`layers` does not match any layer"),
        ({"to": KAF}, "leave out `to`"),
        ({"sharing": "channel"}, "if `data` is given"),
        ({"sharing": "neuron", "data": X}, "Received: sharing='neuron'"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        convert(network(), **arguments)


def test_what_cannot_be_converted():
    with pytest.raises(ValueError, match="The activation of '0'"):
        convert(nn.Sequential(nn.LeakyReLU(), nn.Linear(8, 1)), k=1)
    for module in (nn.Sequential(nn.Linear(8, 8), nn.Dropout()), nn.ReLU()):
        with pytest.warns(UserWarning, match="Nothing was replaced"):
            assert not report(convert(module, data=X)).replaced


def test_a_function_per_channel():
    module = nn.Sequential(
        *(nn.Conv2d(3, 6, 3), nn.ReLU(), nn.Conv2d(6, 4, 1), nn.BatchNorm2d(4)),
        *(nn.GELU(), nn.Flatten(), nn.Linear(64, 5), nn.SiLU(), nn.Linear(5, 1)),
    ).eval()
    converted = convert(module, data=IMAGES, sharing="channel")
    shapes = [tuple(converted[i].weight.shape) for i in (1, 4, 7)]
    assert shapes == [(6, 10), (4, 10), (5, 10)]
    close(converted(IMAGES), module(IMAGES))
    for other in (freeze(converted), torch.compile(converted, backend="eager")):
        close(other(IMAGES), module(IMAGES))
    plain = nn.LayerNorm(8, elementwise_affine=False)  # it may have no channels
    for norm, sizes in ((plain, ()), (nn.BatchNorm1d(8), (8,))):
        layers = nn.Sequential(norm, nn.GELU(), nn.Linear(8, 1))
        made = convert(layers, data=X, sharing="channel")
        assert made[1].weight.shape == (*sizes, 10)
    half = Host(lambda s, x: s.c(s.r(s.a(x)[:, :4])), r=nn.GELU(), c=nn.Linear(4, 1))
    assert convert(half, data=X, sharing="channel").r.weight.shape == (4, 10)
    shared = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4))
    shared.append(shared[1]).append(nn.Linear(4, 1))
    both = convert(shared, data=X, sharing="channel")
    assert both[1].weight.shape == (10,)
    assert "its calls differ in channels" in report(both).details


def test_an_exported_program_needs_only_pytorch(module, tmp_path):
    frozen, shapes = freeze(module), ({0: torch.export.Dim.AUTO},)
    assert report(frozen).parameters == -20
    exported = torch.export.export(frozen, (X,), dynamic_shapes=shapes)
    torch.export.save(exported, tmp_path / "frozen.pt2")
    program = (
        "import sys, torch\n"
        "program = torch.export.load('frozen.pt2').module()\n"
        "print(program(torch.ones(9, 8))[0, 0].item(), 'keras' in sys.modules)"
    )
    command = [sys.executable, "-c", program]
    value, has_keras = subprocess.check_output(command, cwd=tmp_path).split()
    assert has_keras == b"False"
    assert float(value) == pytest.approx(module(torch.ones(9, 8))[0, 0].item(), 1e-5)


def test_formulas(module):
    blocks = formula(module, digits=17).split("\n\n")
    found = dict(block.split(":\n", 1) for block in blocks)
    assert [*found] == ["1", "3"] and formula(module[3], digits=17) == found["3"]
    channels = convert(network(), data=X, sharing="channel")
    assert formula(channels).count("| f(a)") == 2
    parts = nn.Linear(8, 8), nn.ELU(0.5), nn.Linear(8, 8), nn.GELU("tanh"), nn.Flatten()
    own = convert(nn.Sequential(*parts, nn.Linear(8, 1)), data=X)
    assert formula(own).startswith("1:\nf(a) = ELU(a)")
    x = torch.tensor([-90.0, -1.5, 0.5], dtype=torch.float64)
    y = values_of_text(formula(module[1], digits=17), x.numpy())
    np.testing.assert_allclose(y, module[1](x).detach(), rtol=1e-6)


def test_plots(module):
    pytest.importorskip("matplotlib")
    axes = plot_activations(module, data=X)
    assert [ax.get_title(loc="left").splitlines()[0] for ax in axes] == ["1", "3"]
    assert "data" in [handle.get_label() for handle in axes[0].patches]
    assert len(plot_activations(convert(network(), data=X, sharing="channel"))) == 2


def test_simplified_modules(module):
    wide = convert(network(), data=X, k=5)
    small = simplify(wide, tolerance=0.01)
    assert (small[1].k, small[3].k, wide[1].k) == (1, 1, 5) and small[1].g == "gelu"
    close(small(X), wide(X), rtol=0.02, atol=0.02)
    assert report(small).parameters == -24
    channels = trained(convert(network(), data=X, sharing="channel"))
    fewer = simplify(channels, tolerance=10.0, data=X)
    assert fewer[1].k == 1 and fewer[1].weight.shape == (6, 4)
    kept = report(simplify(module, tolerance=1e-9)).kept
    assert "needs all its hidden units" in kept[0].kept
    module[1].weight.data.fill_(torch.nan)
    for change in (freeze, lambda module: simplify(module, tolerance=0.01)):
        with pytest.raises(ValueError, match="finite"):
            change(module)


def test_only_the_activations_are_trained(module):
    tuned = train_only_activations(module, also=["4"])
    names = [name for name, p in tuned.named_parameters() if p.requires_grad]
    assert names == ["1.weight", "3.weight", "4.weight", "4.bias"]
    assert all(p.requires_grad for p in module.parameters())
    assert train_only_activations(module, inplace=True) is module
    with pytest.raises(ValueError, match="Did you mean '4'"):
        train_only_activations(module, also="44")
    for change in (train_only_activations, freeze):
        with pytest.raises(ValueError, match="module with VAFs"):
            change(network())
