"""The railroad diagrams of a grammar's rules, from its syntax tree: as it is written, with its own
names, and without the ignored text that may stand before every terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import assert_never

from maskwright.grammar.dialects.syntax import (
    Both,
    Definition,
    Document,
    Either,
    Json,
    Literal,
    Name,
    Node,
    Not,
    Options,
    Series,
    Special,
    Times,
    below,
)
from maskwright.workbench.diagram.regular_tracks import described, regular_track
from maskwright.workbench.diagram.tracks import Box, Track, chain, fork, repeated


def grammar_tracks(document: Document, start: str) -> dict[str, Track]:
    """A diagram for each rule and terminal to which the start rule leads, in the order in which
    they are reached."""
    found: dict[str, Track] = {}
    for name in reached(document.definitions, start):
        definition = document.definitions[name]
        title = f"{name}{{{', '.join(definition.parameters)}}}" if definition.parameters else name
        found[title] = _definition(definition, document.definitions)
    if document.ignored:
        found["ignored anywhere"] = fork([_node(n, document.definitions) for n in document.ignored])
    return found


def reached(definitions: Mapping[str, Definition], start: str) -> list[str]:
    """The definitions to which a rule leads, itself first, then by distance."""
    names = dict.fromkeys([start])
    waiting = [start]
    for name in waiting:
        for other in names_in(definitions[name].body):
            if other in definitions and other not in names:
                names[other] = None
                waiting.append(other)
    return list(names)


def names_in(node: Node | None) -> Iterator[str]:
    """The names that occur in an expression, from left to right."""
    if isinstance(node, Name):
        yield node.name
    for inner in below(node) if node is not None else ():
        yield from names_in(inner)


def _definition(definition: Definition, known: Mapping[str, Definition]) -> Track:
    if definition.body is None:
        return Box("declared, without a definition", "note")
    notes: list[Track] = [Box(note, "note") for note in _notes(definition.options, known)]
    return chain([_node(definition.body, known), *notes])


def _notes(options: Options, known: Mapping[str, Definition]) -> Iterator[str]:
    if options.lazy:
        yield "as short as possible"
    if options.suffix is not None:
        yield f"up to {_words(options.suffix)}"
    if options.stop is not None:
        yield f"before {_words(options.stop)}"
    if options.max_tokens is not None:
        yield f"at most {options.max_tokens:,} tokens"


def _node(node: Node, known: Mapping[str, Definition]) -> Track:
    match node:
        case Literal(language=language):
            return regular_track(language)
        case Name(name=name, arguments=arguments):
            label = f"{name}{{{', '.join(map(_words, arguments))}}}" if arguments else name
            definition = known.get(name)
            is_diagram = definition is not None and not definition.parameters
            return Box(label, "name", name if is_diagram else "")
        case Series(parts=parts):
            return chain([_node(part, known) for part in parts])
        case Either(options=options):
            return fork([_node(option, known) for option in options])
        case Times(body=body, least=least, most=most):
            return repeated(_node(body, known), least, most)
        case Both() | Not() | Json() | Special():
            return Box(_words(node), "set")
        case _:
            assert_never(node)


def _words(node: Node) -> str:
    """An expression in words, for a box."""
    match node:
        case Literal(language=language):
            return described(language)
        case Name(name=name):
            return name
        case Series(parts=parts):
            return " then ".join(map(_words, parts))
        case Either(options=options):
            return " or ".join(map(_words, options))
        case Times(body=body):
            return f"repeated {_words(body)}"
        case Both(parts=parts):
            return " and ".join(map(_words, parts))
        case Not(body=body):
            return f"not {_words(body)}"
        case Json():
            return "a JSON value under a schema"
        case Special(ids=ids):
            listed = ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in ids)
            return f"special token {listed}"
        case _:
            assert_never(node)
