"""The answers of POST /v1/responses.

A stream consists of named events, which are numbered: that the response begins, then for each item
of its output that it begins, its text, and that it has ended, and at last the whole response.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import cast

from maskwright.server.answer.answers import completion_details, event
from maskwright.server.answer.choices import Answer, ChoiceDelta, Usage
from maskwright.server.answer.output_items import OutputItems, Status
from maskwright.server.continuation import Naming
from maskwright.server.json import Json


class ResponseWriter:
    """Writes one response."""

    def __init__(
        self, id: str, model: str, echoed: Json, own: Callable[[int], Json], naming: Naming
    ) -> None:
        """`echoed`: settings of the request, which the response repeats. `own(0)`: additional
        fields of the response at its end. `naming`: the names that are drawn for it."""
        self._head: Json = {
            "id": id,
            "object": "response",
            "created_at": naming.created,
            "model": model,
        }
        self._echoed = echoed
        self._own = own
        self._items = OutputItems(naming.item_id)
        self._status: Status = "in_progress"
        self._number = -1

    def whole(self, answers: list[Answer], usage: Usage) -> Json:
        [answer] = answers
        for part in answer.parts:
            deque(self._items.add(part), maxlen=0)  # a whole answer has no events
        self._end_items(answer.finish_reason)
        return self._body(usage)

    def begin(self) -> Iterator[bytes]:
        for name in ("response.created", "response.in_progress"):
            yield self._event({"type": name, "response": self._body(None)})

    def parts(self, delta: ChoiceDelta) -> Iterator[bytes]:
        for part in delta.parts:
            yield from map(self._event, self._items.add(part))

    def ended(self, delta: ChoiceDelta) -> Iterator[bytes]:
        for said in self._end_items(cast(str, delta.finish_reason)):
            yield self._event(said)

    def end(self, usage: Usage) -> Iterator[bytes]:
        yield self._event({"type": f"response.{self._status}", "response": self._body(usage)})

    def failed(self, error: Json, status: int) -> Iterator[bytes]:
        """Yield the event of an error, with the error in both forms that clients read."""
        details = cast(Json, error["error"])
        fields: Json = {name: details[name] for name in ("code", "message", "param")}
        yield self._event({"type": "error", **fields, **error})

    def _end_items(self, finish_reason: str) -> list[Json]:
        self._status = "incomplete" if finish_reason == "length" else "completed"
        return list(self._items.end(self._status))

    def _event(self, body: Json) -> bytes:
        self._number += 1
        return event({**body, "sequence_number": self._number}, cast(str, body["type"]))

    def _body(self, usage: Usage | None) -> Json:
        """Return the response in its present state; `usage` is known at its end."""
        reason = {"reason": "max_output_tokens"} if self._status == "incomplete" else None
        return {
            **self._head,
            "status": self._status,
            "error": None,
            "incomplete_details": reason,
            "output": list(self._items.bodies),
            "usage": None if usage is None else _usage(usage),
            "background": False,
            "previous_response_id": None,
            "service_tier": "default",
            "store": False,
            **self._echoed,
            **({} if usage is None else self._own(0)),
        }


def _usage(usage: Usage) -> Json:
    return {
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": completion_details(usage),
        "total_tokens": usage.total_tokens,
    }
