"""Where references lead: within the document, and into documents registered in advance.

Most documents only have references that are pointers from their own root; these are followed here.
Everything else (`$id`, anchors, dynamic references, other documents) is left to the `referencing`
library. Nothing is ever fetched.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from typing import Any
from urllib.parse import unquote

import referencing
from jsonschema_specifications import REGISTRY as METASCHEMAS
from referencing.exceptions import NoSuchAnchor, PointerToNowhere, Unresolvable
from referencing.jsonschema import (
    DRAFT4,
    DRAFT6,
    DRAFT7,
    DRAFT201909,
    DRAFT202012,
    lookup_recursive_ref,
)

from maskwright.errors import SchemaError, UnsupportedSchemaError
from maskwright.grammar.schema.document import unescape
from maskwright.grammar.schema.drafts import Draft, draft_of
from maskwright.grammar.schema.tree import Json

Resolver = Any
"""`referencing`'s resolver: a base URI and the dynamic scope."""

_SPECIFICATIONS = {
    Draft.DRAFT4: DRAFT4,
    Draft.DRAFT6: DRAFT6,
    Draft.DRAFT7: DRAFT7,
    Draft.DRAFT2019: DRAFT201909,
    Draft.DRAFT2020: DRAFT202012,
}
_INDEX = re.compile("0|[1-9][0-9]{0,8}")
"""An index of an array as a step of a JSON Pointer (RFC 6901, section 4)."""
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_ANCHORS = ("$anchor", "$dynamicAnchor", "$recursiveAnchor")
_REFERENCES_AND_ANCHORS = frozenset((*_REFERENCES, *_ANCHORS))


class References:
    """Resolves the references of one document. `names`: those of all objects in it. `documents`:
    others that references may name, by URI."""

    def __init__(
        self, document: Json, draft: Draft, names: Set[str], documents: Mapping[str, Json]
    ) -> None:
        self._document = document
        self._draft = draft
        self.plain = not _needs_registry(document, draft, names)
        """Whether every reference is a pointer from the root of the document itself."""
        self._documents = documents

    def _retrieve(self, uri: str) -> referencing.Resource[Any]:
        """A registered document or a meta-schema; `NoSuchResource` for any other."""
        for known in (uri, f"{uri}#"):
            if known in self._documents:
                return self._resource(self._documents[known], self._draft)
        return METASCHEMAS[uri]

    def root(self) -> Resolver:
        """The resolver at the document's root; None where the document is plain."""
        if self.plain:
            return None
        resource = self._resource(self._document, self._draft)
        empty: referencing.Registry[Any] = referencing.Registry(
            retrieve=self._retrieve  # pyright: ignore[reportCallIssue] - an attrs field
        )
        registry = empty.with_resource(resource.id() or "", resource)
        return registry.resolver(base_uri=resource.id() or "")

    @staticmethod
    def scope(resolver: Resolver) -> object:
        """What distinguishes two visits of one subschema: the resources on the way to it.

        They decide where dynamic references lead."""
        if resolver is None:
            return None
        uris = [uri for uri, _ in resolver.dynamic_scope()]
        return tuple(dict.fromkeys(reversed(uris))), resolver._base_uri

    def enter(self, resolver: Resolver, value: Mapping[str, Json], draft: Draft) -> Resolver:
        """The resolver inside a subschema, which may have an identifier of its own."""
        if resolver is None:
            return None
        return resolver.in_subresource(self._resource(value, draft))

    def find(
        self, reference: str, resolver: Resolver, pointer: str
    ) -> tuple[Json, Resolver, str | None]:
        """Where a reference leads: the schema, its resolver, and its pointer where that is known.

        Raises `UnsupportedSchemaError` for a document that isn't registered, `SchemaError` for a
        pointer or anchor that doesn't exist.
        """
        if resolver is None:
            target = unquote(reference[1:])
            return self._lookup(target, pointer), None, target
        try:
            resolved = resolver.lookup(reference)
        except (PointerToNowhere, NoSuchAnchor) as error:
            raise SchemaError(
                f"the reference {reference!r} points nowhere", pointer=pointer
            ) from error
        except Unresolvable as error:
            raise UnsupportedSchemaError(
                f"the reference {reference!r} names a document that is not registered; register it"
                " (documents=…), nothing is fetched",
                pointer=pointer,
            ) from error
        except (ValueError, KeyError, AttributeError, TypeError) as error:  # no URI, or no schema
            raise SchemaError(
                f"the reference {reference!r} can't be followed", pointer=pointer
            ) from error
        return resolved.contents, resolved.resolver, None

    @staticmethod
    def find_recursive(resolver: Resolver) -> tuple[Json, Resolver]:
        """Where `$recursiveRef: "#"` leads."""
        resolved: Any = lookup_recursive_ref(resolver)
        return resolved.contents, resolved.resolver

    def _lookup(self, target: str, pointer: str) -> Json:
        """The value at the JSON Pointer `target`, to which the reference at `pointer` leads."""
        value: Json = self._document
        for step in target.split("/")[1:]:
            name = unescape(step)
            if isinstance(value, dict) and name in value:
                value = value[name]
            elif isinstance(value, list) and _INDEX.fullmatch(name) and int(name) < len(value):
                value = value[int(name)]
            else:
                raise SchemaError(f"the reference '#{target}' points nowhere", pointer=pointer)
        return value

    @staticmethod
    def _resource(value: object, draft: Draft) -> referencing.Resource[Any]:
        uri: Any = value.get("$schema") if isinstance(value, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        return _SPECIFICATIONS[draft_of(uri, draft)].create_resource(value)  # pyright: ignore[reportArgumentType] - any JSON value will do


def _needs_registry(document: Json, draft: Draft, names: Set[str]) -> bool:
    """Whether some reference is more than a pointer from the document's root, or may be."""
    name = "id" if draft is Draft.DRAFT4 else "$id"
    if name not in names and names.isdisjoint(_REFERENCES_AND_ANCHORS):
        return False
    stack: list[Any] = [document] if isinstance(document, dict | list) else []
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            for keyword, below in value.items():  # pyright: ignore[reportUnknownVariableType]
                kind = type(below)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
                if kind is dict or kind is list:
                    stack.append(below)
                elif keyword in _REFERENCES and isinstance(below, str):
                    if below != "#" and not below.startswith("#/"):
                        return True
                elif keyword in _ANCHORS or (
                    keyword == name and isinstance(below, str) and value is not document
                ):
                    return True
        else:
            stack += [below for below in value if isinstance(below, dict | list)]  # pyright: ignore[reportUnknownVariableType]
    return False
