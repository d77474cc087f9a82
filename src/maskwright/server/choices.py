"""The n generations of one request, read as one sequence of (index, delta)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from maskwright.engine import Delta, FinishReason, Generation
from maskwright.errors import GenerationError


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

    async def deltas(self, idle: float | None = None) -> AsyncGenerator[ChoiceDelta | None]:
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
    """OpenAI's word for the end of a generation."""
    match delta.finish_reason:
        case None:
            return None
        case FinishReason.STOP | FinishReason.STOP_STRING:
            return "stop"
        case FinishReason.LENGTH:
            return "length"
        case FinishReason.ERROR:
            raise delta.error or GenerationError("a generation failed without saying why")
        case FinishReason.CANCELLED:
            raise GenerationError("a generation was cancelled while its answer was being read")
