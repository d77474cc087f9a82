"""A schema document as JSON: loading it, checking it, and reading settings of a kind.

`as_count` and its like return the setting of a keyword if it has the right type, and raise
`SchemaError` with its place otherwise.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any, Final, Literal, NoReturn, cast

from maskwright.errors import Construct, LimitError, SchemaError, named
from maskwright.grammar.schema.document_text import DocumentText, Vanished
from maskwright.grammar.schema.drafts import BY_NAME, HOLDING, NAMING, READ_BY_NAME
from maskwright.grammar.schema.tree import Json, ReportEntry, SchemaMaker
from maskwright.json_faults import json_reason
from maskwright.limits import Limits

_DATA: Final = frozenset(("const", "enum", "default", "examples", "example"))
"""Keywords whose settings are values, not schemas."""
_TYPE_OF_NULL: Final = 'the type of null is written "null", as a string'
_ZERO: Final = re.compile(r"[-+]?[0.]*(?:[eE]|$)")
_Holds = Literal["keywords", "names", "data"]
"""What the names of an object in a document are: keywords of a schema, names that each have a
schema, or names in a value."""


class RepeatedNames(dict[str, Any]):
    """An object of a JSON text in which a name stands twice. It has the last value of each name,
    at the place of the first, but is iterated and written as in the text."""

    __slots__ = ("pairs",)

    def __init__(self, pairs: Sequence[tuple[str, Any]] = ()) -> None:
        super().__init__(pairs)
        self.pairs = pairs

    def items(self) -> Any:
        return self.pairs


def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of a JSON text: what `json.loads` takes as `object_pairs_hook` so that a repeated
    name is not lost."""
    made = dict(pairs)
    return made if len(made) == len(pairs) else RepeatedNames(pairs)


def float_of(text: str) -> float:
    """The number of a JSON text with a point or an exponent: what `json.loads` takes as
    `parse_float` so that `1e-400` isn't taken for 0 in a schema."""
    value = float(text)
    if value == 0 and not _ZERO.match(text):
        return Vanished(value)
    return value


def json_of(text: str) -> Any:
    """What JSON text stands for, with repeated names kept, and numbers that would be taken for 0
    marked. Raises `ValueError`, `RecursionError`."""
    return json.loads(text, object_pairs_hook=object_of, parse_float=float_of)


def loaded(source: Json | SchemaMaker) -> Json:
    """The document itself, what JSON text stands for, the document in the file of a path, or the
    schema of a class of pydantic. Raises `SchemaError`, `LimitError`."""
    document: Any = source if isinstance(source, dict) else of_class(source)
    if not isinstance(document, str):
        return document
    try:
        return json_of(document)
    except ValueError as error:
        raise SchemaError(f"the schema is not JSON: {json_reason(error)}", pointer="") from None
    except RecursionError:
        raise LimitError(
            "the schema is nested too deep",
            limit="schema_depth",
            value=sys.getrecursionlimit(),
            construct=Construct.schema(""),
        ) from None


def of_class(source: Any) -> Any:
    """The schema of a model of pydantic, or of one of its type adapters; the text in the file of a
    path; anything else itself. Raises `SchemaError` for a file that can't be read.

    Nothing of pydantic is imported: both have a method that makes the schema."""
    if isinstance(source, type) and hasattr(source, "model_json_schema"):
        return cast(Any, source).model_json_schema()
    if type(source).__name__ == "TypeAdapter" and hasattr(source, "json_schema"):
        return source.json_schema()
    if not isinstance(source, PathLike):
        return source
    try:
        return Path(source).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SchemaError(f"can't read {source}: {error.strerror}", pointer="") from None
    except UnicodeDecodeError as error:
        raise SchemaError(f"{source} is no UTF-8 (byte {error.start})", pointer="") from None


