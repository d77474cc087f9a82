"""A JSON object of a structural tag, with checked access to its fields."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from maskwright.errors import StructuralTagError
from maskwright.grammar.schema.document import escape, kind_of, object_of
from maskwright.grammar.schema.tree import Json
from maskwright.grammar.tags.tree import Token
from maskwright.json_faults import json_reason


@dataclass(frozen=True, slots=True)
class TagNode:
    """A JSON object of the tag and its place. A field of a wrong type raises
    `StructuralTagError`."""

    value: Json
    pointer: str
    depth: int = 0

    @property
    def fields(self) -> dict[str, Any]:
        if isinstance(self.value, dict):
            return self.value
        raise StructuralTagError(
            f"must be an object, not {kind_of(self.value)}", pointer=self.pointer
        )

    def has(self, name: str) -> bool:
        return self.fields.get(name) is not None

    def get(self, name: str) -> Any:
        if not self.has(name):
            raise StructuralTagError(f"{name} is required", pointer=self.pointer)
        return self.fields[name]

    def wrong(self, name: str, wanted: str) -> StructuralTagError:
        return StructuralTagError(f"{name} must be {wanted}", pointer=f"{self.pointer}/{name}")

    def only(self, *known: str) -> None:
        """Refuse every field that isn't among `known`, so that none is silently ignored."""
        for name in self.fields:
            if name not in known and self.fields[name] is not None:
                raise StructuralTagError(
                    f"unknown field {name!r}; known here: {', '.join(known)}",
                    pointer=f"{self.pointer}/{escape(name)}",
                )

    def string(self, name: str, default: str | None = None) -> str:
        value = default if default is not None and not self.has(name) else self.get(name)
        if isinstance(value, str):
            return value
        raise self.wrong(name, "a string")

    def flag(self, name: str) -> bool:
        value = self.fields.get(name)
        if value is None or isinstance(value, bool):
            return bool(value)
        raise self.wrong(name, "true or false")

    def count(self, name: str) -> int | None:
        value = self.fields.get(name)
        if value is None or (isinstance(value, int) and value >= 0 and value is not True):
            return value
        raise self.wrong(name, "a count")

    def bound(self, name: str) -> int | None:
        """Return an upper bound; None if there is none, which may also be written -1."""
        return None if self.fields.get(name) == -1 else self.count(name)

    def items(self, name: str) -> list[Any]:
        value = self.get(name)
        if isinstance(value, list):
            return cast(list[Any], value)
        raise self.wrong(name, "an array")

    def strings(self, name: str) -> tuple[str, ...]:
        items = self.items(name)
        if all(isinstance(item, str) for item in items):
            return tuple(items)
        raise self.wrong(name, "an array of strings")

    def token(self, name: str) -> int | str:
        return self.as_token(self.get(name), name)

    def as_token(self, value: object, name: str) -> int | str:
        if isinstance(value, int | str) and not isinstance(value, bool):
            return value
        raise self.wrong(name, "a token's id or name")

    def tokens(self, name: str) -> tuple[Token, ...]:
        """Return tokens by id or name; none if there is no such field."""
        items = self.items(name) if self.has(name) else []
        return tuple(
            Token(self.as_token(value, f"{name}/{at}"), f"{self.pointer}/{name}/{at}")
            for at, value in enumerate(items)
        )

    def read(self, name: str) -> TagNode:
        """Return a copy in which the field `name`, if it is a string of JSON, is parsed."""
        value = self.get(name)
        if not isinstance(value, str):
            return self
        try:
            inner = json.loads(value, object_pairs_hook=object_of)
            return TagNode({**self.fields, name: inner}, self.pointer, self.depth)
        except (ValueError, RecursionError) as error:
            raise self.wrong(name, f"JSON ({json_reason(error)})") from None

    def child(self, name: str) -> TagNode:
        return TagNode(self.get(name), f"{self.pointer}/{name}", self.depth + 1)

    def children(self, name: str) -> Iterator[TagNode]:
        for at, item in enumerate(self.items(name)):
            yield TagNode(item, f"{self.pointer}/{name}/{at}", self.depth + 1)

    def some_children(self, name: str) -> Iterator[TagNode]:
        if not self.items(name):
            raise self.wrong(name, "an array with something in it")
        return self.children(name)
