"""The kernels under what PyTorch does with an operation."""

import numpy as np
import pytest

from keras_vaf.layers import VAFActivation
from keras_vaf.ops import plain_operators
from keras_vaf.ops.functions import get_function
from keras_vaf.ops.gradient import plain_forward
from keras_vaf.ops.layout import Layout
from keras_vaf.ops.vaf import VAF
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


@pytest.mark.parametrize("dynamic", [False, True])
def test_compiled_programs_hold_the_operators(tensors, used, dynamic):
    import torch

    torch._dynamo.reset()
    function = torch.compile(
        operation("tanh", UNSHARED),
        fullgraph=True,
        backend="aot_eager",
        dynamic=dynamic,
    )
    found = gradients(function, tensors)
    assert used()
    with plain_operators():
        close(found, gradients(operation("tanh", UNSHARED), tensors))


# PyTorch 2.14 warns in its own check.
@pytest.mark.filterwarnings("ignore:The .grad attribute:UserWarning")
def test_the_operators_keep_the_rules_of_pytorch(tensors):
    import torch

    from keras_vaf.ops.native import operators_on_torch as operators

    rest = ("sin", list(UNSHARED), 0)
    for operator, inputs in (
        (operators._forward, tensors[1:]),
        (operators._backward, tensors),
    ):
        torch.library.opcheck(operator, (*inputs, *rest))


def test_batched_gradients_use_plain_operators(tensors, used):
    import torch

    upstream, *leaves = tensors
    y = operation("relu", UNSHARED)(*leaves)
    stacked = torch.stack([upstream, -2 * upstream])
    have = torch.autograd.grad(y, leaves, stacked, True, is_grads_batched=True)
    want = torch.autograd.grad(y, leaves, upstream)
    close(have, [torch.stack([gradient, -2 * gradient]) for gradient in want])


def test_second_derivatives_follow_the_plain_formula(tensors, used):
    import torch

    def second(function):
        upstream, *leaves = tensors
        y = function(*leaves)
        first = torch.autograd.grad(y, leaves, upstream, create_graph=True)
        return torch.autograd.grad(sum(g.sin().sum() for g in first), leaves[:-1])

    found = second(operation("tanh", UNSHARED))
    assert used()
    with plain_operators():
        close(found, second(operation("tanh", UNSHARED)))


def test_vmap_runs_several_networks_at_once(tensors, library):
    import torch

    from keras_vaf.ops.native import operators_on_torch as operators

    def one(x, *parameters):
        return operators._forward(x, *parameters, "tanh", list(UNSHARED), 0)

    _, x, *parameters = (tensor.detach() for tensor in tensors)
    stacked = [torch.stack([p, -2 * p]) for p in parameters]
    before = library.vaf_calls()
    values = torch.vmap(one, (None, 0, 0, 0, 0))(x, *stacked)
    assert library.vaf_calls() == before + 1
    backward = torch.vmap(
        lambda *p: operators._backward(tensors[0], x, *p, "tanh", list(UNSHARED), 0)
    )
    mapped = backward(*stacked)
    layout, function = Layout(3, UNSHARED), VAF(get_function("tanh", "g"))
    for i in range(2):
        own = [p[i] for p in stacked]
        close([values[i]], [plain_forward(function, layout, x, *own)])
        leaves = [tensor.clone().requires_grad_() for tensor in (x, *own)]
        close([m[i] for m in mapped], gradients(one, [tensors[0], *leaves])[1:])


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


@pytest.mark.parametrize("g", ["relu", "silu"])
def test_non_contiguous_input(tensors, g):
    import torch

    arrays, (upstream, x, *parameters) = arguments(SHAPE, UNSHARED)
    apart = torch.stack([x, x], -1)[..., 0].requires_grad_()
    other = upstream.transpose(0, 1).contiguous().transpose(0, 1)
    leaves = [p.requires_grad_() for p in parameters]
    found = gradients(operation(g, UNSHARED), [other, apart, *leaves])
    assert_close(to_arrays(found), arrays, g)


def test_a_recorded_program_holds_plain_operators(tensors, used):
    from torch.fx.experimental.proxy_tensor import make_fx

    function = operation("relu", UNSHARED)
    inputs = [tensor.detach() for tensor in tensors[1:]]
    recorded = make_fx(function)(*inputs)
    assert not used()
    assert "keras_vaf" not in recorded.code
    close([recorded(*inputs)], [function(*inputs)])


def test_exports_hold_plain_operators(library, used):
    import torch

    program = torch.export.export(VAFActivation(), (torch.ones(2, 3),))
    assert not used()
    assert "keras_vaf" not in str(program.graph)


def test_compiled_transformations_hold_plain_operators(tensors):
    import torch
    from torch.autograd import forward_ad

    torch._dynamo.reset()
    function = operation("tanh", UNSHARED)
    _, x, *parameters = (tensor.detach() for tensor in tensors)

    def value(x):
        return function(x, *parameters)

    def derivative(x):
        return torch.func.jvp(value, (x,), (x,))[1]

    expected = derivative(x)
    close([torch.compile(derivative, backend="aot_eager")(x)], [expected])
    compiled = torch.compile(value, backend="aot_eager")
    compiled(x)
    with forward_ad.dual_level(), pytest.raises(RuntimeError, match="plain_operators"):
        compiled(forward_ad.make_dual(x, x))


@pytest.mark.parametrize("g", ["relu", "tanh"])
def test_a_view_with_negative_sign_is_read_with_it(library, g):
    import torch

    arrays, (upstream, x, *parameters) = arguments(SHAPE, UNSHARED, g=g)
    leaves = [p.requires_grad_() for p in parameters]
    opposite = torch._neg_view(-x).requires_grad_()
    assert opposite.is_neg()
    upstream = torch._neg_view(-upstream)
    assert_close(
        to_arrays(gradients(operation(g, UNSHARED), [upstream, opposite, *leaves])),
        arrays,
        g,
    )
