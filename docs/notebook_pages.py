"""`notebook_pages`, which returns the notebooks as pages of the site with pictures."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"

# A table of pandas, without its own style.
_TABLE = re.compile(r"<table[^>]*>(.*)</table>", re.S)
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")

_INTRODUCTION = """\
This page shows the notebook with what it printed. \
[Download it]({name}.ipynb) to run it. The [gallery](../gallery.md) lists the others.
"""


def notebook_pages() -> dict[str, str | bytes]:
    """Return Markdown and PNG files by their paths in the documentation.

    Each notebook has a page, `notebooks/NAME.md`, its pictures, and a copy of its last
    picture for the gallery, `images/notebooks/NAME.png`.
    """
    files: dict[str, str | bytes] = {}
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        pictures: list[bytes] = []
        parts = [_cell(cell, path.stem, pictures) for cell in _shown(cells)]
        title, text = parts[0].split("\n", 1)
        parts[0] = f"{title}\n\n{_INTRODUCTION.format(name=path.stem)}\n{text}"
        files[f"notebooks/{path.stem}.md"] = "\n\n".join(parts)
        for number, picture in enumerate(pictures):
            files[_picture(path.stem, number)] = picture
        files[f"images/notebooks/{path.stem}.png"] = pictures[-1]
    return files


def _shown(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the cells without the badge of Colab and the installation there."""
    first, _, *others = cells
    lines = [line for line in first["source"] if not line.startswith("[![Open in")]
    return [first | {"source": lines}, *others]


def _cell(cell: dict[str, Any], name: str, pictures: list[bytes]) -> str:
    """Return a cell as Markdown, and add its pictures to the others."""
    source = "".join(cell["source"]).strip()
    if cell["cell_type"] == "markdown":
        return source
    parts = [f"```python\n{source}\n```"]
    for output in cell["outputs"]:
        data = output.get("data", {})
        if "image/png" in data:
            place = Path(_picture(name, len(pictures))).name
            pictures.append(base64.b64decode("".join(data["image/png"])))
            parts.append(f"![Picture that the code above draws]({place})")
        elif "text/markdown" in data:
            parts.append("".join(data["text/markdown"]))
        elif "text/html" in data and "<table" in "".join(data["text/html"]):
            (table,) = _TABLE.findall("".join(data["text/html"]))
            parts.append(f"<table>{table}</table>")
        else:
            text = _COLOURS.sub("", "".join(output.get("text") or data["text/plain"]))
            parts.append(f"```text\n{text.rstrip()}\n```")
    return "\n\n".join(parts)


def _picture(name: str, number: int) -> str:
    return f"notebooks/{name}-{number + 1}.png"
