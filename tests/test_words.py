"""One word for one thing, in the documentation and in docstrings (see the glossary)."""

import ast
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.backend("tensorflow")

ROOT = Path(__file__).parents[1]
# Words to avoid, and the words to use.
WORDS = {
    r"trained activations?\b": "trainable activation",
    r"learnable": "trainable",
    r"hidden neuron": "hidden unit",
    r"non-?linearit": "activation",
    r"pre ?activation": "pre-activation",
    r"breakpoint|\bkinks?\b": "knot, or bend",
    r"hyper-parameter": "hyperparameter",
    r"data[- ]sets?\b(?! apart| aside)": "dataset",
    r"initialis": "initialization, as Keras has it",
    r"optimis(?!m)": "optimizer, as Keras has it",
    r"regularis(?!ing)": "regularizer, as Keras has it",
    r"\bcolors?\b": "colour",
    r"behavior": "behaviour",
}
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted(ROOT.glob("docs/*.md")),
]


def prose(page):
    """Return the text of a page without code, titles of papers and addresses."""
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S
    )
    return without_code(text)


def without_code(text):
    return re.sub(r"`[^`]*`|\*[^*\n]*(?:\n[^*\n]*)?\*|\]\([^)]*\)", "", text)


def docstrings(path):
    """Return the docstrings of a module, without their examples."""
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    texts = [ast.get_docstring(node) or "" for node in nodes if isinstance(node, kinds)]
    return without_code(re.sub(r"^ *(>>>|\.\.\.).*$", "", "\n".join(texts), flags=re.M))


def wrong_words(text):
    """Return what should be said in other words, with these words."""
    return [
        f"{found[0]!r}: say {right!r}"
        for wrong, right in WORDS.items()
        for found in re.finditer(wrong, text, re.I)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_uses_the_words_of_the_glossary(page):
    assert wrong_words(prose(page)) == []


def test_docstrings_use_the_words_of_the_glossary():
    found = {
        str(path.relative_to(ROOT)): wrong_words(docstrings(path))
        for path in ROOT.glob("keras_vaf*/**/*.py")
    }
    assert {path: words for path, words in found.items() if words} == {}


def test_another_word_is_seen():
    assert wrong_words("a learnable layer") == ["'learnable': say 'trainable'"]
