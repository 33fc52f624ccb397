"""What MkDocs does beside building pages.

Doctests of docstrings are shown as code, for Markdown takes `>>>` for quotations.
Tables and sentences come from the committed reports, the picture of the architecture
from the imports, and those of the activation layers from the layers themselves.
"""

from pathlib import Path

from activation_pictures import pictures
from architecture_picture import imports, svg
from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor
from mkdocs.structure.files import File
from report_tables import fill


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


class Doctests(Extension):
    """Adds the fences before Markdown looks for code."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Register the preprocessor, ahead of the one that reads fences (25)."""
        md.preprocessors.register(DoctestFences(md), "doctests", priority=28)


def on_config(config):
    """Use the extension for every page and docstring."""
    config.markdown_extensions.append(Doctests())
    return config


def on_files(files, config):
    """Add the notebooks, and pictures of the architecture and of the layers."""
    contents = {"architecture.svg": svg(imports())}
    for name, picture in pictures().items():
        contents[f"images/activations/{name}.png"] = picture
    for path, content in contents.items():
        files.append(File.generated(config, path, content=content))
    for path in Path(config.docs_dir, "..", "notebooks").glob("*.ipynb"):
        name = f"notebooks/{path.name}"
        files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown, **kwargs):
    """Put reports in the place of the lines that name them."""
    return fill(markdown)
