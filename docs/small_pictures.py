"""`save_small`, which saves a figure as a small file, and `picture_of` curves."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot
from PIL import Image

from keras_vaf.utils import png_bytes
from keras_vaf.visualization import style

_COLOURS = 64

# A curve: its values, and the options of `Axes.plot`.
Curve = tuple[np.ndarray, dict[str, Any]]


@style.styled
def picture_of(curves: Sequence[Curve], x: Sequence[float], **texts: str) -> bytes:
    """Return a PNG of curves that can be read on a phone.

    Args:
        curves: The curves, with a label each.
        x: Points at which their values are.
        texts: Labels of the axes, and perhaps a title.
    """
    figure, ax = pyplot.subplots(figsize=(5, 3.2))
    for values, options in curves:
        ax.plot(x, values, **options)
    ax.set(**texts)
    ax.margins(x=0.02)
    figure.legend(loc="outside lower center", ncols=2)
    picture = png_bytes(figure, dpi=100)
    pyplot.close(figure)
    return picture


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
