"""The pictures of each kind of shape as SVG documents."""

from __future__ import annotations

from maskwright.grammar.dialects.detect import Dialect
from maskwright.grammar.dialects.read import read_document
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.schema.tree import Json
from maskwright.workbench.choices import PictureName
from maskwright.workbench.diagram.charts import draw_chart
from maskwright.workbench.diagram.grammar_tracks import grammar_tracks
from maskwright.workbench.diagram.graphs import automaton, definition_graph, rule_graph
from maskwright.workbench.diagram.railroad import draw_railroad
from maskwright.workbench.diagram.regular_tracks import regular_track
from maskwright.workbench.diagram.schema_tracks import schema_tracks


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
