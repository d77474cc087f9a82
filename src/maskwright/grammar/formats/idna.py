"""Internationalised host names: the labels of IDNA 2008 (RFC 5891-5893), without any Punycode.

Which code points a label may hold is derived from the Unicode tables of the standard library, as
RFC 5892 says. Left out is what no small automaton can check or those tables don't have:

- labels that begin with `xn--`, the only valid ones of those that RFC 5890 reserves;
- labels whose Punycode might be longer than 63 octets: a character outside ASCII counts five;
- names of more than four labels, if one is not ASCII;
- what Unicode normalisation might change, unless few states show that it doesn't: accents that
  stand apart from their letter (U+0300 to U+036F), two marks in a row but for `_TWO_MARKS`, and a
  mark that composes with some character after any character that composes with a mark.

A label that begins with `xn--` needs a state for each of its beginnings, since each digit of
Punycode changes all that follow: after three of them, a mask of 131,072 tokens met 15,000 states.
"""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache, partial
from itertools import chain
from operator import itemgetter
from typing import Final, Literal
from unicodedata import normalize

from maskwright.grammar.formats.hosts import unreserved_hostname
from maskwright.grammar.regular import charset
from maskwright.grammar.regular.charset import Ranges
from maskwright.grammar.regular.derivative import place
from maskwright.grammar.regular.overlay import Arc, Split
from maskwright.grammar.regular.terms import (
    Chars,
    Regular,
    Scale,
    alt,
    chars,
    concat,
    repeat,
    state,
    weighed,
)
from maskwright.immutable import Acyclic

_MOST_COST: Final = 57
"""Octets of a label besides `xn--` and one hyphen, so that four labels always fit into a name."""
_MOST_LABELS: Final = 4
_COST: Final = 5
"""Octets of Punycode that one character outside ASCII takes at most."""
_LOOKAHEAD: Final = 2
"""A label that can end at all can end within so many characters: no rule asks for more."""
_MOST_TO_END: Final = 4 * _LOOKAHEAD
"""Bytes of these characters."""

_BETWEEN_LABELS: Final = charset.of(".\u3002\uff0e\uff61")
_DOTS: Final = chars(_BETWEEN_LABELS)
_OCTETS: Final = Scale(most=_MOST_COST, beyond=_COST, between=_BETWEEN_LABELS)
_ALWAYS: Final = frozenset("\u00df\u03c2\u06fd\u06fe\u0f0b\u3007")
_NEVER: Final = frozenset("\u0640\u07fa\u302e\u302f\u3031\u3032\u3033\u3034\u3035\u303b")
_CONTEXT: Final = frozenset(
    "\u00b7\u0375\u05f3\u05f4\u30fb\u200c\u200d"
    + "".join(map(chr, chain(range(0x660, 0x66A), range(0x6F0, 0x6FA))))
)
_JOINS_LEFT: Final = frozenset(
    map(chr, chain([0x626, 0x628], range(0x62A, 0x62F), range(0x633, 0x63B), range(0x641, 0x648)))
) | {"\u0649", "\u064a"}
"""Arabic letters that join on both sides."""
_JOINS_RIGHT: Final = _JOINS_LEFT | frozenset("\u0622\u0623\u0624\u0625\u0627\u0629\u062f\u0630")
_WHOLE_BLOCKS: Final = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7A3),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2EBE0),
    (0x30000, 0x3134A),
)
"""Ideographs and Hangul syllables: letters that no normalisation touches."""
_SKIPPED: Final = ((0x20D0, 0x20FF), (0x1100, 0x11FF), (0xA960, 0xA97F), (0xD7B0, 0xD7FF))
_NAMED: Final = frozenset("-l\u00b7\u0375\u05f3\u05f4\u30fb\u200c\u200d")
_SCRIPTS: Final = (
    ("GREEK ", "greek"),
    ("HEBREW LETTER", "hebrew"),
    ("HIRAGANA LETTER", "has"),
    ("KATAKANA LETTER", "has"),
    ("IDEOGRAPHIC NUMBER ZERO", "has"),
)
_AT_ONCE: Final = 256
"""States of names that are found with the language, and not while the first masks are computed: a
stream may wait for a mask."""
_ACCENTS: Final = range(0x300, 0x370)
"""Marks that compose with so many letters that a state for each pair would be too many."""
_TWO_MARKS: Final = {7: 9, 103: 107, 118: 122}
"""Canonical combining classes of two marks that may stand in a row, as normalisation orders them:
nukta and virama, vowel and tone in Thai, vowel and tone in Lao."""
_ORDERED: Final = frozenset([*_TWO_MARKS, *_TWO_MARKS.values()])
_OTHER_MARK: Final = 1
_VIRAMA: Final = 9
"""The canonical combining class of signs that silence a vowel, after which joiners may stand."""
_IGNORED: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")


