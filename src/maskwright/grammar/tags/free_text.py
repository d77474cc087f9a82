"""Languages of texts in which some strings must not occur, or that end with the first one of them.

They are read by the automaton of Aho and Corasick (1975). Its state is the longest suffix of the
text so far that is a prefix of one of the strings.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from maskwright.grammar.regular import charset
from maskwright.grammar.regular.terms import EPSILON, Regular, intersection, length, state


def text_without(strings: tuple[str, ...] = (), most: int | None = None) -> Regular:
    """Return the texts of at most `most` characters that contain none of `strings`."""
    return _bounded(_FreeText(None, (), strings), most)


def text_until(
    end: str, others: tuple[str, ...] = (), without: tuple[str, ...] = (), most: int | None = None
) -> Regular:
    """Return the texts that end with `end` and contain neither `end` nor one of `others` before.

    If two of these strings end at one place, the longer one counts. The texts contain none of
    `without`, and have at most `most` characters before `end`.
    """
    ends = tuple(sorted({end, *others}))
    return _bounded(_FreeText(end, ends, without), None if most is None else most + len(end))


def always_ends(ends: Iterable[str], without: tuple[str, ...]) -> bool:
    """Whether every prefix of a text that ends with one of `ends` and contains none of `without`
    can be completed by the rest of one of `ends`."""
    known = tuple(sorted(set(ends)))
    text = _FreeText(None, known, without)
    return all(
        any(
            _ends_with(text, seen, end[at:])
            for end in known
            for at in range(len(end))
            if seen.endswith(end[:at])
        )
        for seen in text.reachable()
    )


def _ends_with(text: _FreeText, seen: str, rest: str) -> bool:
    """Whether reading `rest` in the state `seen` completes one of the strings only at its last
    character, and that string is an end."""
    for at, character in enumerate(rest, start=1):
        read = seen + character
        completed = [string for string in text.strings if read.endswith(string)]
        if completed:
            return at == len(rest) and not any(string in text.without for string in completed)
        seen = text.longest_beginning(read)
    return False


@dataclass(frozen=True)
class _FreeText:
    """The automaton of one such language. A state is a string: the longest suffix of the text that
    is a prefix of one of the strings."""

    end: str | None
    ends: tuple[str, ...]
    without: tuple[str, ...]

    @cached_property
    def strings(self) -> tuple[str, ...]:
        return (*self.ends, *self.without)

    def at(self, seen: str) -> Regular:
        """Return the language of the state `seen`: the texts that may follow."""
        plain = self.end is None or len(self.strings) == 1
        return state(
            ("free text", self, seen), self.end is None, lambda: self._moves(seen), plain=plain
        )

    def _moves(self, seen: str) -> list[tuple[int, int, Regular]]:
        special = sorted({c for string in self.strings for c in string})
        others = charset.complement(charset.of("".join(special)))
        arcs = [(low, high, self.at("")) for low, high in others]
        for character in special:
            target = self._after(seen + character)
            if target is not None:
                arcs.append((ord(character), ord(character), target))
        return sorted(arcs, key=lambda arc: arc[0])

    def _after(self, text: str) -> Regular | None:
        """Return the language after a text that ends with `text`; None if no text of the language
        begins so."""
        completed = [string for string in self.strings if text.endswith(string)]
        if not completed:
            return self.at(self.longest_beginning(text))
        longest = max(completed, key=len)
        over = longest == self.end and not any(s in self.without for s in completed)
        return EPSILON if over else None

    def reachable(self) -> set[str]:
        """Return all states from which a text can continue."""
        states = {""}
        stack = [""]
        letters = {character for string in self.strings for character in string}
        while stack:
            before = stack.pop()
            for read in (before + character for character in letters):
                if not any(read.endswith(string) for string in self.strings):
                    seen = self.longest_beginning(read)
                    if seen not in states:
                        states.add(seen)
                        stack.append(seen)
        return states

    def longest_beginning(self, text: str) -> str:
        """Return the longest suffix of `text` that is a prefix of one of the strings."""
        ends = (text[at:] for at in range(len(text)))
        return next((e for e in ends if any(s.startswith(e) for s in self.strings)), "")


def _bounded(text: _FreeText, most: int | None) -> Regular:
    whole = text.at("")
    return whole if most is None else intersection(whole, length(0, most))
