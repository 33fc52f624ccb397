"""What packages need before tests import them."""

import importlib.util

import pytest


@pytest.fixture(scope="session")
def torchvision():
    """Import torchvision, which timm needs, without its compiled operators, too.

    With the CPU build of PyTorch, the import of torchvision from the package index
    fails because two operators are missing. Models of timm do not call them.
    """
    if importlib.util.find_spec("torchvision") is None:
        return None
    import torch

    library = torch.library.Library("torchvision", "FRAGMENT")
    try:
        import torchvision
    except RuntimeError:
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor boxes, Tensor scores, float iou) -> Tensor")
        import torchvision
    yield torchvision
