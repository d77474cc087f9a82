"""The answers of POST /v1/chat/completions.

In a stream, each choice has one chunk with the role, chunks of text, and one chunk with the finish
reason and an empty delta. Then follow, if the client asked for it, one chunk with the usage and no
choices, and `[DONE]`. If an error occurs after the beginning, the last event is an error body
instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import cast

from maskwright.server.answer.answers import (
    Envelope,
    TextFrame,
    TokenIds,
    event,
    part_delta,
    usage_body,
)
from maskwright.server.answer.choices import Answer, ChoiceDelta, Usage
from maskwright.server.answer.logprobs import PromptLogprobs
from maskwright.server.answer.parts import TextPart
from maskwright.server.json import Json
from maskwright.server.request.answer_request import ReplyOptions

DONE = b"data: [DONE]\n\n"


class ChatWriter:
    """Writes chat completions."""

    def __init__(
        self,
        envelope: Envelope,
        count: int,
        own: Callable[[int], Json],
        reply: ReplyOptions,
        running: Callable[[], Usage],
        prompt: Sequence[int] = (),
        scores: PromptLogprobs | None = None,
    ) -> None:
        """`count`: the number of choices. `own(i)` are additional fields of choice `i` at its
        end. `running()`: the usage so far. `prompt`: its token ids; `scores`: their
        log-probabilities."""
        self._scores = scores
        self._envelope = envelope
        self._count = count
        self._ids = TokenIds([prompt], count, asked=reply.token_ids)
        self._own = own
        self._reply = reply
        self._running = running
        self._unsaid: dict[int, list[Json]] = {}
        """Log-probabilities that no chunk contained yet: text of calls is no part of the answer."""
        self._frames: dict[int, TextFrame] = {}
        """The chunk of each choice that has nothing but text."""
        self._framed = not (reply.token_ids or reply.continuous_usage)

    def whole(self, answers: list[Answer], usage: Usage) -> Json:
        body = self._envelope.completion(answers, usage, self._own)
        for choice, answer in zip(cast(list[Json], body["choices"]), answers, strict=True):
            self._make_older(choice, cast(Json, choice["message"]))
            choice |= self._ids.whole(answer)
        scores = {} if self._scores is None else self._scores.field(0)
        return {**body, **self._ids.prompt(0), **scores}

    def begin(self) -> Iterator[bytes]:
        for index in range(self._count):
            head = self._ids.prompt(0) if index == 0 else {}
            yield self._chunk(index, {"role": "assistant", "content": ""}, head=head)

    def parts(self, delta: ChoiceDelta) -> Iterator[bytes]:
        self._ids.take(delta)
        if delta.logprobs:
            self._unsaid.setdefault(delta.index, []).extend(delta.logprobs)
        for part in delta.parts:
            if self._framed and isinstance(part, TextPart) and delta.index not in self._unsaid:
                yield self._text_chunk(delta.index, part.text)
            else:
                yield self._chunk(delta.index, part_delta(part))

    def ended(self, delta: ChoiceDelta) -> Iterator[bytes]:
        own = {"stop_reason": delta.stop, **self._own(delta.index)}
        yield self._chunk(delta.index, {}, delta.finish_reason, own)

    def end(self, usage: Usage) -> Iterator[bytes]:
        if self._reply.include_usage:
            yield event(self._envelope.usage_chunk(usage))
        yield DONE

    def failed(self, error: Json) -> Iterator[bytes]:
        yield event(error)

    def _usage(self) -> Json:
        """Return the usage in a chunk, which clients expect in all chunks if they ask for any."""
        if not self._reply.include_usage:
            return {}
        return {"usage": usage_body(self._running()) if self._reply.continuous_usage else None}

    def _chunk(
        self,
        index: int,
        delta: Json,
        finish_reason: str | None = None,
        own: Json | None = None,
        head: Json | None = None,
    ) -> bytes:
        """Return a chunk of one choice, with additional fields: `own` of the choice, `head` beside
        the choices."""
        logprobs = self._unsaid.pop(index, None)
        body = self._envelope.chunk(index, delta, finish_reason, logprobs, own)
        [choice] = cast(list[Json], body["choices"])
        self._make_older(choice, cast(Json, choice["delta"]))
        choice |= self._ids.chunk(index)
        return event({**body, **(head or {}), **self._usage()})

    def _text_chunk(self, index: int, text: str) -> bytes:
        """Return a chunk of one choice that has nothing but text."""
        frame = self._frames.get(index)
        if frame is None:
            frame = TextFrame(lambda text: self._chunk(index, part_delta(TextPart(text))))
            self._frames[index] = frame
        return frame.of(text)

    def _make_older(self, choice: Json, message: Json) -> None:
        """Tell a call as the client of `functions` expects it, which knows one call at most."""
        if not self._reply.one_function:
            return
        for call in cast(list[Json], message.pop("tool_calls", ())):
            message["function_call"] = call["function"]
        if choice["finish_reason"] == "tool_calls":
            choice["finish_reason"] = "function_call"
