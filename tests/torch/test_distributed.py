"""A training step on two processes equals that of one process."""

import socket
import subprocess
import sys

import pytest

PROGRAM = """
import os, sys
import torch
import torch.distributed as dist
from torch import nn

import keras_vaf

how, rank, port = sys.argv[1], int(sys.argv[2]), sys.argv[3]
torch.manual_seed(0)
module = nn.Sequential(
    nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 2)
)
x, y = torch.randn(12, 8), torch.randn(12, 2)
sharing = "channel" if how == "channel" else "layer"
alone = keras_vaf.convert(module, data=x, sharing=sharing)
shared = keras_vaf.convert(module, data=x, sharing=sharing)
assert alone[1].weight.shape[-1] == 10

def step(module, x, y):
    optimizer = torch.optim.AdamW(module.parameters(), lr=0.01)
    (module(x) - y).square().mean().backward()
    optimizer.step()

step(alone, x, y)
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
dist.init_process_group("gloo", rank=rank, world_size=2)
half = slice(6 * rank, 6 * rank + 6)
if how == "ddp":
    step(nn.parallel.DistributedDataParallel(shared), x[half], y[half])
else:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh("cpu", (2,))
    if how == "parts":
        for part in shared:
            fully_shard(part, mesh=mesh)
    fully_shard(shared, mesh=mesh)
    step(shared, x[half], y[half])
largest = 0.0
for a, b in zip(alone.parameters(), shared.parameters()):
    whole = b.full_tensor() if hasattr(b, "full_tensor") else b
    largest = max(largest, (a - whole).abs().max().item())
print(largest)
dist.destroy_process_group()
"""


@pytest.mark.nightly("torch")
@pytest.mark.parametrize("how", ["ddp", "whole", "parts", "channel"])
def test_a_step_on_two_processes(how):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, how, str(rank), port],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    for process in processes:
        output, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
        assert float(output.splitlines()[-1]) <= 1e-6
