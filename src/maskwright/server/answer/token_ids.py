"""The ids of the tokens of prompts and answers, as vLLM returns them if asked to."""

from __future__ import annotations

from collections.abc import Sequence

from maskwright.server.answer.choices import Answer, ChoiceDelta
from maskwright.server.json import Json


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
