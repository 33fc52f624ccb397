"""A picture of who imports whom, made from the graph of imports."""

import graphlib
from collections import defaultdict
from pathlib import Path
from xml.sax.saxutils import escape

from module_graph import ROOT, Graph, module_graph, package_graph

# Every package imports the first two, and the others are files: `removed.py`,
# `__init__.py` and `__main__.py`. Their arrows would hide those of the packages.
LEFT_OUT = {"types", "utils", "removed", "keras_vaf", "__main__"}

# Packages that a newcomer may ignore. They are grey; docs/carry_on.md names them.
LATER = {"research", "tuners", "datasets"}

_WIDTH, _HEIGHT = 130, 34
_COLUMN, _ROW = 160, 84
_MARGIN = 20


def imports(root: Path = ROOT) -> Graph:
    """Return which packages of the project each package imports, five left out."""
    graph = package_graph(module_graph(root))
    return {part: graph[part] - LEFT_OUT for part in graph.keys() - LEFT_OUT}


def without_shortcuts(arrows: Graph) -> Graph:
    """Leave out each arrow that a longer way takes the place of."""

    def reach(part: str) -> set[str]:
        return set().union(*({other} | reach(other) for other in arrows[part]))

    return {
        part: {
            other
            for other in others
            if not any(other in reach(between) for between in others - {other})
        }
        for part, others in arrows.items()
    }


def rows(arrows: Graph) -> list[list[str]]:
    """Return the parts in rows, each part above those that it imports."""
    depth: dict[str, int] = {}
    for part in graphlib.TopologicalSorter(arrows).static_order():
        depth[part] = 1 + max((depth[other] for other in arrows[part]), default=-1)
    levels: dict[int, list[str]] = defaultdict(list)
    for part in sorted(depth):
        levels[depth[part]].append(part)
    return [levels[level] for level in sorted(levels, reverse=True)]


def svg(arrows: Graph) -> str:
    """Return the picture: a box for each part, an arrow to each part it imports."""
    levels = rows(arrows)
    columns = max(map(len, levels))
    width = columns * _COLUMN + 2 * _MARGIN
    places = {
        part: (
            _MARGIN + (columns - len(level)) * _COLUMN / 2 + (x + 0.5) * _COLUMN,
            _MARGIN + y * _ROW + _HEIGHT / 2,
        )
        for y, level in enumerate(levels)
        for x, part in enumerate(level)
    }
    height = len(levels) * _ROW + 2 * _MARGIN - (_ROW - _HEIGHT)
    lines = [
        _line(places[part], places[other])
        for part, others in without_shortcuts(arrows).items()
        for other in sorted(others)
    ]
    boxes = [_box(part, *place) for part, place in places.items()]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">',
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" '
            'markerWidth="8" markerHeight="8" orient="auto">'
            '<path d="M0 0 8 4 0 8z" fill="#767676"/></marker></defs>',
            f'<rect width="{width}" height="{height}" rx="6" fill="white"/>',
            *sorted(lines),
            *boxes,
            "</svg>",
        ]
    )


def _line(start: tuple[float, float], end: tuple[float, float]) -> str:
    (x1, y1), (x2, y2) = start, end
    y1, y2 = y1 + _HEIGHT / 2, y2 - _HEIGHT / 2 - 1
    bend = (y2 - y1) / 2
    return (
        f'<path d="M{x1:g} {y1:g}C{x1:g} {y1 + bend:g} {x2:g} {y2 - bend:g} '
        f'{x2:g} {y2:g}" fill="none" stroke="#767676" marker-end="url(#tip)"/>'
    )


def _box(part: str, x: float, y: float) -> str:
    left, top = x - _WIDTH / 2, y - _HEIGHT / 2
    fill, stroke = ("#F1F1F1", "#767676") if part in LATER else ("#E8F1F8", "#0072B2")
    return (
        f'<g><rect x="{left:g}" y="{top:g}" width="{_WIDTH}" height="{_HEIGHT}" rx="4" '
        f'fill="{fill}" stroke="{stroke}"/>'
        f'<text x="{x:g}" y="{y + 5:g}" text-anchor="middle" fill="#333333" '
        f'font-family="sans-serif" font-size="15">{escape(part)}</text></g>'
    )
