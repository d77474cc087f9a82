"""The output items of POST /v1/responses, built part by part, with the events of each step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from maskwright.server.answer.parts import ArgumentsText, CallBegun, Part, Reasoning, TextPart
from maskwright.server.json import Json

Status: TypeAlias = Literal["in_progress", "completed", "incomplete"]


@dataclass(frozen=True, slots=True)
class ItemKind:
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


@dataclass(slots=True)
class OutputItem:
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
