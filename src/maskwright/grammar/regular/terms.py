"""Regular languages over code points: hash-consed terms with smart constructors.

Equal terms are one object, so identity is equality, and whatever is computed from a term (its
derivatives, byte automata, mask rows) is shared by every grammar that contains it. The constructors
keep terms in a normal form: `Alt` and `Intersection` are flat, sorted sets; `Concat` associates to
the right; the empty language disappears.

The terms are Brzozowski's (1964) with bounded repeats; `grammar.regular.derivative` turns
them into automata.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any, Final
from weakref import ReferenceType

from maskwright.garbage import hide_whole
from maskwright.grammar.regular import charset
from maskwright.grammar.regular.charset import Ranges
from maskwright.grammar.regular.interned import Interned
from maskwright.immutable import Acyclic
from maskwright.limits import CHEAP, spend


class Regular:
    """One regular language.

    `nullable`: the language contains the empty string. `plain`: the term contains neither
    intersection nor complement, so the language is certainly not empty.
    """

    __slots__ = (
        "__weakref__",
        "alphabet",
        "automaton",
        "counter",
        "heads",
        "least_length",
        "live",
        "longest",
        "nullable",
        "number",
        "place",
        "plain",
        "short",
        "span",
        "split",
        "steps",
        "way",
    )

    def __init__(self, nullable: bool, plain: bool) -> None:
        self.nullable = nullable
        self.plain = plain
        self.number = next(_numbers)
        # Computed on demand by `derivative` and `shortest`: all transitions, and those to languages
        # that are not empty (a `Split` each), whether this language is not empty, and a shortest
        # string of it.
        self.steps: tuple[Any, ...] | None = None
        self.split: tuple[Any, ...] | None = None
        self.live: bool | None = True if plain else None
        self.short: str | None = None
        # Computed on demand by `byte_alphabet` and `first_bytes`: the bytes with which characters,
        # and strings, of the language begin.
        self.alphabet: int | None = None
        self.heads: int | None = None
        # Computed on demand by `alt`: the first counted repeat, () where there is none.
        self.counter: Any = None
        # Computed on demand by `beginnings`: lower bounds on the characters of a string and of the
        # longest one, after how many characters no counter matters, and upper bounds on the bytes
        # to an end (a `WayToEnd`, () where there is none).
        self.least_length: int | None = None
        self.longest: int | None = None
        self.span: int | None = None
        self.way: Any = None
        # Computed on demand by `derivative`: the DFA that begins with this term.
        self.automaton: Any = None
        # Set by `character_dfa`: a DFA that has this term as a state, and the state's number. The
        # reference is weak, since the DFA belongs to another term, which this one may outlive.
        self.place: tuple[ReferenceType[Any], int] | None = None


class Chars(Regular):
    """One character out of `ranges` (never empty)."""

    __slots__ = ("ranges",)

    def __init__(self, ranges: Ranges) -> None:
        super().__init__(nullable=False, plain=True)
        self.ranges = ranges


MOST_AT_ONCE: Final = 16_384
"""Characters of a list of words whose automaton is made at once."""
LONGEST_ESCAPE: Final = 6
"""Bytes of `\\u0000`."""
LONGEST_IN_UTF8: Final = 4
"""Bytes of a character that needs no escape."""


class WordList:
    """Sorted distinct strings, compared by identity. `bare`: in JSON they are written with the
    escapes that JSON requires and no others.

    `whole`: most of the characters are likely to be read, so the automaton is made at once.
    """

    __slots__ = ("__weakref__", "_widest", "ascii", "bare", "strings", "whole")

    def __init__(self, strings: tuple[str, ...], bare: bool) -> None:
        self.strings = strings
        self.bare = bare
        characters = "".join(strings)
        self.ascii = characters.isascii()
        self._widest = 0
        self.whole = (
            self.ascii
            and len(characters) <= MOST_AT_ONCE
            and not (bare and any(map(_needs_escapes, strings)))
        )

    @property
    def widest(self) -> int:
        """Bytes that a character takes at most, as JSON spells it."""
        if not self._widest:
            if any(map(_needs_escapes, self.strings)):
                self._widest = LONGEST_ESCAPE
            else:
                self._widest = 1 if self.ascii else LONGEST_IN_UTF8
        return self._widest


def _needs_escapes(string: str) -> bool:
    return not string.isprintable() or '"' in string or "\\" in string


class Words(Regular):
    """The suffixes from `depth` on of `table.strings[low:high]`, which share their first `depth`
    characters.

    A node of a trie that is never built: its transitions are computed from the sorted words.
    """

    __slots__ = ("depth", "high", "low", "table")

    def __init__(self, table: WordList, low: int, high: int, depth: int) -> None:
        super().__init__(nullable=len(table.strings[low]) == depth, plain=True)
        self.table = table
        self.low = low
        self.high = high
        self.depth = depth


class Concat(Regular):
    __slots__ = ("head", "tail")

    def __init__(self, head: Regular, tail: Regular) -> None:
        super().__init__(head.nullable and tail.nullable, head.plain and tail.plain)
        self.head = head
        self.tail = tail


class Repeat(Regular):
    """`least` to `most` (None: any number of) copies of `body`."""

    __slots__ = ("body", "least", "most")

    def __init__(self, body: Regular, least: int, most: int | None) -> None:
        super().__init__(least == 0 or body.nullable, body.plain)
        self.body = body
        self.least = least
        self.most = most


class Alt(Regular):
    __slots__ = ("options",)

    def __init__(self, options: tuple[Regular, ...]) -> None:
        super().__init__(any(o.nullable for o in options), all(o.plain for o in options))
        self.options = options


class CountingSet(Regular):
    """`body` n times for one of several n, then `tail`: bit n of `counts` is set for each n.

    Alternatives that differ in how often a character may still come are one term, as in the
    counting-set automata of Turoňová et al. (2020): after `a.{300}` has begun at a hundred places,
    there are a hundred numbers instead of a hundred terms. Few runs of numbers are written as
    repeats (see `counting_set`).
    """

    __slots__ = ("body", "counts", "tail")

    def __init__(self, body: Chars, counts: int, tail: Regular) -> None:
        super().__init__(bool(counts & 1) and tail.nullable, tail.plain)
        self.body = body
        self.counts = counts
        self.tail = tail


class Intersection(Regular):
    """Intersection of all `parts`."""

    __slots__ = ("parts",)

    def __init__(self, parts: tuple[Regular, ...]) -> None:
        super().__init__(all(p.nullable for p in parts), plain=False)
        self.parts = parts


class ExactlyOne(Regular):
    """The strings that are in one of `options` and in no other, and not in `excluded`.

    The union of each option without the others says as much with the square of the terms.
    """

    __slots__ = ("excluded", "options")

    def __init__(self, options: tuple[Regular, ...], excluded: Regular) -> None:
        nullable = sum(option.nullable for option in options) == 1 and not excluded.nullable
        super().__init__(nullable, plain=False)
        self.options = options
        self.excluded = excluded


class LengthBounded(Regular):
    """The strings of `core` of `least` to `most` (None: any number of) characters.

    It is not an ordinary intersection because counting needs no states of its own: see
    `derivative` and `character_dfa`.
    """

    __slots__ = ("core", "least", "most")

    def __init__(self, core: Regular, least: int, most: int | None) -> None:
        super().__init__(core.nullable and least == 0, plain=False)
        self.core = core
        self.least = least
        self.most = most


class Scale(Acyclic):
    """Weights of characters, and what the parts of a string may weigh together."""

    most: int
    """What a part may weigh."""
    beyond: int
    """What a character outside ASCII weighs; one in ASCII weighs 1."""
    between: Ranges
    """The characters between parts, which weigh nothing."""


class Weighed(Regular):
    """The strings of `core` whose parts weigh no more than a scale says, and the first part no
    more than `room`.

    As with `LengthBounded`, weighing needs no states of its own: from any place in a part of `core`
    an end must be within `least_weight` (see `beginnings`).
    """

    __slots__ = ("core", "room", "scale")

    def __init__(self, core: Regular, room: int, scale: Scale) -> None:
        super().__init__(core.nullable, plain=False)
        self.core = core
        self.room = room
        self.scale = scale
        self.live = True


class Complement(Regular):
    __slots__ = ("body",)

    def __init__(self, body: Regular) -> None:
        super().__init__(not body.nullable, plain=False)
        self.body = body


class Empty(Regular):
    """The language without any string."""

    __slots__ = ()


class Epsilon(Regular):
    """The language of the empty string alone."""

    __slots__ = ()


class Loop(Regular):
    """A recursive term: the language of `unfold()`, in which this term occurs again only after a
    character. It stands for repeats whose body contains lookaround, and is never plain."""

    __slots__ = ("unfold",)

    def __init__(self, nullable: bool, unfold: Callable[[], Regular]) -> None:
        super().__init__(nullable, plain=False)
        self.unfold = unfold


Moves = Callable[[], Sequence[Any]]


class State(Regular):
    """A state of an automaton that is given by its transitions: `moves()` lists them as (low, high,
    target), disjoint and ascending, or is a `character_classes.Split` of them. It is plain if no
    target may be empty. `shortest` is a shortest string where searching for one would take long, or
    a function that finds it. `to_end` is an upper bound on the bytes, as JSON spells them, that a
    string of this state, or of any after it, still needs, and `weight` what a string of it weighs
    at least (see `Scale`). `equal` is the language as a term of other kinds, for whoever reads
    terms. `held` are characters among which are all of its strings, where finding them would take
    long.
    """

    __slots__ = ("equal", "held", "moves", "shortest", "to_end", "weight")

    def __init__(
        self,
        nullable: bool,
        moves: Moves,
        plain: bool,
        shortest: str | Callable[[], str] | None,
        to_end: int | None,
        weight: int,
        equal: Regular | None,
        held: Ranges | None,
    ) -> None:
        super().__init__(nullable, plain)
        self.moves = moves
        self.shortest = shortest
        self.to_end = to_end
        self.weight = weight
        self.equal = equal
        self.held = held


class Tagged(Regular):
    """Several languages read in parallel, to learn which of them a string belongs to.

    Its language is the union of `parts`. Unlike `Alt` it has a label that says which parts contain
    the string (`grammar.regular.derivative.label`). With `named`, the first part is a `Words`; the
    label then names the word, and words take precedence over the other parts.
    """

    __slots__ = ("named", "parts")

    def __init__(self, parts: tuple[Regular, ...], named: bool) -> None:
        nullable, plain = False, True
        for part in parts:
            nullable, plain = nullable or part.nullable, plain and part.plain
        super().__init__(nullable, plain)
        self.parts = parts
        self.named = named


class Parallel(Regular):
    """Several languages read in parallel: one may end while others continue.

    Its language is the union of `parts`, the derivatives of `terms` so far. `ahead` holds, for each
    term, the bytes (bit n for byte n) with which the text may continue after it; from them
    `automaton.leaf.keys` decides when the leaf is left, and parts that have died are omitted.
    Where those bytes are not known, a part that has died is `EMPTY`. At least one part lives, so
    the term is plain.
    """

    __slots__ = ("ahead", "parts", "terms")

    def __init__(
        self,
        terms: tuple[Regular, ...],
        parts: tuple[Regular, ...],
        ahead: tuple[int, ...] | None,
    ) -> None:
        super().__init__(any(p.nullable for p in parts), plain=True)
        self.terms = terms
        self.parts = parts
        self.ahead = ahead


_numbers = count()
_terms: Interned[Regular] = Interned()
_lists: Interned[WordList] = Interned()

EMPTY: Final = Empty(nullable=False, plain=True)
EMPTY.live = False
EPSILON: Final = Epsilon(nullable=True, plain=True)


def _keep(key: tuple[object, ...], term: Regular) -> Regular:
    """Keys hold the numbers of a term's parts, not the parts: a term refers to its derivatives, and
    a derivative whose key referred back to the term would keep both alive for good."""
    return _terms.keep(key, term)


def alive() -> int:
    """The number of terms alive, of all grammars together."""
    return len(_terms)


def _numbers_of(terms: tuple[Regular, ...]) -> tuple[int, ...]:
    return tuple([term.number for term in terms])


def chars(ranges: Ranges) -> Regular:
    """One character out of `ranges`. Lone surrogates are not characters."""
    if not ranges or (ranges[0][0] >= 0xD800 and ranges[-1][1] <= 0xDFFF):
        return EMPTY
    key = (Chars, ranges)
    return _terms.get(key) or _keep(key, Chars(ranges))


ANY_CHAR: Final = chars(charset.EVERY)


def char(character: str) -> Regular:
    return chars(((ord(character), ord(character)),))


def concat(*parts: Regular) -> Regular:
    result = parts[-1] if parts else EPSILON
    for part in parts[-2::-1]:
        result = _concat(part, result)
    return result


def _concat(head: Regular, tail: Regular) -> Regular:
    if head is EMPTY or tail is EMPTY:
        return EMPTY
    if head is EPSILON:
        return tail
    if tail is EPSILON:
        return head
    if isinstance(head, Concat):
        for part in reversed(sequence(head)):
            tail = _concat(part, tail)
        return tail
    if isinstance(head, CountingSet):
        return counting_set(head.body, head.counts, _concat(head.tail, tail))
    if isinstance(head, Repeat):
        after, rest = (tail.head, tail.tail) if isinstance(tail, Concat) else (tail, EPSILON)
        if isinstance(after, Repeat) and after.body is head.body:  # r{a,b} r{c,d} = r{a+c,b+d}
            endless = head.most is None or after.most is None
            most = None if endless else (head.most or 0) + (after.most or 0)
            return _concat(repeat(head.body, head.least + after.least, most), rest)
    key = (Concat, head.number, tail.number)
    return _terms.get(key) or _keep(key, Concat(head, tail))


def sequence(term: Regular) -> list[Regular]:
    """The parts that follow each other in a term; itself if it is no concatenation."""
    parts: list[Regular] = []
    while isinstance(term, Concat):
        parts.append(term.head)
        term = term.tail
    return [*parts, term]


def repeat(body: Regular, least: int = 0, most: int | None = None) -> Regular:
    if most == 0 or body is EPSILON:
        return EPSILON
    if body is EMPTY:
        return EPSILON if least == 0 else EMPTY
    if least == 1 and most == 1:
        return body
    if body.nullable:
        least = 0  # (r|ε){m,n} = r{0,n}
    if isinstance(body, Repeat) and _leaves_no_gap(body, least, most):
        endless = most is None or body.most is None
        longest = None if endless else (most or 0) * (body.most or 0)
        return repeat(body.body, least * body.least, longest)
    key = (Repeat, body.number, least, most)
    return _terms.get(key) or _keep(key, Repeat(body, least, most))


def _leaves_no_gap(body: Repeat, least: int, most: int | None) -> bool:
    """Whether r{a,b} repeated c to d times is r{ac,bd}: k rounds have ka to kb of `r`, and the
    numbers of k + 1 rounds must go on from there, which they do for all k if they do for the
    first."""
    if least == most:
        return True
    if body.most is None:
        return least > 0 or body.least <= 1
    return (least + 1) * body.least <= least * body.most + 1


def alt(*options: Regular) -> Regular:
    flat: set[Regular] = set()
    ranges: Ranges = ()
    cells = 0
    for option in options:
        for each in option.options if isinstance(option, Alt) else (option,):
            if isinstance(each, Chars):
                ranges = charset.union(ranges, each.ranges)
            elif each is not EMPTY:
                cells += isinstance(each, Intersection)
                flat.add(each)
    if ranges:
        flat.add(chars(ranges))
    if cells and 1 < len(flat) <= _MOST_CELLS:
        joined = _with_joined_cells(flat)
        if joined != flat:
            return alt(*joined)
    if ANYTHING in flat:
        return ANYTHING
    if EPSILON in flat and any(o.nullable for o in flat if o is not EPSILON):
        flat.discard(EPSILON)
    if len(flat) > 1:
        if len(flat) > _OPTIONS_A_STEP:
            spend(len(flat) // _OPTIONS_A_STEP)
        flat = _with_joined_counters(_without_covered(flat))
    if not flat:
        return EMPTY
    if len(flat) == 1:
        return flat.pop()
    ordered = tuple(sorted(flat, key=_number))
    key = (Alt, _numbers_of(ordered))
    return _terms.get(key) or _keep(key, Alt(ordered))


_OPTIONS_A_STEP: Final = 16
"""Options of a union that take as long as one step. Fewer take none of their own: whoever asks for
the union counts one."""
_MOST_CELLS: Final = 32
"""Options of a union up to which intersections among them are compared."""
_MOST_PARTS: Final = 32
"""Parts of an option that are looked at for an end that another option finds anywhere."""


def _without_covered(flat: set[Regular]) -> set[Regular]:
    """Options without those that another covers: any string that ends as `x` is one of `.*x`."""
    ends = {
        option.tail for option in flat if isinstance(option, Concat) and option.head is ANYTHING
    }
    return {option for option in flat if not _is_covered(option, ends)} if ends else flat


def _with_joined_cells(flat: set[Regular]) -> set[Regular]:
    """Options with `x & y` and `x & ~y` joined to `x`, and without those that another covers.
    Patterns that divide all names into cells are few terms again where most cells may come (the
    consensus of Quine, 1955)."""
    cells = _cells_of(flat)
    before = 0
    while before < len(cells) <= _MOST_CELLS:
        before = len(cells)
        spend(CHEAP * before)
        for cell in [*cells]:
            for part in cell:
                if isinstance(part, Complement):
                    rest = cell - {part}
                    if rest | {part.body} in cells and rest not in cells:
                        cells[rest] = _intersection({*rest})
    return _uncovered(cells)


def uncovered(terms: set[Regular]) -> set[Regular]:
    """Terms with the same union, without intersections that have all parts of another one."""
    return _uncovered(_cells_of(terms)) if 1 < len(terms) <= _MOST_CELLS else terms


_Cells = dict[frozenset[Regular], Regular]


def _cells_of(terms: set[Regular]) -> _Cells:
    """Terms by their parts, as intersections."""
    return {frozenset(t.parts if isinstance(t, Intersection) else (t,)): t for t in terms}


def _uncovered(cells: _Cells) -> set[Regular]:
    return {term for cell, term in cells.items() if not any(other < cell for other in cells)}


def _is_covered(option: Regular, ends: set[Regular]) -> bool:
    rest = option.tail if isinstance(option, Concat) and option.head is ANYTHING else option
    if rest is not option:  # its own end; a later one may be another option's
        rest = rest.tail if isinstance(rest, Concat) else EMPTY
    for _ in range(_MOST_PARTS):
        if rest in ends:
            return True
        if not isinstance(rest, Concat):
            return False
        rest = rest.tail
    return False


_MOST_BEFORE: Final = 8
"""Parts before a repeat up to which it is compared with other options' repeats."""
MOST_RUNS: Final = 4
"""Runs of numbers that are written as repeats."""
MOST_COUNTED: Final = 1 << 16
"""Numbers in a counting set are smaller."""

