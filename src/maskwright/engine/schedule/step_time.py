"""A model of how long a step takes, which bounds the prompt tokens computed together with decodes.

A step that also computes a chunk of a prompt takes longer, and every decoding sequence waits for
it. The model is fitted to the steps so far: the duration of a step that only decodes, as a line
over the number of its tokens, and the time that each prompt token adds, which grows with its
position because attention reads all positions before it. The token budget of a step is chosen so
that the step takes at most `stall` times as long as a step that only decodes. Little is known of
chunks much larger than those seen, so a chunk is at most twice as large as the largest recent one.
Where no sequence decodes, or no step with decodes only has been seen, there is no bound.

Two further averages decide whether the blocks of a preempted sequence are swapped out or computed
again: the seconds a prompt token takes to compute, and the seconds a block takes to copy.

The module reads no clock; callers pass in the durations that they have measured.
"""

from __future__ import annotations

import math

LEAST = 1
"""Prompt tokens that every step may compute, so that prompts make progress on any machine."""

AIM = 0.75
"""Share of the spare time of a step that is given to prompts. Durations vary, and `stall` bounds
the longest step, not the mean."""

FIRST = 16
"""Prompt tokens in the first step that computes some together with decodes."""

DEPTH = 512
"""Assumed until measured: attention over this many positions takes as long as everything else that
is done for a prompt token."""

MEMORY = 0.2
"""Weight of the last step in the moving averages."""

LINE_MEMORY = 0.05
"""Weight of the last step in the linear fit, which needs steps of several sizes."""

FIXED_ROWS = 8
"""Assumed until measured: the fixed cost of a step, in rows. (The demo model on a CPU: 3.6 ms fixed
and 0.4 ms a row.)"""

OUTLIER = 4.0
"""A step that took longer than this many times the prediction counts as having taken that long, so
that one interruption of the process doesn't spoil the fit."""

COST_DECAY = 0.999
"""Factor by which each step with prompt tokens reduces the weight of earlier ones in the regression
of the cost of a prompt token on its position."""

TREND_DECAY = 0.7
"""The corresponding factor for the ratio of measured to predicted durations, which follows the
current load of the machine and so must forget sooner."""


