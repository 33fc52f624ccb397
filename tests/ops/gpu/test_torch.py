"""The kernels in Triton: interpreted, compiled without a GPU, and chosen."""

import itertools
import os
import re
import subprocess
import sys
import types
import warnings
from pathlib import Path

import pytest

from keras_vaf.ops import info

pytestmark = [pytest.mark.backend("torch"), pytest.mark.needs("triton")]
ROOT = Path(__file__).parents[3]
SHAPES = {
    "layer": (2**20, 1, 1),
    "channels last": (2**14, 256, 1),
    "channels first": (64, 256, 3136),
}


def interpret(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "tests.ops.gpu.interpreted", *arguments],
        cwd=ROOT,
        env={**os.environ, "TRITON_INTERPRET": "1", "KERAS_BACKEND": "torch"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("few", [(), pytest.param(("all",), marks=pytest.mark.nightly)])
def test_the_interpreter_computes_what_float64_does(few):
    interpret(*few)


def compiled(gradient, sizes, k, g, dtype):
    """Return the PTX of the kernel for an H200, and what the assembler says of it."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from keras_vaf.ops.gpu.plan import plan
    from keras_vaf.ops.gpu.triton_on_torch import kernel

    p = plan(sizes, k, 4 if dtype == "fp32" else 2, 132, gradient)
    constants = {"K": k, "G": g, "ROWS": p.rows, "WIDTH": p.width, "COLUMNS": p.columns}
    numbers = {"outer": p.outer, "units": p.units, "inner": p.inner}
    constants |= {each: 1 for each, size in numbers.items() if size == 1}
    constants |= {} if gradient else {"d": None, "sums": None}
    signature = dict.fromkeys(kernel.arg_names, f"*{dtype}")
    signature |= dict.fromkeys(("weight", "sums"), "*fp32")
    signature |= dict.fromkeys(numbers, "i32") | dict.fromkeys(constants, "constexpr")
    places = {each: (i,) for i, each in enumerate(signature)}
    aligned = [n for n, kind in signature.items() if kind[0] == "*" or kind == "i32"]
    source = ASTSource(
        kernel,
        signature,
        {places[each]: value for each, value in constants.items()},
        {places[each]: [["tt.divisibility", 16]] for each in aligned},
    )
    target = GPUTarget("cuda", 90, 32)
    ptx = triton.compile(source, target=target, options={"num_warps": p.warps}).asm
    assembler = triton.knobs.nvidia.ptxas.path
    command = [assembler, "-v", "--gpu-name=sm_90a", "-o", os.devnull, "-"]
    done = subprocess.run(command, input=ptx["ptx"].encode(), capture_output=True)
    return ptx["ptx"], done.stderr.decode()


@pytest.mark.parametrize(
    ("place", "dtype", "g"),
    [
        *[("layer", "bf16", "relu"), ("channels last", "fp32", "gelu")],
        *(
            pytest.param(*case, marks=pytest.mark.nightly)
            for case in itertools.product(
                SHAPES, ("bf16", "fp16", "fp32"), ("relu", "gelu", "tanh")
            )
        ),
    ],
)
@pytest.mark.parametrize("gradient", [False, True])
def test_compiled_kernels_keep_sums_in_registers(gradient, place, dtype, g):
    ptx, said = compiled(gradient, SHAPES[place], 3, g, dtype)
    assert "0 bytes spill stores" in said
    # In half precision, four columns of a thread are 8 bytes.
    narrow = place == "channels last" and dtype != "fp32"
    wide = "v2.b32" if narrow else "v4.b32"
    assert f"ld.global.{wide}" in ptx and f"st.global.{wide}" in ptx
    assert not re.search(r"ld\.global\.b16", ptx)


@pytest.fixture
def on_gpu(monkeypatch):
    """The module, with a processor that passes for a GPU."""
    import torch

    from keras_vaf.ops import switches
    from keras_vaf.ops.gpu import on_torch, trial

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: (9, 0))
    monkeypatch.setenv("KERAS_VAF_KERNELS", "1")
    monkeypatch.setattr(switches._without_kernels, "is_on", False)
    monkeypatch.setattr(trial, "_errors", {})
    monkeypatch.setattr(on_torch, "on_gpu", lambda x: True)
    on_torch.cannot_run.cache_clear()
    yield on_torch
    on_torch.cannot_run.cache_clear()


def takes(on_gpu):
    import torch

    return on_gpu.takes(torch.ones(3), torch.ones(7), "relu", ())


def test_one_failure_or_a_captured_graph_is_not_the_last_word(on_gpu):
    from keras_vaf.ops.gpu.trial import refusal

    tries = []

    def run():
        tries.append(1)
        if len(tries) < 3:
            raise RuntimeError("Failed to find C compiler.")

    assert refusal("kernel", run, captured=True) and not tries
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match="Failed to find C compiler"):
            assert refusal("kernel", run)
    assert not refusal("kernel", run) and not refusal("kernel", run, captured=True)


def test_what_triton_refuses_is_left_to_pytorch(on_gpu):
    """Here it finds no GPU."""
    import torch

    from keras_vaf.torch import VAF

    vaf, x = VAF(g="gelu", unshared=(3,)), torch.randn(5, 3, requires_grad=True)
    assert takes(on_gpu)
    for calls in range(4):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            y = vaf(x)
            y.sum().backward()
        assert len(said) == (0 if calls == 3 else 2)  # forward and backward
        torch.testing.assert_close(y, torch.nn.functional.gelu(x))


def test_other_gpus_use_the_operators_of_pytorch(on_gpu, monkeypatch):
    import torch

    # Each change hides those before it.
    for said, target, name, value in (
        ("imported", on_gpu, "_KERNEL", "no_module"),
        ("older than", torch.cuda, "get_device_capability", lambda device: (7, 5)),
        ("there is no GPU", torch.cuda, "is_available", lambda: False),
    ):
        monkeypatch.setattr(target, name, value)
        on_gpu.cannot_run.cache_clear()
        assert not takes(on_gpu)
        assert said in info()["kernels for GPUs"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of PyTorch itself
@pytest.mark.parametrize("dynamic", [None, True])
def test_compiled_programs_have_the_mixed_form(monkeypatch, dynamic):
    """One kernel computes the gradient, and writes only the gradient."""
    import torch
    import triton
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd
    from triton.backends.compiler import GPUTarget

    from keras_vaf.ops import switches
    from keras_vaf.ops.gpu import on_torch
    from keras_vaf.torch import VAF

    monkeypatch.setattr(switches._without_kernels, "is_on", False)
    monkeypatch.setattr(on_torch, "on_gpu", lambda x: True)
    monkeypatch.setattr(on_torch, "cannot_run", lambda device: "")
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
