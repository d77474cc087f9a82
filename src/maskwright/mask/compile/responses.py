"""The shapes of an answer that stands beside tools and calls none of them, as expressions."""

from __future__ import annotations

from dataclasses import dataclass

from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.whitespace import WHITESPACE
from maskwright.automaton.value.witness_text import rendered
from maskwright.errors import InputError, UnsatisfiableSchemaError
from maskwright.grammar.dialects.detect import Dialect
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.derivative import is_live
from maskwright.grammar.regular.terms import ANYTHING, complement, concat, intersection, words
from maskwright.grammar.rules.captures import without_captures
from maskwright.grammar.rules.tree import Capture, Expression, Terminal
from maskwright.grammar.schema.remarks import pattern_remarks
from maskwright.grammar.schema.tree import Json, Schema
from maskwright.grammar.tags.parse import parse_tag
from maskwright.mask.compile.parts import Parts
from maskwright.vocab import Vocabulary


@dataclass(frozen=True, slots=True)
class JsonResponse:
    """One instance of a JSON Schema (a dict, a bool, or JSON text)."""

    schema: Json


@dataclass(frozen=True, slots=True)
class RegexResponse:
    """A text that the pattern matches from its first to its last character."""

    pattern: str


@dataclass(frozen=True, slots=True)
class ChoiceResponse:
    """One of the strings."""

    strings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GrammarResponse:
    """A text of a grammar; without a `dialect`, that is recognised."""

    grammar: str
    dialect: Dialect | None = None


@dataclass(frozen=True, slots=True)
class TagResponse:
    """A text of a structural tag (a dict, or JSON text)."""

    tag: Json


ResponseShape = JsonResponse | RegexResponse | ChoiceResponse | GrammarResponse | TagResponse


def response_expression(
    response: ResponseShape, parts: Parts, vocab: Vocabulary, heads: tuple[str, ...]
) -> Expression:
    """Translate a shape into a capture `text`, without texts that begin with one of `heads`, as
    calls do.

    Raises the errors of the shape's compiler, and `InputError` if too few texts are left.
    """
    match response:
        case JsonResponse(schema=schema):
            said = _json(parts.schema(schema, ""), parts, heads)
        case RegexResponse(pattern=pattern):
            parts.annotations += pattern_remarks(pattern, "")
            said = _regex(pattern, parts, heads)
        case ChoiceResponse(strings=strings):
            left = tuple(each for each in strings if not each.startswith(heads))
            if not left:
                raise _conflict("every string")
            said = Terminal(words(left))
        case GrammarResponse(grammar=text, dialect=dialect):
            said = parts.grammar(text, dialect, vocab)
        case TagResponse(tag=tag):
            said = parts.tag(parse_tag(tag), vocab)
    for name in list(parts.rules):
        parts.rules[name] = without_captures(parts.rules[name])
    return Capture("text", without_captures(said))


def _json(schema: Schema, parts: Parts, heads: tuple[str, ...]) -> Expression:
    """Translate a schema. What begins like a call is left out while the text is read; only the
    shortest instance, with which a text is completed, must not begin so."""
    solver = Solver(parts.property_order, parts.limits, parts.numbers)
    root = frozenset([schema])
    if not solver.satisfiable(root):
        raise UnsatisfiableSchemaError("no JSON value matches the schema", pointer="")
    shortest = solver.shortest.of(root)
    assert shortest is not None
    if rendered(shortest, WHITESPACE[parts.whitespace], 0).startswith(heads):
        raise _conflict("the shortest instance of the schema")
    return parts.value(schema)


def _regex(pattern: str, parts: Parts, heads: tuple[str, ...]) -> Expression:
    language = full_match(pattern, parts.limits)
    if heads:
        language = intersection(language, complement(concat(words(heads), ANYTHING)))
    if not is_live(language, parts.limits.witness_search):
        raise _conflict("every text of the pattern")
    return Terminal(language)


def _conflict(what: str) -> InputError:
    return InputError(
        f"{what} begins like a call of a tool, so that an answer can't be distinguished from a "
        "call: use another tool format, or force a call or none",
        code="conflicting_constraints",
    )
