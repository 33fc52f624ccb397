"""The kernels under what PyTorch does with an operation."""

import numpy as np
import pytest

from keras_vaf.ops import plain_operators
from tests.harness import to_arrays
from tests.ops.native.harness import assert_close
from tests.ops.native.test_bindings import arguments, operation

pytestmark = pytest.mark.backend("torch")
SHAPE, UNSHARED = (3, 4, 5), (2,)


@pytest.fixture
def tensors(library):
    """Upstream gradient, input and parameters, which want gradients."""
    _, (upstream, *tensors) = arguments(SHAPE, UNSHARED)
    return [upstream, *(tensor.requires_grad_() for tensor in tensors)]


def gradients(function, tensors):
    import torch

    upstream, *leaves = tensors
    y = function(*leaves)
    return [y, *torch.autograd.grad(y, leaves, upstream)]


def close(have, want, tolerance=1e-5):
    for a, b in zip(to_arrays(have), to_arrays(want), strict=True):
        np.testing.assert_allclose(a, b, tolerance, tolerance)


def test_a_kernel_computes_the_value_and_another_one_the_gradient(tensors, used):
    upstream, *leaves = tensors
    y = operation("relu", UNSHARED)(*leaves)
    assert used()
    y.backward(upstream)
    assert used()


@pytest.mark.parametrize("unshared", [(), (1,), (1, 2, 3)])
def test_results_have_the_order_of_the_input_in_memory(library, used, unshared):
    import torch

    _, (upstream, x, *parameters) = arguments((3, 4, 5, 2), unshared)
    usual = [x, *parameters]
    last = [x.to(memory_format=torch.channels_last), *parameters]
    function = operation("relu", unshared)
    found = []
    for leaves in (usual, last):
        leaves = [tensor.detach().requires_grad_() for tensor in leaves]
        found.append(gradients(function, [upstream, *leaves]))
    assert used()
    close(found[1], found[0])
    if len(unshared) < 2:
        assert found[1][0].stride() == found[1][1].stride() == last[0].stride()


def test_compiled_programs_hold_plain_operators(tensors, used):
    import torch

    torch._dynamo.reset()
    function = torch.compile(
        operation("tanh", UNSHARED), fullgraph=True, backend="aot_eager"
    )
    found = gradients(function, tensors)
    assert not used()
    close(found, gradients(operation("tanh", UNSHARED), tensors))
    assert used()


def test_transformations_keep_working(tensors):
    """They wrap tensors, so the operation runs on plain operators."""
    import torch

    function = operation("tanh", UNSHARED)
    _, x, *parameters = (tensor.detach() for tensor in tensors)

    def loss(x):
        return function(x, *parameters).square().sum()

    found = [
        torch.func.grad(loss)(x),
        torch.func.hessian(loss)(x[:1]),
        torch.vmap(torch.func.grad(loss))(x[:, None]),
    ]
    with plain_operators():
        close(found[:1], [torch.func.grad(loss)(x)])
        close(found[1:2], [torch.func.hessian(loss)(x[:1])])
    close(found[2][:, 0], found[0])


def test_a_recorded_program_holds_plain_operators(tensors, used):
    from torch.fx.experimental.proxy_tensor import make_fx

    function = operation("relu", UNSHARED)
    inputs = [tensor.detach() for tensor in tensors[1:]]
    recorded = make_fx(function)(*inputs)
    assert not used()
    assert "keras_vaf" not in recorded.code
    close([recorded(*inputs)], [function(*inputs)])


@pytest.mark.parametrize("g", ["relu", "tanh"])
def test_any_view(library, g):
    import torch

    arrays, (upstream, x, *parameters) = arguments(SHAPE, UNSHARED, g=g)
    leaves = [p.requires_grad_() for p in parameters]
    other = upstream.transpose(0, 1).contiguous().transpose(0, 1)
    for d, view in (
        (other, torch.stack([x, x], -1)[..., 0]),
        (torch._neg_view(-upstream), torch._neg_view(-x)),
    ):
        found = gradients(operation(g, UNSHARED), [d, view.requires_grad_(), *leaves])
        assert_close(to_arrays(found), arrays, g)
    for view in (x[:1].expand(3, 4, 5), x[:0], x[:, ::2][:0]):
        for d in (torch.ones_like(view), torch.ones(()).expand(view.shape)):
            given = [d, view.detach().requires_grad_(), *leaves]
            found = gradients(operation(g, UNSHARED), given)
            with plain_operators():
                close(found, gradients(operation(g, UNSHARED), given))
