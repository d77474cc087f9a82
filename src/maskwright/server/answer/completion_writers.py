"""The answers of POST /v1/chat/completions and of POST /v1/completions.

In a stream of a chat, each choice has one chunk with the role, chunks of text, and one chunk with
the finish reason and an empty delta. Then follow, if the client asked for it, one chunk with the
usage and no choices, and `[DONE]`. If an error occurs after the beginning, the last event is an
error body instead.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import ClassVar, cast

from msgspec.structs import replace

from maskwright.server.answer.answers import (
    DONE,
    Envelope,
    TextFrame,
    event,
    logprobs_body,
    part_delta,
    usage_body,
)
from maskwright.server.answer.choices import Answer, ChoiceDelta, Usage
from maskwright.server.answer.logprobs import PromptLogprobs, TokenPlaces
from maskwright.server.answer.parts import TextPart, WholeAnswer
from maskwright.server.json import Json
from maskwright.server.request.answer_request import ReplyOptions


class TokenIds:
    """The fields of one request's choices that hold token ids; empty if the client didn't ask for
    them. In a stream, a chunk has the tokens since the one before it, whose text may come later."""

    def __init__(self, prompts: Sequence[Sequence[int]], count: int, *, asked: bool) -> None:
        """`prompts`: their token ids. `count`: the number of answers, equally many a prompt."""
        self._prompts = prompts
        self._each = max(1, count // len(prompts))
        self._asked = asked
        self._unsent: dict[int, list[int]] = {}

    def prompt(self, index: int) -> Json:
        """Return the field with the prompt of choice `index`."""
        return {"prompt_token_ids": list(self._prompts[index // self._each])} if self._asked else {}

    def whole(self, answer: Answer) -> Json:
        """Return the field of a whole answer, end tokens included."""
        return {"token_ids": list(answer.token_ids)} if self._asked else {}

    def take(self, delta: ChoiceDelta) -> None:
        """Add the new tokens of a choice."""
        if self._asked:
            self._unsent.setdefault(delta.index, []).extend(delta.token_ids)

    def chunk(self, index: int) -> Json:
        """Return the field of the next chunk of choice `index`."""
        return {"token_ids": self._unsent.pop(index, [])} if self._asked else {}


class CompletionWriter(ABC):
    """What the writers of chat and of text completions have in common: how their streams end, and
    what their chunks have beside a choice."""

    chunk_kind: ClassVar[str]
    """The type of a chunk."""

    def __init__(
        self,
        envelope: Envelope,
        prompts: Sequence[Sequence[int]],
        count: int,
        own: Callable[[int], Json],
        reply: ReplyOptions,
        running: Callable[[], Usage],
    ) -> None:
        """`prompts`: their token ids. `count`: the number of answers, equally many for each prompt.
        `own(i)` are additional fields of answer `i` at its end. `running()`: the usage so far."""
        self._envelope = envelope
        self._count = count
        self._ids = TokenIds(prompts, count, asked=reply.token_ids)
        self._own = own
        self._reply = reply
        self._running = running
        self._frames: dict[int, TextFrame] = {}
        """The chunk of each choice that has nothing but text."""
        self._framed = not (reply.token_ids or reply.continuous_usage)

    def end(self, usage: Usage) -> Iterator[bytes]:
        if self._reply.include_usage:
            head = self._envelope.head(self.chunk_kind)
            yield event({**head, "choices": [], "usage": self._counted(usage)})
        yield DONE

    def failed(self, error: Json, status: int) -> Iterator[bytes]:
        yield event(error)

    def _counted(self, usage: Usage) -> Json:
        """Return the body of the usage."""
        return usage_body(usage)

    def _event(self, choice: Json, head: Json | None = None) -> bytes:
        """Return a chunk of one choice, with additional fields beside the choices, and with the
        usage, which clients expect in all chunks if they ask for any."""
        choice |= self._ids.chunk(cast(int, choice["index"]))
        body = {**self._envelope.head(self.chunk_kind), "choices": [choice], **(head or {})}
        if self._reply.include_usage:
            counted = self._reply.continuous_usage
            body["usage"] = self._counted(self._running()) if counted else None
        return event(body)

    def _framed_event(self, index: int, text: str) -> bytes:
        """Return a chunk of one choice that has nothing but text."""
        frame = self._frames.get(index)
        if frame is None:
            frame = self._frames[index] = TextFrame(partial(self._text_event, index))
        return frame.of(text)

    @abstractmethod
    def _text_event(self, index: int, text: str) -> bytes:
        """Return the same, encoded as a whole."""


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


KIND = "text_completion"


class TextWriter(CompletionWriter):
    """Writes text completions."""

    chunk_kind = KIND

    def __init__(
        self,
        envelope: Envelope,
        prompts: Sequence[str],
        tokens: Sequence[Sequence[int]],
        count: int,
        own: Callable[[int], Json],
        reply: ReplyOptions,
        running: Callable[[], Usage],
        scores: PromptLogprobs,
    ) -> None:
        """`prompts`: their texts; `tokens`: their token ids; `scores`: their log-probabilities."""
        super().__init__(envelope, tokens, count, own, reply, running)
        self._prompts = prompts
        self._tokens = tokens
        self._each = count // len(prompts)
        self._prompt_scores = scores
        self._places = [
            # The text before the first token that has an entry in the log-probabilities.
            TokenPlaces(0 if self._scores_prompt else len(self._echo(index)))
            for index in range(count)
        ]
        self._begun: set[int] = set()
        """Choices of a stream whose prompts have been sent."""

    def whole(self, answers: list[Answer], usage: Usage) -> Json:
        choices: list[Json] = []
        for prompt in range(len(self._prompts)):
            first = prompt * self._each
            for index in self._best(answers, range(first, first + self._each)):
                answer = self._wanted(answers[index])
                text, scores = self._echo(index) + answer.message.words, answer.logprobs
                if scores is not None:
                    scores = self._echoed_scores(index) + scores
                own = {
                    "stop_reason": answer.stop,
                    **self._ids.whole(answer),
                    **self._ids.prompt(index),
                    **self._prompt_scores.field(index),
                    **self._own(index),
                }
                choice = self._choice(index, text, answer.finish_reason, scores, own)
                choices.append({**choice, "index": len(choices)})
        return {**self._envelope.head(KIND), "choices": choices, "usage": self._counted(usage)}

    def begin(self) -> Iterator[bytes]:
        if not self._scores_prompt:  # scores are not there yet
            for index in range(len(self._places)):
                yield from self._begin(index)

    def parts(self, delta: ChoiceDelta) -> Iterator[bytes]:
        yield from self._begin(delta.index)
        if self._reply.only_echo:
            return
        text = "".join(part.text for part in delta.parts if isinstance(part, TextPart))
        self._ids.take(delta)
        if text and delta.logprobs is None and self._framed:
            yield self._framed_event(delta.index, text)
        elif text or delta.logprobs:
            yield self._event(self._choice(delta.index, text, logprobs=delta.logprobs))

    def ended(self, delta: ChoiceDelta) -> Iterator[bytes]:
        reason, stop = delta.finish_reason, delta.stop
        if self._reply.only_echo:
            reason, stop = "length", None
        own = {"stop_reason": stop, **self._own(delta.index)}
        yield self._event(self._choice(delta.index, "", reason, own=own))

    # Prompts --------------------------------------------------------------------------------------

    @property
    def _scores_prompt(self) -> bool:
        return self._reply.echo and self._reply.logprobs

    def _begin(self, index: int) -> Iterator[bytes]:
        """Yield the chunk with the prompt of a choice, once, if it has something to say."""
        if index in self._begun:
            return
        self._begun.add(index)
        ids = self._ids.prompt(index)
        if self._reply.echo or ids:
            scores = self._echoed_scores(index) if self._scores_prompt else None
            yield self._event(self._choice(index, self._echo(index), logprobs=scores, own=ids))

    def _echo(self, index: int) -> str:
        """Return the text before the answer."""
        return self._prompts[index // self._each] if self._reply.echo else ""

    def _echoed_scores(self, index: int) -> list[Json]:
        """Return the log-probabilities of the prompt, if it comes before the answer."""
        if not self._scores_prompt:
            return []
        prompt = self._tokens[index // self._each]
        return self._prompt_scores.entries(index, prompt, self._echo(index))

    # Answers --------------------------------------------------------------------------------------

    def _wanted(self, answer: Answer) -> Answer:
        """Return what the client wants of an answer: nothing if only the prompt is echoed."""
        if not self._reply.only_echo:
            return answer
        scores = None if answer.logprobs is None else list[Json]()
        return replace(
            answer,
            message=WholeAnswer(),
            finish_reason="length",
            logprobs=scores,
            token_ids=(),
            stop=None,
        )

    def _best(self, answers: list[Answer], of: range) -> Sequence[int]:
        """Return the answers to return, by their number: those whose tokens are likeliest."""
        wanted = self._reply.best
        if wanted is None or wanted == len(of):
            return of
        return sorted(of, key=lambda index: -answers[index].likelihood)[:wanted]

    def _choice(
        self,
        index: int,
        text: str,
        finish_reason: str | None = None,
        logprobs: list[Json] | None = None,
        own: Json | None = None,
    ) -> Json:
        if logprobs is None and self._reply.logprobs:
            logprobs = []  # clients read its arrays in every chunk
        scores = None if logprobs is None else _in_arrays(logprobs, self._places[index])
        return {
            "index": index,
            "text": text,
            "logprobs": scores,
            "finish_reason": finish_reason,
            **(own or {}),
        }

    def _counted(self, usage: Usage) -> Json:
        """Return the body of the usage, without the token that is generated although only the
        prompt is wanted."""
        if self._reply.only_echo:
            usage = replace(usage, completion_tokens=0, shortened_at=None)
        return super()._counted(usage)

    def _text_event(self, index: int, text: str) -> bytes:
        return self._event(self._choice(index, text))


def _in_arrays(entries: list[Json], places: TokenPlaces) -> Json:
    """Return the next log-probabilities of an answer, which are in the form of chat completions, in
    that of text completions: parallel arrays. `places`: where its tokens begin."""
    return {
        "tokens": [entry["token"] for entry in entries],
        "token_logprobs": [entry["logprob"] for entry in entries],
        "top_logprobs": [_alternatives(entry) for entry in entries],
        "text_offset": [places.next(bytes(cast(list[int], e["bytes"]))) for e in entries],
    }


def _alternatives(entry: Json) -> Json | None:
    """Return the log-probabilities of a token and its alternatives by their texts; None for the
    first token of a prompt. Of tokens with equal texts, which hold parts of characters, the
    likeliest counts."""
    if entry["logprob"] is None:
        return None
    found: Json = {}
    for other in (*cast(list[Json], entry["top_logprobs"]), entry):
        found.setdefault(cast(str, other["token"]), other["logprob"])
    return found
