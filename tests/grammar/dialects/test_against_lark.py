"""Random grammars in Lark's language against Lark itself, which tries every way to cut a text.

Left recursion, ambiguity and empty rules are welcome to both. What Lark can't have is left out:
terminals that match nothing, and rules that are their own only text.
"""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from lark import Lark
from lark.exceptions import LarkError

from maskwright import compile_grammar
from maskwright.errors import UnsatisfiableGrammarError
from tests.matching import EVERY_BYTE, matches

ALPHABET = "ab "
STRINGS = ["".join(s) for size in range(5) for s in product(ALPHABET, repeat=size)]
RULES = ("start", "x", "y")
_ATOMS = ('"a"', '"b"', '"ab"', "A", "B", "/[ab]/", '"A"i', *RULES, *RULES[1:])


def _expression(random: Random, size: int) -> str:
    if size <= 1:
        return random.choice(_ATOMS)
    left = random.randint(1, size - 1)
    one, other = _expression(random, left), _expression(random, size - left)
    match random.randrange(8):
        case 0 | 1 | 2:
            return f"{one} {other}"
        case 3 | 4:
            return f"({one} | {other})"
        case 5:
            return f"({one}){random.choice('?*+')} {other}"
        case 6:
            return f"[{one}] {other}"
        case _:
            return f"({one}){random.choice(('~2', '~1..2', '~0..1'))} {other}"


def _grammar(seed: int) -> str:
    random = Random(seed)
    lines = [
        f"{name}: {_expression(random, random.randint(1, 4))} | {_expression(random, 2)}"
        + random.choice(("", "", " |"))
        for name in RULES
    ]
    lines += ['A: "a" | "aa" "b"', "B: /b+/"]
    return "\n".join([*lines, *random.choice(([], ['%ignore " "']))]) + "\n"


@pytest.mark.parametrize("seed", range(70))
def test_random_grammars(seed: int) -> None:
    text = _grammar(seed)
    parser = Lark(text, parser="earley", lexer="dynamic_complete")

    def right(string: str) -> bool:
        try:
            parser.parse(string)
        except LarkError:
            return False
        return True

    expected = [s for s in STRINGS if right(s)]
    try:
        grammar = compile_grammar(text, EVERY_BYTE)
    except UnsatisfiableGrammarError:
        assert expected == []
        return
    assert [s for s in STRINGS if matches(grammar, s)] == expected, text