class StepTimeModel:
    """`most`: upper bound on the tokens of a step. `stall`: how many times as long as a step that
    only decodes a step with prompt tokens may take; None for no bound."""

    def __init__(self, most: int, stall: float | None) -> None:
        self._most = most
        self._stall = stall
        self._tokens = PromptTokenCost()
        self._largest = FIRST // 2
        """Most prompt tokens in recent steps that also decoded."""
        self._prompt: float | None = None
        self._copy: float | None = None
        self._line = LinearFit()

    def budget(self, decoding: int, position: int = 0) -> int:
        """The token budget of the next step, which has `decoding` tokens that belong to decoding
        sequences, and whose prompt tokens begin at `position`."""
        alone = self.step(decoding)
        if self._stall is None or not decoding or alone is None:
            return self._most
        spare = AIM * (self._stall - 1) * alone
        fitting = self._tokens.within(spare, position, self._most)
        return min(self._most, decoding + max(LEAST, min(fitting, 2 * self._largest)))

    def observe(self, decoding: int, prompt: int, seconds: float, position: float = 0.0) -> None:
        """Record that a step of `decoding` decode tokens and `prompt` prompt tokens took `seconds`;
        `position` is the mean position of its prompt tokens."""
        alone = self.step(decoding) if decoding else 0.0
        if prompt >= FIRST and alone is not None:
            self._prompt = moving_mean(self._prompt, max(seconds - alone, 1e-9) / prompt)
        if decoding and not prompt:
            self._line.note(decoding, seconds)
        elif decoding and alone is not None:
            self._largest = max(prompt, self._largest // 2)
            self._tokens.note(prompt, position, seconds - alone)

    def step(self, decoding: float) -> float | None:
        """Predicted seconds of a step that computes `decoding` tokens and no prompt token; None
        before such a step has been recorded."""
        return self._line.at(decoding)

    def prompt(self, tokens: float) -> float | None:
        """Predicted seconds that `tokens` prompt tokens add to a step. As long as only short
        prompts have been seen, a prompt token is taken to cost as much as a decode token. None
        before anything has been recorded."""
        token = self._tokens.mean
        token = self._prompt if token is None else token
        if token is not None:
            return token * tokens
        some, more = self.step(1), self.step(1 + tokens)
        return None if some is None or more is None else more - some

    def chunk(self, decoding: float) -> int:
        """Return the number of prompt tokens that fit into a step with `decoding` decode tokens; at
        least 1."""
        decoding = int(decoding)
        return max(1, self.budget(decoding) - decoding)

    def observe_copies(self, blocks: int, seconds: float) -> None:
        """Record that copying `blocks` blocks between the host's and the model's pool took
        `seconds`."""
        if blocks:
            self._copy = moving_mean(self._copy, seconds / blocks)

    def swap_pays(self, blocks: int, tokens: int) -> bool:
        """Whether copying `blocks` blocks out and back takes less time than computing `tokens`
        tokens again. False before the cost of a token is known; True while only that of a copy is
        unknown, so that it gets measured."""
        if self._prompt is None:
            return False
        return self._copy is None or 2 * blocks * self._copy < tokens * self._prompt


class PromptTokenCost:
    """The seconds that prompt tokens add to a step: a base cost, and a cost for each position that
    attention reads (least squares with exponentially decaying weights). Both are scaled by the
    ratio of measured to predicted time in the last few steps."""

    def __init__(self) -> None:
        self.mean: float | None = None
        """Seconds of a token at the positions seen recently; None before the first step."""
        self._sums = (0.0,) * 5
        """Weighted sums of count², count · places, places², count · seconds and places · seconds,
        where `places` is the sum of the positions of a step's prompt tokens."""
        self._last = (0.0,) * 3
        """Weighted sums of counts, places and seconds over the last few steps."""

    def note(self, count: int, position: float, seconds: float) -> None:
        """Record that `count` prompt tokens of mean position `position` added `seconds` to a step;
        negative if the step was shorter than predicted without them."""
        places = count * position
        if self.mean is not None:
            base, rise = self._line()
            seconds = min(seconds, OUTLIER * (base * count + rise * places))
        new = (count * count, count * places, places * places, count * seconds, places * seconds)
        self._sums = _fading(self._sums, new, COST_DECAY)
        self._last = _fading(self._last, (count, places, seconds), TREND_DECAY)
        self.mean = max(self._sums[3] / self._sums[0], 1e-9)

    def within(self, seconds: float, position: int, most: int) -> int:
        """How many tokens from `position` on fit into `seconds`; at most `most`. Solves the
        quadratic that results because each token reads one position more than the one before it."""
        if self.mean is None:
            return most
        base, rise = self._line()
        count, places, took = self._last
        trend = min(max(took / (base * count + rise * places), 1 / OUTLIER), OUTLIER)
        first = trend * max(base + rise * position, 0.1 * self.mean)
        fitting = 2 * seconds / (first + math.sqrt(first * first + 2 * trend * rise * seconds))
        return min(most, int(fitting))

    def _line(self) -> tuple[float, float]:
        """The base cost of a token, and the cost for each position before it, both in seconds."""
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


class LinearFit:
    """A straight line fitted to points by least squares with exponentially decaying weights,
    bounded so that it never falls and passes through no negative value."""

    def __init__(self) -> None:
        self._x = self._y = self._xx = self._xy = 0.0
        self._empty = True

    def note(self, x: float, y: float) -> None:
        """Add a point."""
        predicted = self.at(x)
        if predicted is not None:
            y = min(y, OUTLIER * predicted)
        weight = 1.0 if self._empty else LINE_MEMORY
        self._empty = False
        self._x += weight * (x - self._x)
        self._y += weight * (y - self._y)
        self._xx += weight * (x * x - self._xx)
        self._xy += weight * (x * y - self._xy)

    def at(self, x: float) -> float | None:
        """The value of the line at `x`; None without points."""
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


def moving_mean(before: float | None, value: float, weight: float = MEMORY) -> float:
    """The moving average `before` with one more value, which is the first one after None."""
    return value if before is None else before + weight * (value - before)
