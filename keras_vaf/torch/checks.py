"""`difference` compares outputs, and `unused` finds VAFs that change nothing."""

import functools
import math
from typing import Any

import torch

from keras_vaf.torch.modules import clone
from keras_vaf.torch.recording import run, same_random_numbers


def difference(old: list[torch.Tensor], new: list[torch.Tensor]) -> float:
    """Return the largest difference, relative to outputs that are above 1."""
    if [(t.shape, t.dtype) for t in old] != [(t.shape, t.dtype) for t in new]:
        return math.inf
    largest = 0.0
    for a, b in zip(old, new, strict=True):
        wide = torch.complex128 if a.is_complex() else torch.float64
        a, b = (t.detach().to(wide).nan_to_num(0, 0, 0) for t in (a, b))
        if a.numel():
            gap = (a - b).abs().max() / a.abs().max().clamp_min(1)
            largest = max(largest, float(gap))
    return largest


def limit(expected: list[torch.Tensor]) -> float:
    """Return the largest difference that rounding explains."""
    floating = [t.dtype for t in expected if t.is_floating_point()]
    return max([1e-5, *(8 * torch.finfo(dtype).eps for dtype in floating)])


def unused(
    module: torch.nn.Module, paths: list[str], data: Any
) -> tuple[dict[str, str], list[str]]:
    """Return why VAFs are not used, by their paths, and notes about the whole module.

    Each must be called in every mode of a copy, and have a gradient in one of them.
    """
    reasons: dict[str, str] = {}
    still, notes = {*paths}, []
    for mode in ("train", "eval", "no_grad", "inference_mode") if paths else ():
        context = getattr(torch, mode, torch.enable_grad)
        try:
            with same_random_numbers(module):
                trial, called = _prepared(module, paths)
                with context():
                    y = run(trial.train(mode == "train"), data)
                    if context is torch.enable_grad:
                        y = [t for t in y if t.requires_grad]
                        torch.autograd.backward(y, [torch.randn_like(t) for t in y])
        except Exception as error:  # it may need other data in training
            notes.append(f"not checked in mode {mode}: {error!r:.120}")
            continue
        missed = [path for path in paths if path not in called]
        reasons |= dict.fromkeys(missed, f"its host does not call it in mode {mode}")
        weights = {path: trial.get_parameter(f"{path}.weight") for path in paths}
        still -= {p for p, w in weights.items() if w.grad is not None and w.grad.any()}
    if paths and len(still) == len(paths):
        notes.append("the outputs have no gradient, so none was checked")
        still.clear()
    return dict.fromkeys(still, "the outputs have no gradient for it") | reasons, notes


def _prepared(
    module: torch.nn.Module, paths: list[str]
) -> tuple[torch.nn.Module, set[str]]:
    """Return a copy that notes the calls of its VAFs, and the paths of those called."""
    trial, called = clone(module), set[str]()
    with torch.no_grad():
        for p in trial.parameters():  # those of zeros stop the gradient
            if p.is_floating_point() and not p.any():
                p.copy_(0.1 * torch.randn_like(p))
            p.requires_grad_(p.is_floating_point())

    def count_and_call(path: str, forward: Any, x: torch.Tensor) -> Any:
        called.add(path)
        return forward(x)

    for path in paths:  # no hooks: a host may compute differently where it finds one
        vaf: Any = trial.get_submodule(path)
        vaf.forward = functools.partial(count_and_call, path, vaf.forward)
    return trial, called
