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
import csv
import io
import lzma
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

OUTPUT = Path("docs/reports/speed/gpu.csv.xz")
COLUMNS = (
    *("code", "framework", "model", "mode", "activation", "ratio_low", "ratio_high"),
    *("milliseconds", "memory_gb", "first_seconds"),
)
ROUNDS, STEPS = 5, 5
Step = Callable[[], Any]
Row = dict[str, Any]


def main() -> None:
    """Measure both frameworks, or one of them if this is its process."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--framework", choices=("torch", "jax"))
    parser.add_argument("--quick", action="store_true", help="a small model of each")
    arguments = parser.parse_args()
    if arguments.framework:
        measure = on_torch if arguments.framework == "torch" else on_jax
        writer = csv.DictWriter(sys.stdout, COLUMNS, restval="")
        for row in measure(arguments.quick):
            writer.writerow(row)
            sys.stdout.flush()
        return
    text = io.StringIO()
    csv.DictWriter(text, COLUMNS).writeheader()
    for framework in ("torch", "jax"):
        command = [sys.executable, "-m", "benchmarks.speed.gpu", "--framework"]
        command += [framework, *(["--quick"] if arguments.quick else [])]
        environment = os.environ | {"KERAS_BACKEND": framework}
        environment |= {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE)
        text.write(done.stdout.decode())
    print(text.getvalue())
    if not arguments.quick:
        OUTPUT.write_bytes(lzma.compress((_comment() + text.getvalue()).encode()))


def _comment() -> str:
    from benchmarks.environment import environment, gpu

    here = environment()
    asked = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(asked, capture_output=True, text=True).stdout.strip()
    versions = (
        f"{name} {here[name]}" for name in ("keras-vaf", "keras", "jax", "torch")
    )
    return (
        f"# command: python -m benchmarks.speed.gpu; commit: {commit}; "
        f"versions: {', '.join(versions)}; "
        f"device: {gpu()}, on {here['date']}\n"
    )


def timed(steps: dict[str, Step], wait: Step) -> dict[str, list[float]]:
    """Return the seconds of a step of each activation, for each round."""
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(ROUNDS):
        for name, step in steps.items():
            wait()
            start = time.perf_counter()
            for _ in range(STEPS):
                step()
            wait()
            seconds[name].append((time.perf_counter() - start) / STEPS)
    return seconds


def rows(about: Row, steps: dict[str, Step], wait: Step, facts: Row) -> Iterator[Row]:
    """Yield the rows of a model."""
    seconds = timed(steps, wait)
    for name, times in seconds.items():
        ratios = [a / b for a, b in zip(times, seconds["fixed"], strict=True)]
        yield (
            about
            | facts[name]
            | {
                "code": "package",
                "activation": name,
                "ratio_low": f"{min(ratios):.3f}",
                "ratio_high": f"{max(ratios):.3f}",
                "milliseconds": f"{1000 * statistics.median(times):.3f}",
            }
        )


def on_torch(quick: bool) -> Iterator[Row]:
    """Measure models of timm and transformers."""
    import torch
    from torch import nn

    card = torch.cuda.is_available()
    device = torch.device("cuda" if card else "cpu")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.benchmark = True
    wait = torch.cuda.synchronize if card else lambda: None

    def image_model(name: str) -> tuple[Any, Any, Any]:
        import timm

        x = torch.randn(128, 3, 224, 224, device=device)
        y = torch.randint(100, (128,), device=device)
        model = timm.create_model(name, num_classes=100)
        last = torch.channels_last
        return model.to(device, memory_format=last), x.to(memory_format=last), y

    def language_model() -> tuple[Any, Any, Any]:
        import transformers

        settings = dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0)
        settings |= {"vocab_size": 8192, "n_positions": 512, "use_cache": 0}
        settings |= {
            "bos_token_id": 0,
            "eos_token_id": 0,
            "activation_function": "gelu",
        }
        x = torch.randint(8192, (16, 512), device=device)
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**settings))
        return model.to(device), x, x

    def small() -> tuple[Any, Any, Any]:
        layers = nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)
        x, y = torch.randn(256, 64, device=device), torch.zeros(256, device=device)
        return nn.Sequential(*layers).to(device), x, y.long()

    models = {
        "resnet50": lambda: image_model("resnet50"),
        "gpt2": language_model,
        "vit_small": lambda: image_model("vit_small_patch16_224"),
    }
    modes = ("eager", "graph", "compiled") if card else ("eager",)
    for name, build in ({"small": small} if quick else models).items():
        model, x, y = build()
        for mode in modes:
            steps, facts = {}, {}
            for activation in ("fixed", "prelu", "layer", "channel"):
                own = torch_model(copy.deepcopy(model), activation, x)
                before = torch.cuda.memory_allocated() if card else 0
                if card:
                    torch.cuda.reset_peak_memory_stats()
                step = torch_step(own, x, y, mode)
                start = time.perf_counter()
                step()
                wait()
                facts[activation] = {
                    "first_seconds": f"{time.perf_counter() - start:.2f}"
                }
                for _ in range(3):
                    step()
                if card:
                    peak = (torch.cuda.max_memory_allocated() - before) / 2**30
                    facts[activation]["memory_gb"] = f"{peak:.2f}"
                steps[activation] = captured(step) if mode == "graph" else step
            about = {"framework": "torch", "model": name, "mode": mode}
            yield from rows(about, steps, wait, facts)
            torch._dynamo.reset()


def torch_model(model: Any, activation: str, x: Any) -> Any:
    """Return a model in which an activation replaces each ReLU and GELU."""
    from torch import nn

    import keras_vaf

    if activation == "prelu":
        for name, module in [*model.named_modules()]:
            if isinstance(module, nn.ReLU | nn.GELU) or "GELU" in type(module).__name__:
                host, _, own = name.rpartition(".")
                prelu = nn.PReLU().to(x.device)
                setattr(model.get_submodule(host), own, prelu)
    elif activation == "layer":
        model = keras_vaf.convert(model, k=3, data=x[:2])
    elif activation == "channel":
        model = keras_vaf.convert(model, k=3, data=x[:2], sharing="channel")
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
            if x is y:
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
    from benchmarks.speed import jax_models

    builds = jax_models.QUICK if quick else jax_models.ALL
    keras.config.set_dtype_policy("mixed_bfloat16")
    for name, build in builds.items():
        steps, facts = {}, {}
        for activation in ("fixed", "prelu", "layer", "channel"):
            keras.utils.set_random_seed(0)
            model, x, y = build()
            if activation == "prelu":
                model = keras_vaf.convert(model, to=jax_models.prelu)
            elif activation != "fixed":
                model = keras_vaf.convert(model, k=3, sharing=activation)
            step = jax_models.step(model, x, y)
            start = time.perf_counter()
            step()
            facts[activation] = {"first_seconds": f"{time.perf_counter() - start:.2f}"}
            steps[activation] = step
        about = {"framework": "jax", "model": name, "mode": "compiled"}
        yield from rows(about, steps, lambda: None, facts)


if __name__ == "__main__":
    main()
