"""The shape of the answer, from each field that can ask for one.

OpenAI's clients send `response_format`; clients of other servers send `structured_outputs`,
`guided_*`, `regex`, `ebnf`, `grammar` or `json_schema`. All of these fields are enforced. A request
has one shape: different shapes in two fields are refused, equal ones are accepted.

`strict` has no effect, because a schema is always enforced: most clients that need the guarantee
send false, or nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from maskwright.errors import InputError
from maskwright.grammar.dialects.detect import DIALECTS, Dialect
from maskwright.grammar.schema.document import check, object_of
from maskwright.json_faults import json_reason
from maskwright.limits import DEFAULT_LIMITS
from maskwright.server.request.fields import Fields, invalid, missing, shown

Schema: TypeAlias = dict[str, object] | bool

KINDS = ("text", "json_object", "json_schema", "regex", "grammar", "structural_tag")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class FreeText:
    """No constraint."""


@dataclass(frozen=True, slots=True)
class JsonShape:
    """The whole answer is one instance of a schema. `text` is its JSON, compact and with the
    properties in the client's order.

    `place`: the dotted path of the schema. `shown`: whether the prompt contains the schema, which
    it does not if the client sent none.
    """

    text: str
    place: str
    shown: bool = True


@dataclass(frozen=True, slots=True)
class RegexShape:
    """The whole answer matches the pattern."""

    pattern: str
    place: str


@dataclass(frozen=True, slots=True)
class ChoiceShape:
    """The answer is one of the strings."""

    strings: tuple[str, ...]
    place: str


@dataclass(frozen=True, slots=True)
class GrammarShape:
    """The answer is a text of a grammar."""

    grammar: str
    dialect: Dialect | Literal["auto"]
    place: str


@dataclass(frozen=True, slots=True)
class TagShape:
    """The answer has the form of a structural tag. `text` is its JSON."""

    text: str
    place: str


ConstrainedShape: TypeAlias = JsonShape | RegexShape | ChoiceShape | GrammarShape | TagShape
Shape: TypeAlias = FreeText | ConstrainedShape

FIELDS = frozenset(
    {
        "ebnf",
        "grammar",
        "guided_choice",
        "guided_grammar",
        "guided_json",
        "guided_regex",
        "json_schema",
        "regex",
        "response_format",
        "structural_tag",
        "structured_outputs",
    }
)
"""The fields that may contain a shape."""


def parse_shape(body: Fields, format: Fields | None = None) -> Shape:
    """Read the shape of a request. `format`: the object that OpenAI's clients send for it, by
    default in `response_format`. Raises InputError with the dotted path of the wrong field."""
    shapes = list(_shapes(body, format or body.object("response_format")))
    for other in shapes[1:]:
        if _differ(other, shapes[0]):
            raise InputError(
                f"{shapes[0].place} and {other.place} ask for different shapes; send one",
                param=other.place,
                code="conflicting_constraints",
            )
    return shapes[0] if shapes else FreeText()


Constraint: TypeAlias = JsonShape | RegexShape | ChoiceShape | GrammarShape | TagShape


def _differ(one: Constraint, other: Constraint) -> bool:
    if isinstance(one, GrammarShape) and isinstance(other, GrammarShape):
        named = {one.dialect, other.dialect} - {"auto"}
        return one.grammar != other.grammar or len(named) > 1
    return _content(one) != _content(other)


def _content(shape: Constraint) -> tuple[object, ...]:
    match shape:
        case JsonShape(text=text):
            return JsonShape, text
        case RegexShape(pattern=pattern):
            return RegexShape, pattern
        case ChoiceShape(strings=strings):
            return ChoiceShape, strings
        case GrammarShape(grammar=grammar):
            return GrammarShape, grammar
        case TagShape(text=text):
            return TagShape, text


def _shapes(body: Fields, format: Fields | None) -> Iterator[Constraint]:
    shape = FreeText() if format is None else _format(format)
    if not isinstance(shape, FreeText):
        yield shape
    outputs = body.object("structured_outputs")
    if outputs is not None:
        yield _structured_outputs(outputs)
    for name in ("guided_json", "json_schema"):
        if body.has(name):
            yield _schema_of(body, name)
    for name in ("guided_regex", "regex"):
        if body.has(name):
            yield RegexShape(_text(body, name), body.at(name))
    if body.has("guided_choice"):
        yield _choice(body, "guided_choice")
    for name in ("guided_grammar", "grammar", "ebnf"):
        if body.has(name):
            yield _grammar(body, name)
    if body.has("structural_tag"):
        yield _tag(body, "structural_tag")


def _format(fields: Fields) -> Shape:
    match fields.string("type"):
        case None:
            raise missing(fields.at("type"))
        case "text":
            fields.only("type")
            return FreeText()
        case "json_object":
            fields.only("type", "schema")
            return _object(fields)
        case "json_schema":
            fields.only("type", "json_schema", "schema", "name", "description", "strict")
            return _schema(fields)
        case "regex":
            fields.only("type", "regex", "pattern", "value")
            return _regex(fields)
        case "grammar":
            fields.only("type", "grammar", "syntax")
            return GrammarShape(_text(fields, "grammar"), _syntax(fields), fields.at("grammar"))
        case "structural_tag":
            if not (fields.has("format") or fields.has("structures")):
                raise missing(fields.at("format"))
            return TagShape(_compact(fields.values), fields.place)
        case other:
            raise InputError(
                f"{fields.at('type')} {shown(other)} is not supported; use one of "
                f"{', '.join(map(repr, KINDS))}",
                param=fields.at("type"),
                code="unsupported_value",
            )


def _regex(fields: Fields) -> RegexShape:
    """Read a pattern, which has one of three names, or equal ones under several."""
    given = [name for name in ("pattern", "value", "regex") if fields.has(name)] or ["regex"]
    patterns = {name: _text(fields, name) for name in given}
    for name, pattern in patterns.items():
        if pattern != patterns[given[0]]:
            raise InputError(
                f"{fields.at(given[0])} and {fields.at(name)} are different patterns; send one",
                param=fields.at(name),
                code="conflicting_constraints",
            )
    return RegexShape(patterns[given[0]], fields.at(given[0]))


def _structured_outputs(fields: Fields) -> Constraint:
    """Read vLLM's `structured_outputs`, which has exactly one constraint."""
    names = ("json", "regex", "choice", "grammar", "json_object", "structural_tag")
    if fields.has("whitespace_pattern"):
        raise InputError(
            "the server determines the whitespace; disable_any_whitespace: true asks for none",
            param=fields.at("whitespace_pattern"),
            code="unsupported_parameter",
        )
    fields.only(
        *names, "disable_any_whitespace", "disable_additional_properties", "disable_fallback"
    )
    fields.boolean("disable_fallback")  # of vLLM, for which it selects the library
    given = [name for name in names if fields.has(name)]
    if len(given) != 1:
        raise InputError(
            f"{fields.place} must hold exactly one of {', '.join(names)}",
            param=fields.place,
            code="conflicting_constraints",
        )
    match given[0]:
        case "json":
            return _schema_of(fields, "json")
        case "regex":
            return RegexShape(_text(fields, "regex"), fields.at("regex"))
        case "choice":
            return _choice(fields, "choice")
        case "grammar":
            return _grammar(fields, "grammar")
        case "json_object":
            if not fields.boolean("json_object"):
                raise invalid(fields.at("json_object"), "true", False)
            return _any_object(fields.at("json_object"))
        case _:
            return _tag(fields, "structural_tag")


