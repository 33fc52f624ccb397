"""Hooks of MkDocs: notebooks, doctests, links of the README, typeset formulas."""

import html
import re
from pathlib import Path

import griffe
from latex2mathml.converter import convert
from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File

_FORMULA = re.compile(
    r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL
)
# Names that notebooks load from other servers: scripts for formulas, and badges.
_SCRIPT = re.compile(
    r"<script\b(?:(?!</script>).)*(?:https?:|MathJax).*?</script>", re.DOTALL
)
# Options of the command line, which are not broken after their hyphens.
_OPTION = re.compile(r"(?<=[>\s`])--?[a-z][a-z-]*(?=[^<>]*</code>)")
# In cells of tables: where a phone may break names, and intervals, which it does not.
_CELL = re.compile(r"<td.*?</td>", re.DOTALL)
_PLACE = re.compile(r"(?<=[a-z])(?=[A-Z][a-z]+</code>)|(?<=\w_)(?=\w[^<>]*<)")
_INTERVAL = re.compile(
    r"\([^()<>]+ to [^()<>]+\)|(?:[\d.]+ [→/]|p =|p &lt;|better,) [\d.]+"
)
_BADGE = re.compile(r'<img alt="([^"]*)" src="https?:[^>]*>')


class Preparation(Preprocessor):
    """Fences paragraphs that begin with `>>>`, and changes links to `docs/`."""

    def run(self, lines: list[str]) -> list[str]:
        """Return the lines of a page or docstring as Markdown reads them."""
        prepared, inside = [], False
        for line in [*lines, ""]:
            if not inside and line.startswith(">>> "):
                prepared.append("```pycon")
                inside = True
            elif inside and not line.strip():
                prepared.append("```")
                inside = False
            prepared.append(line.replace("](docs/", "]("))
        return prepared


class Prepared(Extension):
    """Prepares text after files are included (32) and before code is read (25)."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Register the preprocessor."""
        md.preprocessors.register(Preparation(md), "preparation", priority=28)


class Constants(griffe.Extension):
    """Shows a default that is a constant of the package as its value."""

    def on_package(self, *, pkg, **others):
        """Replace such defaults, before constructors are made of dataclasses."""

        def value(default):
            owner, _, name = getattr(default, "canonical_path", "").partition(".")
            constant = owner == pkg.name and re.fullmatch(r"[\w.]+\.[A-Z_]+", name)
            try:
                return getattr(pkg[name], "value", default) if constant else default
            except KeyError:  # a constant that this module imports
                return default

        def replace(parent):
            for part in parent.members.values():
                if part.is_alias:
                    continue
                if part.is_function:
                    for parameter in part.parameters:
                        parameter.default = value(parameter.default)
                elif not part.is_attribute:
                    replace(part)
                elif parent.is_class:
                    part.value = value(part.value)

        replace(pkg)


def on_config(config):
    """Prepare every page and docstring; edit buttons need the address in setup.cfg."""
    config.markdown_extensions.append(Prepared())
    settings = (Path(config.docs_dir).parent / "setup.cfg").read_text("utf-8")
    if source := re.search(r"^ +Source = (\S+)", settings, re.M):
        config.repo_url, config.repo_name = source[1], config.site_name
        config.edit_uri = f"{source[1]}/edit/main/docs/"
    return config


@event_priority(100)  # before the plug-in that turns notebooks into pages
def on_files(files, config):
    """Add the notebooks, which are next to the folder of the pages."""
    root, urls = Path(config.docs_dir).parent, config.use_directory_urls
    for path in sorted(root.glob("notebooks/*.ipynb")):
        name = path.relative_to(root).as_posix()
        files.append(File(name, str(root), config.site_dir, urls))
    return files


def on_page_markdown(markdown, page, **kwargs):
    """Leave reports and records out of the search."""
    if page.file.src_uri.startswith(("reports/", "records/")):
        page.meta["search"] = {"exclude": True}
    return markdown


def on_page_content(content, **kwargs):
    """Typeset formulas as MathML, and load nothing from other servers."""
    content = _SCRIPT.sub("", content)
    content = _BADGE.sub(r"\1", content)
    content = _OPTION.sub(r'<span class="option">\g<0></span>', content)
    content = _CELL.sub(_narrow, content)
    return _FORMULA.sub(_mathml, content)


def _narrow(cell: re.Match[str]) -> str:
    text = _PLACE.sub("<wbr>", cell[0])
    return _INTERVAL.sub(r'<span class="interval">\g<0></span>', text)


def _mathml(found: re.Match[str]) -> str:
    display = "block" if found[1] == "div" else "inline"
    mathml = convert(html.unescape(found[2]), display=display)
    # Sums in aligned lines have their limits above and below, as in a single line.
    return mathml.replace("<mtable", '<mtable displaystyle="true"')
