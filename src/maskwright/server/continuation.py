"""A streamed answer that another server has begun, and what that server must tell for it.

A router in front of several servers asks for records (the header `x-maskwright-relay`). They are
comments of the stream, which clients ignore: one with the names that are drawn for the answer and
the seeds of its choices, and before the events of each delta one with the tokens of the delta. If
the server is lost, the router sends the request to another one with all records and the number of
events that its client has. The second server computes the tokens like a prompt, writes the events
anew, drops as many as the client has, and continues. As draws depend on seed and position alone,
the client gets the stream that it would have got.
"""

from __future__ import annotations

import hashlib
import json
import string
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, cast

from msgspec import field

from maskwright.dist.front.relay import RECORD
from maskwright.errors import InputError
from maskwright.immutable import Immutable

PLACE: Final = "maskwright.continuation"

_ID_LETTERS: Final = string.ascii_letters + string.digits


class Naming(Immutable):
    """The names within one answer that are drawn at random, all of them derived from `key`, and the
    time of its creation in seconds since 1970."""

    key: str = field(default_factory=lambda: uuid.uuid4().hex)
    created: int = field(default_factory=lambda: int(time.time()))

    def answer_id(self, prefix: str, name: str | None) -> str:
        """Return the id of the answer, with the client's name for the request if it gave one."""
        return prefix + (name or self._drawn("answer", 0).hex()[:24])

    def call_ids(self, choice: int) -> Callable[[], str]:
        """Return what gives the ids of the tool calls of one choice, one after another."""
        count = 0

        def next_id() -> str:
            nonlocal count
            count += 1
            letters = (_ID_LETTERS[byte % 62] for byte in self._drawn(f"call {choice}", count))
            return "call_" + "".join(letters)

        return next_id

    def item_id(self, index: int) -> str:
        """Return the part of the id of an output item that is not fixed by its kind."""
        return self._drawn("item", index).hex()[:32]

    def _drawn(self, what: str, number: int) -> bytes:
        text = f"{self.key} {what} {number}".encode()
        return hashlib.blake2b(text, digest_size=24).digest()


class RelayedDelta(Immutable):
    """One delta that another server has sent: of choice `index`, with these tokens; `ends`: it was
    the last one of its choice. `shortened_at`: the first token of the choice that its token limit
    has changed, None if there is none up to here."""

    index: int
    token_ids: tuple[int, ...]
    ends: bool
    shortened_at: int | None = None

    @property
    def fields(self) -> list[int | bool | None]:
        """The delta as servers send it to each other."""
        return [self.index, self.ends, self.shortened_at, *self.token_ids]

    def record(self) -> bytes:
        """Return the comment with this record."""
        # Written without an encoder of JSON: it precedes every text of a stream.
        at = "null" if self.shortened_at is None else str(self.shortened_at)
        ends = ("false", "true")[self.ends]
        fields = ",".join((str(self.index), ends, at, *map(str, self.token_ids)))
        return RECORD + b'{"delta":[%b]}\n\n' % fields.encode()


class StreamBeginning(Immutable):
    """The beginning of a streamed answer, as another server has sent it. `seeds`: one for each
    choice. `events`: how many events the client has; it may lack the last ones of the last delta.
    """

    naming: Naming
    seeds: tuple[int, ...]
    deltas: tuple[RelayedDelta, ...]
    events: int

    def begun(self, index: int) -> tuple[int, ...]:
        """Return the tokens with which choice `index` begins."""
        return tuple(
            token for delta in self.deltas if delta.index == index for token in delta.token_ids
        )

    def shortened_at(self, index: int) -> int | None:
        """Return the first of the tokens of choice `index` that its token limit has changed; None
        if there is none."""
        places = (delta.shortened_at for delta in reversed(self.deltas) if delta.index == index)
        return next(places, None)

    def cuts(self, index: int) -> tuple[int, ...]:
        """Return the numbers of tokens of choice `index` after which a delta ended. The last delta
        of a choice ends with it, so that instead of its number there is one that is never
        reached."""
        ends: list[int] = []
        for delta in self.deltas:
            if delta.index == index:
                count = len(delta.token_ids) + (ends[-1] if ends else 0)
                ends.append(sys.maxsize if delta.ends else count)
        return tuple(ends)

    def check_choices(self, count: int) -> None:
        """Raise InputError unless the continuation is about `count` choices, and each of them ends
        at most once and at its end."""
        if len(self.seeds) != count or any(delta.index >= count for delta in self.deltas):
            raise _unusable(f"about other choices than the request, which has {count}")
        ended: Counter[int] = Counter()
        for delta in self.deltas:
            if ended[delta.index]:
                raise _unusable(f"wrong: choice {delta.index} continues after its end")
            ended[delta.index] += delta.ends


def begin_record(naming: Naming, seeds: Sequence[int]) -> bytes:
    """Return the first comment of a stream."""
    record = {"key": naming.key, "created": naming.created, "seeds": list(seeds)}
    return RECORD + json.dumps(record, separators=(",", ":")).encode() + b"\n\n"


def parse_continuation(value: object) -> StreamBeginning:
    """Read the field of a request. Raises InputError, also for tokens that are no integers."""
    match value:
        case {
            "key": str(key),
            "created": int(created),
            "seeds": list(seeds),
            "deltas": list(deltas),
            "events": int(events),
        } if bool not in (type(created), type(events)):  # which is an int to `match`
            sent = tuple(_delta(one) for one in cast(list[object], deltas))
            numbers = _integers(cast(list[object], seeds))
            return StreamBeginning(Naming(key, created), numbers, sent, events)
        case _:
            raise _unusable("not what a server has sent")


def _delta(value: object) -> RelayedDelta:
    match value:
        case [int(index), bool(ends), at, *tokens] if index >= 0 and type(index) is int:
            [shortened_at] = [None] if at is None else _integers([at])
            return RelayedDelta(index, _integers(cast(list[object], tokens)), ends, shortened_at)
        case _:
            raise _unusable("not what a server has sent")


def _integers(values: Sequence[object]) -> tuple[int, ...]:
    integers = tuple(value for value in values if type(value) is int and value >= 0)
    if len(integers) != len(values):
        raise _unusable("not what a server has sent")
    return integers


def _unusable(why: str) -> InputError:
    return InputError(
        f"this is {why}; the field is for routers, which fill it with a server's records",
        param=PLACE,
    )
