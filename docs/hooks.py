"""Hooks of MkDocs that generate parts of the pages.

- Doctests are shown as code, because Markdown reads `>>>` as quotations.
- Formulas between dollar signs are typeset as MathML, which all current browsers draw
  without scripts or fonts.
- Words of code stay in one line, and a click on a picture shows it at full size.
- The first page is a part of the README, and contributing is CONTRIBUTING.md: links
  lead to pages.
- The picture of the architecture is made from the imports, and the pictures of layers,
  starts, penalties and constraints from their classes.
- Each public class has a page (`api_pages`), and each notebook (`notebook_pages`).
- A long signature shows five arguments, and the gallery one panel of each picture.
- Generated reports are left out of the search, and guides come before the reference.
"""

import html
import re
import warnings
from pathlib import Path

import formulas  # noqa: F401 (griffe loads `api_docstrings`, which needs it, elsewhere)
from activation_pictures import pictures
from api_pages import class_pages, navigation, package_page
from architecture_picture import imports, svg
from effect_pictures import effects
from latex2mathml.converter import convert
from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor
from mkdocs.structure.files import File
from notebook_pages import notebook_pages
from signatures import collapsed
from thumbnails import thumbnails


class DoctestFences(Preprocessor):
    """Puts each paragraph that begins with `>>>` between code fences."""

    def run(self, lines: list[str]) -> list[str]:
        """Return the lines of a page or docstring with the fences added."""
        fenced, inside = [], False
        for line in [*lines, ""]:
            if not inside and line.startswith(">>> "):
                fenced.append("```pycon")
                inside = True
            elif inside and not line.strip():
                fenced.append("```")
                inside = False
            fenced.append(line)
        return fenced


class Included(Preprocessor):
    """Changes links to `docs/`."""

    def run(self, lines: list[str]) -> list[str]:
        """Return the lines of a page after the files that it includes are inserted."""
        return [line.replace("](docs/", "](") for line in lines]


class Preparation(Extension):
    """Prepares the text of a page before Markdown looks for code."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Register both, between the inclusion of files (32) and fences (25)."""
        md.preprocessors.register(Included(md), "included", priority=29)
        md.preprocessors.register(DoctestFences(md), "doctests", priority=28)


def on_config(config):
    """Use the extension for every page and docstring, and add the pages of classes."""
    # As for the tests: Keras's variables have no `copy` argument yet.
    warnings.filterwarnings("ignore", "__array__ implementation", DeprecationWarning)
    config.markdown_extensions.append(Preparation())
    config.nav = navigation(config.nav)
    if config.repo_url:
        config.edit_uri = f"{config.repo_url.rstrip('/')}/edit/main/docs/"
    return config


def on_files(files, config):
    """Add notebooks, pages of classes, and generated pictures."""
    contents = {"architecture.svg": svg(imports())}
    contents |= class_pages(config.repo_url or "") | notebook_pages()
    for name, picture in (pictures() | effects()).items():
        contents[f"images/classes/{name}.png"] = picture
    for name, picture in thumbnails(lambda path: _picture(path, contents)).items():
        contents[f"images/thumbnails/{name}.png"] = picture
    for path, content in contents.items():
        files.append(File.generated(config, path, content=content))
    for path in Path(config.docs_dir, "..", "notebooks").glob("*.ipynb"):
        name = f"notebooks/{path.name}"
        files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def _picture(path, contents):
    return contents.get(path) or Path(__file__).parent.joinpath(path).read_bytes()


def on_page_markdown(markdown, page, **kwargs):
    """Insert classes where lines name them, and limit the search."""
    if page.file.src_uri.startswith("reports/"):
        page.meta["search"] = {"exclude": True}
    if page.file.src_uri.startswith("api/"):
        page.meta["search"] = {"boost": 0.3}  # guides first
    if re.fullmatch(r"api/\w+/index\.md", page.file.src_uri):
        markdown = package_page(markdown)
    return markdown


def on_page_content(content, **kwargs):
    """Typeset formulas, keep words of code in one line, and link pictures."""
    content = _FORMULA.sub(
        lambda found: _mathml(found["tag"], found["formula"]), content
    )
    content = _CODE.sub(lambda found: _HYPHENATED.sub(_UNBROKEN, found[0]), content)
    content = _LONG_CELL.sub('<code class="long">', content)
    content = collapsed(content)
    return _PICTURE.sub(r'<a href="\1">\g<0></a>', content)


# Browsers break a word of code after a hyphen or before a bracket, even if it fits into
# the next line.
_CODE = re.compile(r"(?<=<code>)[^<]+(?=</code>)")
_HYPHENATED = re.compile(r"(?<!\S)(?=\S*[-/?|(\[{])\S{1,38}(?!\S)")
# Code in a table stays in one line, unless it is a sentence, such as an error message.
_LONG_CELL = re.compile(r"(?<=<td>)<code>(?=[^<]{45})(?=[^<]*\s)")
_UNBROKEN = r'<span class="unbroken">\g<0></span>'
# Pictures that no link surrounds. A click shows them at full size.
_PICTURE = re.compile(r'(?<=<p>)<img [^>]*?src="([^"]*)"[^>]*>')
_FORMULA = re.compile(
    r'<(?P<tag>span|div) class="arithmatex">\\[(\[](?P<formula>.*?)\\[)\]]</(?P=tag)>',
    re.S,
)


def _mathml(tag: str, formula: str) -> str:
    display = "block" if tag == "div" else "inline"
    mathml = convert(html.unescape(formula), display=display)
    # Sums in aligned lines have their limits above and below, as in a single line.
    return mathml.replace("<mtable", '<mtable displaystyle="true"')
