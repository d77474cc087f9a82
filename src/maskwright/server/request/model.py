"""What the models of requests are made of: their base, types with bounds, and errors in our words.

Pydantic's core holds a body against its model. An explicit null counts as an absent field; errors
name the field by its dotted path (`messages[0].content`), what it must be, and the value that was
found. Models check the form of a body; what a value means is checked where it is obeyed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Final, Self, TypeAlias, cast, get_args, get_origin

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationError,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema
from typing_extensions import TypeAliasType

from maskwright.errors import InputError
from maskwright.immutable import Immutable
from maskwright.server.json import NOTHING, Json, nullable

_MOST_SHOWN: Final = 60
"""Most characters of a value that an error shows."""
_TAG: Final = "\0kind:"
"""What the names of the members of unions begin with, which pydantic puts into paths."""


class RequestModel(BaseModel):
    """An object of a request. Fields that it doesn't have are without effect."""

    model_config = ConfigDict(strict=True, frozen=True, arbitrary_types_allowed=True)

    names: ClassVar[tuple[str, ...]] = ()
    """The names of the fields, as clients write them."""

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        cls.names = tuple(field.alias or name for name, field in cls.model_fields.items())

    @model_validator(mode="before")
    @classmethod
    def _present(cls, value: object) -> object:
        """Leave out what is null."""
        if not isinstance(value, dict):
            return value
        fields = cast(Json, value)
        return {name: each for name, each in fields.items() if each is not None}

    @classmethod
    def read(cls, tree: Json) -> Self:
        """Hold a body against the model. Raises InputError, whose `param` is the dotted path of
        the first wrong field."""
        try:
            return cls.model_validate(tree)
        except ValidationError as error:
            raise _refusal(error) from None

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Describe the object: each field that is not required may be null."""
        made = handler(core)
        schema = handler.resolve_ref_schema(made)
        schema.pop("title", None)
        if "description" in schema:
            schema["description"] = " ".join(schema["description"].split())
        required = schema.get("required", ())
        for name, field in cast(dict[str, Any], schema.get("properties", {})).items():
            field.pop("title", None)
            if name not in required:
                schema["properties"][name] = nullable(field)
        return made


class ClosedModel(RequestModel):
    """An object of a request that has no other fields, so that a typing error never means an
    unconstrained answer."""

    REASONS: ClassVar[Mapping[str, str]] = {}
    """Why a field is not supported, by its name."""

    @model_validator(mode="before")
    @classmethod
    def _known(cls, value: object) -> object:
        if isinstance(value, dict):
            for name, each in cast(Json, value).items():
                if each is not None and name not in cls.names:
                    known = {"name": name, "known": cls.names, "reason": cls.REASONS.get(name)}
                    raise PydanticCustomError("unknown", "unknown field", known)
        return value

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        made = super().__get_pydantic_json_schema__(core, handler)
        handler.resolve_ref_schema(made)["additionalProperties"] = NOTHING
        return made


def needs(*names: str, exactly_one: bool = False) -> Any:
    """Say in a schema that an object has one of some fields, or exactly one."""
    choices = [
        {"required": [name], "properties": {name: {"not": NOTHING}}, "additionalProperties": True}
        for name in names
    ]
    return {"oneOf" if exactly_one else "anyOf": choices}


def described(default: Any, about: str, **more: Any) -> Any:
    """A field that may be absent: its default, and what the documents say about it. `more`: as for
    `pydantic.Field`."""
    return Field(default=default, description=about, **more)


# Types of fields


class Worded(Immutable):
    """Says in errors what a value must be, whatever is wrong with it. `after`: more than that."""

    what: str
    after: str = ""

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return self.around(handler(source))

    def around(self, schema: CoreSchema) -> CoreSchema:
        return core_schema.custom_error_schema(
            schema,
            custom_error_type="wanted",
            custom_error_message=self.what,
            custom_error_context={"after": self.after},
        )


class Between(Immutable):
    """An integer or a finite number with its bounds. An integer may be written as 1.0."""

    low: float
    high: float

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        if float in (source, *get_args(source)):
            number = core_schema.float_schema(
                strict=True, ge=self.low, le=self.high, allow_inf_nan=False
            )
            return Worded(f"a number from {self.low:g} to {self.high:g}").around(number)
        integer = _integer(int(self.low), int(self.high))
        return Worded(f"an integer from {self.low} to {self.high}").around(integer)


class IdArray(Immutable):
    """An array of at least `least` token ids below `end`."""

    end: int | None = None
    least: int = 0

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        one = Worded("a token id").around(_integer(0, None if self.end is None else self.end - 1))
        return array_schema(one, self.least)


class AsSent:
    """An object that is kept as the body has it, with names that are repeated in it."""

    @staticmethod
    def __get_pydantic_core_schema__(source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.is_instance_schema(dict)

    @staticmethod
    def __get_pydantic_json_schema__(core: CoreSchema, handler: GetJsonSchemaHandler) -> Json:
        return {"type": "object"}


RawObject: TypeAlias = Annotated[dict[str, Any], AsSent]


class Array(Immutable):
    """An array. `empty`: what an error says of one without items, which may be allowed."""

    empty: str = ""

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        items = array_schema(handler.generate_schema(get_args(source)[0]), 1 if self.empty else 0)
        if not self.empty:
            return items
        return core_schema.no_info_before_validator_function(self._check, items)

    def _check(self, value: object) -> object:
        if value == []:
            raise PydanticCustomError("said", "{place} {empty}", {"empty": self.empty})
        return value


class Strings(Immutable):
    """An array of strings, at least `least` (0 or 1). With `most`: at most so many, and none of
    them empty. `single`: one string may stand for the array."""

    most: int | None = None
    least: int = 0
    single: bool = False

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        strings = array_schema(core_schema.str_schema(strict=True))
        checked = core_schema.no_info_after_validator_function(self._check, strings)
        return core_schema.no_info_before_validator_function(self._array, checked)

    def _array(self, value: object) -> object:
        if self.single and isinstance(value, str):
            return (value,)
        if self.least and not (isinstance(value, list) and value):
            wanted = "an array of at least one string"
            raise PydanticCustomError("wanted", wanted, {"after": ""})
        return value

    def _check(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        if self.most is not None and len(texts) > self.most:
            raise PydanticCustomError(
                "said", "{place} takes at most {most} strings", {"most": self.most}
            )
        if self.most is not None and "" in texts:
            raise PydanticCustomError("said", "{place} must not hold an empty string")
        return texts

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> Json:
        one: Json = {"type": "string", **({} if self.most is None else {"minLength": 1})}
        bounds = {"minItems": self.least or None, "maxItems": self.most}
        array: Json = {"type": "array", "items": one}
        array |= {name: bound for name, bound in bounds.items() if bound is not None}
        return {"anyOf": [one, array]} if self.single else array


def array_schema(items: CoreSchema, least: int = 0) -> CoreSchema:
    """Return what holds an array against the schema of its items, up to the first wrong one."""
    return core_schema.tuple_schema(
        [items], variadic_item_index=0, min_length=least, strict=False, fail_fast=True
    )


def _whole(value: object) -> object:
    """Return an integer that is written with a point as one."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _integer(low: int, high: int | None) -> CoreSchema:
    integer = core_schema.int_schema(strict=True, ge=low, le=high)
    other = core_schema.no_info_before_validator_function(_whole, integer)
    # The first one alone needs no function, which counts for prompts of a million tokens.
    return core_schema.union_schema([integer, other], mode="left_to_right")


