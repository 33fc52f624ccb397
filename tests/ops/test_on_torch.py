"""The operation under PyTorch's transformations, in any order of memory."""

import numpy as np
import pytest

from tests import reference
from tests.harness import to_tensors
from tests.ops.test_vaf import case, check_mapped

pytestmark = pytest.mark.backend("torch")


# For forward mode, PyTorch imports code that warns. PyTorch 2.6 calls an older `vmap`.
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:Please use `torch.vmap`:FutureWarning")
@pytest.mark.parametrize("shape, unshared", [((3, 2), ()), ((2, 3, 2), (1,))])
def test_torch_itself_finds_the_gradients_right(shape, unshared):
    import torch

    _, arguments, f = case(shape, unshared)
    leaves = [tensor.requires_grad_() for tensor in to_tensors(arguments)]
    assert torch.autograd.gradcheck(
        f, leaves, check_forward_ad=True, check_batched_grad=True
    )
    assert torch.autograd.gradgradcheck(f, leaves)


def test_vmap_of_gradients():
    import torch

    upstream, arguments, f = case()
    stacked = [np.stack([a, 2 * a, -a]) for a in arguments]
    weights = torch.tensor(upstream)
    gradient = torch.func.grad(lambda *a: (weights * f(*a)).sum(), tuple(range(5)))
    mapped = torch.func.vmap(gradient)(*to_tensors(stacked))
    check_mapped(mapped, upstream, stacked)


def test_compiled_programs_match_the_reference():
    import torch

    upstream, arguments, f = case()
    leaves = [tensor.requires_grad_() for tensor in to_tensors(arguments)]
    # With Keras 3.12, PyTorch 2.6 divides a program at each operation of Keras.
    whole = not torch.__version__.startswith("2.6.")
    y = torch.compile(f, backend="aot_eager", fullgraph=whole)(*leaves)
    gradients = torch.autograd.grad(y, leaves, torch.tensor(upstream))
    expected = reference.vaf_gradients(upstream, *arguments, "sigmoid", (1,))
    np.testing.assert_allclose(
        y.detach(), reference.vaf(*arguments, "sigmoid", (1,)), 1e-10
    )
    for have, want in zip(gradients, expected, strict=True):
        np.testing.assert_allclose(have, want, 1e-10, 1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
@pytest.mark.parametrize(
    "view",
    [
        lambda t: t.permute(0, 2, 3, 1),
        lambda t: t[:, :, ::2],
        lambda t: t[:1].expand(3, *t.shape[1:]),
        lambda t: t[:0],
    ],
    ids=["permuted", "with gaps", "expanded", "empty"],
)
def test_any_order_of_memory(view, dtype):
    import torch

    upstream, arguments, f = case((3, 2, 5, 4), ())
    upstream, x, *parameters = to_tensors([upstream, *arguments])
    half = dtype == "bfloat16"
    x = view(x.to(getattr(torch, dtype))).requires_grad_()
    parameters = [
        p.to(torch.float32 if half else x.dtype).requires_grad_() for p in parameters
    ]
    y = f(x, *parameters)
    for d in (view(upstream.to(x.dtype)), torch.ones(()).to(x.dtype).expand(x.shape)):
        have = torch.autograd.grad(y, (x, *parameters), d, retain_graph=True)
        arrays = [t.detach().double().numpy() for t in (d, x, *parameters)]
        want = reference.vaf_gradients(*arrays, "sigmoid")
        tolerance = {"float64": 1e-12, "float32": 1e-5, "bfloat16": 1e-2}[dtype]
        for a, b in zip(have, want, strict=True):
            np.testing.assert_allclose(a.double(), b, tolerance, tolerance)
    assert y.shape == x.shape and y.dtype == x.dtype
