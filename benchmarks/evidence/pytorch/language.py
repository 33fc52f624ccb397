"""`LanguageStudy`, a transformer on the bytes of Python's standard library.

`python -m benchmarks.evidence.pytorch.language silu` measures on an idle machine how
long a step with SiLU takes and one with the VAF that starts as it, for the comparison
at equal time. The same with `gelu`.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import math
import statistics
import sys
import sysconfig
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from benchmarks.environment import environment
from benchmarks.evidence.pytorch.torch_study import Checkpoint, TorchStudy
from benchmarks.evidence.records import Records
from keras_vaf.layers import XIELU, VAFActivation
from keras_vaf.utils import write_atomically

LAYERS, WIDTH, HEADS, CONTEXT, BATCH, STEPS = 2, 128, 4, 128, 8, 5_000
RATES = (0.002, 0.004, 0.008)
SEEDS = (1, 2, 3, 4, 5)
EVERY = 500
WARM_UP = 100
LONG = "-long"
PRICES = "docs/reports/evidence/language_steps_{}.json"
ROUNDS, TURN = 15, 20


class SquaredReLU(nn.Module):
    """The square of ReLU."""

    def forward(self, x: Any) -> Any:
        """Return relu(x)^2."""
        return nn.functional.relu(x).square()


ARMS: dict[str, Any] = {
    "silu": nn.SiLU,
    "vaf-silu": lambda: VAFActivation(k=3, g="silu", initialization="silu"),
    "gelu": nn.GELU,
    "vaf-gelu": lambda: VAFActivation(k=3, g="gelu", initialization="gelu"),
    "relu": nn.ReLU,
    "relu-squared": SquaredReLU,
    "xielu": XIELU,
}
"""The activations of the feed-forward blocks."""

REGISTERED = ("silu", "vaf-silu", f"silu{LONG}")
"""The arms of L1 and L2."""

EXPLORATORY = ("gelu", "vaf-gelu", "relu", "relu-squared", "xielu", f"gelu{LONG}")


class Block(nn.Module):
    """Attention and a feed-forward network, each after a normalization."""

    def __init__(self, activation: Any) -> None:
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)])
        self.project = nn.Linear(WIDTH, 3 * WIDTH)
        self.merge = nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.activation = activation()

    def forward(self, x: Any) -> Any:
        """Return the outputs of the block."""
        parts = self.project(self.norms[0](x)).chunk(3, dim=-1)
        heads = [part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in parts]
        seen = nn.functional.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.merge(seen.transpose(1, 2).flatten(2))
        return x + self.down(self.activation(self.up(self.norms[1](x))))


class Transformer(nn.Module):
    """A transformer that predicts the next byte."""

    def __init__(self, activation: Any) -> None:
        super().__init__()
        self.bytes = nn.Embedding(256, WIDTH)
        self.places = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*(Block(activation) for _ in range(LAYERS)))
        self.last = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 256))

    def forward(self, x: Any) -> Any:
        """Return the logits of the next bytes."""
        return self.last(self.blocks(self.bytes(x) + self.places.weight))


@functools.cache
def texts() -> dict[str, Any]:
    """Return the bytes for training, validation and test, by files."""
    folder = Path(sysconfig.get_path("stdlib"))
    files = [
        path
        for path in folder.rglob("*.py")
        if not {"site-packages", "test", "tests"} & set(path.parts)
    ]
    hashes = {
        path: hashlib.sha256(path.relative_to(folder).as_posix().encode()).hexdigest()
        for path in files
    }
    files.sort(key=lambda path: hashes[path])
    tenth = len(files) // 10
    parts = {"validation": files[:tenth], "test": files[tenth : 2 * tenth]}
    parts["training"] = files[2 * tenth :]
    return {
        name: torch.tensor(
            np.frombuffer(b"".join(path.read_bytes() for path in own), np.uint8)
        ).long()
        for name, own in parts.items()
    }


class LanguageStudy(TorchStudy):
    """Three learning rates on seed 0, and the selected one on five seeds.

    Args:
        arms: Keys of `ARMS`. With "silu-long", SiLU is also trained for the time of the
            VAF that starts as it, and with "gelu-long" GELU.
    """

    def __init__(self, arms: Sequence[str]) -> None:
        self.arms = arms

    def keys(self, records: Records | None = None) -> Iterator[tuple[str, float, int]]:
        """Yield arm, learning rate and seed; later ones need the records."""
        tuned = [arm for arm in self.arms if not arm.endswith(LONG)]
        yield from ((arm, rate, 0) for rate, arm in itertools.product(RATES, tuned))
        for arm, seed in itertools.product(self.arms, SEEDS):
            rate = RATES[0]
            if records is not None:
                rate = selected_rate(records, arm.removesuffix(LONG))
            yield arm, rate, seed

    def train(self, key: tuple[Any, ...], folder: Path) -> dict[str, Any]:
        """Return the record of a training."""
        names = dict(zip(("arm", "rate", "seed"), key, strict=True))
        fixed = key[0].removesuffix(LONG)
        steps = STEPS if fixed == key[0] else equal_time(fixed)
        return names | train(texts(), *key, steps, self.checkpoint(key, folder))


def selected_rate(records: Records, arm: str) -> float:
    """Return the learning rate with the smallest validation loss on seed 0."""
    found = {rate: records.read(arm, rate, 0) for rate in RATES}
    losses = {rate: each["validation"] for rate, each in found.items() if each}
    return min(losses, key=lambda rate: losses[rate])


def equal_time(fixed: str) -> int:
    """Return how many steps with a function take as long as those of its VAF.

    Args:
        fixed: Key of the function in `ARMS`.
    """
    text = Path(PRICES.format(fixed)).read_text(encoding="utf-8")
    seconds = json.loads(text)["seconds"]
    return round(STEPS * seconds[f"vaf-{fixed}"] / seconds[fixed])


def train(
    data: Any, arm: str, rate: float, seed: int, steps: int, checkpoint: Path
) -> Any:
    """Train a transformer, from its checkpoint if there is one.

    Args:
        data: Result of `texts`.
        arm: Key of `ARMS`, with "-long" if it has more steps.
        rate: Largest learning rate.
        seed: Seed of weights and batches.
        steps: Number of steps.
        checkpoint: File of the state after every 500 steps.
    """
    network, optimizer = prepared(arm, rate, seed)
    decay = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: factor(step, steps)
    )
    key = arm, rate, seed
    stored = Checkpoint(checkpoint, key, network, optimizer, decay)
    state = stored.load({"step": 0, "curve": []})
    for step in range(state["step"], steps):
        loss = train_step(network, optimizer, batch(data["training"], seed, step))
        decay.step()
        if (step + 1) % EVERY == 0:
            state["curve"].append(loss.item())
            state["step"] = step + 1
            stored.save(state)
    return {
        "validation": evaluate(network, data["validation"]),
        "test": evaluate(network, data["test"]),
        "curve": state["curve"],
    }


def prepared(arm: str, rate: float, seed: int) -> tuple[nn.Module, Any]:
    """Return an untrained transformer and its optimizer."""
    torch.manual_seed(seed)
    network = Transformer(ARMS[arm.removesuffix(LONG)])
    network(torch.zeros(1, CONTEXT, dtype=torch.long))
    return network, torch.optim.AdamW(network.parameters(), rate, weight_decay=0.01)


def train_step(network: nn.Module, optimizer: Any, rows: Any) -> Any:
    """Make one step and return the loss before it."""
    loss = loss_of(network, rows)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    optimizer.step()
    return loss


def factor(step: int, steps: int) -> float:
    """Return the share of the learning rate at a step: a warm-up, then a cosine."""
    warm = min(1.0, (step + 1) / WARM_UP)
    return warm * 0.5 * (1 + math.cos(math.pi * min(step, steps) / steps))


def batch(text: Any, seed: int, step: int) -> Any:
    """Return the byte sequences of a step, which do not depend on the activation."""
    rng = np.random.default_rng([seed, step])
    starts = rng.integers(len(text) - CONTEXT - 1, size=BATCH)
    return torch.stack([text[start : start + CONTEXT + 1] for start in starts])


def loss_of(network: nn.Module, rows: Any) -> Any:
    """Return the mean loss of byte sequences in nats per byte."""
    logits = network(rows[:, :-1])
    return nn.functional.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())


def evaluate(network: nn.Module, text: Any) -> float:
    """Return the loss on sequences at equal distances, 400 batches of them."""
    starts = np.linspace(0, len(text) - CONTEXT - 1, 400 * BATCH).astype(int)
    rows = torch.stack([text[start : start + CONTEXT + 1] for start in starts])
    with torch.no_grad():
        losses = [float(loss_of(network, part)) for part in rows.split(BATCH)]
    return sum(losses) / len(losses)


def main(fixed: str) -> int:
    """Measure the steps of a function and of the VAF that starts as it, in turns.

    Args:
        fixed: Key of the function in `ARMS`.
    """
    torch.set_num_threads(1)
    trained = {arm: prepared(arm, RATES[0], 0) for arm in (fixed, f"vaf-{fixed}")}
    rows = [batch(texts()["training"], 0, step) for step in range(TURN)]
    seconds: dict[str, list[float]] = {arm: [] for arm in trained}
    for _ in range(ROUNDS):
        for arm, parts in trained.items():
            start = time.perf_counter()
            for part in rows:
                train_step(*parts, part)
            seconds[arm].append((time.perf_counter() - start) / TURN)
    medians = {arm: statistics.median(each) for arm, each in seconds.items()}
    report = {"seconds": medians, "rounds": seconds, "environment": environment()}
    write_atomically(PRICES.format(fixed), f"{json.dumps(report, indent=2)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
