"""The answers of POST /v1/chat/completions and of POST /v1/completions.

In a stream of a chat, each choice has one chunk with the role, chunks of text, and one chunk with
the finish reason and an empty delta. Then follow, if the client asked for it, one chunk with the
usage and no choices, and `[DONE]`. If an error occurs after the beginning, the last event is an
error body instead.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import ClassVar, cast

from msgspec.structs import replace

from maskwright.server.answer.answers import (
    DONE,
    Answering,
    TextFrame,
    event,
    logprobs_body,
    message_body,
    part_delta,
    usage_body,
)
from maskwright.server.answer.choices import Answer, ChoiceDelta, Usage
from maskwright.server.answer.logprobs import PromptLogprobs, TokenNames, TokenPlaces
from maskwright.server.answer.parts import TextPart, WholeAnswer
from maskwright.server.json import Json
from maskwright.server.request.answer_request import TextPrompt


class CompletionWriter(ABC):
    """What the writers of chat and of text completions have in common: how their streams end, and
    what their chunks have beside a choice. Fields with token ids are empty if the client didn't ask
    for them; a chunk has the tokens since the one before it, whose text may come later."""

    chunk_kind: ClassVar[str]
    """The type of a chunk."""

    def __init__(self, made: Answering) -> None:
        self._made = made
        self._envelope = made.envelope
        self._own = made.own
        self._reply = made.request.reply
        self._choices = made.choices
        self._each = len(made.choices) // len(made.choices.prompts)
        """Answers to each prompt."""
        self._unsent: dict[int, list[int]] = {}
        """Token ids of choices that no chunk contained yet."""
        self._frames: dict[int, TextFrame] = {}
        """The chunk of each choice that has nothing but text."""
        self._framed = not (self._reply.token_ids or self._reply.continuous_usage)

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
        if self._reply.token_ids:
            choice["token_ids"] = self._unsent.pop(cast(int, choice["index"]), [])
        body = {**self._envelope.head(self.chunk_kind), "choices": [choice], **(head or {})}
        if self._reply.include_usage:
            counted = self._reply.continuous_usage
            body["usage"] = self._counted(self._choices.usage()) if counted else None
        return event(body)

    def _take_ids(self, delta: ChoiceDelta) -> None:
        if self._reply.token_ids:
            self._unsent.setdefault(delta.index, []).extend(delta.token_ids)

    def _answer_ids(self, answer: Answer) -> Json:
        """Return the field of a whole answer, end tokens included."""
        return {"token_ids": list(answer.token_ids)} if self._reply.token_ids else {}

    def _prompt_ids(self, index: int) -> Json:
        """Return the field with the prompt of choice `index`."""
        prompt = self._choices.prompts[index // self._each]
        return {"prompt_token_ids": list(prompt)} if self._reply.token_ids else {}

    def _of_prompt(self, index: int) -> Json:
        """Return the fields of a whole answer about the prompt of choice `index`."""
        return {**self._prompt_ids(index), **self._scores.field(index)}

    @cached_property
    def _scores(self) -> PromptLogprobs:
        """The log-probabilities of prompts."""
        names = TokenNames(self._made.vocab, as_ids=self._reply.tokens_as_ids)
        echoed = self._made.request.options.params.logprobs or 0
        return PromptLogprobs(
            names, self._choices.prompt_scores, self._reply.prompt_logprobs, echoed
        )

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

    def __init__(self, made: Answering) -> None:
        super().__init__(made)
        self._unsaid: dict[int, list[Json]] = {}
        """Log-probabilities that no chunk contained yet: text of calls is no part of the answer."""

    def whole(self, answers: list[Answer], usage: Usage) -> Json:
        """Return a `chat.completion`. `stop_reason` is vLLM's name of the stop string or token."""
        choices: list[Json] = []
        for index, answer in enumerate(answers):
            message = message_body(answer.message)
            choice: Json = {
                "index": index,
                "message": message,
                "logprobs": logprobs_body(answer.logprobs),
                "finish_reason": answer.finish_reason,
                "stop_reason": answer.stop,
                **self._own(index),
                **self._answer_ids(answer),
            }
            self._make_older(choice, message)
            choices.append(choice)
        head = self._envelope.head("chat.completion")
        return {**head, "choices": choices, "usage": usage_body(usage), **self._of_prompt(0)}

    def begin(self) -> Iterator[bytes]:
        for index in range(len(self._choices)):
            head = self._prompt_ids(0) if index == 0 else {}
            yield self._chunk(index, {"role": "assistant", "content": ""}, head=head)

    def parts(self, delta: ChoiceDelta) -> Iterator[bytes]:
        self._take_ids(delta)
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


class TextWriter(CompletionWriter):
    """Writes text completions."""

    chunk_kind = "text_completion"

    def __init__(self, made: Answering) -> None:
        super().__init__(made)
        sent = zip(made.request.prompts, made.choices.prompts, strict=True)
        is_whole = made.request.options.kept is None
        self._texts = [
            prompt.text
            if isinstance(prompt, TextPrompt) and is_whole
            else made.vocab.decode(tokens).decode(errors="replace")
            for prompt, tokens in sent
        ]
        self._places = [
            # The text before the first token that has an entry in the log-probabilities.
            TokenPlaces(0 if self._scores_prompt else len(self._echo(index)))
            for index in range(len(made.choices))
        ]
        self._begun: set[int] = set()
        """Choices of a stream whose prompts have been sent."""

    def whole(self, answers: list[Answer], usage: Usage) -> Json:
        choices: list[Json] = []
        for prompt in range(len(self._texts)):
            first = prompt * self._each
            for index in self._best(answers, range(first, first + self._each)):
                answer = self._wanted(answers[index])
                text, scores = self._echo(index) + answer.message.words, answer.logprobs
                if scores is not None:
                    scores = self._echoed_scores(index) + scores
                own = {
                    "stop_reason": answer.stop,
                    **self._answer_ids(answer),
                    **self._of_prompt(index),
                    **self._own(index),
                }
                choice = self._choice(index, text, answer.finish_reason, scores, own)
                choices.append({**choice, "index": len(choices)})
        head = self._envelope.head(self.chunk_kind)
        return {**head, "choices": choices, "usage": self._counted(usage)}

    def begin(self) -> Iterator[bytes]:
        if not self._scores_prompt:  # scores are not there yet
            for index in range(len(self._places)):
                yield from self._begin(index)

    def parts(self, delta: ChoiceDelta) -> Iterator[bytes]:
        yield from self._begin(delta.index)
        if self._reply.only_echo:
            return
        text = "".join(part.text for part in delta.parts if isinstance(part, TextPart))
        self._take_ids(delta)
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
        ids = self._prompt_ids(index)
        if self._reply.echo or ids:
            scores = self._echoed_scores(index) if self._scores_prompt else None
            yield self._event(self._choice(index, self._echo(index), logprobs=scores, own=ids))

    def _echo(self, index: int) -> str:
        """Return the text before the answer."""
        return self._texts[index // self._each] if self._reply.echo else ""

    def _echoed_scores(self, index: int) -> list[Json]:
        """Return the log-probabilities of the prompt, if it comes before the answer."""
        if not self._scores_prompt:
            return []
        prompt = self._choices.prompts[index // self._each]
        return self._scores.entries(index, prompt, self._echo(index))

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
