"""The names of an object that a text is in, read off the text.

Reading goes backwards from a name to the opening bracket of its object. What has been read is kept
for a few texts, so that a text that has grown costs only the members that have been added to it.

Most names are remembered by the progress of their object (see `automaton.json.remembered_names`).
Of the others, which must not come twice either, contexts know no more than that there are some.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, insort
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Final

from maskwright.automaton.value.last_value import signs_before, string_start
from maskwright.garbage import hide
from maskwright.immutable import Immutable
from maskwright.limits import spend

_MOST_BYTES: Final = 16 << 20
"""Bytes of the objects that are kept, by an estimate."""
_PARTS: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}:]', re.DOTALL)
_SPACES: Final = b" \t\n\r"
_LONGEST_CHARACTER: Final = 12
"""Bytes of the longest spelling of a character: two `\\uXXXX`."""
_NAME_BYTES: Final = 200
"""What a name takes beside the text: a string, and its places in a dictionary and two lists."""


class _ReadObject:
    """An object as far as its members have been read."""

    __slots__ = ("ends", "order", "sorted", "text")

    def __init__(self) -> None:
        self.text = b""
        """The text up to the comma after the last member that was read."""
        self.ends: Final[list[int]] = []
        """Where the comma after each member stands."""
        self.order: Final[dict[str, int]] = {}
        """The number of each name's member."""
        self.sorted: Final[list[str]] = []
        for each in (self, self.ends, self.sorted):
            hide(each)

    @property
    def size(self) -> int:
        return len(self.text) + _NAME_BYTES * len(self.ends)

    def count_at(self, text: bytes, comma: int) -> int | None:
        """How many members stand before a comma of `text`, None if it isn't one of this object's.
        A comma within a member is none either."""
        at = bisect_left(self.ends, comma)
        if at == len(self.ends) or self.ends[at] != comma or len(self.text) < comma:
            return None
        same = text.startswith(self.text) if at + 1 == len(self.ends) else False
        return at + 1 if same or text[:comma] == self.text[:comma] else None

    def cut(self, members: int) -> None:
        """Forget the members after the first ones."""
        if members == len(self.ends):
            return
        for name in [name for name, at in self.order.items() if at >= members]:
            del self.order[name]
            del self.sorted[bisect_left(self.sorted, name)]
        del self.ends[members:]

    def add(self, name: str, end: int) -> None:
        """Add a member, and the place of the comma after it. A text that is looked at and refused
        may repeat a name."""
        if name not in self.order:
            self.order[name] = len(self.ends)
            insort(self.sorted, name)
        self.ends.append(end)


class NamesRead(Immutable):
    """The names of an object's first members."""

    known: _ReadObject
    members: int
    """How many of the members count."""

    def has(self, name: str) -> bool:
        """Whether a member has this name."""
        return self.known.order.get(name, self.members) < self.members

    def rests(self, begun: str) -> Iterator[str]:
        """What is left of each name that begins with `begun`."""
        names, order = self.known.sorted, self.known.order
        for at in range(bisect_left(names, begun), len(names)):
            name = names[at]
            if not name.startswith(begun):
                return
            if order[name] < self.members:
                yield name[len(begun) :]


_NONE: Final = NamesRead(_ReadObject(), 0)


