"""Which keywords each draft has, and what names a draft."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from maskwright.grammar.schema.drafts import ANNOTATIONS, KEYWORDS, Draft, draft_of

FIRST_AND_LAST = [
    ("type", Draft.DRAFT4, Draft.DRAFT2020),
    ("$ref", Draft.DRAFT4, Draft.DRAFT2020),
    ("const", Draft.DRAFT6, Draft.DRAFT2020),
    ("contains", Draft.DRAFT6, Draft.DRAFT2020),
    ("propertyNames", Draft.DRAFT6, Draft.DRAFT2020),
    ("if", Draft.DRAFT7, Draft.DRAFT2020),
    ("dependencies", Draft.DRAFT4, Draft.DRAFT2020),
    ("dependentRequired", Draft.DRAFT2019, Draft.DRAFT2020),
    ("minContains", Draft.DRAFT2019, Draft.DRAFT2020),
    ("unevaluatedItems", Draft.DRAFT2019, Draft.DRAFT2020),
    ("additionalItems", Draft.DRAFT4, Draft.DRAFT2019),
    ("prefixItems", Draft.DRAFT2020, Draft.DRAFT2020),
    ("$recursiveRef", Draft.DRAFT2019, Draft.DRAFT2019),
    ("$dynamicRef", Draft.DRAFT2020, Draft.DRAFT2020),
]


@pytest.mark.parametrize(("keyword", "first", "last"), FIRST_AND_LAST)
def test_the_drafts_of_a_keyword(keyword: str, first: Draft, last: Draft) -> None:
    drafts = [*Draft]
    expected = drafts[drafts.index(first) : drafts.index(last) + 1]
    assert [draft for draft in drafts if keyword in KEYWORDS[draft]] == expected


@pytest.mark.parametrize("draft", Draft)
def test_every_keyword_of_the_meta_schema_is_known(draft: Draft) -> None:
    """What the published meta-schemas describe, we enforce or call an annotation."""
    name = draft.title.removeprefix("draft").replace("-", "").upper()
    package = files("jsonschema_specifications") / "schemas"
    folders = {"4": "draft4", "6": "draft6", "7": "draft7", "201909": "draft201909"}
    folder = package / folders.get(name, "draft202012")
    described: set[str] = set(json.loads((folder / "metaschema.json").read_text())["properties"])
    vocabularies = folder / "vocabularies"
    if vocabularies.is_dir():
        for each in vocabularies.iterdir():
            described |= set(json.loads(each.read_text()).get("properties", {}))
        described -= {"definitions", "$recursiveRef", "$recursiveAnchor"}
    assert described - KEYWORDS[draft] - ANNOTATIONS == set()


@pytest.mark.parametrize(
    ("uri", "draft"),
    [
        ("http://json-schema.org/draft-04/schema#", Draft.DRAFT4),
        ("https://json-schema.org/draft-06/schema", Draft.DRAFT6),
        ("http://json-schema.org/draft-07/schema##", Draft.DRAFT7),
        ("https://json-schema.org/draft/2019-09/schema", Draft.DRAFT2019),
        ("http://json-schema.org/draft/2020-12/schema#", Draft.DRAFT2020),
        ("http://json-schema.org/schema#", None),
        ("draft-07", None),
        ("", None),
        (None, None),
        (7, None),
    ],
)
def test_the_draft_that_a_uri_names(uri: object, draft: Draft | None) -> None:
    assert draft_of(uri, None) is draft
    assert draft_of(uri, Draft.DRAFT6) is (draft or Draft.DRAFT6)


def test_titles() -> None:
    titles = ["draft4", "draft6", "draft7", "draft2019-09", "draft2020-12"]
    assert [draft.title for draft in Draft] == titles
    assert [draft.is_old for draft in Draft] == [True, True, True, False, False]