Rounds = tuple[int, int | None]
"""How often a body is repeated: at least, and at most (None: any number of times)."""


class _Counter(Acyclic):
    """An option of a union as `before`, then `body` so often as a range or a set says, `tail`."""

    before: tuple[Regular, ...]
    body: Regular
    tail: Regular


def _counter(term: Regular) -> tuple[_Counter, Rounds | int] | None:
    """The first counted repeat in a term, and its range or set; None if there is none near its
    start."""
    if term.counter is None:
        term.counter = hide_whole(_find_counter(term)) or ()
    return term.counter or None


def _find_counter(term: Regular) -> tuple[_Counter, Rounds | int] | None:
    before: list[Regular] = []
    while isinstance(term, Concat) and not _is_counted(term.head):
        if len(before) == _MOST_BEFORE:
            return None
        before.append(term.head)
        term = term.tail
    if isinstance(term, CountingSet):
        return _Counter(hide_whole(tuple(before)), term.body, term.tail), term.counts
    head, tail = (term.head, term.tail) if isinstance(term, Concat) else (term, EPSILON)
    if not isinstance(head, Repeat) or not _is_counted(head):
        return None
    return _Counter(hide_whole(tuple(before)), head.body, tail), (head.least, head.most)


def _is_counted(term: Regular) -> bool:
    return isinstance(term, Repeat) and (term.least > 0 or term.most is not None)


