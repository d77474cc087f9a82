"""Where references lead that are more than pointers from the root."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from maskwright.errors import SchemaError, UnsupportedSchemaError
from maskwright.grammar.schema.drafts import Draft
from maskwright.grammar.schema.registry import Resolver

DOCUMENT: dict[str, Any] = {
    "$id": "urn:root",
    "properties": {
        "a": {"$anchor": "named", "const": 1},
        "b": {"$id": "urn:inner", "$defs": {"c": {"const": 2}}},
    },
}
OTHERS: dict[str, Any] = {"urn:other": {"$anchor": "there", "const": 3}, "urn:hash#": {"const": 4}}


def root(draft: Draft = Draft.DRAFT2020) -> Resolver:
    return Resolver.of(DOCUMENT, draft, OTHERS)


@pytest.mark.parametrize(
    ("reference", "constant"),
    [
        ("#named", 1),
        ("urn:root#named", 1),
        ("urn:inner#/$defs/c", 2),
        ("urn:other", 3),
        ("urn:other#there", 3),
        ("urn:hash", 4),
    ],
)
def test_where_references_lead(reference: str, constant: int) -> None:
    found, _ = root().find(reference, "/x")
    assert isinstance(found, dict)
    assert found["const"] == constant


ITEMS: dict[str, Any] = {
    "$id": "urn:items",
    "items": [{"$anchor": "named", "const": 1}, {"$id": "urn:inner", "$defs": {"c": {"const": 2}}}],
    "properties": {"items": {"const": 3}},
}
"""2020-12 has no array in `items`; it is read there as in earlier drafts."""


@pytest.mark.parametrize(
    ("reference", "constant"),
    [
        ("#named", 1),
        ("urn:items#named", 1),
        ("#/items/0", 1),
        ("urn:inner#/$defs/c", 2),
        ("#/properties/items", 3),
        ("urn:other#there", 3),
    ],
)
@pytest.mark.parametrize("draft", [Draft.DRAFT2019, Draft.DRAFT2020])
def test_an_array_in_items_holds_schemas(reference: str, constant: int, draft: Draft) -> None:
    found, _ = Resolver.of(ITEMS, draft, OTHERS).find(reference, "/x")
    assert isinstance(found, dict)
    assert found["const"] == constant


@pytest.mark.parametrize("draft", [Draft.DRAFT2019, Draft.DRAFT2020])
def test_an_identifier_in_an_array_in_items_is_a_base(draft: Draft) -> None:
    _, inside = Resolver.of(ITEMS, draft, OTHERS).find("#/items/1", "/x")
    found, _ = inside.find("#/$defs/c", "/y")
    assert found == {"const": 2}


def test_a_meta_schema_is_known() -> None:
    found, _ = root().find("https://json-schema.org/draft/2020-12/schema", "/x")
    assert isinstance(found, dict)
    assert found["$dynamicAnchor"] == "meta"


@pytest.mark.parametrize("reference", ["#other", "urn:other#named", "#/properties/c"])
def test_what_leads_nowhere(reference: str) -> None:
    with pytest.raises(SchemaError, match="points nowhere") as raised:
        root().find(reference, "/x")
    assert raised.value.pointer == "/x"


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"const": float("nan")}, "at /const: numbers have to be finite"),
        ({"a": [{"maximum": float("inf")}]}, "at /a/0/maximum: numbers have to be finite"),
        ({"enum": (1, 2)}, "at /enum: a tuple is not a value of JSON: make it a list"),
        ({1, 2}, "at its root: a set is not a value of JSON"),
    ],
)
def test_a_registered_document_that_is_no_json(document: Any, reason: str) -> None:
    with pytest.raises(SchemaError) as raised:
        Resolver.of({}, Draft.DRAFT2020, {"urn:x": document}).find("urn:x#", "/$ref")
    assert raised.value.reason.startswith(f"in the document of 'urn:x#', {reason}")
    assert raised.value.pointer == "/$ref"


def test_a_document_that_is_not_registered() -> None:
    with pytest.raises(UnsupportedSchemaError, match="not registered"):
        root().find("urn:unknown", "/x")


def test_the_scope_is_the_resources_on_the_way() -> None:
    within = root().enter(DOCUMENT["properties"]["b"], Draft.DRAFT2020, "/b")
    beside = root().enter(DOCUMENT["properties"]["a"], Draft.DRAFT2020, "/a")
    assert beside.scope() == root().scope() != within.scope()
    assert within.find("#/$defs/c", "/x")[0] == {"const": 2}


def test_a_recursive_reference_leads_to_the_outermost_recursive_anchor() -> None:
    outer = {"$id": "urn:outer", "$recursiveAnchor": True, "$ref": "urn:tree"}
    tree = {"$id": "urn:tree", "$recursiveAnchor": True, "const": 1}
    begun = Resolver.of(outer, Draft.DRAFT2019, {"urn:tree": tree})
    _, inner = begun.find("urn:tree", "/$ref")
    assert inner.find_recursive()[0] == outer


@pytest.mark.parametrize(
    ("schema", "needed"),
    [
        ({"$ref": "#/$defs/a"}, False),
        ({"$ref": "#a"}, True),
        ({"properties": {"b": {"$id": "urn:b"}}}, False),
    ],
)
def test_the_library_is_imported_for_documents_that_need_it(
    schema: dict[str, Any], needed: bool
) -> None:
    document = {**schema, "$defs": {"a": {"$anchor": "a", "const": 1} if needed else {"const": 1}}}
    program = (
        "import sys; from maskwright.grammar.schema.parse import ParseOptions, parse_schema; "
        f"parse_schema({document!r}, ParseOptions()); print('referencing' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.stdout.split() == [str(needed)], ran.stderr
