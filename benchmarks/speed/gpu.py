"""Measure training steps of whole models on a GPU: `python -m benchmarks.speed.gpu`.

Each framework runs in its own process. A row of `docs/reports/speed/gpu.csv.xz` is one
activation in one model: the time of a training step relative to that of the fixed
activation, the memory at its peak, and the seconds of the first step. In each of nine
rounds, all activations of a model run in turn. `--quick` runs a small model of each.

PyTorch runs in bfloat16 by autocast: eager, captured in a CUDA graph, which is the
card's own time, and compiled. JAX runs compiled steps of Keras in mixed_bfloat16.
"""

import copy
import functools
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.speed.networks import Arm, network
from benchmarks.speed.rows import Row, in_turn, measured, save, seconds_of, summary

OUTPUT = Path("docs/reports/speed/gpu.csv.xz")
ARMS = ("fixed", "prelu", "layer", "channel")
STEPS = 5  # in one measurement
Step = Callable[[], Any]


def main() -> None:
    """Measure both frameworks, or one of them if this is its process."""
    quick = ["--quick"] * ("--quick" in sys.argv)
    for name, measure in {"torch": on_torch, "jax": on_jax}.items():
        if name in sys.argv:
            for row in measure(bool(quick)):
                print(json.dumps({"code": "package"} | row), flush=True)
            return
    rows: list[Row] = []
    for name in ("torch", "jax"):
        variables = {"KERAS_BACKEND": name, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
        rows += measured(["benchmarks.speed.gpu", name, *quick], variables)
    if not quick:
        import torch

        device = torch.cuda.get_device_name()
        save(OUTPUT, "python -m benchmarks.speed.gpu", device, rows)


def compared(
    about: Row, builders: Sequence[Callable[[], Step]], cuda: Any = None
) -> Iterator[Row]:
    """Measure the steps of all activations; `cuda` is PyTorch's, if there is a card."""
    wait = cuda.synchronize if cuda else lambda: None
    works, rows = [], []
    for arm, build in zip(ARMS, builders, strict=True):
        step = build()
        if cuda:
            cuda.reset_peak_memory_stats()
            before = cuda.memory_allocated()
        first = seconds_of(functools.partial(repeated, step, wait, 1))
        rows.append(about | {"activation": arm, "first_seconds": round(first, 2)})
        repeated(step, wait, 3)
        if cuda:
            peak = (cuda.max_memory_allocated() - before) / 2**30
            rows[-1]["memory_gb"] = round(peak, 2)
        step = captured(step) if about["mode"] == "graph" else step
        works.append(functools.partial(repeated, step, wait, STEPS))
    times = [[each / STEPS for each in own] for own in in_turn(works, seconds=0)]
    for row, own in zip(rows, times, strict=True):
        yield row | summary(own, times[0])


def repeated(step: Step, wait: Step, count: int) -> None:
    """Run a step several times, and wait for the card."""
    for _ in range(count):
        step()
    wait()


def on_torch(quick: bool) -> Iterator[Row]:
    """Measure models of timm and transformers."""
    import torch

    cuda = torch.cuda if torch.cuda.is_available() else None
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.benchmark = True
    for name in ("small",) if quick else ("resnet50", "gpt2", "vit_small_patch16_224"):
        data = torch_model(name, torch.device("cuda" if cuda else "cpu"))
        for mode in ("eager", "graph", "compiled") if cuda else ("eager",):
            about = {"framework": "torch", "model": name, "mode": mode}
            steps = [functools.partial(torch_step, *data, arm, mode) for arm in ARMS]
            yield from compared(about, steps, cuda)
            torch._dynamo.reset()


def torch_model(name: str, device: Any) -> tuple[Any, Any, Any]:
    """Return a model, its inputs and its targets."""
    import torch
    from torch import nn

    if name == "small":
        model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
        x, y = torch.randn(256, 64), torch.zeros(256, dtype=torch.long)
    elif name == "gpt2":
        import transformers

        off = "resid_pdrop embd_pdrop attn_pdrop bos_token_id eos_token_id use_cache"
        settings: Row = {"n_positions": 512, "activation_function": "gelu"}
        settings |= {"vocab_size": 8192} | dict.fromkeys(off.split(), 0)
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**settings))
        x = y = torch.randint(8192, (16, 512))
    else:
        import timm

        model = timm.create_model(name, num_classes=100)
        model = model.to(memory_format=torch.channels_last)
        x, y = torch.randn(128, 3, 224, 224), torch.randint(100, (128,))
        x = x.to(memory_format=torch.channels_last)
    return model.to(device), x.to(device), y.to(device)


def with_activation(model: Any, arm: str, x: Any) -> Any:
    """Return a copy in which an activation replaces each ReLU and GELU."""
    from torch import nn

    import keras_vaf

    if arm in ("layer", "channel"):
        return keras_vaf.convert(model, k=3, data=x[:2], sharing=arm)
    model = copy.deepcopy(model)
    for name, module in [*model.named_modules()] if arm == "prelu" else ():
        if isinstance(module, nn.ReLU | nn.GELU) or "GELU" in type(module).__name__:
            model.set_submodule(name, nn.PReLU().to(x.device))
    return model


def torch_step(model: Any, x: Any, y: Any, arm: str, mode: str) -> Step:
    """Return a training step in bfloat16."""
    import torch

    model = with_activation(model, arm, x)
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    run = torch.compile(model) if mode == "compiled" else model

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        kind = torch.bfloat16
        with torch.autocast(x.device.type, kind, cache_enabled=mode != "graph"):
            if y.ndim == 2:  # tokens
                loss = run(x, labels=y).loss
            else:
                loss = torch.nn.functional.cross_entropy(run(x), y)
        loss.backward()
        optimizer.step()

    return step


def captured(step: Step) -> Step:
    """Return a step as a CUDA graph."""
    import torch

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    replay: Step = graph.replay
    return replay


def on_jax(quick: bool) -> Iterator[Row]:
    """Measure models of Keras, whose VAFs come from `convert`."""
    import keras

    keras.config.set_dtype_policy("mixed_bfloat16")
    models = {"resnet50": "relu", "language": "gelu"}
    for name, g in ({"MLP": "relu"} if quick else models).items():
        about = {"framework": "jax", "model": name, "mode": "compiled"}
        arms = [Arm(g), Arm("PReLU"), *(Arm("VAF", g, 3, each) for each in ARMS[2:])]
        steps = [functools.partial(jax_step, name, arm, g) for arm in arms]
        yield from compared(about, steps)


def jax_step(name: str, arm: Arm, g: str) -> Step:
    """Return a training step of Keras, which waits for the loss."""
    import jax

    model, *data = network(name, arm, g)
    return functools.partial(model.train_on_batch, *map(jax.device_put, data))


if __name__ == "__main__":
    main()