def _with_joined_counters(flat: set[Regular]) -> set[Regular]:
    """Options that differ only in how often one part is repeated become one: the derivatives of a
    counted repeat would otherwise pile up, one for each place where it may have begun."""
    groups: dict[_Counter, dict[Regular, Rounds | int]] = {}
    for option in flat:
        found = (option.counter or None) if option.counter is not None else _counter(option)
        if found is not None:
            groups.setdefault(found[0], {})[option] = found[1]
    joined = set(flat)
    for counter, options in groups.items():
        body, tail = counter.body, counter.tail
        if not counter.before and tail in flat:
            options[tail] = 0, 0
        if not counter.before and isinstance(body, Chars):
            once = body if tail is EPSILON else _terms.get((Concat, body.number, tail.number))
            if once in flat:
                options[once] = 1, 1
        if len(options) > 1:
            joined.difference_update(options)
            joined.update(_joined_rounds(counter, options.values()))
    return joined


def _joined_rounds(counter: _Counter, found: Iterable[Rounds | int]) -> list[Regular]:
    """As few terms as say how often the body of a counter may come."""
    before, body, tail = counter.before, counter.body, counter.tail
    counts = 0
    ranges: list[Rounds] = []
    for rounds in found:
        if isinstance(rounds, int):
            counts |= rounds
        else:
            ranges.append(rounds)
    runs = _touching(ranges)
    limited = [(least, most) for least, most in runs if most is not None and most < MOST_COUNTED]
    if isinstance(body, Chars) and (counts or len(limited) > MOST_RUNS):
        for least, most in limited:
            counts |= (2 << most) - (1 << least)
        runs = [run for run in runs if run not in limited]
    terms = [_concat(repeat(body, *run), tail) for run in runs]
    if counts and isinstance(body, Chars):
        for least, most in runs:
            counts &= ((1 << least) - 1) | (0 if most is None else -1 << (most + 1))
        some = counting_set(body, counts, tail)
        terms += some.options if isinstance(some, Alt) else [some] if some is not EMPTY else []
    return [concat(*before, term) for term in terms]


