"""Which parts of a schema some values use: subschemas, options, listed values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from maskwright.errors import UnsatisfiableSchemaError
from maskwright.grammar.schema.tree import Json
from maskwright.mask import Grammar, compile_json_schema
from maskwright.workbench.pointer import pointer_of, reference_tokens
from maskwright.workbench.reading import Verdict, byte_vocabulary, read_json

_DOCUMENT: Final = "urn:maskwright:schema"
_OF_VALUE: Final = ("allOf", "anyOf", "oneOf")
"""Keywords with a list of schemas for the value itself."""

Below = Callable[[str, str], Iterator[tuple[str, str]]]


class SchemaCoverage:
    """The parts of a schema document: every subschema that its root leads to, by its JSON Pointer,
    and every value of an `enum`. A value uses a part if the part applies to it, or to something
    within it, and it satisfies the part. Only references within the document are followed."""

    def __init__(self, schema: Json) -> None:
        self._schema = schema
        self._grammars: dict[str, Grammar] = {}
        self._vocabulary = byte_vocabulary()
        self.items = frozenset(self._reached())

    def of(self, value: Json) -> set[str]:
        """The parts that a valid value uses."""
        found: set[str] = set()
        self._visit("", value, found, set())
        return found

    def _reached(self) -> Iterator[str]:
        seen: set[str] = set()
        stack = [""]
        while stack:
            pointer = stack.pop()
            schema = _resolved(self._schema, pointer)
            if pointer in seen or schema is False:
                continue
            seen.add(pointer)
            yield pointer
            if not isinstance(schema, dict):
                continue
            for index in range(len(_listed(schema, "enum"))):
                yield f"{pointer}/enum/{index}"
            stack += _subschemas(schema, pointer)

    def _visit(self, pointer: str, value: Json, found: set[str], open_: set[str]) -> None:
        """Note what the value uses of the schema at `pointer`; `open_`: schemas of this value that
        are being visited, to which a circle of references leads back."""
        if pointer in open_:
            return
        schema = _resolved(self._schema, pointer)
        found.add(pointer)
        if not isinstance(schema, dict):
            return
        for index, listed in enumerate(_listed(schema, "enum")):
            if _written(listed) == _written(value):
                found.add(f"{pointer}/enum/{index}")
        for below in self._of_value(schema, pointer, value):
            self._visit(below, value, found, open_ | {pointer})
        for below, inner in _within(schema, pointer, value):
            self._visit(below, inner, found, set())

    def _of_value(self, schema: dict[str, Any], pointer: str, value: Json) -> Iterator[str]:
        """The subschemas that apply to the value itself, and that it satisfies."""
        reference = schema.get("$ref")
        if isinstance(reference, str) and _is_local(reference):
            yield reference.removeprefix("#")
        for keyword in _OF_VALUE:
            for index in range(len(_listed(schema, keyword))):
                option = f"{pointer}/{keyword}/{index}"
                if keyword == "allOf" or self._satisfies(option, value):
                    yield option
        if "if" in schema:
            holds = self._satisfies(f"{pointer}/if", value)
            chosen = "then" if holds else "else"
            yield from [f"{pointer}/if"] * holds
            yield from [f"{pointer}/{chosen}"] * (chosen in schema)

    def _satisfies(self, pointer: str, value: Json) -> bool:
        grammar = self._grammars.get(pointer)
        if grammar is None:
            try:
                grammar = compile_json_schema(
                    {"$ref": f"{_DOCUMENT}#{pointer}"},
                    self._vocabulary,
                    documents={_DOCUMENT: self._schema},
                    property_order="any",
                )
            except UnsatisfiableSchemaError:
                return False
            self._grammars[pointer] = grammar
        return read_json(grammar, _written(value).encode()).verdict is Verdict.MATCH


def _subschemas(schema: dict[str, Any], pointer: str) -> Iterator[str]:
    """The pointers of the schemas to which the keywords of a schema lead."""
    reference = schema.get("$ref")
    if isinstance(reference, str) and _is_local(reference):
        yield reference.removeprefix("#")
    for keyword in (*_OF_VALUE, "prefixItems"):
        yield from (f"{pointer}/{keyword}/{i}" for i in range(len(_listed(schema, keyword))))
    for keyword in ("properties", "patternProperties"):
        named = schema.get(keyword)
        if isinstance(named, dict):
            yield from (pointer + pointer_of(keyword, name) for name in named)
    for keyword in ("items", "additionalProperties", "if", "then", "else"):
        if isinstance(schema.get(keyword), dict):
            yield f"{pointer}/{keyword}"


def _within(schema: dict[str, Any], pointer: str, value: Json) -> Iterator[tuple[str, Json]]:
    """The subschemas that apply to members and items of a value, each with what it applies to."""
    if isinstance(value, list):
        count = len(_listed(schema, "prefixItems"))
        for index, item in enumerate(value):
            if index < count:
                yield f"{pointer}/prefixItems/{index}", item
            elif isinstance(schema.get("items"), dict):
                yield f"{pointer}/items", item
    if isinstance(value, dict):
        named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        for name, member in value.items():
            matching = [pattern for pattern in patterns if re.search(pattern, name)]
            if name in named:
                yield pointer + pointer_of("properties", name), member
            for pattern in matching:
                yield pointer + pointer_of("patternProperties", pattern), member
            is_other = name not in named and not matching
            if is_other and isinstance(schema.get("additionalProperties"), dict):
                yield f"{pointer}/additionalProperties", member


def _resolved(schema: Json, pointer: str) -> Json:
    here = schema
    for token in reference_tokens(pointer):
        here = here[int(token)] if isinstance(here, list) else here[token]  # type: ignore[index, call-overload]
    return here


def _listed(schema: dict[str, Any], keyword: str) -> list[Any]:
    found = schema.get(keyword)
    return found if isinstance(found, list) else []


def _is_local(reference: str) -> bool:
    return reference == "#" or reference.startswith("#/")


def _written(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