def _check_size(schema: object, place: str) -> None:
    """Refuse a schema that is too large at once, before the prompt shows it to the model."""
    try:
        check(cast(Schema, schema), DEFAULT_LIMITS)
    except InputError as error:
        error.param = place
        raise


def _any_object(place: str) -> JsonShape:
    return JsonShape(_compact({"type": "object"}), place)


def _object(fields: Fields) -> JsonShape:
    if fields.has("schema"):
        return _schema_of(fields, "schema")
    return _any_object(fields.place)


def _schema(fields: Fields) -> JsonShape:
    """Read `json_schema: {name, schema, strict}`, or these fields one level higher."""
    inner = fields.object("json_schema")
    if inner is None:
        if not fields.has("schema"):
            raise missing(fields.at("json_schema"))
        inner = fields
    else:
        fields.only("type", "json_schema")
        inner.only("name", "description", "schema", "strict")
    name = inner.string("name")
    if name is not None and not _NAME.fullmatch(name):
        raise invalid(inner.at("name"), "1 to 64 of a-z, A-Z, 0-9, '_' and '-'", name)
    inner.string("description")
    inner.boolean("strict")
    if not inner.has("schema"):
        return JsonShape("true", inner.place, shown=False)
    return _schema_of(inner, "schema")


def _schema_of(fields: Fields, name: str) -> JsonShape:
    """Read a schema, or a string with its JSON."""
    schema = fields.get(name)
    place = fields.at(name)
    if isinstance(schema, str):
        try:
            schema = json.loads(schema, object_pairs_hook=object_of)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{place} is not JSON: {json_reason(error)}", param=place) from None
    if isinstance(schema, dict | bool):
        _check_size(schema, place)
        return JsonShape(_compact(cast(Schema, schema)), place)
    raise invalid(place, "a JSON Schema (an object, true or false)", schema)


def _grammar(fields: Fields, name: str) -> GrammarShape:
    """Read a grammar: its text, or an object that names its syntax beside its definition, as in a
    custom tool."""
    if not isinstance(fields.get(name), dict):
        return GrammarShape(_text(fields, name), "auto", fields.at(name))
    inner = Fields.of(fields.get(name), fields.at(name))
    inner.only("syntax", "definition")
    return GrammarShape(_text(inner, "definition"), _syntax(inner), inner.at("definition"))


def _syntax(fields: Fields) -> Dialect | Literal["auto"]:
    syntax = fields.choice("syntax", ("auto", *DIALECTS))
    return cast("Dialect | Literal['auto']", syntax or "auto")


def _choice(fields: Fields, name: str) -> ChoiceShape:
    if not isinstance(fields.get(name), list) or not fields.strings(name):
        raise invalid(fields.at(name), "an array of at least one string", fields.get(name))
    return ChoiceShape(fields.strings(name), fields.at(name))


def _tag(fields: Fields, name: str) -> TagShape:
    """Read a structural tag, or a string with its JSON."""
    tag = fields.get(name)
    if isinstance(tag, str):
        return TagShape(tag, fields.at(name))
    if isinstance(tag, dict):
        return TagShape(_compact(cast(dict[str, object], tag)), fields.at(name))
    raise invalid(fields.at(name), "a structural tag (an object, or its JSON text)", tag)


def _text(fields: Fields, name: str) -> str:
    text = fields.string(name)
    if text is None:
        raise missing(fields.at(name))
    if not text:
        raise InputError(f"{fields.at(name)} is empty", param=fields.at(name))
    return text


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
