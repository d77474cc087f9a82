"""The n generations of one request, read as one sequence of (index, delta)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass

from maskwright.engine import Completion, Delta, FinishReason, Generation
from maskwright.errors import GenerationError
from maskwright.server.parts import CallBegun, Message, Part, PartReader, WordReader


@dataclass(frozen=True, slots=True)
class Answer:
    """A generation that has ended; `finish_reason` as OpenAI names it."""

    message: Message
    tokens: int
    finish_reason: str


@dataclass(frozen=True, slots=True)
class ChoiceDelta:
    """What one generation just produced; `finish_reason` as OpenAI names it, on the last one."""

    index: int
    parts: list[Part]
    tokens: int
    finish_reason: str | None


class Choices:
    """Generations under way. `cancel` may be called at any time, and more than once."""

    def __init__(
        self,
        generations: Sequence[Generation],
        prompt_tokens: int,
        reader: Callable[[], PartReader] = WordReader,
        warnings: Sequence[str] = (),
    ) -> None:
        """`warnings` are what the client should be told of its schema."""
        self._generations = generations
        self._readers = [reader() for _ in generations]
        self.prompt_tokens = prompt_tokens
        self.warnings = warnings

    def __len__(self) -> int:
        return len(self._generations)

    def cancel(self) -> None:
        """Free what the generations hold; those that ended are left alone."""
        for generation in self._generations:
            generation.cancel()

    async def answers(self) -> list[Answer]:
        """All choices, once the last has ended. Raises the first failure."""
        ended = await asyncio.gather(*(generation.aresult() for generation in self._generations))
        return [_answer(one, reader) for one, reader in zip(ended, self._readers, strict=True)]

    async def deltas(self, idle: float) -> AsyncGenerator[ChoiceDelta | None]:
        """All deltas as they come, choices interleaved; None after `idle` silent seconds.

        Raises the first generation's failure.
        """
        arrived: asyncio.Queue[tuple[int, Delta | Exception]] = asyncio.Queue()
        readers = [
            asyncio.create_task(_read(index, generation, arrived))
            for index, generation in enumerate(self._generations)
        ]
        running = len(readers)
        called: set[int] = set()
        try:
            while running:
                try:
                    # Not wait_for: Python 3.11's loses a cancellation that meets an arrival.
                    async with asyncio.timeout(idle):
                        index, delta = await arrived.get()
                except TimeoutError:
                    yield None
                    continue
                if isinstance(delta, Exception):
                    raise delta
                if delta.error is not None:
                    raise delta.error
                final = delta.finish_reason is not None
                parts = self._readers[index].read(delta.text, delta.token_ids, final=final)
                called.update(index for part in parts if isinstance(part, CallBegun))
                reason = None
                if delta.finish_reason is not None:
                    running -= 1
                    reason = _openai_reason(delta.finish_reason, called=index in called)
                yield ChoiceDelta(index, parts, len(delta.token_ids), reason)
        finally:
            for reader in readers:
                reader.cancel()


async def _read(
    index: int, generation: Generation, arrived: asyncio.Queue[tuple[int, Delta | Exception]]
) -> None:
    try:
        async for delta in generation:
            arrived.put_nowait((index, delta))
    except Exception as error:
        arrived.put_nowait((index, error))


def _answer(completion: Completion, reader: PartReader) -> Answer:
    message = Message()
    for part in reader.read(completion.text, completion.token_ids, final=True):
        message.add(part)
    reason = _openai_reason(completion.finish_reason, called=bool(message.calls))
    return Answer(message, completion.completion_tokens, reason)


def _openai_reason(reason: FinishReason, *, called: bool) -> str:
    """OpenAI's word for the end of a generation."""
    match reason:
        case FinishReason.STOP | FinishReason.STOP_STRING | FinishReason.GRAMMAR:
            return "tool_calls" if called else "stop"
        case FinishReason.LENGTH:
            return "length"
        case FinishReason.ERROR | FinishReason.CANCELLED | FinishReason.TIMEOUT:
            raise GenerationError(f"a generation ended with {reason} while its answer was read")
