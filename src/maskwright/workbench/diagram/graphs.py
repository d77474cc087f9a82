"""The graph of a grammar's rules, of a schema's definitions, of a pattern's states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from maskwright.errors import LimitError
from maskwright.grammar.dialects.syntax import Document
from maskwright.grammar.regular.derivative import arcs
from maskwright.grammar.regular.terms import Regular, chars
from maskwright.grammar.schema.tree import Json
from maskwright.workbench.diagram.charts import Chart, ChartEdge, ChartNode
from maskwright.workbench.diagram.grammar_tracks import names_in, reached
from maskwright.workbench.diagram.regular_tracks import described
from maskwright.workbench.diagram.schema_tracks import ROOT, references, resolved

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