def _touching(ranges: list[Rounds]) -> list[Rounds]:
    """The ranges, ascending, with those that overlap or touch as one."""
    joined: list[Rounds] = []
    for least, most in sorted(ranges, key=_least):
        last = joined[-1] if joined else None
        if last is None or (last[1] is not None and least > last[1] + 1):
            joined.append((least, most))
        elif last[1] is not None:
            joined[-1] = (last[0], None if most is None else max(most, last[1]))
    return joined


def _least(rounds: Rounds) -> int:
    return rounds[0]


def counting_set(body: Chars, counts: int, tail: Regular) -> Regular:
    """`body` n times for each n whose bit is set in `counts`, then `tail`; see `CountingSet`."""
    if tail is EMPTY or counts == 0:
        return EMPTY
    if (counts & ~(counts << 1)).bit_count() <= MOST_RUNS:
        options: list[Regular] = []
        at = 0
        while counts >> at:
            least = at + ((counts >> at) & -(counts >> at)).bit_length() - 1
            at = least + (~(counts >> least) & ((counts >> least) + 1)).bit_length() - 1
            options.append(_concat(repeat(body, least, at - 1), tail))
        return alt(*options)
    key = (CountingSet, body.number, counts, tail.number)
    return _terms.get(key) or _keep(key, CountingSet(body, counts, tail))