class _CharacterKind(Acyclic):
    """What the rules ask about a character: characters of one kind are interchangeable.

    `named`: the character itself, if a rule names it. `cost`: octets of the label that it takes.
    `bidi`: its class in RFC 5893, "R" for "AL" too, "N" for those that no rule names. `mark`:
    whether it must not begin a label.
    """

    named: str = ""
    cost: int = _COST
    bidi: str = "L"
    mark: bool = False
    order: int = 0
    """Its canonical combining class if it is in `_TWO_MARKS`, else `_OTHER_MARK`; of letters 0."""
    composes: bool = False
    """Whether normalisation makes one character of it and some character before it."""
    base: bool = False
    """Whether it is such a character before another."""
    script: str = ""
    joins_left: bool = False
    joining: Literal["join", "no join"] = "no join"
    """Whether it joins on the right."""


class _LabelState(Acyclic):
    """What the rest of a label depends on: a state of its automaton.

    `rule`: "" if the name has no right-to-left character, else the label's direction. `at`: how
    many characters have been read, up to four. `last`: what of the last character matters to the
    next (see `_remembered`), beside its `order` and whether it is a `base`. `ends`: whether the
    rule lets the label end here. `owes`: what has to come next. `kana`: "needs" after a Katakana
    middle dot with nothing that justifies it, "has" after such a character. `digits`: which of the
    two kinds of digits that must not be mixed in a label from right to left.
    """

    rule: str
    at: int = 0
    last: str = ""
    order: int = 0
    base: bool = False
    ends: bool = False
    owes: str = ""
    kana: str = ""
    digits: str = ""

    @property
    def may_end(self) -> bool:
        return self.ends and not self.owes and self.kana != "needs" and self.last != "-"

    def after(self, kind: _CharacterKind) -> _LabelState | None:
        """The state after one more character; None if it must not stand here."""
        directed = _directed(self.rule, kind, self.at == 0)
        digits = self.digits
        if self.rule == "rtl" and kind.bidi in ("AN", "EN"):
            digits = kind.bidi
        owes = _owed(self.last, kind)
        if (
            (self.at == 0 and (kind.mark or kind.named == "-"))
            or (self.at == 3 and kind.named == "-" == self.last)
            or (kind.order and self.order and _TWO_MARKS.get(self.order) != kind.order)
            or (kind.composes and (self.base or (kind.order and self.order)))
            or (self.owes and self.owes not in (kind.named, kind.script, kind.joining))
            or self.digits not in ("", digits)
            or not directed
            or owes is None
        ):
            return None
        return _LabelState(
            self.rule,
            min(self.at + 1, 4),
            _remembered(kind),
            kind.order,
            kind.base,
            self.ends if kind.bidi == "NSM" else _closes(self.rule, kind),
            owes,
            "has"
            if "has" in (self.kana, kind.script)
            else "needs"
            if kind.named == "\u30fb"
            else self.kana,
            digits,
        )


@cache
def idn_hostname() -> Regular:
    """Names in ASCII; names without a right-to-left character; and names with one, to whose labels
    RFC 5893 applies."""
    names = alt(
        _name(_label(_LabelState(""))),
        _name(alt(_label(_LabelState("ltr")), _label(_LabelState("rtl")))),
    )
    place(names)[0].explore(_AT_ONCE)
    return alt(unreserved_hostname(_BETWEEN_LABELS), weighed(names, _OCTETS.most, _OCTETS))


def _name(label: Regular) -> Regular:
    return concat(label, repeat(concat(_DOTS, label), 0, _MOST_LABELS - 1))


def _label(seen: _LabelState) -> Regular:
    return state(
        (_LabelState, seen),
        seen.may_end,
        partial(_moves, seen),
        plain=True,
        to_end=_MOST_TO_END,
        weight=_fewest_octets(seen, _LOOKAHEAD) or 0,
    )


def _moves(seen: _LabelState) -> Split:
    by_target: dict[Regular, list[_CharacterKind]] = {}
    for kind in _kinds():
        following = seen.after(kind)
        if following is not None and _fewest_octets(following, _LOOKAHEAD) is not None:
            by_target.setdefault(_label(following), []).append(kind)
    ascii_arcs: list[Arc] = []
    beyond: list[tuple[Chars, Regular]] = []
    for target, kinds in by_target.items():
        low, high = _characters(tuple(kinds))
        ascii_arcs += [(first, last, target) for first, last in low]
        if isinstance(high, Chars):
            beyond.append((high, target))
    return Split(tuple(sorted(ascii_arcs, key=itemgetter(0))), tuple(beyond))


@lru_cache(maxsize=1024)
def _characters(kinds: tuple[_CharacterKind, ...]) -> tuple[Ranges, Regular]:
    """The characters of some kinds: those in ASCII, and the others as a set."""
    every = charset.union(*(_kinds()[kind] for kind in kinds))
    low = tuple((first, last) for first, last in every if last < 0x80)
    return low, chars(tuple((first, last) for first, last in every if last >= 0x80))


@lru_cache(maxsize=65_536)
def _fewest_octets(seen: _LabelState, most: int) -> int | None:
    """The fewest octets with which a label can end after at most `most` more characters; None if it
    can't."""
    if seen.may_end:
        return 0
    ways: list[int] = []
    for kind in _kinds() if most else ():
        following = seen.after(kind)
        rest = None if following is None else _fewest_octets(following, most - 1)
        if rest is not None:
            ways.append(kind.cost + rest)
    return min(ways, default=None)


