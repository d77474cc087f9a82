"""How many tokens a step may compute, so that prompts don't make those who decode wait.

A step that also computes a piece of a prompt takes longer, and every decoding sequence waits for
it. From the steps so far, two numbers are followed: what a step of decodes alone takes, and what
each prompt token adds. The budget is what keeps a step within `stall` decode steps. Where nobody
decodes, or too little has been seen, it is all there is. Two more decide what happens to the blocks
of a sequence that gives way: what a token takes to compute, and a block to copy. No clock here:
durations are told.
"""

from __future__ import annotations

LEAST = 16
"""Prompt tokens a step may always compute: a prompt gets on, however slow the machine is."""

MEMORY = 0.2
"""Weight of the last step in the averages."""


class Pace:
    """`most`: tokens of a step at most; `stall` None: always that many."""

    def __init__(self, most: int, stall: float | None) -> None:
        self._most = most
        self._stall = stall
        self._decode: float | None = None
        self._token: float | None = None
        self._prompt: float | None = None
        self._copy: float | None = None

    def budget(self, decoding: int) -> int:
        """Tokens for the next step, in which `decoding` tokens are not of prompts."""
        if self._stall is None or not decoding or self._decode is None or self._token is None:
            return self._most
        prompt = int((self._stall - 1) * self._decode / self._token)
        return min(self._most, decoding + max(LEAST, prompt))

    def observe(self, decoding: int, prompt: int, seconds: float) -> None:
        """A step with so many tokens of both kinds took so long."""
        if prompt >= LEAST:
            alone = 0.0 if not decoding or self._decode is None else self._decode
            self._prompt = _mean(self._prompt, max(seconds - alone, 1e-9) / prompt)
        if not decoding:
            return
        if not prompt:
            self._decode = _mean(self._decode, seconds)
        elif self._decode is not None and prompt >= LEAST:
            self._token = _mean(self._token, max(seconds - self._decode, 1e-9) / prompt)

    def observe_copies(self, blocks: int, seconds: float) -> None:
        """Copying so many blocks from one memory to the other took so long."""
        if blocks:
            self._copy = _mean(self._copy, seconds / blocks)

    def swap_pays(self, blocks: int, tokens: int) -> bool:
        """Whether copying `blocks` out and back takes less time than computing `tokens` again. Not
        before it is known what a token takes; copies are tried once to know them."""
        if self._prompt is None:
            return False
        return self._copy is None or 2 * blocks * self._copy < tokens * self._prompt


def _mean(before: float | None, value: float) -> float:
    return value if before is None else before + MEMORY * (value - before)
