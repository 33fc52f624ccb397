"""Picture and printed lines of the formula page: `python docs/formula_picture.py`."""

import contextlib
import io
import os
import re
from pathlib import Path

import keras
from small_pictures import save_small

DOCS = Path(__file__).parent


def main() -> None:
    """Run the code of the page, and write its picture, its text and its LaTeX."""
    page = (DOCS / "formula.md").read_text("utf-8")
    code = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)[0]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "formula.md", "exec"), {})
    save_small(DOCS / "images" / "formula.png", 110)
    text = printed.getvalue()
    where = f"Keras {keras.__version__} on {keras.backend.backend()}, one seed\n"
    folder = DOCS / "reports" / "examples"
    (folder / "formula.txt").write_text(text + where, encoding="utf-8")
    latex = next(line for line in text.splitlines() if "begin{cases}" in line)
    (folder / "formula.tex").write_text(f"$$\n{latex}\n$$\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "Agg")
    main()