def _directed(rule: str, kind: _CharacterKind, first: bool) -> bool:
    """RFC 5893's rules 1, 2 and 5."""
    match rule:
        case "":
            return kind.bidi not in ("R", "AN")
        case "ltr":
            return kind.bidi == "L" if first else kind.bidi in ("L", "EN", "N", "NSM")
        case _:
            return kind.bidi == "R" if first else kind.bidi != "L"


def _closes(rule: str, kind: _CharacterKind) -> bool:
    """RFC 5893's rules 3 and 6."""
    return rule == "" or kind.bidi in (("L", "EN") if rule == "ltr" else ("R", "EN", "AN"))


def _remembered(kind: _CharacterKind) -> str:
    """What of a character matters to the one after it."""
    if kind.named in ("-", "l"):
        return kind.named
    if kind.order == _VIRAMA:
        return "virama"
    if kind.joins_left:
        return "joins"
    return kind.script if kind.script == "hebrew" else ""


def _owed(last: str, kind: _CharacterKind) -> str | None:
    """What has to follow a character of `kind` after one of `last` (RFC 5892, appendix A); empty:
    anything; None: it must not stand there."""
    match kind.named:
        case "\u00b7":
            return "l" if last == "l" else None
        case "\u0375":
            return "greek"
        case "\u05f3" | "\u05f4":
            return "" if last == "hebrew" else None
        case "\u200d":
            return "" if last == "virama" else None
        case "\u200c":
            return "" if last == "virama" else "join" if last == "joins" else None
        case _:
            return ""


@cache
def _kinds() -> dict[_CharacterKind, Ranges]:
    """All characters that a label may have, by kind."""
    by_kind: dict[_CharacterKind, list[tuple[int, int]]] = {}
    for block in _WHOLE_BLOCKS:
        script = "" if block[0] == 0xAC00 else "has"
        by_kind.setdefault(_CharacterKind(script=script), []).append(block)
    whole = charset.union(_WHOLE_BLOCKS, _SKIPPED)
    for low, high in charset.complement(whole):
        for point in range(low, min(high, 0x1FFFF) + 1):
            character = chr(point)
            if _is_valid(character) and not (point in _ACCENTS and character in _pairs()[0]):
                by_kind.setdefault(_kind(character), []).append((point, point))
    return {kind: charset.normal(ranges) for kind, ranges in by_kind.items()}


def _is_valid(character: str) -> bool:
    """Whether RFC 5892 has the character as PVALID, or allows it in context."""
    if character in _ALWAYS or character in _CONTEXT or character == "-":
        return True
    if character in _NEVER or character in _IGNORED:
        return False
    if unicodedata.category(character) not in ("Ll", "Lu", "Lo", "Nd", "Lm", "Mn", "Mc"):
        return False
    if 0x180B <= ord(character) <= 0x180F or 0xFE00 <= ord(character) <= 0xFE0F:
        return False
    if 0x1D100 <= ord(character) <= 0x1D24F:
        return False
    folded = normalize("NFKC", character).casefold()
    return normalize("NFKC", folded) == character


def _kind(character: str) -> _CharacterKind:
    bidi = unicodedata.bidirectional(character)
    name = unicodedata.name(character, "")
    order, (after, before) = unicodedata.combining(character), _pairs()
    return _CharacterKind(
        named=character if character in _NAMED else "",
        cost=1 if character < "\x80" else _COST,
        bidi="R" if bidi == "AL" else bidi if bidi in ("L", "R", "AN", "EN", "NSM") else "N",
        mark=unicodedata.category(character).startswith("M"),
        order=order if not order or order in _ORDERED else _OTHER_MARK,
        composes=character in after,
        base=character in before,
        script=next((script for prefix, script in _SCRIPTS if name.startswith(prefix)), ""),
        joins_left=character in _JOINS_LEFT,
        joining="join" if character in _JOINS_RIGHT else "no join",
    )


@cache
def _pairs() -> tuple[frozenset[str], frozenset[str]]:
    """The characters that normalisation composes, two into one: those with some character before
    them; and those with one of these that isn't an accent after them, also where they are a part
    of another character."""
    after: set[str] = set()
    before: set[str] = set()
    for point in range(0x80, 0x1E000):
        parts = unicodedata.decomposition(chr(point)).split()
        if len(parts) != 2 or parts[0].startswith("<"):
            continue
        first, second = (chr(int(part, 16)) for part in parts)
        if normalize("NFC", first + second) == chr(point):  # else it is excluded
            after.add(second)
            if ord(second) not in _ACCENTS:
                before.add(first)
    composed = (
        chr(point) for point in range(0x80, 0x1E000) if unicodedata.decomposition(chr(point))
    )
    before.update(each for each in composed if not before.isdisjoint(normalize("NFD", each)))
    return frozenset(after), frozenset(before)
