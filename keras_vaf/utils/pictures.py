"""`png_bytes`, which returns a Matplotlib figure as PNG."""

import io
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def png_bytes(figure: "Figure", **options: Any) -> bytes:
    """Return a figure as the content of a PNG file.

    Args:
        figure: The figure.
        **options: Other arguments of `Figure.savefig`, such as `dpi`.
    """
    stream = io.BytesIO()
    figure.savefig(stream, format="png", **options)
    return stream.getvalue()
