"""A request at work: its tokens for the scheduler, its mask, its text and its way to the client."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from maskwright.engine.emission import Emitter
from maskwright.engine.generation import Generation
from maskwright.engine.request import Delta, FinishReason, Request
from maskwright.engine.sequence import Sequence
from maskwright.errors import GenerationError
from maskwright.mask import Matcher
from maskwright.sampling import SampleRow


@dataclass(slots=True, eq=False)
class Active:
    """Owned by the engine's thread. `eos` ends the answer; `free_words` int32 is the mask of an
    unconstrained request; `texts` are the vocabulary's tokens as bytes."""

    request: Request
    generation: Generation
    sequence: Sequence
    matcher: Matcher | None
    free_words: NDArray[np.int32]
    eos: frozenset[int]
    texts: tuple[bytes, ...]
    emitter: Emitter
    unsent: list[int] = field(default_factory=list[int])

    @property
    def left(self) -> int:
        """Tokens that may still be sampled."""
        return self.sequence.limit - len(self.sequence.tokens)

    @property
    def complete(self) -> bool:
        """The grammar allows nothing more."""
        return self.matcher is not None and self.matcher.complete

    def fill_mask(self, out: NDArray[np.int32]) -> None:
        """Write this step's mask. Near the token limit a grammar keeps only tokens after which the
        output can still be completed."""
        if self.matcher is None:
            out[:] = self.free_words
        else:
            self.matcher.fill_mask(out, budget=self.left)

    def sample_row(self) -> SampleRow:
        """What the sampler needs to know."""
        sequence = self.sequence
        return SampleRow(
            self.request.params, sequence.tokens, sequence.prompt_length, self.generation.seed
        )

    def take(self, token: int) -> tuple[str, FinishReason | None]:
        """Append a sampled token; the text that becomes safe, and the reason if it is the last."""
        if self.matcher is not None and not self.matcher.accept(token):
            raise GenerationError(f"The grammar refused token {token}, which its mask allowed.")
        self.sequence.tokens.append(token)
        self.unsent.append(token)
        return self.emitter.push(self.texts[token]), self._reason(token)

    def delta(self, text: str, reason: FinishReason | None) -> Delta:
        """A delta of `text` and all tokens not yet sent; with a reason, the held-back rest too."""
        if reason is not None:
            text += self.emitter.finish()
            if reason is FinishReason.LENGTH and self.emitter.stopped:
                reason = FinishReason.STOP_STRING
        tokens, self.unsent = tuple(self.unsent), []
        return Delta(text, tokens, reason)

    def _reason(self, token: int) -> FinishReason | None:
        if token in self.eos:
            return FinishReason.STOP
        if self.emitter.stopped:
            return FinishReason.STOP_STRING
        if self.complete:
            return FinishReason.STOP
        if self.left:
            return None
        whole = self.matcher is not None and self.matcher.accepting
        return FinishReason.STOP if whole else FinishReason.LENGTH
