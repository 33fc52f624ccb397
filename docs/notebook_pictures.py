"""`notebook_pictures`, which returns one picture of each notebook for the gallery."""

from __future__ import annotations

import base64
import json
from pathlib import Path

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


def notebook_pictures() -> dict[str, bytes]:
    """Return the last PNG picture among the outputs of each notebook, by its name."""
    found = {path.stem: _last_picture(path) for path in NOTEBOOKS.glob("*.ipynb")}
    return {name: picture for name, picture in found.items() if picture}


def _last_picture(path: Path) -> bytes:
    book = json.loads(path.read_text(encoding="utf-8"))
    pictures = [
        output["data"]["image/png"]
        for cell in book["cells"]
        for output in cell.get("outputs", ())
        if "image/png" in output.get("data", ())
    ]
    return base64.b64decode("".join(pictures[-1])) if pictures else b""