_TYPES: Final[Mapping[type, str]] = {str: "text", list: "array", dict: "object"}


class ByType(Immutable):
    """Chooses among a string, an array and an object by the type of the value. `wanted`: what the
    value must be. `first`: the last choice is for arrays whose first item has one of these
    types."""

    wanted: str
    first: tuple[type, ...] = ()

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        choices: dict[str, CoreSchema] = {}
        for member in get_args(source):
            inner = get_args(member)[0] if get_origin(member) is Annotated else member
            kind = get_origin(inner) or inner
            name = _TYPES[list if kind is tuple else kind if kind is str else dict]
            if self.first and member is get_args(source)[-1]:
                name = "first"
            choices[_TAG + name] = handler.generate_schema(member)
        return core_schema.tagged_union_schema(
            cast(dict[Any, CoreSchema], choices),
            self._tag,
            custom_error_type="wanted",
            custom_error_message=self.wanted,
            custom_error_context={"after": ""},
        )

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> Json:
        return _any_of(handler(core))

    def _tag(self, value: object) -> str | None:
        if isinstance(value, list) and value and type(cast(list[object], value)[0]) in self.first:
            return _TAG + "first"
        for kind, name in _TYPES.items():
            if isinstance(value, kind):
                return _TAG + name
        return None


class ByField(Immutable):
    """Chooses among models by a field that all of them have.

    - `said`: what an error says of another value, after the place of the field; none for the list
      of values. "{shown}" stands for the value.
    - `default`: the value that an absent field stands for.
    - `says_of_none`: an absent field is a wrong value like others, not one that is missing.
    """

    field: str
    said: str = ""
    code: str = ""
    default: str | None = None
    says_of_none: bool = False

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        choices: dict[str, CoreSchema] = {}
        for member in _members(source):
            schema = handler.generate_schema(member)
            model = _members(member)[0]
            for value in _values(model.model_fields[self.field].annotation):
                choices[_TAG + value] = schema
        context: dict[str, int | str | float] = {
            "field": self.field,
            "said": self.said,
            "code": self.code,
            "values": ", ".join(repr(name.removeprefix(_TAG)) for name in choices),
            "says_of_none": self.says_of_none,
        }
        return core_schema.tagged_union_schema(
            cast(dict[Any, CoreSchema], choices),
            self._tag,
            custom_error_type="kind",
            custom_error_message="kind",
            custom_error_context=context,
        )

    def _tag(self, value: object) -> str | None:
        given = cast(Json, value).get(self.field) if isinstance(value, dict) else None
        if given is None and isinstance(value, dict):
            given = self.default
        return _TAG + given if isinstance(given, str) else None

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> Json:
        return _any_of(handler(core))


