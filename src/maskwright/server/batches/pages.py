"""Pages of a list, as OpenAI's clients ask for them."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.datastructures import QueryParams

from maskwright.errors import InputError
from maskwright.server.json import Json


def page(newest_first: Sequence[Json], query: QueryParams, *, most: int, default: int) -> Json:
    """The part of a list that a query names: up to `limit` objects after the one whose id is
    `after`. Raises InputError."""
    limit = _limit(query.get("limit"), most, default)
    after = query.get("after")
    begin = 0
    if after is not None:
        ids = [item["id"] for item in newest_first]
        if after not in ids:
            raise InputError(
                f"'after' is the id of an object of the list, not {after!r}", param="after"
            )
        begin = ids.index(after) + 1
    part = newest_first[begin : begin + limit]
    return {
        "object": "list",
        "data": list(part),
        "first_id": part[0]["id"] if part else "",
        "last_id": part[-1]["id"] if part else "",
        "has_more": begin + limit < len(newest_first),
    }


def _limit(text: str | None, most: int, default: int) -> int:
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= most:
        raise InputError(
            f"'limit' is an integer from 1 to {most}, not {text[:60]!r}", param="limit"
        )
    return int(text)
