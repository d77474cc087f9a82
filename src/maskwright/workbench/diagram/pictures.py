"""The pictures of each kind of shape as SVG documents: railroad diagrams, and graphs of rules,
definitions or states.

Each part of a railroad diagram is measured once: its width, how far it reaches above and below the
line on which it begins, and how much lower its end is. Then it is drawn at a place. A chain that is
wider than `WIDEST` is continued in the next row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, assert_never
from xml.sax.saxutils import escape, quoteattr

from maskwright.errors import LimitError
from maskwright.grammar.dialects.detect import Dialect
from maskwright.grammar.dialects.read import read_document
from maskwright.grammar.dialects.syntax import Document
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.derivative import arcs
from maskwright.grammar.regular.terms import Regular, chars
from maskwright.grammar.schema.tree import Json
from maskwright.workbench.choices import PictureName
from maskwright.workbench.diagram.charts import Chart, ChartEdge, ChartNode, draw_chart
from maskwright.workbench.diagram.grammar_tracks import (
    described,
    grammar_tracks,
    names_in,
    reached,
    regular_track,
)
from maskwright.workbench.diagram.schema_tracks import ROOT, references, resolved, schema_tracks
from maskwright.workbench.diagram.svg import cut, picture, text_at, width_of
from maskwright.workbench.diagram.tracks import SKIP, Box, Chain, Cycle, Fork, Rows, Track

RADIUS: Final = 10
"""Pixels of the radius of every bend."""
GAP: Final = 14
"""Pixels between two parts of a chain, and between two branches."""
HALF: Final = 12
"""Pixels of half the height of a box."""
WIDEST: Final = 900
"""Pixels up to which a chain stays in one row."""
MARGIN: Final = 20


@dataclass(frozen=True, slots=True)
class Laid:
    """A part with its measures in pixels: `up` and `down` from the line on which it begins, `drop`
    from that line to the one on which it ends."""

    track: Track
    width: int
    up: int
    down: int
    drop: int = 0
    parts: tuple[Laid, ...] = ()
    label: str = ""


def draw_railroad(diagrams: Mapping[str, Track], title: str) -> str:
    """An SVG document with a diagram below the other, each after its name."""
    pen = _Pen()
    y, widest = MARGIN, 0
    for name, track in diagrams.items():
        laid = _lay(track)
        line = y + 2 * HALF + laid.up + RADIUS
        pen.elements.append(f"<g id={quoteattr(anchor(name))}>")
        pen.elements.append(text_at(MARGIN, y + HALF, name, "heading", "start"))
        pen.way(f"M{MARGIN} {line - 7}v14m5 -14v14m-5 -7h{2 * RADIUS}")
        start = MARGIN + 2 * RADIUS
        pen.draw(laid, start, line)
        end, last = start + laid.width, line + laid.drop
        pen.way(f"M{end} {last}h{2 * RADIUS}m-5 -7v14m5 -14v14")
        pen.elements.append("</g>")
        heading = MARGIN + width_of(name)
        widest = max(widest, end + 2 * RADIUS, heading)
        y = line + laid.down + MARGIN + RADIUS
    return picture(widest + MARGIN, y, title, pen.elements)


def anchor(name: str) -> str:
    """The id of a diagram in the SVG, to which boxes with its name lead."""
    return f"diagram-{name}"


def _lay(track: Track) -> Laid:
    match track:
        case Box():
            return _box(track, track.label)
        case Chain(parts=parts):
            return _chain(track, [_lay(part) for part in parts])
        case Fork(options=options):
            return _fork(track, [_lay(option) for option in options])
        case Cycle():
            return _cycle(track)
        case Rows(rows=rows):
            return _rows(track, [_lay(row) for row in rows])
        case _:
            assert_never(track)


def _box(track: Track, text: str) -> Laid:
    label = cut(text)
    return Laid(track, width_of(label) + 2 * RADIUS, HALF, HALF, label=label)


def _chain(track: Track, parts: list[Laid]) -> Laid:
    rows: list[list[Laid]] = [[]]
    for part in parts:
        if rows[-1] and _width([*rows[-1], part]) > WIDEST:
            rows.append([])
        rows[-1].append(part)
    if len(rows) > 1:
        return _rows(Rows(()), [_chain(Chain(()), row) for row in rows])
    up = down = drop = 0
    for part in parts:
        up = max(up, part.up - drop)
        down = max(down, drop + part.down)
        drop += part.drop
    return Laid(track, _width(parts), up, down, drop, tuple(parts))


def _width(parts: list[Laid]) -> int:
    return sum(part.width for part in parts) + GAP * max(0, len(parts) - 1)


def _fork(track: Track, options: list[Laid]) -> Laid:
    width = max(option.width for option in options) + 4 * RADIUS
    height = _lines(options)[-1] + options[-1].down
    return Laid(track, width, options[0].up, height, parts=tuple(options))


def _lines(options: list[Laid] | tuple[Laid, ...]) -> list[int]:
    """Where each option begins, below the line of the first."""
    lines = [0]
    for before, option in pairwise(options):
        lines.append(lines[-1] + max(2 * RADIUS, before.down + GAP + option.up))
    return lines


def _cycle(track: Cycle) -> Laid:
    body = _lay(track.body)
    back = _lay(track.between)
    note = Box(track.note, "note")
    if track.note:
        back = _box(note, track.note) if track.between == SKIP else _beside(back, note)
    width = max(body.width, back.width) + 2 * RADIUS
    below = max(2 * RADIUS, body.down + GAP + back.up, body.drop + 2 * RADIUS)
    return Laid(track, width, body.up, below + max(back.down, 2), body.drop, (body, back))


def _beside(back: Laid, note: Box) -> Laid:
    parts = [back, _box(note, note.label)]
    return _chain(Chain(()), parts)


def _rows(track: Track, rows: list[Laid]) -> Laid:
    starts = _starts(rows)
    width = max(row.width for row in rows) + 2 * RADIUS
    down = starts[-1] + rows[-1].down
    return Laid(track, width, rows[0].up, down, starts[-1] + rows[-1].drop, tuple(rows))


def _starts(rows: list[Laid] | tuple[Laid, ...]) -> list[int]:
    """Where each row begins, below the line of the first."""
    starts = [0]
    for before, row in pairwise(rows):
        turn = starts[-1] + _turn(before)
        starts.append(turn + max(2 * RADIUS, row.up + GAP // 2))
    return starts


def _turn(row: Laid) -> int:
    """How far below the beginning of a row the way back to the left runs."""
    return max(row.drop + 2 * RADIUS, row.down + GAP // 2)


class _Pen:
    """Draws laid parts at places; what it has drawn is in `elements`."""

    def __init__(self) -> None:
        self.elements: list[str] = []

    def way(self, path: str) -> None:
        self.elements.append(f'<path class="way" d="{path}"/>')

    def draw(self, laid: Laid, x: int, y: int) -> None:
        """Draw a part that begins at a place."""
        match laid.track:
            case Box():
                self._box(laid.track, laid, x, y)
            case Chain():
                self._chain(laid, x, y)
            case Fork():
                self._fork(laid, x, y)
            case Cycle():
                self._cycle(laid, x, y)
            case Rows():
                self._rows(laid, x, y)

    def _box(self, box: Box, laid: Laid, x: int, y: int) -> None:
        middle = x + laid.width / 2
        text = text_at(middle, y, laid.label, "dim" if box.kind == "note" else "")
        if box.kind == "note":
            self.way(f"M{x} {y}h4m{laid.width - 8} 0h4")
            self.elements.append(text)
            return
        corner = HALF if box.kind == "text" else 3
        tip = f"<title>{escape(box.label)}</title>" if laid.label != box.label else ""
        drawn = (
            f'<rect class="box {box.kind}" x="{x}" y="{y - HALF}" width="{laid.width}" '
            f'height="{2 * HALF}" rx="{corner}"/>{text}{tip}'
        )
        if box.target:
            self.elements.append(f"<a href={quoteattr('#' + anchor(box.target))}>{drawn}</a>")
        else:
            self.elements.append(f"<g>{drawn}</g>")

    def _chain(self, laid: Laid, x: int, y: int) -> None:
        for number, part in enumerate(laid.parts):
            if number:
                self.way(f"M{x} {y}h{GAP}")
                x += GAP
            self.draw(part, x, y)
            x, y = x + part.width, y + part.drop

    def _fork(self, laid: Laid, x: int, y: int) -> None:
        right = x + laid.width - 2 * RADIUS
        for option, below in zip(laid.parts, _lines(laid.parts), strict=True):
            start = x + 2 * RADIUS
            self._bend(x, y, y + below)
            self.draw(option, start, y + below)
            end = y + below + option.drop
            self.way(f"M{start + option.width} {end}H{right}")
            self._bend(right, end, y)

    def _bend(self, x: int, y: int, to: int) -> None:
        """From a line to another, within the width of two bends."""
        r = RADIUS
        if to == y:
            self.way(f"M{x} {y}h{2 * r}")
        elif to > y:
            self.way(f"M{x} {y}a{r} {r} 0 0 1 {r} {r}V{to - r}a{r} {r} 0 0 0 {r} {r}")
        else:
            self.way(f"M{x} {y}a{r} {r} 0 0 0 {r} {-r}V{to + r}a{r} {r} 0 0 1 {r} {-r}")

    def _cycle(self, laid: Laid, x: int, y: int) -> None:
        r = RADIUS
        body, back = laid.parts
        below = y + max(2 * r, body.down + GAP + back.up, body.drop + 2 * r)
        end, right = y + laid.drop, x + laid.width - r
        self.way(f"M{x} {y}h{r}")
        self.draw(body, x + r, y)
        self.way(f"M{x + r + body.width} {end}H{right + r}")
        start = right - back.width
        self.way(f"M{right} {end}a{r} {r} 0 0 1 {r} {r}V{below - r}a{r} {r} 0 0 1 {-r} {r}")
        self.draw(back, start, below)
        self.way(f"M{start} {below}H{x + r}a{r} {r} 0 0 1 {-r} {-r}V{y + r}a{r} {r} 0 0 1 {r} {-r}")
        self.elements.append(f'<path class="tip" d="M{x - 4} {y + r + 6}h8l-4 -8z"/>')

    def _rows(self, laid: Laid, x: int, y: int) -> None:
        r = RADIUS
        right = x + laid.width - r
        self.way(f"M{x} {y}h{r}")
        starts = [y + start for start in _starts(laid.parts)]
        for number, (row, line) in enumerate(zip(laid.parts, starts, strict=True)):
            self.draw(row, x + r, line)
            end = line + row.drop
            self.way(f"M{x + r + row.width} {end}H{right}")
            if number + 1 < len(starts):
                turn = line + _turn(row)
                self.way(
                    f"M{right} {end}a{r} {r} 0 0 1 {r} {r}V{turn - r}a{r} {r} 0 0 1 {-r} {r}"
                    f"H{x + r}a{r} {r} 0 0 0 {-r} {r}V{starts[number + 1] - r}"
                    f"a{r} {r} 0 0 0 {r} {r}"
                )
            else:
                self.way(f"M{right} {end}h{r}")


MOST_STATES: Final = 200
"""States of an automaton that are drawn at most."""


def rule_graph(document: Document, start: str) -> Chart:
    """Which rule and terminal uses which, from the start rule on."""
    definitions = document.definitions
    names = reached(definitions, start)
    uses = {name: [n for n in names_in(definitions[name].body) if n in names] for name in names}
    nodes = [ChartNode(n, "set" if definitions[n].terminal else "name") for n in names]
    return Chart(nodes, _edges(uses))


def definition_graph(schema: Json) -> Chart:
    """Which schema of a document refers to which, from the root on."""
    uses: dict[str, list[str]] = {}
    waiting = [ROOT]
    for reference in waiting:
        found: Any = resolved(schema, reference)
        uses[reference] = [r for r in references(found) if resolved(schema, r) is not None]
        waiting += [r for r in dict.fromkeys(uses[reference]) if r not in waiting]
    return Chart([ChartNode(name, "name") for name in uses], _edges(uses))


def automaton(term: Regular) -> Chart:
    """The deterministic automaton of a regular language. Raises `LimitError` for one that is larger
    than a picture shows."""
    numbers: dict[Regular, int] = {term: 0}
    edges: list[ChartEdge] = []
    waiting = [term]
    for here in waiting:
        ranges: dict[Regular, list[tuple[int, int]]] = {}
        for low, high, target in arcs(here):
            ranges.setdefault(target, []).append((low, high))
        for target, some in ranges.items():
            if target not in numbers:
                numbers[target] = len(numbers)
                waiting.append(target)
            label = described(chars(tuple(some)))
            label = label[1:-1] if label.startswith("/") else label
            edges.append(ChartEdge(numbers[here], numbers[target], label))
        if len(numbers) > MOST_STATES:
            raise LimitError(
                f"the automaton has more than {MOST_STATES} states",
                limit="automaton states in a picture",
                value=MOST_STATES,
            )
    nodes = [ChartNode(str(number), is_end=state.nullable) for state, number in numbers.items()]
    return Chart(nodes, edges)


def _edges(uses: Mapping[str, list[str]]) -> list[ChartEdge]:
    numbers = {name: number for number, name in enumerate(uses)}
    return [
        ChartEdge(numbers[name], numbers[other])
        for name, others in uses.items()
        for other in dict.fromkeys(others)
    ]


def schema_picture(schema: Json, name: str, which: PictureName = "railroad") -> str:
    """The structure of a schema's values as railroad diagrams, or the graph of its references."""
    if which == "graph":
        return draw_chart(definition_graph(schema), f"References of {name}")
    return draw_railroad(schema_tracks(schema), f"Structure of {name}")


def grammar_picture(
    text: str, dialect: Dialect | None, name: str, which: PictureName = "railroad"
) -> str:
    """A railroad diagram of each rule of a grammar, or the graph of its rules. Raises
    `GrammarError`."""
    document, start = read_document(text, dialect)
    if which == "graph":
        return draw_chart(rule_graph(document, start), f"Rules of {name}")
    return draw_railroad(grammar_tracks(document, start), f"Rules of {name}")


def pattern_picture(pattern: str, which: PictureName = "railroad") -> str:
    """The railroad diagram of a pattern, or its automaton, which begins at state 0 and may end at
    the states with a double frame. Raises `RegexError`, `LimitError`."""
    language = full_match(pattern)
    if which == "graph":
        return draw_chart(automaton(language), f"Automaton of /{pattern}/")
    return draw_railroad({"pattern": regular_track(language)}, f"Pattern /{pattern}/")
