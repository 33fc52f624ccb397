"""The operation under PyTorch's transformations."""

import numpy as np
import pytest

from tests.harness import to_arrays, to_tensors, vjp
from tests.ops.test_vaf import case, expect

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


def test_compiled_programs_match_the_reference():
    import torch

    upstream, arguments, f = case()
    # With Keras 3.12, PyTorch 2.6 divides a program at each operation of Keras.
    whole = not torch.__version__.startswith("2.6.")
    run = torch.compile(f, backend="aot_eager", fullgraph=whole)
    upstream_tensor, *tensors = to_tensors([upstream, *arguments])
    y, gradients = vjp(run, tensors, upstream_tensor)
    want = expect("sigmoid", (1,), [upstream, *arguments])
    for one, other in zip(to_arrays([y, *gradients]), want, strict=True):
        np.testing.assert_allclose(one, other, 1e-10, 1e-12)
