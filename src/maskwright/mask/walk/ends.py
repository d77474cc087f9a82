"""Tokens that end several names or items, cut into pieces that end one each.

Where names or items must differ, a token may end one of them and no more. A token that ends a
second one is not offered (see `automaton.machine.step.pass_dynamic_exit`), nor, in an array in
which some item must still be repeated, a token that begins the next item. So completions are
spelled without such tokens, and bounds on completions are counted without them: a bound that counts
on a token which is not offered later promises too much.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

_MOST_KEPT: Final = 1 << 12
"""Tokens whose pieces are remembered: the completions of a text are made of few."""
_MEMBER: Final = re.compile(rb'[ \t\n\r]*,[ \t\n\r]*"(?:[^"\\]|\\.)*"[ \t\n\r]*:', re.DOTALL)
"""What follows the value of a member if another member does."""
_TWO_ENDS: Final = re.compile(rb'[",:\]}].*[",:\]}]|[,:].*[^ \t\n\r][ \t\n\r]', re.DOTALL)
"""What a token has that ends two names or items: a sign for each, or whitespace after a scalar."""
_STRUCTURE: Final = re.compile(rb'[\[\]{},]|"(?:[^"\\]|\\.)*(?:"|\Z)', re.DOTALL)
SEPARATORS: Final = b",:"
"""What a token has that ends one name or item and begins the next."""
_SPACES: Final = b" \t\n\r"
_SIGNS: Final = b" \t\n\r,:[]{}"


def pieces(data: bytes, before: bytes, *, repeats: bool) -> tuple[bytes, ...]:
    """The bytes of a token in pieces; each ends one name or item at most. `before` is the text up
    to there; no more than its last byte is read. With `repeats`, no piece reaches into the next
    item.

    Whether the token begins inside a string is not asked: it is cut where it may have to be.
    """
    return _pieces(data, before[-1:], repeats)


def uncertain(tokens: Iterable[bytes]) -> frozenset[bytes]:
    """Those of the tokens that are cut after some texts, where no item has to be repeated. A token
    without `SEPARATORS` is none of them."""
    divided = (token for token in tokens if not frozenset(SEPARATORS).isdisjoint(token))
    return frozenset(
        token
        for token in divided
        if _TWO_ENDS.search(token) is not None
        and any(len(pieces(token, before, repeats=False)) > 1 for before in (b"", b"0"))
    )


def repeating_arrays(text: bytes) -> list[tuple[int, int]]:
    """Where the arrays begin and end that a text opens and that have two items spelled alike, which
    may be there because some item has to be repeated. The innermost come first."""
    found: list[tuple[int, int]] = []
    opened: list[tuple[int, int, set[bytes] | None]] = []
    """For each open bracket its place, where its present item begins, and the items before that;
    None for brackets of objects."""
    alike: set[int] = set()
    for match in _STRUCTURE.finditer(text) if b"[" in text else ():
        sign, at = match[0], match.start()
        if sign in (b"[", b"{"):
            opened.append((at, at + 1, set() if sign == b"[" else None))
        elif sign in (b",", b"]", b"}") and opened:
            start, begun, items = opened.pop()
            if items is not None:
                item = text[begun:at].strip(_SPACES)
                if item in items:
                    alike.add(start)
                items.add(item)
            if sign == b",":
                opened.append((start, at + 1, items))
            elif start in alike:
                found.append((start, at + 1))
    return found


@lru_cache(_MOST_KEPT)
def _pieces(data: bytes, before: bytes, repeats: bool) -> tuple[bytes, ...]:
    cuts: set[int] = set()
    for inside in (False, True):
        ends, several = _ends(data, before, inside=inside)
        if several or repeats:
            cuts.update(_after_comma(data, end) for end in ends)
    stops = [*sorted(cuts - {0, len(data)}), len(data)]
    return tuple(data[start:stop] for start, stop in zip([0, *stops], stops, strict=False))


def _ends(data: bytes, before: bytes, *, inside: bool) -> tuple[list[int], bool]:
    """Where names and items end, a member's value being none of them; and whether one ends while
    the array or object is open in which another one has ended."""
    found: list[int] = []
    depths: list[int] = []
    """Of those in arrays and objects that are still open."""
    depth, several = 0, False
    is_member = False
    scalar = not inside and bool(before) and before[-1] not in _SIGNS + b'"'
    at = 0

    def end(place: int) -> None:
        nonlocal several
        if not is_member and _may_be_ended(data, place):
            several = several or bool(depths)
            found.append(place)
            depths.append(depth)

    while at < len(data):
        byte = data[at]
        if inside:
            if byte == ord('"'):
                inside = False
                end(at + 1)
            at += 1 + (byte == ord("\\"))
            continue
        if scalar and byte in _SIGNS:
            scalar = False
            end(at)
        if byte in b"]}":
            depth -= 1
            depths = [each for each in depths if each <= depth]
            is_member = False
            end(at + 1)
        elif byte in b"[{":
            depth += 1
            is_member = False
        elif byte in b":,":
            is_member = byte == ord(":")
        elif byte == ord('"'):
            inside, scalar = True, False  # within a container, no string follows a scalar
        elif byte not in _SIGNS:
            scalar = True
        at += 1
    return found, several


def _may_be_ended(data: bytes, place: int) -> bool:
    """Whether what ends at a place may be a name or an item, by what follows it."""
    following = data[place:].lstrip(_SPACES)[:1]
    if following == b",":  # a name that comes next shows that the value is that of a member
        return _MEMBER.match(data, place) is None
    return following in (b"", b":", b"]")


def _after_comma(data: bytes, end: int) -> int:
    """The place after the comma that follows an end, and whitespace; the end if none does."""
    rest = data[end:].lstrip(_SPACES)
    if rest[:1] != b",":
        return end
    return len(data) - len(rest[1:].lstrip(_SPACES))