def _members(union: Any) -> tuple[Any, ...]:
    """Return the members of a union; a type itself is the one member that it has."""
    if isinstance(union, TypeAliasType):
        return _members(union.__value__)
    if get_origin(union) is Annotated:
        return _members(get_args(union)[0])
    return get_args(union) or (union,)


def _values(annotation: object) -> list[str]:
    """Return the strings of a literal type, which may be absent."""
    found: list[str] = []
    for each in get_args(annotation):
        found += [each] if isinstance(each, str) else _values(each)
    return found


def _any_of(schema: Json) -> Json:
    schema["anyOf"] = schema.pop("oneOf")
    return schema


# Errors


def missing(place: str) -> InputError:
    return InputError(f"{place} is required", param=place, code="missing_required_parameter")


def invalid(place: str, wanted: str, value: object) -> InputError:
    """Return the error for a value of a wrong type or out of bounds."""
    return InputError(f"{place} must be {wanted}, not {shown(value)}", param=place)


def check_tokens(place: str, tokens: Iterable[int], size: int) -> None:
    """Raise InputError, about the field `place`, for a token that a vocabulary of `size` hasn't."""
    outside = next((token for token in tokens if token >= size), None)
    if outside is not None:
        raise InputError(f"{place} names token {outside}; the vocabulary has {size}", param=place)


def shown(value: object) -> str:
    """Return a value as JSON of bounded length; of an array or object only what it is."""
    match value:
        case dict():
            return "an object"
        case []:
            return "an empty array"
        case list():
            return "an array"
        case _:
            text = json.dumps(value, ensure_ascii=False)
            return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"


_WANTED: Final = {
    "string_type": "a string",
    "bool_type": "true or false",
    "tuple_type": "an array",
    "dict_type": "an object",
    "is_instance_of": "an object",
    "model_type": "an object",
}
"""What a value must be, by the name that pydantic has for its error."""


def _refusal(error: ValidationError) -> InputError:
    """Return the first error that pydantic has found, in our words."""
    first = error.errors(include_url=False)[0]
    place, value, said = _place(first["loc"]), first["input"], first.get("ctx", {})
    match first["type"]:
        case "missing":
            return missing(place)
        case "wanted":
            refused = invalid(place, first["msg"], value)
            return InputError(refused.message + said["after"], param=place)
        case "said":
            return InputError(first["msg"].replace("{place}", place), param=place)
        case "literal_error":
            return invalid(place, f"one of {said['expected'].replace(' or ', ', ')}", value)
        case "string_too_long":
            return InputError(f"{place} has at most {said['max_length']} characters", param=place)
        case "string_too_short" | "too_short":
            return InputError(f"{place} must not be empty", param=place)
        case "unknown":
            return _unknown(place, said)
        case "kind":
            return _other_kind(place, value, said)
        case kind:
            return invalid(place, _WANTED[kind], value)


def unknown_field(place: str, name: str, known: Iterable[str]) -> InputError:
    """Return the error for a field that an object at `place` doesn't have."""
    return InputError(
        f"unknown field {shown(name)}; known here: {', '.join(known)}",
        param=f"{place}.{name}" if place else name,
        code="unknown_field",
    )


def _unknown(place: str, said: Mapping[str, Any]) -> InputError:
    if said["reason"] is None:
        return unknown_field(place, said["name"], said["known"])
    param = f"{place}.{said['name']}"
    return InputError(said["reason"], param=param, code="unsupported_parameter")


def _other_kind(place: str, value: object, said: Mapping[str, Any]) -> InputError:
    """Return the error for an object whose field of kinds has none of the known values."""
    if not isinstance(value, dict):
        return invalid(place, "an object", value)
    given = cast(Json, value).get(said["field"])
    place = f"{place}.{said['field']}"
    if given is None and not said["says_of_none"]:
        return missing(place)
    if not said["said"]:
        return invalid(place, f"one of {said['values']}", given)
    if not isinstance(given, str) and given is not None:
        return invalid(place, "a string", given)
    message = said["said"].replace("{values}", said["values"]).replace("{shown}", shown(given))
    return InputError(place + message, param=place, code=said["code"])


def _place(path: tuple[int | str, ...]) -> str:
    """Return the dotted path of a field."""
    place = ""
    for step in path:
        if isinstance(step, int):
            place += f"[{step}]"
        elif not step.startswith(_TAG):
            place += f".{step}" if place else step
    return place
