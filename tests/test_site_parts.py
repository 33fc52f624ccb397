"""Parts of the site that hooks make: notebooks, thumbnails, signatures, examples."""

import inspect
import json
import re
from pathlib import Path

import api_docstrings
import notebook_pages
import pytest
import readme_picture
from hooks import Included
from markdown import Markdown
from signatures import collapsed
from thumbnails import PANELS

from keras_vaf.layers import VAFActivation

pytestmark = pytest.mark.backend("tensorflow")

ROOT = Path(__file__).parents[1]


def signature(*arguments):
    lines = [
        f'    <span class="n">{name}</span><span>: int</span>,' for name in arguments
    ]
    code = "\n".join(["<span></span><code><b>f</b>(", *lines, ")", "</code>"])
    return f'<div class="doc-signature highlight"><pre>{code}</pre></div>'


def test_a_long_signature_shows_five_arguments():
    whole = signature(*"abcdefg")
    shown, others = collapsed(f"<p>{whole}</p>").split("<details>")
    assert re.findall(r'class="n">(\w)<', shown) == [*"abcde"]
    assert shown.count("</code></pre></div>") == 1
    assert others.startswith("<summary>All 7 arguments</summary>")
    assert whole in others


def test_a_short_signature_stays():
    assert collapsed(signature(*"abcde")) == signature(*"abcde")


def test_arguments_for_each_weight_are_described_together():
    text = api_docstrings._grouped(inspect.getdoc(VAFActivation))
    (group,) = re.findall(r"\*\*Arguments for each weight:\*\*\n\n((?:- .*\n)+)", text)
    assert len(group.splitlines()) == 3
    assert group.count("`alpha_") == group.count("`beta_") == 6
    assert not re.search(r"^    beta_bias_constraint:", text, re.M)
    assert "    function_regularizer:" in text


def test_every_notebook_has_a_page_with_its_text_and_pictures():
    files = notebook_pages.notebook_pages()
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for path in ROOT.glob("notebooks/*.ipynb"):
        page = files[f"notebooks/{path.stem}.md"]
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        texts = ["".join(each["source"]).strip() for each in cells[2:]]
        assert all(text in page for text in texts)
        assert "%pip" not in page and "colab" not in page
        pictures = re.findall(r"^!\[.+\]\((.*)\)$", page, re.M)
        assert pictures
        assert all(files[f"notebooks/{name}"][1:4] == b"PNG" for name in pictures)
        assert f"notebooks/{path.stem}.md\n" in navigation


def test_the_gallery_shows_one_panel_of_each_picture():
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    shown = re.findall(r"\]\(images/thumbnails/(\w+)\.png\)\]", page)
    assert sorted(shown) == sorted(PANELS)
    assert page.count("\n- [![") == len(shown)


def test_the_readme_shows_a_picture_and_the_printed_formula_of_its_uses():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    uses = text.partition("## Four uses")[2].partition("\n## ")[0]
    shown = re.findall(r"^!\[.+\]\((.+)\)$", uses, re.M)
    assert {f"docs/images/uses/{name}.png" for name in readme_picture.USES} == {*shown}
    (formula,) = re.findall(r"^```text\n(f\(a\) = .*?)^```", uses, re.M | re.S)
    printed = (ROOT / "docs/reports/examples/formula.txt").read_text(encoding="utf-8")
    assert " ".join(formula.split()) == printed.splitlines()[0]


def test_the_first_page_is_a_part_of_the_readme_with_links_to_pages():
    lines = ["", "see [b](docs/b.md)"]
    assert Included(Markdown()).run(lines) == ["", "see [b](b.md)"]


def test_the_logo_is_drawn_from_a_function():
    layer = VAFActivation(k=3, initialization="relu")
    drawn = readme_picture.logo(layer)
    (points,) = re.findall(r'points="(.*?)"', drawn)
    assert points == "9.0,53.0 32.0,53.0 55.0,11.0"  # ReLU: level, then up
    assert drawn.count("<circle") == 1
