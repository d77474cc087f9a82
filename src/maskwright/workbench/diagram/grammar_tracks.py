"""The railroad diagrams of regular languages, and of a grammar's rules from its syntax tree: as it
is written, with its own names, and without the ignored text that may stand before every terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, assert_never

from railroad import Skip

from maskwright.grammar.dialects import syntax
from maskwright.grammar.dialects.spelling import pattern, string
from maskwright.grammar.dialects.syntax import Definition, Document, Node, Options, below
from maskwright.grammar.regular import terms as r
from maskwright.grammar.regular.charset import Ranges
from maskwright.grammar.regular.terms import Regular
from maskwright.workbench.diagram.charts import visible
from maskwright.workbench.diagram.tracks import Track, box, chain, fork, repeated

FEW: Final = 24
"""Options of a choice up to which each is drawn."""
DEEPEST: Final = 12
"""Levels of choices and repetitions that are drawn; what is deeper is one box with its pattern."""


def regular_track(term: Regular, depth: int = DEEPEST) -> Track:
    """The tracks of a regular language. What has no tracks, such as an intersection, is a box in
    words."""
    match term:
        case r.Epsilon():
            return Skip()
        case r.Concat():
            return _concatenation(term, depth)
        case r.Chars(ranges=ranges):
            return _one_of(ranges)
        case r.Alt(options=options) if depth > 0 and len(options) <= FEW:
            return fork([regular_track(option, depth - 1) for option in options])
        case r.Words(table=table, low=low, high=high, depth=start):
            found = [w[start:] for w in table.strings[low : min(high, low + FEW)]]
            texts: list[Track] = [box(_spelled(w), "text") if w else Skip() for w in found]
            if high - low > FEW:
                texts.append(box(f"… {high - low - FEW:,} more", "note"))
            return fork(texts)
        case r.Repeat(body=body, least=least, most=most) if depth > 0:
            return repeated(regular_track(body, depth - 1), least, most)
        case r.State(equal=language) if language is not None:
            return regular_track(language, depth)
        case _:
            return box(described(term), "set")


def described(term: Regular) -> str:
    """A regular language in words and patterns."""
    written = pattern(term)
    if written is not None:
        return visible(written)
    match term:
        case r.Empty():
            return "nothing"
        case r.Complement(body=body):
            return f"anything but {described(body)}"
        case r.Intersection(parts=parts):
            return " and ".join(described(part) for part in parts)
        case r.LengthBounded(core=core, least=least, most=most):
            upper = "or more" if most is None else f"to {most:,}"
            return f"{least:,} {upper} characters of {described(core)}"
        case r.Concat(head=head, tail=tail):
            return f"{described(head)} then {described(tail)}"
        case r.Alt(options=options):
            return " or ".join(described(option) for option in options)
        case _:
            return "texts of an automaton"


def _concatenation(term: Regular, depth: int) -> Track:
    """The parts in order, with consecutive characters joined to one text."""
    parts: list[Track] = []
    text = ""
    rest: Regular | None = term
    while rest is not None:
        head, rest = (rest.head, rest.tail) if isinstance(rest, r.Concat) else (rest, None)
        if isinstance(head, r.Chars) and _is_one(head.ranges):
            text += chr(head.ranges[0][0])
            continue
        if text:
            parts.append(box(_spelled(text), "text"))
            text = ""
        parts.append(regular_track(head, depth))
    if text:
        parts.append(box(_spelled(text), "text"))
    return chain(parts)


def _one_of(ranges: Ranges) -> Track:
    if _is_one(ranges):
        return box(_spelled(chr(ranges[0][0])), "text")
    written = pattern(r.chars(ranges)) or ""
    return box(visible(written[1:-1].replace("\\/", "/")), "set")


def _is_one(ranges: Ranges) -> bool:
    return len(ranges) == 1 and ranges[0][0] == ranges[0][1]


def _spelled(text: str) -> str:
    return visible(string(text))


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
    if isinstance(node, syntax.Name):
        yield node.name
    for inner in below(node) if node is not None else ():
        yield from names_in(inner)


def _definition(definition: Definition, known: Mapping[str, Definition]) -> Track:
    if definition.body is None:
        return box("declared, without a definition", "note")
    notes: list[Track] = [box(note, "note") for note in _notes(definition.options, known)]
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
        case syntax.Literal(language=language):
            return regular_track(language)
        case syntax.Name(name=name, arguments=arguments):
            label = f"{name}{{{', '.join(map(_words, arguments))}}}" if arguments else name
            definition = known.get(name)
            is_diagram = definition is not None and not definition.parameters
            return box(label, "name", name if is_diagram else "")
        case syntax.Series(parts=parts):
            return chain([_node(part, known) for part in parts])
        case syntax.Either(options=options):
            return fork([_node(option, known) for option in options])
        case syntax.Times(body=body, least=least, most=most):
            return repeated(_node(body, known), least, most)
        case syntax.Both() | syntax.Not() | syntax.Json() | syntax.Special():
            return box(_words(node), "set")
        case _:
            assert_never(node)


def _words(node: Node) -> str:
    """An expression in words, for a box."""
    match node:
        case syntax.Literal(language=language):
            return described(language)
        case syntax.Name(name=name):
            return name
        case syntax.Series(parts=parts):
            return " then ".join(map(_words, parts))
        case syntax.Either(options=options):
            return " or ".join(map(_words, options))
        case syntax.Times(body=body):
            return f"repeated {_words(body)}"
        case syntax.Both(parts=parts):
            return " and ".join(map(_words, parts))
        case syntax.Not(body=body):
            return f"not {_words(body)}"
        case syntax.Json():
            return "a JSON value under a schema"
        case syntax.Special(ids=ids):
            listed = ", ".join(str(low) if low == high else f"{low}-{high}" for low, high in ids)
            return f"special token {listed}"
        case _:
            assert_never(node)
