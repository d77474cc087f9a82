"""How many tokens a step may compute, so that prompts don't make those who decode wait.

A step that also computes a piece of a prompt takes longer, and every decoding sequence waits for
it. From the steps so far, two things are followed: what a step of decodes alone takes, and what
each prompt token adds, which is more the further back it looks. The budget is what keeps a step
within `stall` decode steps; little is known of pieces much larger than those before, so one is at
most twice as large. Where nobody decodes, or no step of decodes has been seen,
it is all there is. Two more decide what happens to the blocks
of a sequence that gives way: what a token takes to compute, and a block to copy. And from a line
through the steps of decodes it is foretold how long one takes that has more to do. No clock here:
durations are told.
"""

from __future__ import annotations

import math

LEAST = 1
"""Prompt tokens a step may always compute: a prompt gets on, however slow the machine is."""

AIM = 0.75
"""The part of what a step has left for prompts that is given them: steps vary, and the bound is for
the longest."""

FIRST = 16
"""Prompt tokens beside decodes as long as none has been seen there."""

DEPTH = 512
"""Positions to look back on that cost as much as all else about a prompt token, as long as nothing
else has been seen."""

MEMORY = 0.2
"""Weight of the last step in the averages."""

LINE_MEMORY = 0.05
"""Weight of the last step in the line, which needs steps of several sizes."""

FIXED_ROWS = 8
"""A step costs as much before its first row as for so many rows, as long as nothing else has been
seen. (The demo model on a CPU: 3.6 ms and 0.4 ms a row.)"""

OUTLIER = 4.0
"""Times as long as foretold that a step may count."""

SHAPE = 0.999
"""What a step with prompts still weighs when the next has come, for how far looking back counts."""

TREND = 0.7
"""The same, for whether steps take longer than foretold at present."""


class Pace:
    """`most`: tokens of a step at most; `stall` None: always that many."""

    def __init__(self, most: int, stall: float | None) -> None:
        self._most = most
        self._stall = stall
        self._tokens = TokenCost()
        self._largest = FIRST // 2
        """Prompt tokens in a step beside decodes, of late."""
        self._prompt: float | None = None
        self._copy: float | None = None
        self._line = Line()

    def budget(self, decoding: int, position: int = 0) -> int:
        """Tokens for the next step, in which `decoding` tokens are not of prompts, and those that
        are come behind `position` others."""
        alone = self.step(decoding)
        if self._stall is None or not decoding or alone is None:
            return self._most
        spare = AIM * (self._stall - 1) * alone
        fitting = self._tokens.within(spare, position, self._most)
        return min(self._most, decoding + max(LEAST, min(fitting, 2 * self._largest)))

    def observe(self, decoding: int, prompt: int, seconds: float, position: float = 0.0) -> None:
        """A step with so many tokens of both kinds took so long; `position`: how many others those
        of prompts looked back on, on average."""
        alone = self.step(decoding) if decoding else 0.0
        if prompt >= FIRST and alone is not None:
            self._prompt = _mean(self._prompt, max(seconds - alone, 1e-9) / prompt)
        if decoding and not prompt:
            self._line.note(decoding, seconds)
        elif decoding and alone is not None:
            self._largest = max(prompt, self._largest // 2)
            self._tokens.note(prompt, position, seconds - alone)

    def step(self, decoding: float) -> float | None:
        """Seconds of a step that decodes so many tokens and does nothing else; None before one has
        been seen."""
        return self._line.at(decoding)

    def prompt(self, tokens: float) -> float | None:
        """Seconds that so many tokens of prompts add. Where prompts were always short, as much as
        rows that decode; None before anything has been seen."""
        token = self._tokens.mean
        token = self._prompt if token is None else token
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


class TokenCost:
    """What tokens of prompts add to a step: each something, and something for every position it
    looks back on (least squares, the later steps weighing more), and all of it by how much the last
    few steps took more or less than that."""

    def __init__(self) -> None:
        self.mean: float | None = None
        """Seconds of a token, at the positions seen lately."""
        self._sums = (0.0,) * 5
        """Of count², count · places, places², count · seconds, places · seconds."""
        self._last = (0.0,) * 3
        """Of counts, places and seconds, in the last few steps."""

    def note(self, count: int, position: float, seconds: float) -> None:
        """A step took so much longer for `count` tokens behind `position` others on average; less
        than nothing, if other things made it short."""
        places = count * position
        if self.mean is not None:
            base, rise = self._line()
            seconds = min(seconds, OUTLIER * (base * count + rise * places))
        new = (count * count, count * places, places * places, count * seconds, places * seconds)
        self._sums = _fading(self._sums, new, SHAPE)
        self._last = _fading(self._last, (count, places, seconds), TREND)
        self.mean = max(self._sums[3] / self._sums[0], 1e-9)

    def within(self, seconds: float, position: int, most: int) -> int:
        """How many tokens from `position` on fit, `most` at most."""
        if self.mean is None:
            return most
        base, rise = self._line()
        count, places, took = self._last
        trend = min(max(took / (base * count + rise * places), 1 / OUTLIER), OUTLIER)
        first = trend * max(base + rise * position, 0.1 * self.mean)
        fitting = 2 * seconds / (first + math.sqrt(first * first + 2 * trend * rise * seconds))
        return min(most, int(fitting))

    def _line(self) -> tuple[float, float]:
        """Seconds of a token, and for each position behind which it is."""
        cc, cp, pp, cs, ps = self._sums
        spread = cc * pp - cp * cp
        if spread > 0.01 * cc * pp:
            base, rise = (cs * pp - ps * cp) / spread, (ps * cc - cs * cp) / spread
            if base < 0:
                base, rise = 0.0, ps / pp
            if rise < 0:
                base, rise = cs / cc, 0.0
        else:
            base = (cs + ps / DEPTH) / (cc + (2 * cp + pp / DEPTH) / DEPTH)
            rise = base / DEPTH
        return max(base, 1e-12), max(rise, 0.0)


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


def _fading(sums: tuple[float, ...], new: tuple[float, ...], keep: float) -> tuple[float, ...]:
    return tuple(keep * old + value for old, value in zip(sums, new, strict=True))


def _mean(before: float | None, value: float) -> float:
    return value if before is None else before + MEMORY * (value - before)
