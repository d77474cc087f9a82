"""Names that can be drawn again, and what a router may send of an answer that was begun."""

from __future__ import annotations

import json
import sys

import pytest

from maskwright.dist.front.relay import RECORD
from maskwright.errors import InputError
from maskwright.server.continuation import (
    Naming,
    RelayedDelta,
    StreamBeginning,
    begin_record,
    parse_continuation,
)

SENT = {
    "key": "k",
    "created": 5,
    "seeds": [7, 8],
    "deltas": [[0, False, None, 1, 2], [1, False, 0, 3], [0, True, 2, 4], [1, False, 0]],
    "events": 6,
}


def test_names_differ_between_answers_and_can_be_drawn_again() -> None:
    first, second = Naming(), Naming()
    assert first.answer_id("chatcmpl-", None) != second.answer_id("chatcmpl-", None)
    for name in (first, Naming(first.key, first.created)):
        ids = [name.call_ids(0), name.call_ids(0), name.call_ids(1)]
        drawn = [[give() for _ in range(3)] for give in ids]
        assert drawn[0] == drawn[1]
        assert len({*drawn[0], *drawn[2]}) == 6
        assert all(one.startswith("call_") and len(one) == 29 for one in drawn[0])
    again = Naming(first.key, first.created)
    assert again.answer_id("resp_", None) == first.answer_id("resp_", None)
    assert again.item_id(1) == first.item_id(1) != first.item_id(2)
    assert first.answer_id("chatcmpl-", "mine") == "chatcmpl-mine"


def test_a_continuation_is_read() -> None:
    beginning = parse_continuation(SENT)
    assert beginning.naming == Naming("k", 5)
    assert (beginning.begun(0), beginning.begun(1)) == ((1, 2, 4), (3,))
    assert (beginning.cuts(0), beginning.cuts(1)) == ((2, sys.maxsize), (1, 1))
    assert (beginning.shortened_at(0), beginning.shortened_at(1), beginning.shortened_at(2)) == (
        2,
        0,
        None,
    )
    beginning.check_choices(2)


def test_records_are_comments_that_can_be_read_back() -> None:
    begun = begin_record(Naming("k", 5), [7, 8])
    deltas = [
        RelayedDelta(0, (1, 2), False),
        RelayedDelta(1, (), True),
        RelayedDelta(1, (3,), False, 4),
    ]
    lines = [begun, *(delta.record() for delta in deltas)]
    assert all(line.startswith(b": ") and line.endswith(b"\n\n") for line in lines)
    head, *records = (json.loads(line.removeprefix(RECORD)) for line in lines)
    whole = {**head, "deltas": [one["delta"] for one in records], "events": 3}
    assert parse_continuation(whole) == StreamBeginning(Naming("k", 5), (7, 8), tuple(deltas), 3)


@pytest.mark.parametrize(
    "changes",
    [
        {"key": 5},
        {"created": None},
        {"created": True},
        {"seeds": ["1"]},
        {"seeds": [-1]},
        {"deltas": [[0, False]]},
        {"deltas": [[0, 1, None, 2]]},
        {"deltas": [[-1, False, None, 2]]},
        {"deltas": [[0, False, None, True]]},
        {"deltas": [[0, False, True, 2]]},
        {"deltas": [[0, False, -1, 2]]},
        {"deltas": [[0, False, "1", 2]]},
        {"deltas": "no"},
        {"deltas": [[False, False, None, 2]]},
        {"events": "no"},
        {"events": False},
    ],
)
def test_anything_else_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(InputError) as caught:
        parse_continuation({**SENT, **changes})
    assert caught.value.param == "maskwright.continuation"


@pytest.mark.parametrize(
    "changes",
    [
        {"seeds": [7]},
        {"deltas": [[2, False, None, 1]]},
        {"deltas": [[0, True, None, 1], [0, False, None, 2]]},
    ],
)
def test_it_must_be_about_the_choices_of_the_request(changes: dict[str, object]) -> None:
    with pytest.raises(InputError) as caught:
        parse_continuation({**SENT, **changes}).check_choices(2)
    assert caught.value.param == "maskwright.continuation"
