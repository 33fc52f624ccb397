"""Pictures and printed lines of the example pages: `python docs/example_pictures.py`.

Runs the code of each page in `docs/examples`, or only of the pages that are named.
"""

import argparse
import contextlib
import io
import os
import re
import tempfile
import textwrap
from pathlib import Path

import keras
from matplotlib import pyplot
from small_pictures import save_small

DOCS = Path(__file__).parent
PAGES = {path.stem: path for path in sorted((DOCS / "examples").glob("*.md"))}
DPI = 110
# Code that differs between backends is in tabs with these titles.
_TAB = r'^=== "(.*?)"\n\n    ```python\n(.*?)^    ```'
_TITLES = {"tensorflow": "TensorFlow", "jax": "JAX", "torch": "PyTorch"}


def code_of(page: str, length: int | None = None) -> str:
    """Return the code of a page, after the code in the tab of the current backend.

    Args:
        page: Name of the page.
        length: Number of steps or epochs; that of the page by default.
    """
    text = PAGES[page].read_text("utf-8")
    [code] = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    tabs = dict(re.findall(_TAB, text, re.M | re.S))
    if tabs:
        code = textwrap.dedent(tabs[_TITLES[keras.backend.backend()]]) + code
    if length is None:
        return code
    short, count = re.subn(r"(?m)^(STEPS|EPOCHS) = \d+", rf"\1 = {length}", code)
    if count != 1:
        raise ValueError(f"Expected one line with STEPS or EPOCHS. Received: {page}")
    return short


def run(page: str, length: int | None = None) -> str:
    """Run the code of a page in a temporary folder, and return the printed lines.

    The figure of the page stays Matplotlib's current figure.
    """
    printed = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
            exec(compile(code_of(page, length), PAGES[page].name, "exec"), {})
        if not Path(folder, f"{page}.png").is_file():
            raise ValueError(f"Expected that the code of {page} saves {page}.png.")
    return printed.getvalue()


def make(page: str) -> None:
    """Run the code of a page, and write its picture and its printed lines."""
    text = run(page)
    pyplot.tight_layout()
    save_small(DOCS / "images" / "examples" / f"{page}.png", DPI)
    pyplot.close("all")
    where = f"Keras {keras.__version__} on {keras.backend.backend()}"
    path = DOCS / "reports" / "examples" / f"{page}.txt"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{text}{where}, one seed\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "Agg")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", choices=[*PAGES, []], metavar="PAGE")
    for name in parser.parse_args().pages or PAGES:
        make(name)