class TextNames:
    """Finds the names of objects in one machine's texts, and remembers them. Not thread-safe."""

    def __init__(self, leaves_names_to_text: Callable[[int], bool]) -> None:
        """`leaves_names_to_text`: see `Contexts`."""
        self.matter: Final = leaves_names_to_text
        """Whether a name is read in a context that must differ from some that only the text has."""
        self._objects: OrderedDict[int, _ReadObject] = OrderedDict()
        """The objects read lately, the oldest first."""
        self._by_comma: dict[int, set[int]] = {}
        """By index of a comma: the objects with a member that ends there."""
        self._numbers = count()
        self._size = 0

    def before(self, text: bytes, name: int) -> NamesRead:
        """The names of the members before the one whose name begins at the index `name`."""
        found: list[tuple[str, int]] = []
        number, members = None, 0
        while (comma := _comma_before(text, name)) is not None:
            number, members = self._find(text, comma)
            if number is not None:
                break
            name, end = _name_before(text, comma)
            found.append((name_of(text[name:end].decode()), comma))
        if number is None:
            if not found:
                return _NONE
            number = next(self._numbers)
            self._objects[number] = _ReadObject()
        known = self._objects[number]
        self._objects.move_to_end(number)
        if found:
            self._size -= known.size
            self._leave_out(number, known.ends[members:])
            known.cut(members)
            for name_read, end in reversed(found):
                known.add(name_read, end)
                self._by_comma.setdefault(end, hide(set())).add(number)
            known.text = text[: found[0][1]]
            self._size += known.size
            self._forget()
        return NamesRead(known, members + len(found))

    def are_repeated(self, context: int, text: bytes) -> bool:
        """Whether the name read in `context` with which `text` ends repeats one that only the text
        has."""
        if not self.matter(context):
            return False
        start = string_start(text, len(text) - 1)
        return self.before(text, start).has(name_of(text[start:].decode()))

    def _find(self, text: bytes, comma: int) -> tuple[int | None, int]:
        """The object that a comma of `text` belongs to, and how many members stand before it."""
        for number in self._by_comma.get(comma, ()):
            members = self._objects[number].count_at(text, comma)
            if members is not None:
                return number, members
        return None, 0

    def _forget(self) -> None:
        """Forget the objects used least recently where all take too much."""
        while self._size > _MOST_BYTES and len(self._objects) > 1:
            number, oldest = self._objects.popitem(last=False)
            self._leave_out(number, oldest.ends)
            self._size -= oldest.size

    def _leave_out(self, number: int, ends: Iterable[int]) -> None:
        """Drop these ends of members of an object from the index."""
        for end in ends:
            having = self._by_comma[end]
            having.discard(number)
            if not having:
                del self._by_comma[end]


def names_since(text: bytes, bracket: int) -> frozenset[str]:
    """The names of the object that the bracket at this index opens and that `text`, which doesn't
    end within a string, leaves open."""
    found: set[str] = set()
    depth = 0
    string = b""
    for part in _PARTS.finditer(text, bracket):
        piece = part.group()
        if piece[:1] == b'"':
            string = piece
        elif piece in b"]}":
            depth -= 1
        elif piece in b"[{":
            depth += 1
        elif depth == 1 and piece == b":":
            found.add(name_of(string.decode()))
    spend(1 + (len(text) - bracket) // 64)
    return frozenset(found)


def name_of(text: str) -> str:
    """The name that a text of JSON spells; few hold an escape."""
    return str(json.loads(text)) if "\\" in text else text[1:-1]


def decoded(spelling: bytes) -> tuple[str, bool]:
    """The characters of a name whose end is missing, and whether these are all: an escape or a
    character at the end that is not complete is left out. `spelling` begins with the quote."""
    if b"\\" not in spelling and spelling.isascii():
        return spelling[1:].decode(), True
    for left in range(_LONGEST_CHARACTER):
        try:
            name = str(json.loads(spelling[: len(spelling) - left].decode() + '"'))
        except ValueError:
            continue
        if "\ud800" <= name[-1:] < "\udc00":
            return name[:-1], False
        return name, left == 0
    raise ValueError(f"{spelling!r} begins no name")


def _comma_before(text: bytes, name: int) -> int | None:
    """The index of the comma before a name, None before the first name of an object."""
    at = name - 1
    while text[at] in _SPACES:
        at -= 1
    return at if text[at] == ord(",") else None


def _name_before(text: bytes, comma: int) -> tuple[int, int]:
    """Where the name of the member before a comma begins and ends, its quotes included."""
    signs = signs_before(text, comma)
    at = next(at for at, depth in signs if depth == 0 and text[at] == ord(":")) - 1
    while text[at] in _SPACES:
        at -= 1
    start = string_start(text, at)
    spend(1 + (comma - start) // 64)
    return start, at + 1
