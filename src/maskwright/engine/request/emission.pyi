"""Turns sampled tokens into text that is safe to send.

An incomplete UTF-8 character is held back, and so is an end of the text that may still become part
of a stop string. Text that was sent is never taken back, and a stop string is never sent.
"""

from maskwright.engine.request.stops import StopAutomaton

class Emitter:
    """Decodes the text of one generation."""

    stop: str | None
    """The stop string that has appeared."""

    def __init__(self, stops: StopAutomaton | None, *, include_stop: bool = False) -> None:
        """`include_stop`: the stop string is part of the text."""

    @property
    def stopped(self) -> bool:
        """Whether a stop string has appeared."""

    def push(self, data: bytes, *, stops: bool = True) -> str:
        """Append `data`, the bytes of the next token; returns the text that becomes safe to send.
        Without `stops`, no stop string may begin in this text."""

    def finish(self) -> str:
        """Return the rest of the text. Bytes of an incomplete character become U+FFFD."""
