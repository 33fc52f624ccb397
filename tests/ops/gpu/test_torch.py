"""The kernels in Triton: interpreted, compiled without a GPU, and chosen."""

import itertools
import os
import subprocess
import types

import pytest
import torch
import triton
from functorch.compile import make_boxed_func
from torch._dynamo.backends.common import aot_autograd
from triton.backends.compiler import GPUTarget

from keras_vaf.ops import info, switches
from keras_vaf.ops.gpu import on_torch, plan, triton_on_torch
from keras_vaf.torch import VAF
from tests.ops.native.harness import DTYPES, python

SHAPES = {
    "layer": (2**20,),
    "channels last": (2**14, 256),
    "channels first": (64, 256, 3136),
}


@pytest.mark.parametrize("few", [(), pytest.param(("all",), marks=pytest.mark.nightly)])
def test_the_interpreter_computes_what_float64_does(few):
    variables = {"TRITON_INTERPRET": "1", "KERAS_BACKEND": "torch"}
    python("-m", "tests.ops.gpu.interpreted", *few, **variables)


@pytest.fixture
def compiled(monkeypatch):
    """The kernels that were compiled for an H200 instead of launched."""
    found, run = [], triton_on_torch.kernel.run
    driver = types.SimpleNamespace(
        get_current_target=lambda: GPUTarget("cuda", 90, 32),
        get_current_device=lambda: 0,
        get_current_stream=lambda device: 0,
    )

    def compile_only(*args, **options):
        found.append(run(*args, **options | {"warmup": True}))

    monkeypatch.setattr(triton.runtime.driver, "_active", driver)
    monkeypatch.setattr(triton_on_torch.kernel, "run", compile_only)
    return found


SOME = [("layer", "bfloat16", "relu"), ("channels last", "float32", "gelu")]
ALL = itertools.product(SHAPES, DTYPES, ("relu", "gelu", "tanh"))
LATE = [pytest.param(*case, marks=pytest.mark.nightly) for case in ALL]


@pytest.mark.parametrize(("place", "dtype", "g"), SOME + LATE)
@pytest.mark.parametrize("gradient", [False, True])
def test_compiled_kernels_keep_sums_in_registers(compiled, gradient, place, dtype, g):
    x = torch.empty(SHAPES[place], dtype=getattr(torch, dtype), device="meta")
    functions, axes = (x.shape[1:2], (1,)) if x.ndim > 1 else ((), ())
    weight = torch.empty((*functions, 10), device="meta")
    on_torch.launch(x if gradient else None, x, weight, g, axes)
    ptx = compiled[0].asm["ptx"]
    assembler = triton.knobs.nvidia.ptxas.path
    command = [assembler, "-v", "--gpu-name=sm_90a", "-o", os.devnull, "-"]
    done = subprocess.run(command, input=ptx, capture_output=True, text=True)
    assert "0 bytes spill stores" in done.stderr
    # In half precision, four columns of a thread are 8 bytes.
    wide = "v2.b32" if place == "channels last" and dtype != "float32" else "v4.b32"
    assert f"ld.global.{wide}" in ptx and f"st.global.{wide}" in ptx
    assert "ld.global.b16" not in ptx


@pytest.fixture
def on_gpu(monkeypatch):
    """Let the processor pass for a GPU."""
    monkeypatch.setattr(switches._without_kernels, "is_on", False)
    monkeypatch.setattr(plan, "_errors", {})
    monkeypatch.setattr(on_torch, "cannot_run", lambda device: "")


def test_three_failures_in_a_row_leave_a_kernel_to_pytorch(on_gpu):
    """Here Triton finds no GPU."""
    vaf, x = VAF(g="gelu", unshared=(3,)), torch.randn(5, 3, requires_grad=True)
    for _ in range(3):
        with pytest.warns(RuntimeWarning, match="does not work") as said:
            y = vaf(x)
            y.sum().backward()
        assert len(said) == 2  # forward and backward
        torch.testing.assert_close(y, torch.nn.functional.gelu(x))
        for _ in range(2):
            with pytest.warns(RuntimeWarning, match="no compiler"):
                assert plan.refusal(
                    "other", lambda: exec("raise OSError('no compiler')")
                )
        assert not plan.refusal("other", str)
    vaf(x).sum().backward()  # without a warning


def test_other_gpus_use_the_operators_of_pytorch(monkeypatch):
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
def test_compiled_programs_have_the_mixed_form(on_gpu, compiled, dynamic):
    """One kernel computes the gradient, and writes only the gradient."""
    graphs = []

    def keep(graph, inputs):
        graphs.append(graph)
        return make_boxed_func(graph.forward)

    torch._dynamo.reset()
    module = torch.nn.Sequential(*(VAF(unshared=(16,)) for _ in range(10)))
    backend = aot_autograd(fw_compiler=keep, bw_compiler=keep)
    run = torch.compile(module, backend=backend, fullgraph=True, dynamic=dynamic)
    x = torch.randn(2, 16, 5, 3).to(memory_format=torch.channels_last).requires_grad_()
    run(x).sum().backward()
    forward, backward = (
        [node for node in graph.graph.nodes if "triton" in str(node.target)]
        for graph in graphs
    )
    assert not forward
    launched = [n for n in backward if "tensors_to_clone" in n.kwargs]
    assert len(launched) == len(compiled) == 10
    assert all(n.kwargs["tensors_to_clone"] == ["out", "sums"] for n in launched)
