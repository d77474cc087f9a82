"""Regular languages over code points: hash-consed terms with smart constructors.

Equal terms are one object, so identity is equality, and whatever is computed from a term (its
derivatives, byte automata, mask rows) is shared by every grammar that contains it. The constructors
keep terms in a normal form: `Alt` and `Intersection` are flat, sorted sets; `Concat` associates to
the right; the empty language disappears.

The terms are Brzozowski's (1964) with bounded repeats; `grammar.regular.derivative` turns
them into automata. Terms are made by the functions below, and not by calling their classes.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final
from weakref import ReferenceType

from maskwright.grammar.regular.charset import Ranges
from maskwright.grammar.regular.interned import Kept
from maskwright.immutable import Acyclic

MOST_AT_ONCE: Final = 16_384
"""Characters of a list of words whose automaton is made at once."""
LONGEST_ESCAPE: Final = 6
"""Bytes of `\\u0000`."""
LONGEST_IN_UTF8: Final = 4
"""Bytes of a character that needs no escape."""

class Regular(Kept):
    """One regular language."""

    nullable: Final[bool]
    """The language contains the empty string."""
    plain: Final[bool]
    """The term contains neither intersection nor complement, so the language is certainly not
    empty."""
    number: Final[int]

    # Computed on demand by `derivative` and `shortest`: all transitions, and those to languages
    # that are not empty (a `Split` each), whether this language is not empty, and a shortest
    # string of it.
    steps: Any
    split: Any
    live: bool | None
    short: str | None
    # Computed on demand by `byte_alphabet` and `first_bytes`: the bytes with which characters,
    # and strings, of the language begin.
    alphabet: int | None
    heads: int | None
    # Computed on demand by `alt`: the first counted repeat, () where there is none.
    counter: tuple[Any, ...] | None
    # Computed on demand by `beginnings`: lower bounds on the characters of a string and of the
    # longest one, after how many characters no counter matters, and upper bounds on the bytes
    # to an end (a `WayToEnd`, () where there is none).
    least_length: int | None
    longest: int | None
    span: int | None
    way: Any
    # Computed on demand by `derivative`: the DFA that begins with this term.
    automaton: Any
    # Set by `character_dfa`: a DFA that has this term as a state, and the state's number. The
    # reference is weak, since the DFA belongs to another term, which this one may outlive.
    place: tuple[ReferenceType[Any], int] | None

class Chars(Regular):
    """One character out of `ranges` (never empty)."""

    ranges: Final[Ranges]

class WordList(Kept):
    """Sorted distinct strings, compared by identity. `bare`: in JSON they are written with the
    escapes that JSON requires and no others.

    `whole`: most of the characters are likely to be read, so the automaton is made at once.
    """

    strings: Final[tuple[str, ...]]
    bare: Final[bool]
    ascii: Final[bool]
    whole: bool

    def __init__(self, strings: tuple[str, ...], bare: bool, /) -> None: ...
    @property
    def widest(self) -> int:
        """Bytes that a character takes at most, as JSON spells it."""

class Words(Regular):
    """The suffixes from `depth` on of `table.strings[low:high]`, which share their first `depth`
    characters.

    A node of a trie that is never built: its transitions are computed from the sorted words.
    """

    table: Final[WordList]
    low: Final[int]
    high: Final[int]
    depth: Final[int]

class Concat(Regular):
    head: Final[Regular]
    tail: Final[Regular]

class Repeat(Regular):
    """`least` to `most` (None: any number of) copies of `body`."""

    body: Final[Regular]
    least: Final[int]
    most: Final[int | None]

class Alt(Regular):
    options: Final[tuple[Regular, ...]]

class CountingSet(Regular):
    """`body` n times for one of several n, then `tail`: bit n of `counts` is set for each n.

    Alternatives that differ in how often a character may still come are one term, as in the
    counting-set automata of Turoňová et al. (2020): after `a.{300}` has begun at a hundred places,
    there are a hundred numbers instead of a hundred terms. Few runs of numbers are written as
    repeats (see `counting_set`).
    """

    body: Final[Chars]
    counts: Final[int]
    tail: Final[Regular]

class Intersection(Regular):
    """Intersection of all `parts`."""

    parts: Final[tuple[Regular, ...]]

class ExactlyOne(Regular):
    """The strings that are in one of `options` and in no other, and not in `excluded`.

    The union of each option without the others says as much with the square of the terms.
    """

    options: Final[tuple[Regular, ...]]
    excluded: Final[Regular]

class LengthBounded(Regular):
    """The strings of `core` of `least` to `most` (None: any number of) characters.

    It is not an ordinary intersection because counting needs no states of its own: see
    `derivative` and `character_dfa`.
    """

    core: Final[Regular]
    least: Final[int]
    most: Final[int | None]

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

    core: Final[Regular]
    room: Final[int]
    scale: Final[Scale]

class Complement(Regular):
    body: Final[Regular]

class Empty(Regular):
    """The language without any string."""

class Epsilon(Regular):
    """The language of the empty string alone."""

class Loop(Regular):
    """A recursive term: the language of `unfold()`, in which this term occurs again only after a
    character. It stands for repeats whose body contains lookaround, and is never plain."""

    unfold: Final[Callable[[], Regular]]

Moves = Callable[[], Any]

class State(Regular):
    """A state of an automaton that is given by its transitions: `moves()` lists them as (low, high,
    target), disjoint and ascending, or is a `Split` of them. It is plain if no
    target may be empty. `shortest` is a shortest string where searching for one would take long, or
    a function that finds it. `to_end` is an upper bound on the bytes, as JSON spells them, that a
    string of this state, or of any after it, still needs, and `weight` what a string of it weighs
    at least (see `Scale`). `equal` is the language as a term of other kinds, for whoever reads
    terms. `held` are characters among which are all of its strings, where finding them would take
    long.
    """

    moves: Final[Moves]
    shortest: Final[str | Callable[[], str] | None]
    to_end: Final[int | None]
    weight: Final[int]
    equal: Final[Regular | None]
    held: Final[Ranges | None]

class Tagged(Regular):
    """Several languages read in parallel, to learn which of them a string belongs to.

    Its language is the union of `parts`. Unlike `Alt` it has a label that says which parts contain
    the string (`grammar.regular.derivative.label`). With `named`, the first part is a `Words`; the
    label then names the word, and words take precedence over the other parts.
    """

    parts: Final[tuple[Regular, ...]]
    named: Final[bool]

class Parallel(Regular):
    """Several languages read in parallel: one may end while others continue.

    Its language is the union of `parts`, the derivatives of `terms` so far. `ahead` holds, for each
    term, the bytes (bit n for byte n) with which the text may continue after it; from them
    `automaton.leaf.keys` decides when the leaf is left, and parts that have died are omitted.
    Where those bytes are not known, a part that has died is `EMPTY`. At least one part lives, so
    the term is plain.
    """

    terms: Final[tuple[Regular, ...]]
    parts: Final[tuple[Regular, ...]]
    ahead: Final[tuple[int, ...] | None]

EMPTY: Final[Regular]
EPSILON: Final[Regular]
ANY_CHAR: Final[Regular]
ANYTHING: Final[Regular]
"""Every string."""

def alive() -> int:
    """The number of terms alive, of all grammars together."""

def chars(ranges: Ranges, /) -> Regular:
    """One character out of `ranges`. Lone surrogates are not characters."""

def char(character: str, /) -> Regular: ...
def concat(*parts: Regular) -> Regular: ...
def sequence(term: Regular, /) -> list[Regular]:
    """The parts that follow each other in a term; itself if it is no concatenation."""

def repeat(body: Regular, least: int = 0, most: int | None = None) -> Regular: ...
def alt(*options: Regular) -> Regular: ...
def uncovered(terms: set[Regular], /) -> set[Regular]:
    """Terms with the same union, without intersections that have all parts of another one."""

def counting_set(body: Chars, counts: int, tail: Regular) -> Regular:
    """`body` n times for each n whose bit is set in `counts`, then `tail`; see `CountingSet`."""

def intersection(*parts: Regular) -> Regular: ...
def length_bounded(core: Regular, least: int, most: int | None) -> Regular:
    """The strings of `core` of `least` to `most` (None: any number of) characters.

    `core` is no length bound itself and holds none at its top.
    """

def weighed(core: Regular, room: int, scale: Scale) -> Regular:
    """See `Weighed`; `core` has a string whose first part weighs no more than `room`."""

def complement(body: Regular) -> Regular: ...
def exactly_one(options: Iterable[Regular], excluded: Regular = ...) -> Regular:
    """The strings that are in one of `options` and in no other, and not in `excluded`; an option
    that is listed twice excludes its strings."""

def words(strings: Sequence[str], /) -> Regular:
    """The finite language of `strings`, except those that no text can hold."""

def is_text(string: str, /) -> bool:
    """Whether a string can be encoded in UTF-8: it contains no lone surrogate."""

def word_list(strings: Iterable[str], bare: bool = False) -> WordList: ...
def word_slice(table: WordList, low: int = 0, high: int | None = None, depth: int = 0) -> Words:
    """The node of the trie of `table` that covers `table.strings[low:high]` at `depth`."""

def tagged(parts: tuple[Regular, ...], named: bool = False) -> Regular: ...
def parallel(
    terms: tuple[Regular, ...],
    parts: tuple[Regular, ...],
    ahead: tuple[int, ...] | None = None,
    /,
) -> Regular: ...
def loop(key: tuple[object, ...], nullable: bool, unfold: Callable[[], Regular]) -> Regular:
    """The recursive term known by `key`; see `Loop`."""

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

def length(least: int, most: int | None) -> Regular:
    """All strings of `least` to `most` characters."""

def bounds_of(term: Regular, /) -> tuple[Regular, int, int | None] | None:
    """The term without the length bound at its top, and that bound; None if it has none."""
