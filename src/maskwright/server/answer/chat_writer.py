"""The answers of POST /v1/chat/completions.

In a stream, each choice has one chunk with the role, chunks of text, and one chunk with the finish
reason and an empty delta. Then follow, if the client asked for it, one chunk with the usage and no
choices, and `[DONE]`. If an error occurs after the beginning, the last event is an error body
instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import cast

from maskwright.server.answer.answers import CompletionWriter, Envelope, logprobs_body, part_delta
from maskwright.server.answer.choices import Answer, ChoiceDelta, Usage
from maskwright.server.answer.logprobs import PromptLogprobs
from maskwright.server.answer.parts import TextPart
from maskwright.server.json import Json
from maskwright.server.request.answer_request import ReplyOptions


class ChatWriter(CompletionWriter):
    """Writes chat completions."""

    chunk_kind = "chat.completion.chunk"

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
        """`prompt`: its token ids; `scores`: their log-probabilities."""
        super().__init__(envelope, [prompt], count, own, reply, running)
        self._scores = scores
        self._unsaid: dict[int, list[Json]] = {}
        """Log-probabilities that no chunk contained yet: text of calls is no part of the answer."""

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
                yield self._framed_event(delta.index, part.text)
            else:
                yield self._chunk(delta.index, part_delta(part))

    def ended(self, delta: ChoiceDelta) -> Iterator[bytes]:
        own = {"stop_reason": delta.stop, **self._own(delta.index)}
        yield self._chunk(delta.index, {}, delta.finish_reason, own)

    def _chunk(
        self,
        index: int,
        delta: Json,
        finish_reason: str | None = None,
        own: Json | None = None,
        head: Json | None = None,
    ) -> bytes:
        """Return a chunk of one choice, with additional fields: `own` of the choice, `head` beside
        the choices. `delta` is present even if it is empty."""
        choice: Json = {
            "index": index,
            "delta": delta,
            "logprobs": logprobs_body(self._unsaid.pop(index, None)),
            "finish_reason": finish_reason,
            **(own or {}),
        }
        self._make_older(choice, delta)
        return self._event(choice, head)

    def _text_event(self, index: int, text: str) -> bytes:
        return self._chunk(index, {"content": text})

    def _make_older(self, choice: Json, message: Json) -> None:
        """Tell a call as the client of `functions` expects it, which knows one call at most."""
        if not self._reply.one_function:
            return
        for call in cast(list[Json], message.pop("tool_calls", ())):
            message["function_call"] = call["function"]
        if choice["finish_reason"] == "tool_calls":
            choice["finish_reason"] = "function_call"
