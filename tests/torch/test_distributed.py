"""A training step on two processes equals that of one process."""

import pytest
import torch
from torch import distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from keras_vaf.models import convert
from keras_vaf.torch import save_vafs


def step(module, x, y):
    optimizer = torch.optim.AdamW(module.parameters(), lr=0.01)
    (module(x) - y).square().mean().backward()
    optimizer.step()


def compare(rank, how, file):
    """Train one module alone, and one on half of the data with the other process."""
    torch.manual_seed(0)
    layers = nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 2)
    x, y = torch.randn(12, 8), torch.randn(12, 2)
    sharing = "channel" if how == "channel" else "layer"
    alone, shared = (
        convert(nn.Sequential(*layers), data=x, sharing=sharing) for _ in range(2)
    )
    assert alone[1].weight.shape == ((16, 10) if how == "channel" else (10,))
    step(alone, x, y)
    distributed.init_process_group("gloo", f"file://{file}", None, 2, rank)
    if how == "ddp":
        trained = nn.parallel.DistributedDataParallel(shared)
    else:
        mesh = init_device_mesh("cpu", (2,))
        for part in shared if how == "parts" else ():
            fully_shard(part, mesh=mesh)
        trained = fully_shard(shared, mesh=mesh)
        with pytest.raises(ValueError, match="must have its weights in memory"):
            save_vafs(trained, f"{file}.safetensors")
    half = slice(6 * rank, 6 * rank + 6)
    step(trained, x[half], y[half])
    for one, other in zip(alone.parameters(), shared.parameters(), strict=True):
        whole = other if how == "ddp" else other.full_tensor()
        torch.testing.assert_close(whole, one, rtol=0, atol=1e-6)
    distributed.destroy_process_group()


@pytest.mark.nightly("torch")
@pytest.mark.parametrize("how", ["ddp", "whole", "parts", "channel"])
def test_a_step_on_two_processes(how, tmp_path):
    torch.multiprocessing.spawn(compare, (how, tmp_path / "ranks"), nprocs=2)
