"""`Docstrings`, which prepares docstrings for the reference."""

import re
from typing import Any

import griffe
from formulas import latex

_FORMULA = re.compile(r"^Formula:\n\n```\n(.*?)\n```$", re.M | re.S)
# Classes whose formula is not that of a function or of weights.
WITHOUT_PICTURE = {"PortableGlorotUniform", "Rprop", "VAF"}
_SECTION = re.compile(
    r"^(Input shape|Output shape|Weights|Reference|References):\n((?:    .*\n|\n)+)",
    re.M,
)

# The first paragraph, what follows it, and the example with its code.
_EXAMPLE = re.compile(
    r"\A(.*?\n\n)(.*?)^(Example:\n.*?)(?=\n\n[A-Z][a-z ]+:\n|\Z)", re.S | re.M
)
# An argument of VAFActivation about one of its weights.
_OF_WEIGHT = re.compile(
    r"^    ((?:alpha|beta)\w*_(regularizer|constraint|initializer)): .*\n(?: {8}.*\n)*",
    re.M,
)


class Docstrings(griffe.Extension):
    """Typesets formulas, adds the pictures of classes, and gives sections titles."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Rewrite the docstring of a class, function or module."""
        if not obj.docstring:
            return
        text = obj.docstring.value
        if _FORMULA.search(text):
            text = _FORMULA.sub(lambda found: f"$$\n{latex(found[1])}\n$$", text)
            if obj.name not in WITHOUT_PICTURE:
                text = _with_picture(text, obj.name)
        text = _grouped(text)
        text = _EXAMPLE.sub(r"\1\3\n\n\2", text.rstrip(), count=1)
        text = re.sub(r"^Example:$", "**Example:**", text, flags=re.M)
        obj.docstring.value = _SECTION.sub(_titled, f"{text}\n").rstrip()


def _with_picture(text: str, name: str) -> str:
    """Add the plot of a class before the first section, as drawn for the site."""
    picture = f"![Plot of {name}](../../images/classes/{name}.png)"
    before = r"\n(?=(Args|Weights|Raises|Reference|Example):\n)"
    return re.sub(before, f"\n{picture}\n\n", text, count=1)


def _grouped(text: str) -> str:
    """Describe arguments that exist for each weight together, by their kind."""
    kinds: dict[str, list[str]] = {}
    for name, kind in _OF_WEIGHT.findall(text):
        kinds.setdefault(kind, []).append(f"`{name}`")
    if not kinds:
        return text
    lines = [
        f"- {kind} of a weight, as for any Keras layer: {', '.join(names)}"
        for kind, names in kinds.items()
    ]
    group = "\n".join(["**Arguments for each weight:**", "", *lines])
    return _OF_WEIGHT.sub("", text).replace(
        "\n\nInput shape:", f"\n\n{group}\n\nInput shape:"
    )


def _titled(found: re.Match[str]) -> str:
    """Return a section that Google's style does not have as a title and paragraphs."""
    content = re.sub(r"^    ", "", found[2], flags=re.M)
    return f"**{found[1]}:**\n\n{content}"
