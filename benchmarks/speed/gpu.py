"""Measure training steps of whole models on a GPU: `python -m benchmarks.speed.gpu`.

Each framework runs in its own process. A row of `docs/reports/speed/gpu.csv.xz` is one
activation in one model: the time of a training step relative to that of the fixed
activation, the memory at its peak, and the seconds of the first step. In each of five
rounds, all activations of a model run in turn.

PyTorch runs in bfloat16 by autocast: eager, captured in a CUDA graph, which is the
card's own time, and compiled. JAX runs compiled steps of Keras in mixed_bfloat16.
"""

import argparse
import copy
import json
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.environment import gpu
from benchmarks.speed.record import Row, measured, save

OUTPUT = Path("docs/reports/speed/gpu.csv.xz")
ARMS = ("fixed", "prelu", "layer", "channel")
ROUNDS, STEPS = 5, 5
Step = Callable[[], Any]


def main() -> None:
    """Measure both frameworks, or one of them if this is its process."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--framework", choices=("torch", "jax"))
    parser.add_argument("--quick", action="store_true", help="a small model of each")
    arguments = parser.parse_args()
    if arguments.framework:
        measure = on_torch if arguments.framework == "torch" else on_jax
        for row in measure(arguments.quick):
            print(json.dumps(row), flush=True)
        return
    rows: list[Row] = []
    for framework in ("torch", "jax"):
        variables = {"KERAS_BACKEND": framework}
        variables |= {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
        options = ["--framework", framework, *["--quick"] * arguments.quick]
        rows += measured("gpu", options, variables)
    if not arguments.quick:
        save(OUTPUT, "python -m benchmarks.speed.gpu", gpu(), rows)


def rows_of(about: Row, steps: dict[str, Step], wait: Step, facts: Row) -> list[Row]:
    """Measure the steps of all activations in turn, and return a row of each."""
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(ROUNDS):
        for name, step in steps.items():
            wait()
            start = time.perf_counter()
            for _ in range(STEPS):
                step()
            wait()
            seconds[name].append((time.perf_counter() - start) / STEPS)
    rows = []
    for name, times in seconds.items():
        ratios = [a / b for a, b in zip(times, seconds["fixed"], strict=True)]
        found = {
            "activation": name,
            "ratio_low": round(min(ratios), 3),
            "ratio_high": round(max(ratios), 3),
            "milliseconds": round(1000 * statistics.median(times), 3),
        }
        rows.append({"code": "package"} | about | found | facts[name])
    return rows


def on_torch(quick: bool) -> Iterator[Row]:
    """Measure models of timm and transformers."""
    import torch

    card = torch.cuda.is_available()
    device = torch.device("cuda" if card else "cpu")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.benchmark = True
    wait = torch.cuda.synchronize if card else lambda: None
    names = ("small",) if quick else ("resnet50", "gpt2", "vit_small_patch16_224")
    for name in names:
        model, x, y = torch_model(name, device)
        for mode in ("eager", "graph", "compiled") if card else ("eager",):
            steps, facts = {}, {}
            for arm in ARMS:
                step = torch_step(with_activation(model, arm, x), x, y, mode)
                before = torch.cuda.memory_allocated() if card else 0
                if card:
                    torch.cuda.reset_peak_memory_stats()
                start = time.perf_counter()
                step()
                wait()
                facts[arm] = {"first_seconds": round(time.perf_counter() - start, 2)}
                for _ in range(3):
                    step()
                if card:
                    peak = (torch.cuda.max_memory_allocated() - before) / 2**30
                    facts[arm]["memory_gb"] = round(peak, 2)
                steps[arm] = captured(step) if mode == "graph" else step
            about = {"framework": "torch", "model": name, "mode": mode}
            yield from rows_of(about, steps, wait, facts)
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

        settings: Row = dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0)
        settings |= dict.fromkeys(("bos_token_id", "eos_token_id", "use_cache"), 0)
        settings |= {"vocab_size": 8192, "n_positions": 512}
        settings |= {"activation_function": "gelu"}
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


def torch_step(model: Any, x: Any, y: Any, mode: str) -> Step:
    """Return a training step in bfloat16."""
    import torch

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

    import keras_vaf
    from benchmarks.speed.models import on_gpu

    def prelu(activation: Any) -> Any:
        rank = len(activation.output.shape) if hasattr(activation, "output") else 2
        return keras.layers.PReLU(shared_axes=list(range(1, rank)))

    keras.config.set_dtype_policy("mixed_bfloat16")
    for name in ("small",) if quick else ("resnet50", "transformer"):
        steps, facts = {}, {}
        for arm in ARMS:
            keras.utils.set_random_seed(0)
            model, x, y = on_gpu(name)
            if arm == "prelu":
                model = keras_vaf.convert(model, to=prelu)
            elif arm != "fixed":
                model = keras_vaf.convert(model, k=3, sharing=arm)
            steps[arm] = jax_step(model, x, y)
            start = time.perf_counter()
            steps[arm]()
            facts[arm] = {"first_seconds": round(time.perf_counter() - start, 2)}
        about = {"framework": "jax", "model": name, "mode": "compiled"}
        yield from rows_of(about, steps, lambda: None, facts)


def jax_step(model: Any, x: Any, y: Any) -> Step:
    """Return a compiled training step, which waits for its result."""
    import jax
    import keras

    optimizer = keras.optimizers.SGD(1e-4)
    optimizer.build(model.trainable_variables)
    score = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    groups = model.trainable_variables, model.non_trainable_variables
    state = [[v.value for v in g] for g in (*groups, optimizer.variables)]
    x, y = map(jax.device_put, (x, y))

    def loss(weights: Any, others: Any) -> Any:
        outputs, others = model.stateless_call(weights, others, x, training=True)
        return score(y, outputs.astype("float32")), others

    @jax.jit
    def run(weights: Any, others: Any, slots: Any) -> Any:
        found, others = jax.grad(loss, has_aux=True)(weights, others)
        weights, slots = optimizer.stateless_apply(slots, found, weights)
        return weights, others, slots

    def run_once() -> None:
        state[:] = jax.block_until_ready(run(*state))

    return run_once


if __name__ == "__main__":
    main()