def check(document: Json, limits: Limits) -> DocumentText:
    """Check the size and depth of a document, and that all its values are JSON.

    Raises `LimitError` with the limit, `SchemaError` with the place of a value that is not JSON.
    """
    text = DocumentText(document, limits.schema_nodes, limits.schema_depth)
    if text.nodes > limits.schema_nodes:
        raise LimitError(
            f"the schema has more than {limits.schema_nodes:,} values",
            limit="schema_nodes",
            value=limits.schema_nodes,
            construct=Construct.schema(""),
        )
    if not text.is_json:
        _refuse(document, limits)
    return text


def check_values(document: Json) -> None:
    """Check that all values of a document are JSON, whatever its size and depth.

    Raises `SchemaError` with the place of a value that is not.
    """
    if not is_json(document):
        _refuse(document, Limits(schema_depth=sys.maxsize))


def is_json(document: object) -> bool:
    """Whether all values of a document are JSON, and none is a number that is taken for 0, which
    its text, written again, doesn't tell from 0."""
    return DocumentText(document, sys.maxsize, sys.maxsize).is_json


def plain(document: Json) -> tuple[Json, list[ReportEntry]]:
    """The document without keywords that are null, which encoders of some languages write for what
    is absent, and with one value for each name; and an entry for each of both."""
    noted: list[ReportEntry] = []
    whole: list[Json] = [document]
    waiting: list[tuple[str, Any, Any, _Holds]] = [("", whole, 0, "keywords")]
    while waiting:
        pointer, holder, place, holds = waiting.pop()
        value = holder[place]
        inner: list[tuple[str, Any, Any, _Holds]] = []
        if isinstance(value, dict):
            if isinstance(value, RepeatedNames):
                noted += _repeated(value, pointer)
            holder[place] = kept = dict[str, Any]()
            for name, below in dict(value).items():
                if below is None and holds == "keywords" and name in READ_BY_NAME:
                    way_out = _TYPE_OF_NULL if name == "type" else "leave the keyword out"
                    note = f"null is read as absent; {way_out}"
                    noted.append(ReportEntry(pointer, name, note, "null-keyword"))
                    continue
                kept[name] = below
                if isinstance(below, dict | list):
                    inner.append((f"{pointer}/{escape(name)}", kept, name, _below(name, holds)))
        elif isinstance(value, list):
            holder[place] = items = list[Any](value)
            inner = [(f"{pointer}/{at}", items, at, holds) for at in range(len(items))]
        waiting += reversed(inner)
    return whole[0], noted


def _below(name: str, holds: _Holds) -> _Holds:
    """What the names of an object are that is the member `name` of another."""
    if holds != "keywords":
        return "data" if holds == "data" else "keywords"
    return "data" if name in _DATA else "names" if name in BY_NAME else "keywords"


def _repeated(value: RepeatedNames, pointer: str) -> Iterator[ReportEntry]:
    counts = Counter(name for name, _ in value.pairs)
    for name, count in counts.items():
        if count > 1:
            note = f"{name!r} stands {count} times in one object, where the last one counts"
            note += "; leave the others out, or join what they say in 'allOf'"
            yield ReportEntry(pointer, name, note, "repeated-name")


def _refuse(document: Json, limits: Limits) -> NoReturn:
    """Raise the error for the first value that is not JSON or nested too deep, which `check` knows
    to exist.

    Only here places are worked out: documents without fault don't pay for it."""
    level = [("", document)]
    for _ in range(limits.schema_depth + 1):
        level = [child for place, value in level for child in _children(value, place)]
    raise LimitError(
        f"the schema is nested deeper than {limits.schema_depth}",
        limit="schema_depth",
        value=limits.schema_depth,
        construct=Construct.schema(level[0][0]),
    )


