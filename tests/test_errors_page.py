"""The reference quotes messages that the package really has."""

import ast
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.backend("tensorflow")

ROOT = Path(__file__).parents[1]
OF_KERAS = "(of Keras)"


def texts():
    """Return every string of the package, with … for what varies."""
    found = []
    for path in ROOT.glob("keras_vaf*/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [getattr(part, "value", None) for part in node.values]
                texts = (part if isinstance(part, str) else "…" for part in parts)
                found.append("".join(texts))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return found


def quoted_messages():
    """Return the messages in the first columns of the page's tables."""
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    page = page.partition("\n## Errors\n")[2].partition("\n## ")[0]
    firsts = re.findall(r"^\| (`.*?) \| ", page, re.M)
    return [
        re.sub(r"^`+ ?| ?`+$", "", first)
        for first in firsts
        if not first.endswith(OF_KERAS)
    ]


@pytest.mark.parametrize("message", quoted_messages())
def test_a_quoted_message_is_in_the_package(message):
    pattern = re.compile(".*".join(map(re.escape, message.split("…"))), re.S)
    assert any(pattern.search(text) for text in TEXTS)


TEXTS = texts()
