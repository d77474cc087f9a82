"""Reports the events of a text while the machine reads it; see `automaton.events`."""

from __future__ import annotations

from collections.abc import Iterator

from maskwright.automaton.events.captures import CaptureReader
from maskwright.automaton.events.events import Event
from maskwright.automaton.events.json import JsonReader, may_read_string
from maskwright.automaton.leaf.keys import Opened, ValueBegan
from maskwright.automaton.machine.trace import Left, MachineTrace
from maskwright.automaton.rules.contexts import RuleContexts
from maskwright.mask.recognizer import Recognizer


class EventReader:
    """Reports the events of one text from its beginning. There is no second parser: events are
    derived from the leaves and contexts that the machine leaves and enters."""

    def __init__(self, recognizer: Recognizer) -> None:
        self._recognizer = recognizer
        self._trace = MachineTrace(recognizer.machine, recognizer.start)
        contexts = recognizer.machine.contexts
        self._contexts = contexts
        self._json = JsonReader(self._trace.text)
        self.ended = False
        """Whether the end of the text has been reported."""
        self._captures: CaptureReader | None = None
        if isinstance(contexts, RuleContexts) and contexts.network.has_captures:
            self._captures = CaptureReader(contexts, self._trace.text)

    @property
    def read(self) -> int:
        """The number of bytes read so far."""
        return len(self._trace.text)

    def go_on(self, data: bytes, *, ended: bool = False, final: bool = False) -> list[Event]:
        """Return the events of the next piece of the text, which the grammar must accept.

        `ended`: the text is complete after it. `final`: the text doesn't continue after it.
        """
        with self._recognizer:
            events: list[Event] = []
            for left in self._trace.read(data):
                events += self._left(left)
            if ended and not self.ended:
                self.ended = True
                for left in self._trace.end():
                    events += self._left(left)
            level = None if self._trace.done else self._contexts.level(self._trace.stack[-1])
            if level is not None and may_read_string(level):
                events += self._json.string_text(self.read)
            if self._captures is not None:
                events += self._captures.pieces(final=final)
            return events

    def _left(self, left: Left) -> Iterator[Event]:
        level = self._contexts.level(left.context)
        if isinstance(left.label, ValueBegan):
            yield from self._value_begun(left, left.label.data)
        elif level is not None and not isinstance(left.label, Opened):
            yield from self._json.left(level, left)
        if self._captures is not None:
            self._captures.left(left, self._trace.stack)
            yield from self._captures.boundaries()

    def _value_begun(self, left: Left, data: bytes) -> Iterator[Event]:
        """The events of the beginning of a JSON value, which has been read already."""
        start = left.at - len(data)
        self._json.begin(start)
        assert isinstance(self._contexts, RuleContexts)
        for each in self._contexts.value_beginning(left.context, data):
            level = self._contexts.level(each.context)
            assert level is not None
            yield from self._json.left(level, each._replace(at=start + each.at))