def intersection(*parts: Regular) -> Regular:
    flat: set[Regular] = set()
    least, most = 0, None
    for at, part in enumerate(parts):
        if isinstance(part, Complement) and _lengths_besides(part.body):
            others = intersection(*parts[:at], *parts[at + 1 :])
            return alt(*(intersection(others, each) for each in _lengths_besides(part.body)))
        bounds = bounds_of(part)
        if bounds is not None:
            core, low, high = bounds
            least = max(least, low)
            most = high if most is None else most if high is None else min(most, high)
            part = core
        flat.update(part.parts if isinstance(part, Intersection) else (part,))
    core = _intersection(flat)
    return core if least == 0 and most is None else length_bounded(core, least, most)


def _intersection(flat: set[Regular]) -> Regular:
    flat.discard(ANYTHING)
    if EMPTY in flat:
        return EMPTY
    if not flat:
        return ANYTHING
    if len(flat) == 1:
        return flat.pop()
    if EPSILON in flat:
        return EPSILON if all(p.nullable for p in flat) else EMPTY
    if any(isinstance(p, Words) and p.depth == 0 for p in flat):
        flat = _sifted(flat)
        if len(flat) == 1:
            return flat.pop()
    ordered = tuple(sorted(flat, key=_number))
    if any(isinstance(p, Complement) and p.body in flat for p in ordered):
        return EMPTY
    key = (Intersection, _numbers_of(ordered))
    return _terms.get(key) or _keep(key, Intersection(ordered))


