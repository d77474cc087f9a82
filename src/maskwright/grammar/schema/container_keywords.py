"""Keywords about arrays and objects.

Some keywords only have a meaning together: one of them reads the others, and these only check
their own setting.
"""

from __future__ import annotations

from typing import Final

from maskwright.grammar.schema.branches import OF_CONTAINS
from maskwright.grammar.schema.document import as_array, as_count, as_mapping, as_names, escape
from maskwright.grammar.schema.remarks import Remark
from maskwright.grammar.schema.schema_object import KeywordReader, SchemaObject
from maskwright.grammar.schema.tree import (
    Assertion,
    Contains,
    If,
    ItemCount,
    Items,
    Json,
    PropertyCount,
    PropertyNames,
    Required,
    Schema,
    SomeMember,
    TypeIs,
    UniqueItems,
)

MANY: Final = 100
"""Items or members that are found without much work."""


def _least(source: SchemaObject, setting: Json, place: str) -> int:
    """A least count, which may take long to find values for."""
    least = as_count(setting, place)
    source.parser.intricate |= least > MANY
    return least


def _read_min_items(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    return [ItemCount(_least(source, setting, place), None)]


def _read_max_items(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    return [ItemCount(0, as_count(setting, place))]


def _read_unique_items(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    return [UniqueItems()] if setting is True else []


def _read_prefix_items(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    prefix = source.items(as_array(setting, place), place)
    return [Items(prefix, source.optional("items"), "items" in source.value)]


def _read_additional_items(
    source: SchemaObject, setting: Json, place: str
) -> list[Assertion] | Remark:
    if not isinstance(source.value.get("items"), list):
        return Remark("without an array in 'items' it says nothing")
    return []  # the reader of `items` reads it


def _read_contains(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    least, most = 1, None
    if source.has("minContains"):
        least = as_count(source.value["minContains"], source.place("minContains"))
    if source.has("maxContains"):
        most = as_count(source.value["maxContains"], source.place("maxContains"))
    source.parser.choices *= OF_CONTAINS
    return [Contains(source.condition(setting, place), least, most)]


def _check_contains_count(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    as_count(setting, place)
    return []  # `_read_contains` reads it


def _read_property_names(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    return [PropertyNames(source.child(setting, place))]


def _read_min_properties(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    return [PropertyCount(_least(source, setting, place), None)]


def _read_max_properties(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    return [PropertyCount(0, as_count(setting, place))]


def _read_dependencies(source: SchemaObject, setting: Json, place: str) -> list[Assertion]:
    """`dependencies` and the two keywords that have replaced it: an array names properties that
    are required where `name` is present, a schema has to hold there."""
    assertions: list[Assertion] = []
    for name, dependent in as_mapping(setting, place).items():
        below = f"{place}/{escape(name)}"
        if isinstance(dependent, list | str):  # draft 3 wrote a single name as a string
            names = (dependent,) if isinstance(dependent, str) else as_names(dependent, below)
            free = Schema(below)
            # "Without `name`, or with `other`" as one assertion, which unlike `If` is no union.
            assertions += (SomeMember({other: free}, (), (name,)) for other in names)
        else:
            source.parser.choices *= 2
            present = Schema(below, (TypeIs(frozenset(["object"])), Required((name,))))
            assertions.append(If(present, source.child(dependent, below), Schema(below)))
    return assertions


def _read_old_dependencies(
    source: SchemaObject, setting: Json, place: str
) -> list[Assertion] | Remark:
    """`dependencies`, which since draft 2019-09 may be anybody's name for anything."""
    if not source.draft.is_old and not _are_dependencies(setting):
        return Remark(
            f"not a keyword of {source.draft.title}, and no object of schemas and arrays of names"
        )
    return _read_dependencies(source, setting, place)


def _are_dependencies(setting: Json) -> bool:
    return isinstance(setting, dict) and all(
        isinstance(each, dict | bool)
        or (isinstance(each, list) and all(isinstance(name, str) for name in each))
        for each in setting.values()
    )


CONTAINER_KEYWORDS: Final[dict[str, KeywordReader]] = {
    "minItems": _read_min_items,
    "maxItems": _read_max_items,
    "uniqueItems": _read_unique_items,
    "prefixItems": _read_prefix_items,
    "additionalItems": _read_additional_items,
    "contains": _read_contains,
    "minContains": _check_contains_count,
    "maxContains": _check_contains_count,
    "propertyNames": _read_property_names,
    "minProperties": _read_min_properties,
    "maxProperties": _read_max_properties,
    "dependentRequired": _read_dependencies,
    "dependentSchemas": _read_dependencies,
    "dependencies": _read_old_dependencies,
}
