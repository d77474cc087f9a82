"""The shape of an answer, and the fields that may contain it.

A request has one shape: different shapes in two fields are refused, equal ones are accepted.

OpenAI's clients send `response_format`; clients of other servers send `structured_outputs`,
`guided_*`, `regex`, `ebnf`, `grammar` or `json_schema`. All of these fields are enforced.

`strict` has no effect, because a schema is always enforced: most clients that need the guarantee
send false, or nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Final, Literal, Self, TypeAlias, cast

from pydantic import ConfigDict, Field, PrivateAttr, WithJsonSchema, model_validator
from typing_extensions import TypeAliasType

from maskwright.errors import InputError
from maskwright.grammar.dialects.detect import Dialect
from maskwright.grammar.schema.document import check, check_values, json_of
from maskwright.immutable import Immutable
from maskwright.json_faults import json_reason
from maskwright.limits import DEFAULT_LIMITS
from maskwright.mask import (
    ChoiceResponse,
    GrammarResponse,
    JsonResponse,
    RegexResponse,
    ResponseShape,
    TagResponse,
)
from maskwright.server.json import Json
from maskwright.server.request.model import (
    ByField,
    ByType,
    ClosedModel,
    RequestModel,
    Strings,
    Worded,
    described,
    invalid,
    missing,
    needs,
    unknown_field,
)

_KINDS: Final[dict[type[ResponseShape], tuple[str, str]]] = {
    JsonResponse: ("json_schema", "answer of this schema"),
    RegexResponse: ("regex", "text of this pattern"),
    ChoiceResponse: ("choice", "of these choices"),
    GrammarResponse: ("grammar", "text of this grammar"),
    TagResponse: ("structural_tag", "text of this structural tag"),
}
"""The name of each kind of shape, that of `response_format` where there is one; and what a text of
such a shape is called."""


class FreeText(Immutable):
    """No constraint."""

    kind: ClassVar = "text"
    called: ClassVar = "answer of this schema"
    shown_schema: ClassVar = None


class ConstrainedShape(Immutable):
    """What an answer has to be. Schemas and structural tags are JSON, compact and with the
    properties in the client's order.

    `place`: the dotted path of the shape. `shown`: whether the prompt contains the shape if it is a
    schema, which it does not if the client sent none.
    """

    response: ResponseShape
    place: str
    shown: bool = True

    @property
    def kind(self) -> str:
        return _KINDS[type(self.response)][0]

    @property
    def called(self) -> str:
        return _KINDS[type(self.response)][1]

    @property
    def shown_schema(self) -> str | None:
        """The schema that the prompt contains, if it contains one."""
        match self.response:
            case JsonResponse(schema=str(schema)) if self.shown:
                return schema
            case _:
                return None


Shape: TypeAlias = FreeText | ConstrainedShape


def the_shape(shapes: Sequence[ConstrainedShape]) -> Shape:
    """Return the shape that all fields ask for. Raises InputError if they differ."""
    for other in shapes[1:]:
        if _differ(other.response, shapes[0].response):
            raise InputError(
                f"{shapes[0].place} and {other.place} ask for different shapes; send one",
                param=other.place,
                code="conflicting_constraints",
            )
    return shapes[0] if shapes else FreeText()


def _differ(one: ResponseShape, other: ResponseShape) -> bool:
    if isinstance(one, GrammarResponse) and isinstance(other, GrammarResponse):
        named = {one.dialect, other.dialect} - {None}
        return one.grammar != other.grammar or len(named) > 1
    return one != other


_JSON_TEXT: Final[Json] = {"type": "string", "contentMediaType": "application/json"}
_SCHEMA: Final[Json] = {
    "anyOf": [{"type": ["object", "boolean"]}, _JSON_TEXT],
    "description": "A JSON Schema, or its JSON text. It is enforced, or refused at a JSON Pointer.",
}
CHAT_FORMAT: Final = "response_format"
"""Where OpenAI's clients send the shape of a chat's answer."""
_TAG: Final[Json] = {
    "anyOf": [{"type": "object"}, _JSON_TEXT],
    "description": "A structural tag, or its JSON text.",
}

SchemaOrText: TypeAlias = Annotated[Any, WithJsonSchema(_SCHEMA)]
TagOrText: TypeAlias = Annotated[Any, WithJsonSchema(_TAG)]
SomeText: TypeAlias = Annotated[str, Field(min_length=1)]
Choices: TypeAlias = Annotated[tuple[str, ...], Strings(least=1)]
Syntax: TypeAlias = Literal["auto", Dialect]
SchemaName: TypeAlias = Annotated[
    str, Field(pattern="^[a-zA-Z0-9_-]{1,64}$"), Worded("1 to 64 of a-z, A-Z, 0-9, '_' and '-'")
]


class NamedGrammar(ClosedModel):
    """A grammar whose syntax is named."""

    syntax: Syntax = "auto"
    definition: SomeText


AnyGrammar: TypeAlias = Annotated[
    SomeText | NamedGrammar,
    ByType("a string"),
    Field(description="A grammar in Lark, GBNF or EBNF, or an object that names its syntax too."),
]


class TextFormat(ClosedModel):
    """Any text."""

    type: Literal["text"]

    def shape(self, place: str) -> Shape:
        return FreeText()


class JsonObjectFormat(ClosedModel):
    """A JSON object, or an instance of a schema."""

    type: Literal["json_object"]
    schema_: SchemaOrText = Field(default=None, alias="schema")

    def shape(self, place: str) -> Shape:
        if self.schema_ is None:
            return _any_object(place)
        return _schema(self.schema_, f"{place}.schema")


class NamedSchema(ClosedModel):
    """A schema with its name. Without a schema, any JSON value is an instance."""

    name: SchemaName | None = None
    description: str | None = None
    schema_: SchemaOrText = Field(default=None, alias="schema")
    strict: bool = described(False, "Without effect: a schema is always enforced.")

    def shape(self, place: str) -> Shape:
        if self.schema_ is None:
            return ConstrainedShape(JsonResponse("true"), place, shown=False)
        return _schema(self.schema_, f"{place}.schema")


class JsonSchemaFormat(NamedSchema):
    """An instance of a schema, which is in `json_schema`, or one level higher."""

    model_config = ConfigDict(json_schema_extra=needs("json_schema", "schema"))

    type: Literal["json_schema"]
    json_schema: NamedSchema | None = None

    def shape(self, place: str) -> Shape:
        flat = [
            name
            for name in ("schema", "name", "description", "strict")
            if (name if name != "schema" else "schema_") in self.model_fields_set
        ]
        if self.json_schema is None:
            if self.schema_ is None:
                # Only chats document the schema to be one level lower.
                is_nested = place == CHAT_FORMAT and not flat
                raise missing(f"{place}.json_schema" if is_nested else f"{place}.schema")
            return super().shape(place)
        for name in flat:
            raise unknown_field(place, name, ("type", "json_schema"))
        return self.json_schema.shape(f"{place}.json_schema")


class RegexFormat(ClosedModel):
    """A text that a pattern matches. The pattern has one of three names, or equal ones under
    several."""

    model_config = ConfigDict(json_schema_extra=needs("regex", "pattern", "value"))

    type: Literal["regex"]
    regex: SomeText | None = None
    pattern: SomeText | None = None
    value: SomeText | None = None

    def shape(self, place: str) -> Shape:
        named = {"pattern": self.pattern, "value": self.value, "regex": self.regex}
        given = [(name, pattern) for name, pattern in named.items() if pattern is not None]
        if not given:
            raise missing(f"{place}.regex")
        first, expected = given[0]
        for name, pattern in given:
            if pattern != expected:
                raise InputError(
                    f"{place}.{first} and {place}.{name} are different patterns; send one",
                    param=f"{place}.{name}",
                    code="conflicting_constraints",
                )
        return _pattern(expected, f"{place}.{first}")


class GrammarFormat(ClosedModel):
    """A text of a grammar."""

    type: Literal["grammar"]
    grammar: SomeText
    syntax: Syntax = "auto"

    def shape(self, place: str) -> Shape:
        return _grammar(self.grammar, f"{place}.grammar", self.syntax)


class TagFormat(RequestModel):
    """A text that a structural tag describes: the whole object is the tag."""

    model_config = ConfigDict(json_schema_extra=needs("format", "structures"))

    type: Literal["structural_tag"]
    format: Any = None
    structures: Any = None
    triggers: Any = None
    _sent: Json = PrivateAttr(default_factory=dict[str, object])

    @model_validator(mode="wrap")
    @classmethod
    def _keep(cls, value: Any, handler: Any) -> Self:
        made = handler(value)
        made._sent = value
        return made

    def shape(self, place: str) -> Shape:
        if self.format is None and self.structures is None:
            raise missing(f"{place}.format")
        return _tag(self._sent, place)


AnyFormat: TypeAlias = (
    TextFormat | JsonObjectFormat | JsonSchemaFormat | RegexFormat | GrammarFormat | TagFormat
)
ResponseFormat = TypeAliasType(
    "ResponseFormat",
    Annotated[
        AnyFormat,
        ByField("type", " {shown} is not supported; use one of {values}", code="unsupported_value"),
        Field(
            description="The shape of the answer: any text, JSON, a pattern, a grammar or a "
            "structural tag."
        ),
    ],
)


class StructuredOutputs(ClosedModel):
    """vLLM's field: exactly one shape, and options of JSON."""

    KINDS: ClassVar = ("json", "regex", "choice", "grammar", "json_object", "structural_tag")
    REASONS: ClassVar = {
        "whitespace_pattern": "the server determines the whitespace; disable_any_whitespace: true "
        "asks for none"
    }
    model_config = ConfigDict(json_schema_extra=needs(*KINDS, exactly_one=True))

    json_: SchemaOrText = Field(default=None, alias="json")
    regex: SomeText | None = None
    choice: Choices | None = None
    grammar: AnyGrammar | None = None
    json_object: Annotated[bool, Worded("true"), WithJsonSchema({"const": True})] | None = None
    structural_tag: TagOrText = None
    disable_any_whitespace: bool = described(False, "JSON has no whitespace.")
    disable_additional_properties: bool | None = described(
        None, "Whether objects are closed where their schema says nothing of it."
    )
    disable_fallback: bool = described(False, "Without effect.")

    def shape(self, place: str) -> ConstrainedShape:
        values = {kind: getattr(self, "json_" if kind == "json" else kind) for kind in self.KINDS}
        given = [kind for kind, value in values.items() if value is not None]
        if len(given) != 1:
            raise InputError(
                f"{place} must hold exactly one of {', '.join(self.KINDS)}",
                param=place,
                code="conflicting_constraints",
            )
        if self.json_object is not None:
            if not self.json_object:
                raise invalid(f"{place}.json_object", "true", False)
            return _any_object(f"{place}.json_object")
        [kind] = given
        return _READERS[kind](values[kind], f"{place}.{kind}")


