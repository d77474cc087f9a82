"""The n generations of one request, read as one sequence of (index, delta), and how each token was
chosen: everything that a replay needs, and the results with which it is compared.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TypeAlias

from msgspec import Struct, structs

from maskwright.engine import Completion, FinishReason, Generation, Request, TokenScore
from maskwright.errors import GenerationError
from maskwright.immutable import Immutable
from maskwright.kernels.sample_inputs import ORDER
from maskwright.sampling import PromptScores
from maskwright.server.answer.logprobs import LEAST, ScoreReader
from maskwright.server.answer.parts import (
    CallBegun,
    Part,
    PartReader,
    Reasoning,
    ReasoningTokens,
    WholeAnswer,
    WordReader,
)
from maskwright.server.errors import HttpError
from maskwright.server.json import Json
from maskwright.server.stream import Arrivals, Pace
from maskwright.vocab import Vocabulary


class TokenTrace:
    """The token trace of one choice, with the request to the engine and the seed of its draws."""

    def __init__(self, request: Request, seed: int, vocab: Vocabulary) -> None:
        self._request = request
        self._seed = seed
        self._texts = vocab.tokens
        self._steps: list[Json] = []
        self.scores: list[TokenScore] = []

    def take(self, scores: Sequence[TokenScore]) -> None:
        """Add the scores of the next tokens."""
        self.scores += scores
        self._steps += map(self._step, scores, range(len(self._steps), 1 << 60))

    def body(self) -> Json:
        """Return the trace as JSON. `seed` is signed, as in requests. `tokens[].position` is the
        position in the random stream."""
        asked = self._request
        params = {
            field.name: getattr(asked.params, field.name)
            for field in fields(asked.params)
            if field.init and field.name not in ("seed", "logprobs", "scale")
        }
        banned = asked.params.banned
        if banned is not None:
            params["banned"] = [word.decode() for word in banned.words]
        return {
            "processors": list(ORDER),
            "params": params,
            "seed": self._seed - (1 << 64) if self._seed >> 63 else self._seed,
            "prompt_token_ids": list(asked.prompt),
            "max_tokens": asked.max_tokens,
            "stop": list(asked.stop),
            "tokens": self._steps,
        }

    def _step(self, score: TokenScore, number: int) -> Json:
        place = score.place
        return {
            "position": len(self._request.prompt) + number,
            "token": score.token,
            "bytes": list(self._texts[score.token]),
            "raw": max(score.raw, LEAST),
            "masked": max(score.masked, LEAST),
            "kept": score.kept,
            "processed": max(score.processed, LEAST),
            "support": score.support,
            "allowed": score.allowed,
            "forced": score.forced,
            "mask": score.mask,
            "row": None if place is None else place.row,
            "state": None if place is None or place.state is None else list(place.state),
            "canonical": place is not None and place.canonical,
        }


class Usage(Immutable):
    """Tokens of one request: of its prompts, each counted once, and of all its choices together.

    `cached_tokens`: tokens of the prompts that were found in the prefix cache. `reasoning_tokens`:
    tokens of reasoning sections, which `completion_tokens` includes. `shortened_at`: the least of
    the choices' own (see `Answer`).
    """

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    shortened_at: int | None = None

    @property
    def total_tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


class Answer(Immutable):
    """The whole answer of one generation; `finish_reason` is OpenAI's name. `parts`: what
    `message` joins, in order. `likelihood`: the mean log-probability of its tokens, if they have
    scores. `stop`: the stop string or stop token that ended it. `shortened_at`: the number of the
    first token, counted from 0, that the token limit has changed, or the number of tokens where it
    has only cut the answer; None if neither."""

    message: WholeAnswer
    tokens: int
    finish_reason: str
    logprobs: list[Json] | None
    parts: tuple[Part, ...] = ()
    likelihood: float = 0.0
    token_ids: tuple[int, ...] = ()
    stop: str | int | None = None
    shortened_at: int | None = None


class ChoiceDelta(Struct):
    """New output of one generation. The last one has a `finish_reason`, with OpenAI's name.
    `logprobs` are entries in OpenAI's form; None if the client didn't ask for them. `stop`: the
    stop string or stop token that ended the answer. `shortened_at`: as in `Answer`, as far as it is
    known. Nobody changes it; it is made for each token, and not frozen because that takes four
    times as long."""

    index: int
    parts: list[Part]
    tokens: int
    finish_reason: str | None
    logprobs: list[Json] | None
    token_ids: tuple[int, ...] = ()
    stop: str | int | None = None
    shortened_at: int | None = None


MakeReport: TypeAlias = Callable[[WholeAnswer, Sequence[int], int | None], Awaitable[Json]]
"""Makes the report of an answer from its parts, its tokens, and the first of them that the token
limit has changed."""


@dataclass(slots=True)
class _ReadAnswer:
    """What has been read of a streamed answer that gets a report."""

    message: WholeAnswer = field(default_factory=WholeAnswer)
    tokens: list[int] = field(default_factory=list[int])

    def take(self, parts: Sequence[Part], tokens: Sequence[int]) -> None:
        for part in parts:
            self.message.add(part)
        self.tokens += tokens


class Choices:
    """The running generations of a request. `cancel` may be called at any time and repeatedly."""

    def __init__(
        self,
        generations: Sequence[Generation],
        prompts: Sequence[Sequence[int]],
        reader: Callable[[], PartReader] = WordReader,
        warnings: Sequence[str] = (),
        *,
        name_place: Callable[[Exception], None] | None = None,
        scores: Callable[[], ScoreReader] | None = None,
        token_traces: Sequence[TokenTrace] | None = None,
        report: MakeReport | None = None,
        reasoning: Callable[[], ReasoningTokens] | None = None,
        shows_reasoning: bool = True,
    ) -> None:
        """`generations`: equally many for each of `prompts`, the token ids of prompts, in their
        order. `warnings`: remarks about the client's schema. `name_place`: has an error of the
        shape name the field of the request. `scores`: makes a reader for the log-probabilities of
        an answer. `token_traces`: one for each choice. `report`: makes the report of an answer. The
        last three are None if the client didn't ask for them. `reasoning`: counts the reasoning
        tokens of an answer; None if the model has no reasoning sections. `shows_reasoning`:
        reasoning is returned, and not only counted."""
        self._generations = generations
        self._name_place = name_place or _keep
        self._readers = [reader() for _ in generations]
        self._scores = [None if scores is None else scores() for _ in generations]
        self.token_traces = token_traces
        self.prompts = prompts
        self._tokens = 0
        self._shortened: dict[int, int] = {}
        """Where the token limit has changed choices, by their number."""
        self.warnings = warnings
        self._report = report
        self._reasoning = [] if reasoning is None else [reasoning() for _ in generations]
        self._shows_reasoning = shows_reasoning
        self._read_answers = [_ReadAnswer() for _ in generations]
        self.reports: list[Json | None] = [None] * len(generations)
        """The reports of the choices that have ended."""

    def __len__(self) -> int:
        return len(self._generations)

    @property
    def seeds(self) -> list[int]:
        """The seed of each choice."""
        return [generation.seed for generation in self._generations]

    def usage(self) -> Usage:
        """Return the tokens of what has been read so far. Cached tokens are known at the end."""
        each = len(self._generations) // len(self.prompts)
        traces = [generation.trace for generation in self._generations[::each]]
        return Usage(
            prompt_tokens=sum(map(len, self.prompts)),
            completion_tokens=self._tokens,
            # What a grammar forces at the beginning may have been found in the cache too.
            cached_tokens=sum(
                min(trace.cached_tokens, trace.prompt_tokens)
                for trace in traces
                if trace is not None
            ),
            reasoning_tokens=sum(counted.count for counted in self._reasoning),
            shortened_at=min(self._shortened.values(), default=None),
        )

    def prompt_scores(self, index: int) -> PromptScores | None:
        """Return the scores of the prompt of choice `index`, from its first delta on; in whole
        answers, the first choice of each prompt has them. None if they are not wanted, or the
        prompt has only one token."""
        each = len(self._generations) // len(self.prompts)
        own = self._generations[index].prompt_scores
        return self._generations[index - index % each].prompt_scores if own is None else own

    def cancel(self) -> None:
        """Cancel all generations; those that have ended are not affected."""
        for generation in self._generations:
            generation.cancel()

    def _note_shortened(self, index: int, at: int | None) -> None:
        if at is not None:
            self._shortened[index] = at

    async def answers(self) -> list[Answer]:
        """Wait until all choices have ended, and return them. Raises the first error."""
        try:
            ended = await asyncio.gather(*(each.aresult() for each in self._generations))
            answers: list[Answer] = []
            for index, one in enumerate(ended):
                self._tokens += one.completion_tokens
                self._note_shortened(index, one.shortened_at)
                if self.token_traces is not None:
                    self.token_traces[index].take(one.scores)
                answer = await _answer(one, self._readers[index], self._scores[index])
                if self._reasoning:
                    self._reasoning[index].take(answer.token_ids, answer.parts)
                answers.append(answer)
            if (report := self._report) is not None:
                made = [report(one.message, one.token_ids, one.shortened_at) for one in answers]
                self.reports = [*await asyncio.gather(*made)]
            return answers if self._shows_reasoning else [*map(_without_thoughts, answers)]
        except Exception as error:
            self._name_place(error)
            raise

    def deltas(self, idle: float, pace: Pace | None = None) -> AsyncGenerator[ChoiceDelta | None]:
        """Return an iterator over all deltas in the order of their arrival, and None after each
        `idle` seconds without one. `pace` may hold them, so that they are joined. Raises the first
        error of a generation.

        Nothing is read ahead. While the caller handles one delta, each generation joins its new
        ones, and pauses when they are too much. This holds from this call on, and not only from
        the first delta that is read.
        """
        return self._deltas(Arrivals(self._generations, idle, pace))

    async def _deltas(self, arrivals: Arrivals) -> AsyncGenerator[ChoiceDelta | None]:
        running = len(self._generations)
        called: set[int] = set()
        try:
            while running:
                arrived = await arrivals.next()
                if arrived is None:
                    yield None
                    continue
                index, delta = arrived
                if delta.error is not None:
                    raise delta.error
                self._tokens += len(delta.token_ids)
                self._note_shortened(index, delta.shortened_at)
                final = delta.finish_reason is not None
                parts = await self._readers[index].read(delta.text, delta.token_ids, final=final)
                if self._reasoning:
                    self._reasoning[index].take(delta.token_ids, parts)
                if self.token_traces is not None:
                    self.token_traces[index].take(delta.scores)
                scores = self._scores[index]
                logprobs = None
                if scores is not None:
                    logprobs = scores.read(delta.text, delta.token_ids, delta.scores, final=final)
                    parts = scores.place(parts)
                for part in parts:
                    if isinstance(part, CallBegun):
                        called.add(index)
                reason = None
                if self._report is not None:
                    self._read_answers[index].take(parts, delta.token_ids)
                is_late = delta.finish_reason is FinishReason.TIMEOUT
                if delta.finish_reason is not None and not is_late:
                    running -= 1
                    reason = _openai_reason(delta.finish_reason, called=index in called)
                    if self._report is not None:
                        answer = self._read_answers[index]
                        self.reports[index] = await self._report(
                            answer.message, answer.tokens, delta.shortened_at
                        )
                if not self._shows_reasoning:
                    parts = _without_reasoning(parts)
                ids, at = delta.token_ids, delta.shortened_at
                yield ChoiceDelta(index, parts, len(ids), reason, logprobs, ids, delta.stop, at)
                if is_late:  # raised after what came before its time was up
                    raise _time_is_up()
        except Exception as error:
            self._name_place(error)
            raise
        finally:
            arrivals.close()


def _without_reasoning(parts: Iterable[Part]) -> list[Part]:
    return [part for part in parts if not isinstance(part, Reasoning)]


def _without_thoughts(answer: Answer) -> Answer:
    message = replace(answer.message, reasoning="")
    return structs.replace(answer, message=message, parts=tuple(_without_reasoning(answer.parts)))


async def _answer(completion: Completion, reader: PartReader, scores: ScoreReader | None) -> Answer:
    message = WholeAnswer()
    parts = await reader.read(completion.text, completion.token_ids, final=True)
    for part in parts:
        message.add(part)
    reason = _openai_reason(completion.finish_reason, called=bool(message.calls))
    logprobs = None
    if scores is not None:
        logprobs = scores.read(completion.text, completion.token_ids, completion.scores, final=True)
        parts = scores.place(parts)
    likelihood = sum(one.raw for one in completion.scores) / max(1, len(completion.scores))
    return Answer(
        message,
        completion.completion_tokens,
        reason,
        logprobs,
        tuple(parts),
        likelihood,
        completion.token_ids,
        completion.stop,
        completion.shortened_at,
    )


def _keep(error: Exception) -> None:
    """Leave an error as it is."""


def _openai_reason(reason: FinishReason, *, called: bool) -> str:
    """Return OpenAI's name of the finish reason."""
    match reason:
        case (
            FinishReason.STOP
            | FinishReason.STOP_STRING
            | FinishReason.STOP_TOKEN
            | FinishReason.GRAMMAR
        ):
            return "tool_calls" if called else "stop"
        case FinishReason.LENGTH:
            return "length"
        case FinishReason.TIMEOUT:
            raise _time_is_up()
        case FinishReason.ERROR | FinishReason.CANCELLED:
            raise GenerationError(f"a generation ended with {reason} while its answer was read")


def _time_is_up() -> HttpError:
    return HttpError(504, "the answer was not complete when its time was up", code="timeout")
