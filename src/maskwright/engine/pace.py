"""How many tokens a step may compute, so that prompts don't make those who decode wait.

A step that also computes a piece of a prompt takes longer, and every decoding sequence waits for
it. From the steps so far, two numbers are followed: what a step of decodes alone takes, and what
each prompt token adds. The budget is what keeps a step within `stall` decode steps. Where nobody
decodes, or too little has been seen, it is all there is. Two more decide what happens to the blocks
of a sequence that gives way: what a token takes to compute, and a block to copy. And from a line
through the steps of decodes it is foretold how long one takes that has more to do. No clock here:
durations are told.
"""

from __future__ import annotations

LEAST = 16
"""Prompt tokens a step may always compute: a prompt gets on, however slow the machine is."""

MEMORY = 0.2
"""Weight of the last step in the averages."""

LINE_MEMORY = 0.05
"""Weight of the last step in the line, which needs steps of several sizes."""

FIXED_ROWS = 8
"""A step costs as much before its first row as for so many rows, as long as nothing else has been
seen. (The demo model on a CPU: 3.6 ms and 0.4 ms a row.)"""

OUTLIER = 4.0
"""Times as long as foretold that a step may count."""


class Pace:
    """`most`: tokens of a step at most; `stall` None: always that many."""

    def __init__(self, most: int, stall: float | None) -> None:
        self._most = most
        self._stall = stall
        self._decode: float | None = None
        self._token: float | None = None
        self._prompt: float | None = None
        self._copy: float | None = None
        self._line = Line()

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
            self._line.note(decoding, seconds)
        elif self._decode is not None and prompt >= LEAST:
            self._token = _mean(self._token, max(seconds - self._decode, 1e-9) / prompt)

    def step(self, decoding: float) -> float | None:
        """Seconds of a step that decodes so many tokens and does nothing else; None before one has
        been seen."""
        return self._line.at(decoding)

    def prompt(self, tokens: float) -> float | None:
        """Seconds that so many tokens of prompts add. Where prompts were always short, as much as
        rows that decode; None before anything has been seen."""
        token = self._prompt if self._token is None else self._token
        if token is not None:
            return token * tokens
        some, more = self.step(1), self.step(1 + tokens)
        return None if some is None or more is None else more - some

    def chunk(self, decoding: float) -> int:
        """Tokens of prompts in a step that decodes so many."""
        decoding = int(decoding)
        return max(1, self.budget(decoding) - decoding)

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


class Line:
    """A straight line through points, of which the later weigh more; it never falls, and is never
    below 0."""

    def __init__(self) -> None:
        self._x = self._y = self._xx = self._xy = 0.0
        self._empty = True

    def note(self, x: float, y: float) -> None:
        """One more point."""
        foretold = self.at(x)
        if foretold is not None:
            y = min(y, OUTLIER * foretold)
        weight = 1.0 if self._empty else LINE_MEMORY
        self._empty = False
        self._x += weight * (x - self._x)
        self._y += weight * (y - self._y)
        self._xx += weight * (x * x - self._xx)
        self._xy += weight * (x * y - self._xy)

    def at(self, x: float) -> float | None:
        """The line's height; None without points."""
        if self._empty:
            return None
        spread = self._xx - self._x * self._x
        if spread > 0.01 * self._xx:
            slope = (self._xy - self._x * self._y) / spread
        else:
            slope = self._y / (self._x + FIXED_ROWS)
        slope = min(max(slope, 0.0), self._y / self._x)
        return self._y + slope * (x - self._x)


def _mean(before: float | None, value: float) -> float:
    return value if before is None else before + MEMORY * (value - before)
