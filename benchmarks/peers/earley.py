"""A textbook recogniser of grammars, which decides which of two engines is right about a token.

Earley's algorithm (1970) over characters, with explicit sets of items. It shares no machine, stack
or leaf states with the engine that it judges. A terminal in an item is the derivative of its
language with respect to the characters of it that have been read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from maskwright.grammar.regular.derivative import arcs, is_live
from maskwright.grammar.regular.terms import Regular
from maskwright.grammar.rules.tree import (
    Capture,
    Choice,
    Concat,
    Expression,
    Ref,
    Repeat,
    Rules,
    Terminal,
)

Symbol = str | Regular
Production = tuple[Symbol, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """`rest` of a production of `name` that began at `origin`."""

    name: str
    rest: Production
    origin: int


class Recogniser:
    """A recogniser of one text, which `read` extends."""

    def __init__(self, rules: Rules) -> None:
        self._productions: dict[str, list[Production]] = {}
        for name, body in rules.rules.items():
            self._productions[name] = [self._production(body)]
        self._drop_barren()
        self._start = rules.start
        self._chart: list[set[Item]] = []
        self._push({Item("", (rules.start,), 0)})

    def _production(self, expression: Expression) -> Production:
        match expression:
            case Terminal(language=language):
                return (language,)
            case Ref(name=name):
                return (name,)
            case Capture(body=body):
                return self._production(body)
            case Concat(parts=parts):
                return tuple(symbol for part in parts for symbol in self._production(part))
            case Choice(options=options):
                return (self._fresh([self._production(option) for option in options]),)
            case Repeat(body=body, least=least, most=most):
                once = self._production(body)
                if most is None:
                    again = self._fresh([()])
                    self._productions[again].append((*once, again))
                    return (*once * least, again)
                tail: Production = ()
                for _ in range(most - least):
                    tail = (self._fresh([(), (*once, *tail)]),)
                return (*once * least, *tail)
            case _:
                raise TypeError(f"{expression} is not read here")

    def _fresh(self, options: list[Production]) -> str:
        name = f"#{len(self._productions)}"
        self._productions[name] = options
        return name

    def _drop_barren(self) -> None:
        """Remove the productions that derive no string."""
        alive: set[str] = set()

        def generates(production: Production) -> bool:
            return all(s in alive if isinstance(s, str) else is_live(s) for s in production)

        while (
            found := {n for n, ps in self._productions.items() if any(map(generates, ps))} - alive
        ):
            alive |= found
        for name, options in self._productions.items():
            self._productions[name] = [each for each in options if generates(each)]

    def _push(self, items: set[Item]) -> None:
        """Add a set of items to the chart, closed under prediction and completion."""
        here = len(self._chart)
        self._chart.append(items)
        waiting = list(items)
        while waiting:
            for found in list(self._follow(waiting.pop(), here)):
                if found not in items:
                    items.add(found)
                    waiting.append(found)
            if not waiting:  # items added later may wait for a rule that derived the empty string
                waiting = [
                    found
                    for item in list(items)
                    for found in self._follow(item, here)
                    if found not in items
                ]
                items.update(waiting)

    def _follow(self, item: Item, here: int) -> Iterator[Item]:
        if not item.rest:
            for waiting in list(self._chart[item.origin]):
                if waiting.rest and waiting.rest[0] == item.name:
                    yield Item(waiting.name, waiting.rest[1:], waiting.origin)
            return
        first = item.rest[0]
        if isinstance(first, str):
            for production in self._productions[first]:
                yield Item(first, production, here)
        elif first.nullable:
            yield Item(item.name, item.rest[1:], item.origin)

    def read(self, text: bytes) -> bool:
        """Read `text`, whose last character may be incomplete. Returns whether everything read is a
        prefix of a text of the grammar; if it isn't, nothing changes."""
        length = len(self._chart)
        for low, high in _characters(text):
            items = {
                Item(item.name, (target, *item.rest[1:]), item.origin)
                for item in self._chart[-1]
                if item.rest and isinstance(item.rest[0], Regular)
                for first, last, target in arcs(item.rest[0])
                if first <= high and low <= last
            }
            if not items:
                del self._chart[length:]
                return False
            self._push(items)
        return True

    def allows(self, text: bytes) -> bool:
        """Whether `text` may follow what has been read."""
        length = len(self._chart)
        found = self.read(text)
        del self._chart[length:]
        return found

    @property
    def accepting(self) -> bool:
        return Item("", (), 0) in self._chart[-1]


def _characters(data: bytes) -> Iterator[tuple[int, int]]:
    """The characters of `data` as ranges of code points. Each has one code point, except that an
    incomplete character at the end stands for all that it can become; (-1, -1) is no character."""
    at = 0
    while at < len(data):
        lead = data[at]
        size = 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
        if 0x80 <= lead < 0xC2 or lead > 0xF4:
            yield -1, -1
            return
        piece = data[at : at + size]
        missing = size - len(piece)
        bits = 7 if size == 1 else 7 - size
        value = piece[0] & ((1 << bits) - 1)
        for byte in piece[1:]:
            if byte >> 6 != 0b10:
                yield -1, -1
                return
            value = value << 6 | byte & 63
        low, high = value << 6 * missing, ((value + 1) << 6 * missing) - 1
        least = (0, 0x80, 0x800, 0x10000)[size - 1]
        low, high = max(low, least), min(high, 0x10FFFF)
        if low > high or (low >= 0xD800 and high <= 0xDFFF):
            yield -1, -1
            return
        if missing and low < 0xD800 <= high <= 0xDFFF:
            high = 0xD7FF
        yield low, high
        at += size
