"""Turns sampled tokens into text that is safe to send.

An incomplete UTF-8 character is held back, and so is an end of the text that may still become part
of a stop string. Text that was sent is never taken back, and a stop string is never sent.
"""

from __future__ import annotations

import codecs

from maskwright.engine.request.stops import START, StopAutomaton

_DECODER = codecs.getincrementaldecoder("utf-8")


class Emitter:
    """Decodes the text of one generation. `stop`: the stop string that has appeared."""

    def __init__(self, stops: StopAutomaton | None, *, include: bool = False) -> None:
        """`include`: the stop string is part of the text."""
        self._include = include
        self.stop: str | None = None
        self._stops = stops
        self._decoder = _DECODER("replace")
        self._state = START
        self._held = ""

    @property
    def stopped(self) -> bool:
        """Whether a stop string has appeared."""
        return self.stop is not None

    def push(self, data: bytes, *, stops: bool = True) -> str:
        """Append `data`, the bytes of the next token; returns the text that becomes safe to send.
        Without `stops`, no stop string may begin in this text."""
        text = self._decoder.decode(data)
        return self._release(text) if stops else text

    def finish(self) -> str:
        """Return the rest of the text. Bytes of an incomplete character become U+FFFD."""
        if self.stopped:
            return ""
        rest = self._release(self._decoder.decode(b"", final=True))
        if self.stopped:
            return rest
        rest, self._held = rest + self._held, ""
        return rest

    def _release(self, text: str) -> str:
        if self._stops is None or self.stopped:
            return "" if self.stopped else text
        for number, character in enumerate(text):
            self._state = self._stops.step(self._state, character)
            if matched := self._stops.matched(self._state):
                whole = self._held + text[: number + 1]
                self._held = ""
                before, self.stop = whole[: len(whole) - matched], whole[len(whole) - matched :]
                return whole if self._include else before
        whole = self._held + text
        safe = len(whole) - self._stops.depth(self._state)
        self._held = whole[safe:]
        return whole[:safe]
