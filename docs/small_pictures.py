"""`save_small`, which saves Matplotlib's current figure as a small PNG file."""

from pathlib import Path

from matplotlib import pyplot
from PIL import Image

_COLOURS = 64


def save_small(path: Path, dpi: int) -> None:
    """Save the current figure with 64 colours, which are enough for plots.

    Args:
        path: Path of the PNG file.
        dpi: Dots per inch.
    """
    path.parent.mkdir(exist_ok=True)
    pyplot.savefig(path, dpi=dpi)
    picture = Image.open(path).convert("RGB")
    picture.quantize(_COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