def _children(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    """The values in a value, with their places. Raises SchemaError for what is not JSON."""
    match value:
        case dict():
            for name, child in value.items():  # pyright: ignore[reportUnknownVariableType]
                if not isinstance(name, str):
                    raise SchemaError(f"the name {name!r} is not a string", pointer=place)
                yield f"{place}/{escape(name)}", child
        case list():
            for index, child in enumerate(value):  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
                yield f"{place}/{index}", child
        case float() if not isfinite(value):
            raise SchemaError(
                f"numbers have to be finite and within double precision; found {value}",
                pointer=place,
            )
        case Vanished():
            raise SchemaError(
                "numbers have to be 0 or within double precision; a smaller one than 5e-324 is "
                "read as 0.0",
                pointer=place,
            )
        case None | bool() | int() | float() | str():
            pass
        case _:
            reason = f"{named(value)} is not a value of JSON{_remedy(value)}"
            raise SchemaError(reason, pointer=place)


def _remedy(value: Any) -> str:
    """What to pass in place of something that is no JSON, to be appended to a message."""
    if hasattr(value, "model_json_schema"):
        name = (value if isinstance(value, type) else type(value)).__name__
        return f": pass {name}.model_json_schema()"
    if isinstance(value, type) or hasattr(value, "__args__"):
        name = repr(value) if hasattr(value, "__args__") else value.__name__
        return f": pass pydantic.TypeAdapter({name}).json_schema()"
    if isinstance(value, bytes):
        return ": decode it"
    if hasattr(value, "read_text"):
        return ": pass the text of the file, path.read_text()"
    if isinstance(value, tuple | set | frozenset):
        return ": make it a list"
    return ""


def escape(name: str) -> str:
    """A property name as a step of a JSON Pointer (RFC 6901)."""
    if "~" not in name and "/" not in name:
        return name
    return name.replace("~", "~0").replace("/", "~1")


def unescape(step: str) -> str:
    """The property name of a step of a JSON Pointer."""
    if "~" not in step:
        return step
    return step.replace("~1", "/").replace("~0", "~")  # in this order: "~01" is "~1"


def check_names(value: Mapping[str, Json], pointer: str) -> None:
    """Check keywords that assert nothing, but name a schema or hold others.

    Raises `SchemaError` with the place."""
    for keyword in NAMING:
        if keyword in value and not isinstance(value[keyword], str):
            wrong(value[keyword], "a string", f"{pointer}/{keyword}")
    for keyword in HOLDING:
        if keyword in value:
            place = f"{pointer}/{keyword}"
            for name, schema in as_mapping(value[keyword], place).items():
                if not isinstance(schema, (dict, bool)):
                    no_schema(schema, f"{place}/{escape(name)}")


def as_array(setting: Json, place: str) -> list[Any]:
    if not isinstance(setting, list):
        wrong(setting, "an array", place)
    return setting


def as_mapping(setting: Json, place: str) -> dict[str, Any]:
    if not isinstance(setting, dict):
        wrong(setting, "an object of schemas", place)
    return setting


def as_names(setting: Json, place: str) -> tuple[str, ...]:
    if not isinstance(setting, list):
        wrong(setting, "an array of strings", place)
    for at, name in enumerate(setting):
        if not isinstance(name, str):
            wrong(name, "a string", f"{place}/{at}")
    return tuple(dict.fromkeys(setting))


def as_number(setting: Json, place: str) -> int | float:
    if isinstance(setting, bool) or not isinstance(setting, int | float):
        wrong(setting, "a number", place)
    return setting


def as_count(setting: Json, place: str) -> int:
    if isinstance(setting, float) and setting.is_integer():
        setting = int(setting)
    if isinstance(setting, bool) or not isinstance(setting, int) or setting < 0:
        wrong(setting, "a whole number of at least 0", place)
    return setting


def kind_of(value: object) -> str:
    """The type of a value with its article, for messages."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case []:
            return "an empty array"
        case list():
            return "an array"
        case dict():
            return "an object"
        case _:
            return named(value)


def no_schema(value: Json, place: str) -> NoReturn:
    raise SchemaError(f"a schema is an object or a boolean, not {kind_of(value)}", pointer=place)


def wrong(value: Json, expected: str, place: str) -> NoReturn:
    found = str(value) if kind_of(value) == "a number" else kind_of(value)
    raise SchemaError(f"expected {expected}, found {found}", pointer=place)
