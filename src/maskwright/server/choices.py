"""The n generations of one request, read as one sequence of (index, delta)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from maskwright.engine import Delta, FinishReason, Generation
from maskwright.errors import GenerationError


@dataclass(frozen=True, slots=True)
class Answer:
    """A generation that has ended; `finish_reason` as OpenAI names it."""

    text: str
    tokens: int
    finish_reason: str


@dataclass(frozen=True, slots=True)
class ChoiceDelta:
    """What one generation just produced; `finish_reason` as OpenAI names it, on the last one."""

    index: int
    text: str
    tokens: int
    finish_reason: str | None


class Choices:
    """Generations under way. `cancel` may be called at any time, and more than once."""

    def __init__(self, generations: Sequence[Generation], prompt_tokens: int) -> None:
        self._generations = generations
        self.prompt_tokens = prompt_tokens

    def __len__(self) -> int:
        return len(self._generations)

    def cancel(self) -> None:
        """Free what the generations hold; those that ended are left alone."""
        for generation in self._generations:
            generation.cancel()

    async def answers(self) -> list[Answer]:
        """All choices, once the last has ended. Raises the first failure."""
        ended = await asyncio.gather(*(generation.aresult() for generation in self._generations))
        return [
            Answer(one.text, one.completion_tokens, _openai_reason(one.finish_reason))
            for one in ended
        ]

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
                reason = _finish_reason(delta)
                running -= reason is not None
                yield ChoiceDelta(index, delta.text, len(delta.token_ids), reason)
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


def _finish_reason(delta: Delta) -> str | None:
    if delta.error is not None:
        raise delta.error
    return None if delta.finish_reason is None else _openai_reason(delta.finish_reason)


def _openai_reason(reason: FinishReason) -> str:
    """OpenAI's word for the end of a generation."""
    match reason:
        case FinishReason.STOP | FinishReason.STOP_STRING | FinishReason.GRAMMAR:
            return "stop"
        case FinishReason.LENGTH:
            return "length"
        case FinishReason.ERROR | FinishReason.CANCELLED | FinishReason.TIMEOUT:
            raise GenerationError(f"a generation ended with {reason} while its answer was read")
