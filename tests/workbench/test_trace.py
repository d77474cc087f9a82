from __future__ import annotations

from maskwright.mask import compile_regex
from maskwright.vocab import Vocabulary
from maskwright.workbench.trace import traced

TOKENS = [b"a", b"b", b"c", b"ab", b"bc", b""]


def test_each_token_of_a_text() -> None:
    grammar = compile_regex("abc|b", Vocabulary(TOKENS, eos=5))
    rows = [row[:5] for row in traced(grammar, b"abc")]
    # The fewest tokens spell the text: "a" or "ab", then the rest, which is forced.
    assert [row[1] for row in rows] in (["ab", "c", "<end>"], ["a", "bc", "<end>"])
    assert rows[0][2] == 3  # a, ab, b
    assert [row[3] for row in rows] == [True, True, True]
    assert [row[4] for row in rows] == [False, True, False]


def test_the_first_token_that_is_not_allowed_is_the_last() -> None:
    grammar = compile_regex("ab", Vocabulary(TOKENS, eos=5))
    rows = [*traced(grammar, b"ca")]
    assert [(row.text, row.is_allowed) for row in rows] == [("c", False)]
    assert [row.text for row in traced(grammar, b"ab")] == ["ab", "<end>"]
