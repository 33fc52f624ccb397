"""Show the doctests of docstrings as code: Markdown takes `>>>` for quotations."""

from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor


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
