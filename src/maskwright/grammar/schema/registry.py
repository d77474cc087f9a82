"""Where references lead that are more than pointers from a document's root: by way of `$id`,
anchors, dynamic scopes and other documents. The `referencing` library follows them; it is imported
for documents that have one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final, cast

import referencing
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
from maskwright.grammar.schema.document import check_values, wrong
from maskwright.grammar.schema.drafts import Draft, draft_of
from maskwright.grammar.schema.tree import Json
from maskwright.immutable import Immutable


def _subresources(contents: Any) -> Iterable[Any]:
    """The schemas directly within one of 2020-12. That draft has no array in `items`, which is read
    all the same, and which `referencing` takes for a schema."""
    items: Any = contents.get("items") if isinstance(contents, dict) else None  # pyright: ignore[reportUnknownMemberType]
    if not isinstance(items, list):
        return DRAFT202012.subresources_of(contents)
    others = {keyword: value for keyword, value in contents.items() if keyword != "items"}
    return [*DRAFT202012.subresources_of(others), *cast(list[Any], items)]


def _enter_at(segments: Sequence[int | str], resolver: Any, subresource: Any) -> Any:
    """The resolver where a pointer leads; an array in `items` is one of schemas."""
    if isinstance(subresource.contents, list):
        return resolver
    # As an array in `prefixItems`, which `referencing` knows.
    named = [
        "prefixItems" if segment == "items" and isinstance(below, int) else segment
        for segment, below in zip_longest(segments, segments[1:])
    ]
    return DRAFT202012.maybe_in_subresource(named, resolver, subresource)


_SPECIFICATIONS: Final = {
    Draft.DRAFT4: DRAFT4,
    Draft.DRAFT6: DRAFT6,
    Draft.DRAFT7: DRAFT7,
    Draft.DRAFT2019: DRAFT201909,
    Draft.DRAFT2020: referencing.Specification(
        name=DRAFT202012.name,
        id_of=DRAFT202012.id_of,
        subresources_of=_subresources,
        maybe_in_subresource=_enter_at,
        anchors_in=lambda _, contents: DRAFT202012.anchors_in(contents),
    ),
}


class Resolver(Immutable):
    """A place from which references are followed. `inner`: `referencing`'s resolver, a base URI and
    the dynamic scope."""

    inner: Any

    @classmethod
    def of(cls, document: Json, draft: Draft, documents: Mapping[str, Json]) -> Resolver:
        """The resolver at the root of a document. `documents`: others that references may name, by
        URI; meta-schemas are known."""

        def retrieve(uri: str) -> referencing.Resource[Any]:
            """A registered document or a meta-schema; `NoSuchResource` for any other."""
            for known in (uri, f"{uri}#"):
                if known in documents:
                    check_values(documents[known])
                    return _resource(documents[known], draft)
            # Reading them takes as long as all else that is imported here.
            from jsonschema_specifications import REGISTRY  # noqa: PLC0415

            return REGISTRY[uri]

        _check_id(document, draft, "")
        resource = _resource(document, draft)
        empty: referencing.Registry[Any] = referencing.Registry(
            retrieve=retrieve  # pyright: ignore[reportCallIssue] - an attrs field
        )
        registry = empty.with_resource(resource.id() or "", resource)
        return cls(registry.resolver(base_uri=resource.id() or ""))

    def scope(self) -> object:
        """What distinguishes two visits of one subschema: the resources on the way to it.

        They decide where dynamic references lead."""
        uris = [uri for uri, _ in self.inner.dynamic_scope()]
        return tuple(dict.fromkeys(reversed(uris))), self.inner._base_uri

    def enter(self, value: Mapping[str, Json], draft: Draft, pointer: str) -> Resolver:
        """The resolver inside the subschema at `pointer`, which may have an identifier."""
        _check_id(value, draft, pointer)
        return Resolver(self.inner.in_subresource(_resource(value, draft)))

    def find(self, reference: str, pointer: str) -> tuple[Json, Resolver]:
        """Where the reference at `pointer` leads: the schema and its resolver.

        Raises `UnsupportedSchemaError` for a document that isn't registered, `SchemaError` for a
        pointer or anchor that doesn't exist.
        """
        try:
            resolved = self.inner.lookup(reference)
        except (PointerToNowhere, NoSuchAnchor) as error:
            raise SchemaError(
                f"the reference {reference!r} points nowhere", pointer=pointer
            ) from error
        except Unresolvable as error:
            fault = _fault(error)
            if fault is not None:
                where = f"at {fault.pointer}" if fault.pointer else "at its root"
                message = f"in the document of {reference!r}, {where}: {fault.reason}"
                raise SchemaError(message, pointer=pointer) from None
            raise UnsupportedSchemaError(
                f"the reference {reference!r} names a document that is not registered; register it"
                " (documents=…), nothing is fetched",
                pointer=pointer,
            ) from error
        except (ValueError, KeyError, AttributeError, TypeError) as error:  # no URI, or no schema
            raise SchemaError(
                f"the reference {reference!r} can't be followed", pointer=pointer
            ) from error
        return resolved.contents, Resolver(resolved.resolver)

    def find_recursive(self) -> tuple[Json, Resolver]:
        """Where `$recursiveRef: "#"` leads."""
        resolved: Any = lookup_recursive_ref(self.inner)
        return resolved.contents, Resolver(resolved.resolver)


def _fault(error: BaseException | None) -> SchemaError | None:
    """The fault of a registered document because of which a reference could not be followed."""
    while error is not None and not isinstance(error, SchemaError):
        error = error.__cause__
    return error


def _check_id(value: object, draft: Draft, pointer: str) -> None:
    """Raise `SchemaError` for an `id` of draft 4 that is no string; `check_names` has checked the
    ids of later drafts."""
    if draft is Draft.DRAFT4 and isinstance(value, dict):
        named = cast(Json, value.get("id", ""))  # pyright: ignore[reportUnknownMemberType]
        if not isinstance(named, str):
            wrong(named, "a string", f"{pointer}/id")


def _resource(value: object, draft: Draft) -> referencing.Resource[Any]:
    uri: Any = value.get("$schema") if isinstance(value, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return _SPECIFICATIONS[draft_of(uri) or draft].create_resource(value)  # pyright: ignore[reportArgumentType] - any JSON value will do
