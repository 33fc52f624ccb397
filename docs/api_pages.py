"""Pages of the reference: one for each package, and one for each public class.

The page of a package is an `index.md` below `docs/api`. Its line `::: PACKAGE` becomes
the docstring of the package, a table of its classes, and its functions. The pages of
the classes are generated.
"""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]

_PACKAGE = re.compile(r"^::: (\S+)$", re.M)


def class_pages(repository: str) -> dict[str, str]:
    """Return the Markdown of the page of each class, by its path in the documentation.

    Args:
        repository: Address of the repository, for links to the source; may be empty.
    """
    return {
        f"api/{_folder(package)}/{name}.md": _class_page(package, name, repository)
        for package in _packages()
        for name in _classes(package)
    }


def package_page(text: str) -> str:
    """Return the page of a package with its table of classes and its functions."""
    return _PACKAGE.sub(lambda found: _contents(found[1]), text)


def navigation(entries: list[Any]) -> list[Any]:
    """Return the entries of the navigation, with classes below their packages."""
    pages = {f"api/{_folder(package)}/index.md": package for package in _packages()}

    def below(entry: Any) -> Any:
        if isinstance(entry, list):
            return [below(each) for each in entry]
        if not isinstance(entry, dict):
            return entry
        [(title, target)] = entry.items()
        if not isinstance(target, str):
            return {title: below(target)}
        if target not in pages:
            return entry
        folder = target.removesuffix("/index.md")
        names = _classes(pages[target])
        return {title: [target, *({name: f"{folder}/{name}.md"} for name in names)]}

    return [below(entry) for entry in entries]


def _packages() -> list[str]:
    texts = (
        path.read_text("utf-8") for path in sorted(ROOT.glob("docs/api/*/index.md"))
    )
    return [found[1] for text in texts if (found := _PACKAGE.search(text))]


def _folder(package: str) -> str:
    return "cli" if package == "keras_vaf_cli" else package.rpartition(".")[2]


def _public(package: str) -> dict[str, Any]:
    module = importlib.import_module(package)
    return {name: getattr(module, name) for name in getattr(module, "__all__", ())}


def _classes(package: str) -> list[str]:
    """Return the names of a package's classes, the layer of the paper first."""
    names = [name for name, each in _public(package).items() if inspect.isclass(each)]
    return sorted(names, key=lambda name: (name != "VAFActivation", name.lower()))


def _contents(package: str) -> str:
    """Return the directives and the table of a package's page."""
    parts = [f"::: {package}\n    options:\n      members: false\n"]
    classes = _classes(package)
    if classes:
        rows = (
            f"| [`{name}`]({name}.md) | {_first_line(package, name)} |"
            for name in classes
        )
        parts.append("\n".join(["| class | description |", "| --- | --- |", *rows, ""]))
    others = [name for name in _public(package) if name not in classes]
    parts += [_directive(f"{package}.{name}", level=2) for name in others]
    return "\n".join(parts)


def _class_page(package: str, name: str, repository: str) -> str:
    directive = _directive(f"{package}.{name}", level=1)
    return f"{directive}\n{_source(package, name, repository)}"


def _directive(name: str, level: int) -> str:
    return (
        f"::: {name}\n    options:\n      heading_level: {level}\n"
        "      show_root_heading: true\n      show_root_toc_entry: true\n"
    )


def _source(package: str, name: str, repository: str) -> str:
    """Return a line that names the file of a class, with a link if there is one."""
    each = _public(package)[name]
    try:
        file = Path(inspect.getsourcefile(each) or "").relative_to(ROOT)
        line = inspect.getsourcelines(each)[1]
    except (TypeError, OSError, ValueError):
        return ""
    if not repository:
        return f"Source: `{file}`, line {line}.\n"
    address = f"{repository.rstrip('/')}/blob/main/{file}#L{line}"
    return f"Source: [`{file}`]({address}), line {line}.\n"


def _first_line(package: str, name: str) -> str:
    text = inspect.getdoc(_public(package)[name]) or ""
    return text.split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