def _sifted(flat: set[Regular]) -> set[Regular]:
    """The same parts with all lists of words intersected into one, excluded words removed."""
    lists = [p for p in flat if isinstance(p, Words) and p.depth == 0]
    barred = {
        p: p.body
        for p in flat
        if isinstance(p, Complement) and isinstance(p.body, Words) and p.body.depth == 0
    }
    left = set(lists[0].table.strings).intersection(*(p.table.strings for p in lists[1:]))
    left = left.difference(*(body.table.strings for body in barred.values()))
    if not left:
        return {EMPTY}
    bare = all(p.table.bare for p in lists)
    return {*flat.difference(lists, barred), word_slice(word_list(tuple(left), bare=bare))}


def length_bounded(core: Regular, least: int, most: int | None) -> Regular:
    """The strings of `core` of `least` to `most` (None: any number of) characters.

    `core` is no length bound itself and holds none at its top.
    """
    if core is EMPTY or (most is not None and most < least):
        return EMPTY
    if core is ANYTHING:
        return length(least, most)
    if core is EPSILON or most == 0:
        return EPSILON if core.nullable and least == 0 else EMPTY
    if least == 0 and most is None:
        return core
    if isinstance(core, Words) and core.depth == 0:
        return _of_length(core, least, math.inf if most is None else most)
    key = (LengthBounded, core.number, least, most)
    return _terms.get(key) or _keep(key, LengthBounded(core, least, most))


