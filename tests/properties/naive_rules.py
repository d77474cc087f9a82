"""What a grammar generates, found out the naive way: the oracle for grammars drawn at random.

A table over (rule, position) is filled with where a text that the rule generates may end, and
whether the whole rest of the text is the beginning of one, in sweeps until nothing changes. It
knows no sets of items, no automata and no stack. Terminals are runs of characters, read byte by
byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from random import Random

from maskwright.grammar.regular.terms import alt, char, concat, repeat
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


@dataclass(frozen=True)
class Run:
    """`least` to `most` (None: any number of) characters out of `letters`, then `tail`."""

    letters: str
    least: int
    most: int | None
    tail: str = ""

    def terminal(self) -> Terminal:
        one = alt(*map(char, self.letters))
        return Terminal(concat(repeat(one, self.least, self.most), *map(char, self.tail)))

    @cache  # noqa: B019 - a few thousand at most
    def read(self, data: bytes, start: int) -> tuple[set[int], bool]:
        """Where a text of the run that begins at `start` may end, and whether all of the rest of
        `data` may begin one."""
        ends: set[int] = set()
        begins = False
        places = {start}
        count = 0
        while places:
            if count >= self.least:
                for place in places:
                    found, more = _literal(data, place, self.tail.encode())
                    begins |= more
                    ends |= {place + len(self.tail.encode())} if found else set()
            if self.most is not None and count >= self.most:
                break
            after: set[int] = set()
            for place in places:
                for letter in self.letters:
                    found, more = _literal(data, place, letter.encode())
                    begins |= more
                    after |= {place + len(letter.encode())} if found else set()
            places = after
            count += 1
        return ends, begins


def _literal(data: bytes, at: int, text: bytes) -> tuple[bool, bool]:
    """Whether `text` stands at `at`, and whether the rest of `data` may begin it."""
    return data.startswith(text, at), text.startswith(data[at:])


Naive = Run | Expression
Table = dict[tuple[str, int], tuple[frozenset[int], bool]]


@dataclass
class NaiveRules:
    """`rules` may have a `Run` wherever an expression may stand."""

    start: str
    rules: dict[str, object]

    def real(self) -> Rules:
        return Rules(self.start, {name: _real(body) for name, body in self.rules.items()})

    def __post_init__(self) -> None:
        self.alive: set[str] = set()
        while found := {n for n, b in self.rules.items() if self.generates(b)} - self.alive:
            self.alive |= found
        self._known: dict[bytes, tuple[bool, bool]] = {}

    def generates(self, body: object) -> bool:
        match body:
            case Run():
                return True
            case Ref(name=name):
                return name in self.alive
            case Concat(parts=parts):
                return all(map(self.generates, parts))
            case Choice(options=options):
                return any(map(self.generates, options))
            case Repeat(body=inner, least=least):
                return least == 0 or self.generates(inner)
            case Capture(body=inner):
                return self.generates(inner)
            case _:
                raise TypeError(body)

    def judge(self, data: bytes) -> tuple[bool, bool]:
        """Whether `data` is a text of the grammar, and whether it begins one."""
        if data not in self._known:
            table: Table = {}
            while True:
                before = dict(table)
                for name in self.alive:
                    for at in range(len(data) + 1):
                        ends, begins = self._read(self.rules[name], data, at, table)
                        table[name, at] = frozenset(ends), begins
                if table == before:
                    break
            ends, begins = table.get((self.start, 0), (frozenset[int](), False))
            self._known[data] = len(data) in ends, begins
        return self._known[data]

    def _read(self, body: object, data: bytes, at: int, table: Table) -> tuple[set[int], bool]:
        match body:
            case Run():
                return body.read(data, at)
            case Ref(name=name):
                ends, begins = table.get((name, at), (frozenset[int](), False))
                return set(ends), begins
            case Capture(body=inner):
                return self._read(inner, data, at, table)
            case Choice(options=options):
                found = [self._read(o, data, at, table) for o in options if self.generates(o)]
                return {e for ends, _ in found for e in ends}, any(begins for _, begins in found)
            case Concat(parts=parts):
                if not self.generates(body):
                    return set(), False
                return self._in_turn(list(parts), data, {at}, table)
            case Repeat(body=inner, least=least, most=most):
                if not self.generates(inner):
                    return ({at}, at == len(data)) if least == 0 else (set(), False)
                places = {at}
                ends = {at} if least == 0 else set[int]()
                begins = at == len(data)
                for count in range(1, (least + len(data) + 1 if most is None else most) + 1):
                    places, more = self._in_turn([inner], data, places, table)
                    begins |= more
                    if count >= least:
                        ends |= places
                return ends, begins
            case _:
                raise TypeError(body)

    def _in_turn(
        self, parts: list[object], data: bytes, places: set[int], table: Table
    ) -> tuple[set[int], bool]:
        begins = False
        for part in parts:
            after: set[int] = set()
            for place in places:
                ends, more = self._read(part, data, place, table)
                after |= ends
                begins |= more
            places = after
        return places, begins or len(data) in places


def _real(body: object) -> Expression:
    match body:
        case Run():
            return body.terminal()
        case Ref():
            return body
        case Concat(parts=parts):
            return Concat(tuple(map(_real, parts)))
        case Choice(options=options):
            return Choice(tuple(map(_real, options)))
        case Repeat(body=inner, least=least, most=most):
            return Repeat(_real(inner), least, most)
        case Capture(name=name, body=inner):
            return Capture(name, _real(inner))
        case _:
            raise TypeError(body)


LETTERS = "abé"
NAMES = "pqrs"


def draw_rules(random: Random) -> NaiveRules:
    """A grammar with all that can go wrong: left and right recursion, ambiguity, empty rules, rules
    that generate nothing, counted repeats of rules that may be empty; captures in every other."""
    names = NAMES[: random.randint(1, 4)]
    drawn = {name: _draw(random, names, 3) for name in names}
    if random.random() < 0.5:
        drawn = {name: _without_captures(body) for name, body in drawn.items()}
    return NaiveRules("p", drawn)


def _without_captures(body: object) -> object:
    match body:
        case Capture(body=inner):
            return _without_captures(inner)
        case Concat(parts=parts):
            return Concat(tuple(map(_without_captures, parts)))  # pyright: ignore
        case Choice(options=options):
            return Choice(tuple(map(_without_captures, options)))  # pyright: ignore
        case Repeat(body=inner, least=least, most=most):
            return Repeat(_without_captures(inner), least, most)  # pyright: ignore
        case _:
            return body


def _draw(random: Random, names: str, depth: int) -> object:
    kind = random.random()
    if depth == 0 or kind < 0.25:
        return _draw_run(random) if random.random() < 0.6 else Ref(random.choice(names))
    if kind < 0.55:
        count = random.choice((0, 2, 2, 2, 3))
        return Concat(tuple(_draw(random, names, depth - 1) for _ in range(count)))  # pyright: ignore
    if kind < 0.82:
        count = random.choice((2, 2, 3))
        return Choice(tuple(_draw(random, names, depth - 1) for _ in range(count)))  # pyright: ignore
    if kind < 0.95:
        least = random.randint(0, 2)
        most = random.choice((None, least, least + 1, least + 2))
        return Repeat(_draw(random, names, depth - 1), least, most)  # pyright: ignore
    return Capture("c", _draw(random, names, depth - 1))  # pyright: ignore


def _draw_run(random: Random) -> Run:
    letters = "".join(random.sample(LETTERS, random.randint(1, 2)))
    least = random.choice((0, 1, 1, 1, 2))
    most = random.choice((None, max(least, 1), max(least, 1), least + 1))
    tail = "".join(random.choices(LETTERS, k=random.choice((0, 0, 0, 1, 2))))
    return Run(letters, least, most, tail)
