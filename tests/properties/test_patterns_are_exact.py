"""Regular expressions against Python's `re`, over all short strings of a small alphabet."""

from __future__ import annotations

import re
from itertools import product
from random import Random

import pytest

from maskwright import compile_regex
from maskwright.errors import RegexError
from tests.matching import vocabulary
from tests.properties.exactness import check_exact
from tests.properties.patterns import ALPHABET, pattern

SMALL = vocabulary("ab", "aa", "1 ", " a", "b1a", "bb", "11", alphabet=ALPHABET + "0Ac_\t\0")
LONGEST = 5
STRINGS = ["".join(s) for size in range(LONGEST + 1) for s in product(ALPHABET, repeat=size)]

WRITTEN = [
    "", "a", "a|ab", "(a|ab)(1|b1)", "a*", "(a*)*", "(a|b)*1", "a{2,4}", "(?:ab){2}", "a{0}",
    "[]a]|b", "^a$", "a^b|b", "a$|ab", "^^a$$", r"\ba\b", r"a\b1|a\b 1", r"\Ba|\b1", r"(?:\ba)+",
    r"(?:a\b ?)*", r"a(?= )\s1*", "(?=a)(?!ab).*", "(?=.*1)(?=.*a)[^ ]*", "(?!.*aa)[ab]*",
    "(?:(?!ab).)*", "(?!)|a", "(?:(?=a)|b)*a", "(?:(?=b)|a){2}b", "(?=(?!1).)[a1]+",
    "(?!(?!a))[ab]*", r"(?:\b|a)*1", "(?:^a|b)*", "(?:a$|b)*", "a??b", "(?<name>a)b",
    "(?:|a)(?:b|)", "[^a-b]+", r"[\d\s]+", "[a-]+", r"[\x61-\x62]*", "((a?){2,3}b){1,2}",
    "(a+b?){2}", "(?=a{2})[ab]{3}", "(?:(?=1)1|a(?! ))*", r"\w+(?:\s\w+){1}",
]  # fmt: skip
RANDOM = [pattern(Random(seed), 3 + seed % 5) for seed in range(120)]


@pytest.mark.filterwarnings("ignore:Possible nested set:FutureWarning")
@pytest.mark.parametrize("text", [*WRITTEN, *dict.fromkeys(RANDOM)])
def test_masks_of_patterns(text: str) -> None:
    compiled = re.compile(in_python(text), re.ASCII)
    language = [s.encode() for s in STRINGS if compiled.fullmatch(s)]
    if not language:
        with pytest.raises(RegexError, match="matches no text"):
            compile_regex(text, SMALL)
        return
    grammar = compile_regex(text, SMALL)

    def right(data: bytes) -> bool:
        return compiled.fullmatch(data.decode()) is not None

    check_exact(grammar, language, right)


def in_python(pattern: str) -> str:
    """The same in Python's syntax: a named group has a P, `]` does not end an empty class there,
    `$` also stands before a last line end, and `\\B` does not match the empty string."""
    named = pattern.replace("(?<name>", "(?P<name>").replace("[]a]|b", "b")
    return named.replace("$", r"\Z").replace(r"\B", r"(?!\b)")