def _of_length(core: Words, least: int, most: float) -> Regular:
    table = core.table
    listed = table.strings[core.low : core.high]
    spend(CHEAP * len(listed))
    kept = [string for string in listed if least <= len(string) <= most]
    if len(kept) == len(listed):
        return core
    return word_slice(word_list(kept, bare=table.bare)) if kept else EMPTY


def weighed(core: Regular, room: int, scale: Scale) -> Regular:
    """See `Weighed`; `core` has a string whose first part weighs no more than `room`."""
    if core is EMPTY:
        return EMPTY
    key = (Weighed, core.number, room, scale)
    return _terms.get(key) or _keep(key, Weighed(core, room, scale))


def complement(body: Regular) -> Regular:
    if isinstance(body, Complement):
        return body.body
    if body is EMPTY:
        return ANYTHING
    if body is ANYTHING:
        return EMPTY
    if isinstance(body, Alt) and any(isinstance(each, Complement) for each in body.options):
        return intersection(*(complement(each) for each in body.options))
    lengths = _lengths_besides(body)
    if len(lengths) == 1:
        return lengths[0]
    key = (Complement, body.number)
    return _terms.get(key) or _keep(key, Complement(body))


def _lengths_besides(body: Regular) -> list[Regular]:
    """The lengths that are not those of `body`, if it is no more than a length: fewer characters
    and more. They can be bounds of what its complement is intersected with."""
    if not isinstance(body, Repeat) or body.body is not ANY_CHAR:
        return []
    fewer = [length(0, body.least - 1)] if body.least else []
    return fewer if body.most is None else [*fewer, length(body.most + 1, None)]


