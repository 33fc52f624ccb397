"""The kernels for GPUs, in Triton's interpreter and, where there is one, on a GPU."""

import itertools
import os
import subprocess
import sys
import types
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from keras_vaf.layers import VAFActivation
from keras_vaf.ops import VAF, plain_operators
from keras_vaf.ops.functions import get_function
from keras_vaf.ops.layout import Layout
from keras_vaf.ops.native.case import FUNCTIONS
from tests.ops.native.harness import DTYPES, SHAPES, assert_close, draw
from tests.ops.native.test_special_values import LAYOUTS, NAN, PLACES, arguments, kinds

pytestmark = pytest.mark.backend("torch")
ROOT = Path(__file__).parents[3]
SIZES = tuple(name for name in SHAPES if "networks" not in name)
CALLS = (
    *itertools.product(SIZES, ("relu",), (3,), ("float32",)),
    *itertools.product(
        ("channels first, small images",), FUNCTIONS, (5,), ("float32",)
    ),
    *itertools.product(("layer",), ("tanh",), (1, 15), ("float32", "float16")),
)


def compare(device, calls):
    """Compare calls with float64."""
    import torch

    from keras_vaf.ops.native import triton_on_torch as kernels
    from keras_vaf.ops.native.case import Case

    for place, g, k, dtype in calls:
        arrays = draw(SHAPES[place], k, dtype)
        unshared = () if SHAPES[place][2] == 1 else (1,)
        tensors = [torch.tensor(each[0], dtype=torch.float32) for each in arrays]
        upstream, x = (each.to(device, getattr(torch, dtype)) for each in tensors[:2])
        own = [each if unshared else each[0] for each in tensors[2:]]
        parameters = [each.contiguous().to(device) for each in own]
        case = Case(g, dtype, k, unshared)
        y = kernels.forward(case, x, *parameters)
        found = kernels.gradients(case, upstream, x, *parameters)
        assert [each.shape for each in found] == [p.shape for p in (x, *parameters)]
        results = [each.double().cpu().numpy() for each in (y, *found)]
        assert_close(results, arrays, g, dtype)


def compare_special(device):
    """Compare infinite inputs and NaN with PyTorch's operators. One unit fills up."""
    import torch

    from keras_vaf.ops.equation import formula
    from keras_vaf.ops.native import triton_on_torch as kernels
    from keras_vaf.ops.native.case import Case

    places = [each for each in PLACES if each[0] == "x"]
    for g, name, (shape, own) in itertools.product(FUNCTIONS, places, LAYOUTS.values()):
        function, layout = VAF(get_function(g, "g")), Layout(2, own)
        case = Case(g, "float32", 3, own)
        tensors = [each.to(device) for each in arguments(shape, own, *name)]
        found = kernels.forward(case, *tensors[1:]), *kernels.gradients(case, *tensors)
        leaves = [each.requires_grad_() for each in tensors[1:]]
        y = formula(function, layout, *leaves)
        want = y.detach(), *torch.autograd.grad(y, leaves, tensors[0])
        for have, wanted in zip(kinds(found), kinds(want), strict=True):
            # Infinity times 0 is NaN or left out, as docs/records/kernels.md says.
            documented = g in ("relu", "silu", "gelu")
            either = documented & ((have == NAN) | (wanted == NAN))
            assert np.all((have == wanted) | either), (g, name, shape)


def test_the_interpreter_computes_what_float64_does():
    try:
        version = metadata.version("triton")
    except metadata.PackageNotFoundError:
        pytest.skip("Triton is not installed.")
    if version < "3.7":
        pytest.skip("The interpreter of this version needs NumPy before 2.4.")
    lines = (
        "from tests.ops.native import test_triton",
        "test_triton.compare('cpu', test_triton.CALLS)",
        "test_triton.compare_special('cpu')",
    )
    done = subprocess.run(
        [sys.executable, "-c", "; ".join(lines)],
        cwd=ROOT,
        env={**os.environ, "TRITON_INTERPRET": "1", "KERAS_BACKEND": "torch"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture
def gpu():
    """PyTorch, if it has a GPU."""
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("There is no GPU.")
    return torch


def test_a_gpu_computes_what_float64_does(gpu):
    compare("cuda", itertools.product(SIZES, FUNCTIONS, (1, 3, 15), DTYPES))
    compare_special("cuda")


@pytest.mark.parametrize("sharing", ["layer", "channel", "neuron"])
def test_layers_on_a_gpu_use_the_kernels(gpu, sharing, monkeypatch):
    from keras_vaf.ops.native import triton_on_torch as kernels

    calls = []
    for name in ("forward", "gradients"):
        function = getattr(kernels, name)

        def counted(*arguments, name=name, function=function):
            calls.append(name)
            return function(*arguments)

        monkeypatch.setattr(kernels, name, counted)
    x = gpu.randn(4, 5, 6, 7, device="cuda", requires_grad=True)
    layer = VAFActivation(sharing=sharing, initialization="random")
    layer.build(x.shape)
    leaves = [x, *(each.value for each in layer.trainable_variables)]
    found = gpu.autograd.grad(layer(x).square().sum(), leaves)
    assert calls == ["forward", "gradients"]
    with plain_operators():
        expected = gpu.autograd.grad(layer(x).square().sum(), leaves)
    for one, other in zip(found, expected, strict=True):
        gpu.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


@pytest.fixture
def on_gpu(monkeypatch):
    """The module, with a GPU that it may ask for its age."""
    torch = pytest.importorskip("torch")
    from keras_vaf.ops.native import gpus_on_torch as on_gpu

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (9, 0))
    monkeypatch.setenv("KERAS_VAF_KERNELS", "1")
    on_gpu.functions.cache_clear()
    yield on_gpu
    on_gpu.functions.cache_clear()


def functions(on_gpu):
    import torch

    return on_gpu.functions(torch.device("cpu"))


def test_a_gpu_on_which_the_kernels_compile_has_all_functions(on_gpu, monkeypatch):
    working = types.SimpleNamespace(forward=lambda case, x, *parameters: x)
    monkeypatch.setattr(on_gpu, "kernels", lambda: working)
    assert functions(on_gpu) == tuple(name for name, _ in FUNCTIONS.values())


def test_kernels_that_do_not_compile_are_left_out_with_a_warning(on_gpu, monkeypatch):
    def forward(*arguments):
        raise RuntimeError("Failed to find C compiler.")

    broken = types.SimpleNamespace(forward=forward)
    monkeypatch.setattr(on_gpu, "kernels", lambda: broken)
    with pytest.warns(RuntimeWarning, match="Failed to find C compiler"):
        assert functions(on_gpu) == ()


@pytest.mark.parametrize("reason", ["old", "switched off", "no Triton"])
def test_other_gpus_use_the_operators_of_pytorch(on_gpu, monkeypatch, reason):
    import torch

    def absent():
        raise ImportError("No module named 'triton'")

    working = types.SimpleNamespace(forward=lambda case, x, *parameters: x)
    monkeypatch.setattr(on_gpu, "kernels", lambda: working)
    if reason == "old":
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (7, 5))
    elif reason == "switched off":
        monkeypatch.setenv("KERAS_VAF_KERNELS", "0")
    else:
        monkeypatch.setattr(on_gpu, "kernels", absent)
    assert functions(on_gpu) == ()
