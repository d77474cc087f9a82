"""The answers of POST /v1/responses.

A stream consists of named events, which are numbered: that the response begins, then for each item
of its output that it begins, its text, and that it has ended, and at last the whole response.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, TypeAlias, cast

from msgspec import Struct, field

from maskwright.immutable import Immutable
from maskwright.server.answer.answers import Answering, completion_details, event
from maskwright.server.answer.choices import Answer, ChoiceDelta, Usage
from maskwright.server.answer.parts import ArgumentsText, CallBegun, Part, Reasoning, TextPart
from maskwright.server.json import Json

Status: TypeAlias = Literal["in_progress", "completed", "incomplete"]


class ItemKind(Immutable):
    """How items of one type are written.

    - `prefix`: the beginning of their ids.
    - `event`: the beginning of the names of the events that tell their text.
    - `text`: the name of their whole text.
    - `part`: the type of the content part that holds the text; None where the item itself holds it.
    """

    type: str
    prefix: str
    event: str
    text: str
    part: str | None = None


MESSAGE: Final = ItemKind("message", "msg", "response.output_text", "text", "output_text")
REASONING: Final = ItemKind("reasoning", "rs", "response.reasoning_text", "text", "reasoning_text")
FUNCTION: Final = ItemKind("function_call", "fc", "response.function_call_arguments", "arguments")
CUSTOM: Final = ItemKind("custom_tool_call", "ctc", "response.custom_tool_call_input", "input")


class OutputItem(Struct):
    """One item while it is written. `own`: the fields of its type."""

    kind: ItemKind
    index: int
    own: Json
    id: str
    text: str = ""
    logprobs: list[Json] = field(default_factory=list[Json])

    def body(self, status: Status) -> Json:
        """Return the item; the parts of one in progress have events of their own."""
        head: Json = {"id": self.id, "type": self.kind.type, "status": status, **self.own}
        if self.kind.part is None:
            return {**head, self.kind.text: self.text}
        return {**head, "content": [] if status == "in_progress" else [self.part()]}

    def part(self) -> Json:
        """Return the content part."""
        body: Json = {"type": self.kind.part, "text": self.text}
        if self.kind is MESSAGE:
            body |= {"annotations": [], "logprobs": self.logprobs}
        return body

    def place(self) -> Json:
        """Return the fields by which an event names the item, or its content part."""
        content = {} if self.kind.part is None else {"content_index": 0}
        return {"item_id": self.id, "output_index": self.index, **content}


class OutputItems:
    """The items of one response, from its beginning. Events are objects without their sequence
    number."""

    def __init__(self, item_id: Callable[[int], str]) -> None:
        """`item_id(i)`: the part of the id of item `i` after its prefix."""
        self._item_id = item_id
        self.bodies: list[Json] = []
        """The items that have ended."""
        self._open: OutputItem | None = None

    def add(self, part: Part) -> Iterator[Json]:
        """Add a part of the answer."""
        match part:
            case TextPart(text=text, logprobs=logprobs):
                yield from self._continue(MESSAGE, {"role": "assistant"}, text, logprobs)
            case Reasoning(text=text):
                yield from self._continue(REASONING, {"summary": []}, text)
            case CallBegun(id=id, name=name, custom=custom):
                yield from self._close("completed")
                kind = CUSTOM if custom else FUNCTION
                yield from self._begin(kind, {"call_id": id, "name": name})
            case ArgumentsText(text=text):
                yield from self._write(text)

    def end(self, status: Status) -> Iterator[Json]:
        """End the last item with this status. An answer without any has an empty message."""
        if self._open is None and not self.bodies:
            yield from self._begin(MESSAGE, {"role": "assistant"})
        yield from self._close(status)

    def _continue(
        self, kind: ItemKind, own: Json, text: str, logprobs: Sequence[Json] = ()
    ) -> Iterator[Json]:
        """Write into the last item if it is of this kind, or begin one."""
        if self._open is None or self._open.kind is not kind:
            yield from self._close("completed")
            yield from self._begin(kind, own)
        yield from self._write(text, logprobs)

    def _begin(self, kind: ItemKind, own: Json) -> Iterator[Json]:
        id = f"{kind.prefix}_{self._item_id(len(self.bodies))}"
        self._open = item = OutputItem(kind, len(self.bodies), own, id)
        yield {
            "type": "response.output_item.added",
            "output_index": item.index,
            "item": item.body("in_progress"),
        }
        if kind.part is not None:
            yield {"type": "response.content_part.added", **item.place(), "part": item.part()}

    def _write(self, text: str, logprobs: Sequence[Json] = ()) -> Iterator[Json]:
        item = self._open
        assert item is not None, "text of a call that has not begun"
        item.text += text
        event: Json = {"type": f"{item.kind.event}.delta", **item.place(), "delta": text}
        if item.kind is MESSAGE:
            item.logprobs += logprobs
            event["logprobs"] = list(logprobs)
        yield event

    def _close(self, status: Status) -> Iterator[Json]:
        item, self._open = self._open, None
        if item is None:
            return
        body = item.body(status)
        self.bodies.append(body)
        done: Json = {"type": f"{item.kind.event}.done", **item.place(), item.kind.text: item.text}
        if item.kind is MESSAGE:
            done["logprobs"] = item.logprobs
        if item.kind is FUNCTION:
            done["name"] = item.own["name"]
        yield done
        if item.kind.part is not None:
            yield {"type": "response.content_part.done", **item.place(), "part": item.part()}
        yield {"type": "response.output_item.done", "output_index": item.index, "item": body}


class ResponseWriter:
    """Writes one response."""

    def __init__(self, made: Answering) -> None:
        self._made = made
        self._items = OutputItems(made.naming.item_id)
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
            "id": self._made.envelope.id,
            "object": "response",
            "created_at": self._made.envelope.created,
            "model": self._made.envelope.model,
            "status": self._status,
            "error": None,
            "incomplete_details": reason,
            "output": list(self._items.bodies),
            "usage": None if usage is None else _usage(usage),
            "background": False,
            "previous_response_id": None,
            "service_tier": "default",
            "store": False,
            **self._made.request.echoed,
            **({} if usage is None else self._made.own(0)),
        }


def _usage(usage: Usage) -> Json:
    return {
        "input_tokens": usage.prompt_tokens,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": usage.completion_tokens,
        "output_tokens_details": completion_details(usage),
        "total_tokens": usage.total_tokens,
    }
