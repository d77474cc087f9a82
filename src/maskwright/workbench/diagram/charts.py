"""What all pictures share: text that SVG can hold, its width, the style; and a directed graph in
layers as SVG.

As Sugiyama, Tagawa and Toda (1981): a node stands in a layer below all that lead to it, and within
a layer nodes are ordered by the mean place of their neighbours, in a few sweeps. Edges that lead
back up leave at the side.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Final, Literal
from xml.sax.saxutils import escape, quoteattr

from maskwright.immutable import Immutable

CHARACTER: Final = 8
"""Pixels that a character of the monospaced font takes at most; wide ones take two of these."""
LONGEST: Final = 48
"""Characters of a label that are drawn; the whole of it is its tooltip."""

_STYLE: Final = """\
.maskwright-picture{font:13px ui-monospace,Menlo,Consolas,monospace;color:#1c2430;background:#fff}
.maskwright-picture text{fill:currentColor}
.maskwright-picture .way,.railroad path{fill:none;stroke:currentColor;stroke-width:1.5}
.railroad text{text-anchor:middle}
.maskwright-picture .tip{fill:currentColor}
.maskwright-picture rect{stroke:currentColor;stroke-width:1.2}
.maskwright-picture .text{fill:#dff0dc}.maskwright-picture .set{fill:#fbecc8}
.maskwright-picture .name{fill:#dce9fb}.maskwright-picture .plain{fill:#f1f3f6}
.maskwright-picture .heading{font-weight:bold}.maskwright-picture .note{opacity:.75}
@media (prefers-color-scheme:dark){
.maskwright-picture{color:#e6eaf0;background:#14181f}
.maskwright-picture .text{fill:#23442a}.maskwright-picture .set{fill:#4d4019}
.maskwright-picture .name{fill:#1f3a5f}.maskwright-picture .plain{fill:#2a313c}}"""


def visible(text: str) -> str:
    """The text with what can't be seen, or can't stand in XML, as escapes of Python."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def cut(text: str) -> str:
    """A label of at most `LONGEST` characters."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def width_of(text: str) -> int:
    """Pixels that a text takes in the monospaced font."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return CHARACTER * (len(text) + wide)


def text_at(x: float, y: float, text: str, classes: str = "", anchor: str = "middle") -> str:
    """A text element whose letters stand around the line `y`."""
    attributes = f'x="{x:g}" y="{y + 4:g}" text-anchor="{anchor}"'
    named = f' class="{classes}"' if classes else ""
    return f"<text {attributes}{named}>{escape(text)}</text>"


def picture(width: float, height: float, title: str, elements: list[str]) -> str:
    """A whole SVG document, with a title that screen readers read."""
    title = visible(title)
    return "\n".join(
        (
            '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
            'class="maskwright-picture" role="img" '
            f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}" '
            f"aria-label={quoteattr(title)}>",
            f"<title>{escape(title)}</title>",
            f"<style>{_STYLE}</style>",
            *elements,
            "</svg>\n",
        )
    )


_GAP: Final = 28
_LAYER: Final = 84
_HALF: Final = 14
_MARGIN: Final = 36
_SWEEPS: Final = 6


class ChartNode(Immutable):
    """A node: what stands in it, its kind, and whether a text may end there (a double frame)."""

    label: str
    kind: Literal["name", "set", "plain"] = "plain"
    is_end: bool = False


class ChartEdge(Immutable):
    """An edge between two nodes by their numbers, with what stands beside it."""

    source: int
    target: int
    label: str = ""


class Chart(Immutable):
    """A graph that begins at node 0, from which every node can be reached."""

    nodes: Sequence[ChartNode]
    edges: Sequence[ChartEdge]


def draw_chart(chart: Chart, title: str) -> str:
    """An SVG document with the graph, from the top down."""
    if not chart.nodes:
        return picture(2 * _MARGIN, 2 * _MARGIN, title, [])
    layers = _ordered(chart, _layers(chart))
    places = _places(chart, layers)
    elements = [element for edge in chart.edges for element in _edge(chart, edge, places)]
    for number, node in enumerate(chart.nodes):
        elements.append(_node(node, *places[number]))
    right = max(x + _width(chart.nodes[n]) / 2 for n, (x, _) in places.items())
    widest = max((width_of(cut(edge.label)) for edge in chart.edges), default=0)
    height = _MARGIN * 2 + _LAYER * (len(layers) - 1)
    return picture(right + _MARGIN + _GAP * 2 + widest, height + _GAP, title, elements)


def _layers(chart: Chart) -> dict[int, int]:
    """The layer of each node: below all nodes that lead to it, edges of circles left out."""
    following: dict[int, list[int]] = {}
    for edge in chart.edges:
        following.setdefault(edge.source, []).append(edge.target)
    finished: dict[int, None] = {}
    """Nodes in the order in which a search in depth leaves them."""
    back: set[tuple[int, int]] = set()
    path = [(0, iter(following.get(0, ())))]
    on_path = {0}
    while path:
        node, rest = path[-1]
        for target in rest:
            if target in on_path:
                back.add((node, target))
            elif target not in finished:
                path.append((target, iter(following.get(target, ()))))
                on_path.add(target)
                break
        else:
            finished[node] = None
            on_path.discard(node)
            path.pop()
    layer = dict.fromkeys(reversed(finished), 0)
    for node in layer:
        for target in following.get(node, ()):
            if (node, target) not in back:
                layer[target] = max(layer[target], layer[node] + 1)
    return layer


def _ordered(chart: Chart, distance: Mapping[int, int]) -> list[list[int]]:
    """The nodes of each layer from left to right, so that few edges cross."""
    layers: list[list[int]] = [[] for _ in range(max(distance.values()) + 1)]
    for node, layer in distance.items():
        layers[layer].append(node)
    near: dict[int, list[int]] = {node: [] for node in distance}
    for edge in chart.edges:
        if abs(distance[edge.source] - distance[edge.target]) == 1:
            near[edge.source].append(edge.target)
            near[edge.target].append(edge.source)
    for sweep in range(_SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            at = {node: place / len(row) for row in layers for place, node in enumerate(row)}
            means = {n: sum(at[m] for m in near[n]) / len(near[n]) if near[n] else 0 for n in layer}
            layer.sort(key=means.__getitem__)
    return layers


def _places(chart: Chart, layers: list[list[int]]) -> dict[int, tuple[float, float]]:
    """The middle of each node; layers are centred."""
    widths = [
        sum(_width(chart.nodes[n]) for n in layer) + _GAP * (len(layer) - 1) for layer in layers
    ]
    places: dict[int, tuple[float, float]] = {}
    for number, (layer, width) in enumerate(zip(layers, widths, strict=True)):
        x = _MARGIN + _GAP + (max(widths) - width) / 2
        for node in layer:
            own = _width(chart.nodes[node])
            places[node] = x + own / 2, _MARGIN + number * _LAYER
            x += own + _GAP
    return places


def _width(node: ChartNode) -> int:
    return max(2 * _HALF, width_of(cut(node.label)) + 18)


def _node(node: ChartNode, x: float, y: float) -> str:
    label, width = cut(node.label), _width(node)
    frames = [(width, _HALF)] + [(width - 6, _HALF - 3)] * node.is_end
    drawn = "".join(
        f'<rect class="box {node.kind}" x="{x - w / 2:g}" y="{y - half:g}" width="{w:g}" '
        f'height="{2 * half:g}" rx="{half:g}"/>'
        for w, half in frames
    )
    tip = f"<title>{escape(node.label)}</title>" if label != node.label else ""
    return f"<g>{drawn}{text_at(x, y, label)}{tip}</g>"


def _edge(chart: Chart, edge: ChartEdge, places: Mapping[int, tuple[float, float]]) -> list[str]:
    (x, y), (to_x, to_y) = places[edge.source], places[edge.target]
    if edge.source == edge.target:
        side = x + _width(chart.nodes[edge.source]) / 2
        path = f"M{side:g} {y - 5:g}c22 -14 22 24 0 10"
        tip = f"M{side:g} {y + 5:g}l8 -1l-3 6z"
        middle = side + 19, y
    elif to_y > y:
        path = (
            f"M{x:g} {y + _HALF:g}C{x:g} {y + 45:g} {to_x:g} {to_y - 45:g} {to_x:g} {to_y - 20:g}"
        )
        tip = f"M{to_x:g} {to_y - _HALF:g}l-4 -8h8z"
        middle = (x + 2 * to_x) / 3, (y + 2 * to_y) / 3
    else:
        side = x + _width(chart.nodes[edge.source]) / 2
        to_side = to_x + _width(chart.nodes[edge.target]) / 2
        out = max(side, to_side) + 34
        path = f"M{side:g} {y:g}C{out:g} {y:g} {out:g} {to_y:g} {to_side + 7:g} {to_y:g}"
        tip = f"M{to_side:g} {to_y:g}l8 -4v8z"
        middle = out, (y + to_y) / 2
    drawn = [f'<path class="way" d="{path}"/>', f'<path class="tip" d="{tip}"/>']
    if edge.label:
        label = text_at(middle[0] + 4, middle[1], cut(edge.label), anchor="start")
        drawn.append(f"<g>{label}<title>{escape(edge.label)}</title></g>")
    return drawn
