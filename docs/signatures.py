"""`collapsed`, which shortens long signatures of the reference."""

import re

ARGUMENTS = 5
"""Number of arguments that are shown before a click."""

_SIGNATURE = re.compile(
    r'<div class="[^"]*doc-signature[^"]*"><pre>(?P<code>.*?)</pre></div>', re.S
)
# A line that begins an argument: its name is indented by four spaces.
_ARGUMENT = re.compile(r"    [a-z_]")
_TAGS = re.compile(r"<[^>]*>")


def collapsed(page: str) -> str:
    """Return the HTML of a page, with arguments after the fifth behind a click."""
    return _SIGNATURE.sub(_shortened, page)


def _shortened(found: re.Match[str]) -> str:
    lines = found["code"].split("\n")
    starts = [n for n, line in enumerate(lines) if _ARGUMENT.match(_TAGS.sub("", line))]
    if len(starts) <= ARGUMENTS:
        return found[0]
    shown = "\n".join([*lines[: starts[ARGUMENTS - 1] + 1], "    ...", ")"])
    short = found[0].replace(found["code"], f"{shown}</code>")
    return (
        f"{short}<details><summary>All {len(starts)} arguments</summary>"
        f"{found[0]}</details>"
    )
