"""The pictures of each kind of shape as SVG documents: railroad diagrams, and graphs of rules,
definitions or states."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from typing import Final

import railroad
from railroad import DiagramItem, End, Sequence, Start

from maskwright.errors import LimitError
from maskwright.grammar.dialects.detect import Dialect
from maskwright.grammar.dialects.read import read_document
from maskwright.grammar.dialects.syntax import Document
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.derivative import arcs
from maskwright.grammar.regular.terms import Regular, chars
from maskwright.grammar.schema.tree import Json
from maskwright.workbench.choices import PictureName
from maskwright.workbench.diagram.charts import (
    Chart,
    ChartEdge,
    ChartNode,
    draw_chart,
    picture,
    text_at,
    visible,
    width_of,
)
from maskwright.workbench.diagram.grammar_tracks import (
    described,
    grammar_tracks,
    names_in,
    reached,
    regular_track,
)
from maskwright.workbench.diagram.schema_tracks import references, schema_tracks
from maskwright.workbench.diagram.tracks import MARGIN, Track, anchor

railroad.INTERNAL_ALIGNMENT = "left"


def draw_railroad(diagrams: Mapping[str, Track], title: str) -> str:
    """An SVG document with a diagram below the other, each after its name."""
    written = StringIO()
    y, widest = float(MARGIN), 0.0
    for name, track in diagrams.items():
        whole = Sequence(Start(), track, End())
        heading = visible(name)
        written.write(text_at(MARGIN, y + MARGIN / 2, heading, "heading", "start"))
        y += 2 * MARGIN + whole.up
        drawn = DiagramItem("g", {"class": "railroad", "id": anchor(name)})
        whole.format(MARGIN, y, whole.width).addTo(drawn)
        drawn.writeSvg(written.write)
        y += whole.height + whole.down + MARGIN
        widest = max(widest, whole.width, width_of(heading))
    # XML forbids what the library writes here.
    tracks = written.getvalue().replace("]]>", "]]&gt;")
    return picture(widest + 2 * MARGIN, y, title, [tracks])


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
    uses = references(schema)
    return Chart([ChartNode(visible(name), "name") for name in uses], _edges(uses))


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
