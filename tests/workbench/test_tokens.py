from __future__ import annotations

from maskwright.mask import compile_regex
from maskwright.vocab import Vocabulary
from maskwright.workbench.tokens import allowed_tokens, token_text

TOKENS = [b"a", b"b", b"ab", b"abc", b"\xc3", b"\xa9", b""]


def test_the_tokens_that_may_follow() -> None:
    vocabulary = Vocabulary(TOKENS, eos=6)
    grammar = compile_regex("a(bc|b)?é?", vocabulary)
    assert allowed_tokens(grammar, b"") == ([0, 2, 3], ["a", "ab", "abc"], 7)
    assert allowed_tokens(grammar, b"ab").texts == ["\\xc3", "<end>"]
    assert allowed_tokens(grammar, b"ab\xc3").ids == [5]


def test_tokens_as_text() -> None:
    assert token_text("é".encode()) == "é"
    assert token_text(b"\xff\n") == "\\xff\n"
    assert token_text(b"", is_end=True) == "<end>"