_PATTERN: Final = "The answer matches this regular expression."


class ShapeFields(RequestModel):
    """The fields that may contain a shape at every endpoint."""

    structured_outputs: StructuredOutputs | None = None
    guided_json: SchemaOrText = None
    json_schema: SchemaOrText = None
    guided_regex: SomeText | None = described(None, _PATTERN)
    regex: SomeText | None = described(None, _PATTERN)
    guided_choice: Choices | None = described(None, "The answer is one of the strings.")
    guided_grammar: AnyGrammar | None = None
    grammar: AnyGrammar | None = None
    ebnf: AnyGrammar | None = None
    structural_tag: TagOrText = None

    def shape_of(self, format: AnyFormat | None, place: str) -> Shape:
        """Return the shape of the answer. `format`: what OpenAI's clients send for it, in the field
        `place`."""
        asked = FreeText() if format is None else format.shape(place)
        shapes = [] if isinstance(asked, FreeText) else [asked]
        if self.structured_outputs is not None:
            shapes.append(self.structured_outputs.shape("structured_outputs"))
        for name in ShapeFields.model_fields:
            if name != "structured_outputs" and (value := getattr(self, name)) is not None:
                shapes.append(_READERS[name](value, name))
        return the_shape(shapes)


class FormattedShapeFields(ShapeFields):
    """The fields that may contain a shape, where OpenAI's clients send `response_format`."""

    response_format: ResponseFormat | None = None

    def shape(self) -> Shape:
        """Return the shape of the answer."""
        return self.shape_of(self.response_format, CHAT_FORMAT)