def exactly_one(options: Iterable[Regular], excluded: Regular = EMPTY) -> Regular:
    """The strings that are in one of `options` and in no other, and not in `excluded`; an option
    that is listed twice excludes its strings."""
    once: set[Regular] = set()
    twice: set[Regular] = set()
    for option in options:
        if option is not EMPTY:
            (twice if option in once else once).add(option)
    once -= twice
    if twice:
        excluded = alt(excluded, *twice)
    if excluded is ANYTHING or not once:
        return EMPTY
    if ANYTHING in once:
        return complement(alt(excluded, *(once - {ANYTHING})))
    ordered = tuple(sorted(once, key=_number))
    if len(ordered) == 1:
        return ordered[0] if excluded is EMPTY else intersection(ordered[0], complement(excluded))
    key = (ExactlyOne, _numbers_of(ordered), excluded.number)
    return _terms.get(key) or _keep(key, ExactlyOne(ordered, excluded))


def words(strings: list[str] | tuple[str, ...]) -> Regular:
    """The finite language of `strings`, except those that no text can hold."""
    written = [string for string in strings if is_text(string)]
    return word_slice(word_list(written)) if written else EMPTY


def is_text(string: str) -> bool:
    """Whether a string can be encoded in UTF-8: it contains no lone surrogate."""
    return string.isascii() or not any(0xD800 <= ord(character) < 0xE000 for character in string)


def word_list(strings: list[str] | tuple[str, ...], *, bare: bool = False) -> WordList:
    ordered = tuple(sorted(set(strings)))
    table = _lists.get((ordered, bare))
    return table or _lists.keep((ordered, bare), WordList(ordered, bare))


def word_slice(table: WordList, low: int = 0, high: int | None = None, depth: int = 0) -> Words:
    """The node of the trie of `table` that covers `table.strings[low:high]` at `depth`."""
    end = len(table.strings) if high is None else high
    key = (Words, table, low, end, depth)
    known = _terms.get(key)
    if isinstance(known, Words):
        return known
    term = Words(table, low, end, depth)
    _terms.keep(key, term)
    return term


def tagged(parts: tuple[Regular, ...], *, named: bool = False) -> Regular:
    if parts.count(EMPTY) == len(parts):
        return EMPTY
    key = (Tagged, _numbers_of(parts), named)
    return _terms.get(key) or _keep(key, Tagged(parts, named))


def parallel(
    terms: tuple[Regular, ...],
    parts: tuple[Regular, ...],
    ahead: tuple[int, ...] | None = None,
) -> Regular:
    if EMPTY in parts and all(p is EMPTY for p in parts):
        return EMPTY
    key = (Parallel, _numbers_of(terms), _numbers_of(parts), ahead)
    return _terms.get(key) or _keep(key, Parallel(terms, parts, ahead))


def loop(key: tuple[object, ...], nullable: bool, unfold: Callable[[], Regular]) -> Regular:
    """The recursive term known by `key`; see `Loop`."""
    full = (Loop, *key)
    return _terms.get(full) or _keep(full, Loop(nullable, unfold))


def state(
    key: tuple[object, ...],
    nullable: bool,
    moves: Moves,
    *,
    plain: bool,
    shortest: str | Callable[[], str] | None = None,
    to_end: int | None = None,
    weight: int = 0,
    equal: Regular | None = None,
    held: Ranges | None = None,
) -> Regular:
    """The state known by `key`; see `State`."""
    full = (State, *key)
    known = _terms.get(full)
    return known or _keep(
        full, State(nullable, moves, plain, shortest, to_end, weight, equal, held)
    )


def length(least: int, most: int | None) -> Regular:
    """All strings of `least` to `most` characters."""
    return repeat(ANY_CHAR, least, most)


def bounds_of(term: Regular) -> tuple[Regular, int, int | None] | None:
    """The term without the length bound at its top, and that bound; None if it has none."""
    if isinstance(term, LengthBounded):
        return term.core, term.least, term.most
    if term is ANY_CHAR:
        return ANYTHING, 1, 1
    if isinstance(term, Repeat) and term.body is ANY_CHAR:
        return ANYTHING, term.least, term.most
    return None


def _number(term: Regular) -> int:
    return term.number


ANYTHING: Final = _keep((Repeat, ANY_CHAR.number, 0, None), Repeat(ANY_CHAR, 0, None))
"""Every string."""
