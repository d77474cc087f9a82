"""How the tokens of answers were chosen, kept for a while after the answers have ended."""

from __future__ import annotations

import math
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from maskwright.engine import TokenScore
from maskwright.immutable import Immutable
from maskwright.server.answer.logprobs import LEAST
from maskwright.server.json import Json
from maskwright.vocab import Vocabulary

SECONDS: Final = 900.0
"""How long an answer is kept."""
MOST_TOKENS: Final = 200_000
"""Tokens of all answers that are kept."""
MOST_WANTED: Final = 8
"""Tokens of a whole answer that are listed as forbidden."""


_Name: TypeAlias = tuple[str | None, str, int]


class _Record(Immutable):
    scores: Sequence[TokenScore]
    ended: float


class Records:
    """The scores of answers that asked for it, by the name of the client's key (None if the server
    has no keys), id and choice. To be used from one event loop."""

    def __init__(self, vocabulary: Vocabulary, clock: Callable[[], float] = time.monotonic) -> None:
        self._vocabulary = vocabulary
        self._names = {token: name for name, token in vocabulary.special_tokens.items()}
        self._clock = clock
        self._kept: OrderedDict[_Name, _Record] = OrderedDict()
        self._tokens = 0

    def keep(self, key: str | None, id: str, choice: int, scores: Sequence[TokenScore]) -> None:
        """Keep an answer, and forget the oldest where there are too many."""
        self._forget((key, id, choice))
        self._kept[key, id, choice] = _Record(scores, self._clock())
        self._tokens += len(scores)
        self._make_room()

    def explained(self, key: str | None, id: str, choice: int) -> Json | None:
        """Return how the tokens of an answer were chosen; None if it isn't kept.

        `wanted`: tokens that the model wanted and the mask forbade, by the sum of their
        probabilities over all steps.
        """
        self._make_room()
        record = self._kept.get((key, id, choice))
        if record is None:
            return None
        steps = [self._step(score) for score in record.scores]
        kept = [score.kept for score in record.scores]
        return {
            "id": id,
            "choice": choice,
            "counts": {
                "tokens": len(steps),
                "forced": sum(score.forced for score in record.scores),
            },
            "kept": {
                "mean": sum(kept) / len(kept) if kept else None,
                "least": min(kept, default=None),
            },
            "wanted": self._wanted(record.scores),
            "steps": steps,
        }

    def _step(self, score: TokenScore) -> Json:
        return {
            **self._shown(score.token),
            "forced": score.forced,
            "allowed": score.allowed,
            "raw": max(score.raw, LEAST),
            "masked": max(score.masked, LEAST),
            "kept": score.kept,
            "wanted": [
                {**self._shown(other.token), "raw": max(other.raw, LEAST)}
                for other in score.top
                if other.masked is None
            ],
        }

    def _wanted(self, scores: Sequence[TokenScore]) -> list[Json]:
        mass: dict[int, float] = defaultdict(float)
        steps: dict[int, int] = defaultdict(int)
        for score in scores:
            for other in score.top:
                if other.masked is None:
                    mass[other.token] += math.exp(other.raw)
                    steps[other.token] += 1
        most = sorted(mass, key=lambda token: -mass[token])[:MOST_WANTED]
        return [
            {**self._shown(token), "probability": mass[token], "steps": steps[token]}
            for token in most
        ]

    def _shown(self, token: int) -> Json:
        text = self._vocabulary.tokens[token].decode(errors="backslashreplace")
        return {"token": token, "text": text or self._names.get(token, "")}

    def _make_room(self) -> None:
        oldest = self._clock() - SECONDS
        while self._kept:
            key = next(iter(self._kept))
            if self._tokens <= MOST_TOKENS and self._kept[key].ended > oldest:
                return
            self._forget(key)

    def _forget(self, key: _Name) -> None:
        record = self._kept.pop(key, None)
        if record is not None:
            self._tokens -= len(record.scores)