FIELDS: Final = frozenset(FormattedShapeFields.names)
"""The fields that may contain a shape."""


def _any_object(place: str) -> ConstrainedShape:
    return ConstrainedShape(JsonResponse(_compact({"type": "object"})), place)


def _pattern(pattern: str, place: str) -> ConstrainedShape:
    return ConstrainedShape(RegexResponse(pattern), place)


def _choice(strings: tuple[str, ...], place: str) -> ConstrainedShape:
    return ConstrainedShape(ChoiceResponse(strings), place)


def _grammar(given: str | NamedGrammar, place: str, syntax: Syntax = "auto") -> ConstrainedShape:
    if isinstance(given, NamedGrammar):
        return _grammar(given.definition, f"{place}.definition", given.syntax)
    return ConstrainedShape(GrammarResponse(given, None if syntax == "auto" else syntax), place)


def _schema(schema: object, place: str) -> ConstrainedShape:
    """Read a schema, or a string with its JSON. One that is too large is refused at once, before
    the prompt shows it to the model."""
    if isinstance(schema, str):
        try:
            schema = json_of(schema)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{place} is not JSON: {json_reason(error)}", param=place) from None
    if not isinstance(schema, dict | bool):
        raise invalid(place, "a JSON Schema (an object, true or false)", schema)
    try:
        check(cast(Any, schema), DEFAULT_LIMITS)
    except InputError as error:
        error.param = place
        raise
    return ConstrainedShape(JsonResponse(_compact(schema)), place)


def _tag(tag: object, place: str) -> ConstrainedShape:
    """Read a structural tag, or a string with its JSON. Numbers of an object are checked here: it
    is written again, which makes 0 of those that double precision takes for 0."""
    if isinstance(tag, str):
        return ConstrainedShape(TagResponse(tag), place)
    if not isinstance(tag, dict):
        raise invalid(place, "a structural tag (an object, or its JSON text)", tag)
    try:
        check_values(cast(Any, tag))
    except InputError as error:
        error.param = place
        raise
    return ConstrainedShape(TagResponse(_compact(cast(object, tag))), place)


_READERS: Final[Mapping[str, Callable[[Any, str], ConstrainedShape]]] = {
    **dict.fromkeys(("guided_json", "json_schema", "json"), _schema),
    **dict.fromkeys(("guided_regex", "regex"), _pattern),
    **dict.fromkeys(("guided_choice", "choice"), _choice),
    **dict.fromkeys(("guided_grammar", "grammar", "ebnf"), _grammar),
    "structural_tag": _tag,
}
"""What reads the value of a field that may contain a shape, and its place."""


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
