"""How each token of an answer was chosen: everything that a replay needs, and the results with
which it is compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from maskwright.engine import Request, TokenScore
from maskwright.kernels.sample_inputs import ORDER
from maskwright.server.answer.logprobs import LEAST
from maskwright.server.json import Json
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

    def _step(self, told: TokenScore, number: int) -> Json:
        place = told.place
        return {
            "position": len(self._request.prompt) + number,
            "token": told.token,
            "bytes": list(self._texts[told.token]),
            "raw": max(told.raw, LEAST),
            "masked": max(told.masked, LEAST),
            "kept": told.kept,
            "processed": max(told.processed, LEAST),
            "support": told.support,
            "allowed": told.allowed,
            "forced": told.forced,
            "mask": told.mask,
            "row": None if place is None else place.row,
            "state": None if place is None or place.state is None else list(place.state),
            "canonical": place is not None and place.canonical,
        }
