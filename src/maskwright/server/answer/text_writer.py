"""The answers of POST /v1/completions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import cast

from maskwright.server.answer.answers import CompletionWriter, Envelope
from maskwright.server.answer.choices import Answer, ChoiceDelta, Usage
from maskwright.server.answer.logprobs import PromptLogprobs, TokenPlaces
from maskwright.server.answer.parts import TextPart, WholeAnswer
from maskwright.server.json import Json
from maskwright.server.request.answer_request import ReplyOptions

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
        self._scores = [TextScores(self._unscored(index)) for index in range(count)]
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
            for index in range(len(self._scores)):
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

    def _unscored(self, index: int) -> str:
        """Return the text before the first token that has an entry in the log-probabilities."""
        return "" if self._scores_prompt else self._echo(index)

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
        scores = None if logprobs is None else self._scores[index].body(logprobs)
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


class TextScores:
    """Log-probabilities of one answer in the form of text completions: parallel arrays."""

    def __init__(self, before: str) -> None:
        """`before`: the text before the answer."""
        self._places = TokenPlaces(len(before))

    def body(self, entries: list[Json]) -> Json:
        """Return the next entries, which are in the form of chat completions."""
        return {
            "tokens": [entry["token"] for entry in entries],
            "token_logprobs": [entry["logprob"] for entry in entries],
            "top_logprobs": [_alternatives(entry) for entry in entries],
            "text_offset": [self._places.next(bytes(cast(list[int], e["bytes"]))) for e in entries],
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
