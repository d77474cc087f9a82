from __future__ import annotations

from typing import Any

import pytest
from starlette.datastructures import QueryParams

from maskwright.errors import InputError
from maskwright.server.batches.batch_routes import page

ITEMS: list[dict[str, Any]] = [{"id": f"i{n}"} for n in range(5)]


def ids(query: str) -> list[str]:
    return [item["id"] for item in pages(query)["data"]]


def pages(query: str) -> Any:
    return page(ITEMS, QueryParams(query), most=4, default=3)


def test_pages_follow_each_other() -> None:
    assert ids("") == ["i0", "i1", "i2"]
    first = pages("limit=2")
    assert (first["first_id"], first["last_id"], first["has_more"]) == ("i0", "i1", True)
    assert ids("limit=2&after=i1") == ["i2", "i3"]
    last = pages("limit=2&after=i3")
    assert (last["last_id"], last["has_more"]) == ("i4", False)
    assert pages("after=i4") == {
        "object": "list",
        "data": [],
        "first_id": "",
        "last_id": "",
        "has_more": False,
    }


@pytest.mark.parametrize("query", ["limit=0", "limit=5", "limit=x", "limit=²", "after=i9"])
def test_what_is_no_page(query: str) -> None:
    with pytest.raises(InputError):
        pages(query)
