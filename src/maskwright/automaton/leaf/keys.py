"""What leaf states stand for: places in the spelling of a language, and structural choices; and
when a leaf of several texts side by side is left, with what label.

`inside` is True within a JSON string and False in plain text.

After a text has ended, one of its followers is read. If no follower can begin with a byte that
continues one of the texts, the next byte decides, and the leaf is left when that byte is read; its
label lists the texts that have ended. Otherwise both readings have to be followed, and the leaf is
left at once; its label is the rest of each text. If the followers are not known, a leaf is left at
once when any of its texts ends or dies.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

from maskwright.automaton.leaf.spelling import BACKSLASH
from maskwright.grammar.regular.derivative import first_bytes
from maskwright.grammar.regular.terms import EMPTY, Parallel, Regular, Tagged, Words
from maskwright.immutable import Acyclic

WITH_WORDS: Final = frozenset((Tagged, Words, Parallel))
"""The types of terms that may be places in a list of words, have gates, or be left at once."""


class Text(Acyclic):
    """At a character boundary of `term`."""

    inside: bool
    term: Regular


class Begun(Acyclic):
    """Within a character of `term`, of which `part` and `value` have been read; see
    `automaton.leaf.spelling`."""

    inside: bool
    term: Regular
    part: int
    value: int

    @property
    def is_escape(self) -> bool:
        """Whether a backslash has been read, and nothing after it."""
        return self.part == BACKSLASH


class Skipped(Acyclic):
    """Within a character that leads to `target` whatever its last bytes are; `part` says how many
    they are, and whether they are hexadecimal digits."""

    part: int
    target: int


class End(Acyclic):
    """A leaf has been read; `label` says which."""

    label: Hashable


class ChoiceState(Acyclic):
    """The start of a JSON string, of a plain text, or of one of `marks` (byte, next state)."""

    inside: Regular
    text: Regular
    marks: tuple[tuple[int, int], ...]


class Entry(Acyclic):
    """The start of a text of `text` or of one of `marks` (byte, next state).

    With a `label` it may be left at once; that `text` contains the empty text doesn't count.
    """

    text: Regular
    marks: tuple[tuple[int, int], ...]
    label: Hashable


class TokenId(Acyclic):
    """`left` bytes before the end of a special token (see `automaton.leaf.special_tokens`).

    The ids from `base` on are open. `sets` are of ranges (first, last); the label at the end
    says in which of them the id is.
    """

    sets: tuple[tuple[tuple[int, int], ...], ...]
    base: int
    left: int


class TokenRead(Acyclic):
    """A label: a special token has been read, which is in these of the sets."""

    which: tuple[int, ...]


class ValueBegan(Acyclic):
    """A label: a JSON value has begun, with `data`."""

    data: bytes


class Opened(Acyclic):
    """A label: further contexts of a JSON value have to be pushed, the innermost last, and then the
    value continues in a leaf state."""

    contexts: tuple[int, ...]
    leaf: int


class BesideValue(Acyclic):
    """In the state `text` of a plain text, when all that has been read, `data`, may begin a JSON
    value too: where the text can't go on, the leaf is left with `ValueBegan(data)`."""

    text: int
    data: bytes


class Spaced(Acyclic):
    """At most `left` more bytes of whitespace; may be left at once, with `label`."""

    left: int
    label: Hashable


class Padded(Acyclic):
    """At most `left` more bytes of whitespace, then as in state `target`."""

    left: int
    target: int


class LiteralState(Acyclic):
    """Fixed bytes before `target`."""

    data: bytes
    target: int


class Dead(Acyclic):
    """Nothing may follow."""


Key = (
    Text
    | Begun
    | Skipped
    | End
    | ChoiceState
    | Entry
    | TokenId
    | BesideValue
    | Spaced
    | Padded
    | LiteralState
    | Dead
)


class PartsEnded(Acyclic):
    """The label of a leaf in which `terms` have ended and no other text continues."""

    terms: tuple[Regular, ...]


def leaving(term: Parallel) -> tuple[Hashable, bool]:
    """The label of a leaf state (None if it can't be left), and whether it is left at once."""
    parts, ahead = term.parts, term.ahead
    if ahead is None:
        changed = term.nullable or EMPTY in parts
        return (term, True) if changed else (None, False)
    if not term.nullable:
        return None, False
    onward = following = 0
    for part, follow in zip(parts, ahead, strict=True):
        onward |= first_bytes(part)
        following |= follow if part.nullable else 0
    if onward & following:
        return term, True
    ended = (t for t, part in zip(term.terms, parts, strict=True) if part.nullable)
    return PartsEnded(tuple(ended)), False
