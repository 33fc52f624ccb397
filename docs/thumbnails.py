"""`thumbnails`, which cuts one panel out of each picture of the gallery."""

from __future__ import annotations

import io
from collections.abc import Callable

from PIL import Image

Shares = tuple[float, float, float, float]

# Twice the height in the gallery, for dense screens.
_HEIGHT = 300

_NOTEBOOKS, _EXAMPLES = "images/notebooks", "images/examples"
_REPRODUCTION = "reports/reproduction"

# The picture, and the panel (see `cut`).
PANELS: dict[str, tuple[str, Shares]] = {
    "quickstart": (f"{_NOTEBOOKS}/1_quickstart.png", (0.06, 0.08, 0.5, 0.71)),
    "learns": (f"{_NOTEBOOKS}/2_what_a_vaf_learns.png", (0.563, 0.1, 0.983, 0.83)),
    "search": (f"{_NOTEBOOKS}/3_search.png", (0.1, 0.01, 0.78, 0.87)),
    "model": (f"{_NOTEBOOKS}/4_your_own_model.png", (0.378, 0.075, 0.662, 0.8)),
    "paper": (f"{_NOTEBOOKS}/5_reproduction.png", (0.094, 0.11, 0.488, 0.78)),
    "table": (f"{_NOTEBOOKS}/6_your_own_table.png", (0.12, 0.08, 1, 0.9)),
    "fine_tuning": (f"{_NOTEBOOKS}/8_fine_tuning.png", (0.047, 0.08, 0.325, 0.79)),
    "oscillating": (f"{_EXAMPLES}/oscillating.png", (0.38, 0.17, 0.655, 0.79)),
    "physics": (f"{_EXAMPLES}/physics.png", (0.085, 0.16, 0.47, 0.76)),
    "images": (f"{_EXAMPLES}/images.png", (0.8, 0.1, 0.985, 0.98)),
    "classes": (f"{_EXAMPLES}/fine_tuning.png", (0.1, 0.01, 1, 0.88)),
    "gains": (
        f"{_REPRODUCTION}/regression-paper-gains-jax.png",
        (0.105, 0.085, 0.3, 0.44),
    ),
    "starts": ("images/starts.png", (0.56, 0.09, 1, 0.86)),
    "learned": (
        f"{_REPRODUCTION}/curves/learned.png",
        (0.036, 0.182, 0.248, 0.302),
    ),
    "KAF": ("images/classes/KAF.png", (0.11, 0.02, 0.99, 0.725)),
    "Snake": ("images/classes/Snake.png", (0.11, 0.02, 0.99, 0.725)),
}


def thumbnails(read: Callable[[str], bytes]) -> dict[str, bytes]:
    """Return PNG pictures of one panel each, by their names.

    Args:
        read: Returns the picture at a path of the site.
    """
    return {name: cut(read(path), box) for name, (path, box) in PANELS.items()}


def cut(picture: bytes, shares: Shares, height: int = _HEIGHT) -> bytes:
    """Return a part of a picture as a PNG picture of this height.

    Args:
        picture: A picture.
        shares: Left, top, right and bottom of the part, as shares of its size.
        height: Height in pixels.
    """
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    sides = (*image.size, *image.size)
    box = tuple(round(a * side) for a, side in zip(shares, sides, strict=True))
    panel = image.crop(box)
    width = round(panel.width * height / panel.height)
    file = io.BytesIO()
    panel.resize((width, height), Image.Resampling.LANCZOS).save(file, "PNG")
    return file.getvalue()
