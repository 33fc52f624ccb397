"""The kernels in Triton: interpreted, compiled without a GPU, and chosen."""

import itertools
import os
import subprocess
import types

import pytest

from keras_vaf.ops import info, switches
from tests.ops.native.harness import python

pytestmark = [pytest.mark.backend("torch"), pytest.mark.needs("triton")]
SHAPES = {
    "layer": (2**20, 1, 1),
    "channels last": (2**14, 256, 1),
    "channels first": (64, 256, 3136),
}


@pytest.mark.parametrize("few", [(), pytest.param(("all",), marks=pytest.mark.nightly)])
def test_the_interpreter_computes_what_float64_does(few):
    variables = {"TRITON_INTERPRET": "1", "KERAS_BACKEND": "torch"}
    python("-m", "tests.ops.gpu.interpreted", *few, **variables)


def compiled(gradient, sizes, k, g, dtype):
    """Return the PTX of the kernel for an H200, and what the assembler says of it."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from keras_vaf.ops.gpu.plan import plan
    from keras_vaf.ops.gpu.triton_on_torch import kernel

    p = plan(sizes, k, 4 if dtype == "fp32" else 2, gradient)
    given = dict(zip(kernel.arg_names[5:], [*p[:9], k, g], strict=True))
    numbers = {name: value for name, value in given.items() if name.islower()}
    constants = {n: v for n, v in given.items() if n not in numbers or v == 1}
    constants |= {} if gradient else {"d": None, "sums": None}
    signature = dict.fromkeys(kernel.arg_names, f"*{dtype}")
    signature |= dict.fromkeys(("weight", "sums"), "*fp32")
    signature |= dict.fromkeys(numbers, "i32") | dict.fromkeys(constants, "constexpr")
    aligned = {
        (i,): [["tt.divisibility", 16]]
        for i, name in enumerate(signature)
        if name not in constants and numbers.get(name, 16) % 16 == 0
    }
    source = ASTSource(kernel, signature, constants, aligned)
    target, options = GPUTarget("cuda", 90, 32), {"num_warps": p.warps}
    ptx = triton.compile(source, target=target, options=options).asm["ptx"]
    assembler = triton.knobs.nvidia.ptxas.path
    command = [assembler, "-v", "--gpu-name=sm_90a", "-o", os.devnull, "-"]
    done = subprocess.run(command, input=ptx, capture_output=True, text=True)
    return ptx, done.stderr


SOME = [("layer", "bf16", "relu"), ("channels last", "fp32", "gelu")]
ALL = itertools.product(SHAPES, ("bf16", "fp16", "fp32"), ("relu", "gelu", "tanh"))
LATE = [pytest.param(*case, marks=pytest.mark.nightly) for case in ALL]


@pytest.mark.parametrize(("place", "dtype", "g"), SOME + LATE)
@pytest.mark.parametrize("gradient", [False, True])
def test_compiled_kernels_keep_sums_in_registers(gradient, place, dtype, g):
    ptx, said = compiled(gradient, SHAPES[place], 3, g, dtype)
    assert "0 bytes spill stores" in said
    # In half precision, four columns of a thread are 8 bytes.
    wide = "v2.b32" if place == "channels last" and dtype != "fp32" else "v4.b32"
    assert f"ld.global.{wide}" in ptx and f"st.global.{wide}" in ptx
    assert "ld.global.b16" not in ptx


@pytest.fixture
def on_gpu(monkeypatch):
    """The module, with a processor that passes for a GPU."""
    from keras_vaf.ops.gpu import on_torch, plan

    monkeypatch.setattr(switches._without_kernels, "is_on", False)
    monkeypatch.setattr(plan, "_errors", {})
    monkeypatch.setattr(on_torch, "cannot_run", lambda device: "")
    return on_torch


def test_three_failures_in_a_row_leave_a_kernel_to_pytorch(on_gpu):
    """Here Triton finds no GPU."""
    import torch

    from keras_vaf.ops.gpu.plan import refusal
    from keras_vaf.torch import VAF

    vaf, x = VAF(g="gelu", unshared=(3,)), torch.randn(5, 3, requires_grad=True)
    for _ in range(3):
        with pytest.warns(RuntimeWarning, match="does not work") as said:
            y = vaf(x)
            y.sum().backward()
        assert len(said) == 2  # forward and backward
        torch.testing.assert_close(y, torch.nn.functional.gelu(x))
        for _ in range(2):
            with pytest.warns(RuntimeWarning, match="no compiler"):
                assert refusal("other", lambda: exec("raise OSError('no compiler')"))
        assert not refusal("other", str)
    vaf(x).sum().backward()  # without a warning


def test_other_gpus_use_the_operators_of_pytorch(monkeypatch):
    import torch

    from keras_vaf.ops.gpu import on_torch

    monkeypatch.setenv("KERAS_VAF_KERNELS", "1")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (9, 0))
    # Each change hides those before it.
    for said, target, name, value in (
        ("imported", on_torch, "_KERNEL", "no_module"),
        ("older than", torch.cuda, "get_device_capability", lambda device: (7, 5)),
        ("no NVIDIA GPU", torch.cuda, "is_available", lambda: False),
    ):
        monkeypatch.setattr(target, name, value)
        monkeypatch.setattr(on_torch, "_reasons", {})
        assert said in info()["kernels for GPUs"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of PyTorch itself
@pytest.mark.parametrize("dynamic", [None, True])
def test_compiled_programs_have_the_mixed_form(on_gpu, monkeypatch, dynamic):
    """One kernel computes the gradient, and writes only the gradient."""
    import torch
    import triton
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd
    from triton.backends.compiler import GPUTarget

    from keras_vaf.torch import VAF

    driver = types.SimpleNamespace(
        get_current_target=lambda: GPUTarget("cuda", 90, 32),
        get_current_device=lambda: 0,
    )
    monkeypatch.setattr(triton.runtime.driver, "_active", driver)
    graphs = []

    def keep(graph, inputs):
        graphs.append(graph)
        return make_boxed_func(graph.forward)

    torch._dynamo.reset()
    module = torch.nn.Sequential(*(VAF(unshared=(16,)) for _ in range(10)))
    backend = aot_autograd(fw_compiler=keep, bw_compiler=keep)
    run = torch.compile(module, backend=backend, fullgraph=True, dynamic=dynamic)
    x = torch.randn(2, 16, 5, 3).to(memory_format=torch.channels_last).requires_grad_()
    with pytest.raises(AttributeError, match="get_current_stream"):  # it has no GPU
        run(x).sum().backward()
    forward, backward = (
        [node for node in graph.graph.nodes if "triton" in str(node.target)]
        for graph in graphs
    )
    assert not forward
    launched = [n for n in backward if "tensors_to_clone" in n.kwargs]
    assert len(launched) == 10
    assert all(n.kwargs["tensors_to_clone"] == ["out", "sums"] for n in launched)
