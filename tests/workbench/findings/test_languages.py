from __future__ import annotations

import pytest

from maskwright.grammar.pattern.translate import full_match
from maskwright.workbench.findings.finding import is_endless, shared_text


@pytest.mark.parametrize(
    ("pattern", "endless"),
    [
        *(("abc", False), ("a{2,200}", False), ("(a|bc){3}", False), ("(?=ab)a.", False)),
        *(("a*", True), ("x(a|bc)+y", True), ("(?=.*z)[a-z]{2,}", True), ("", False)),
    ],
)
def test_whether_there_is_a_longest_text(pattern: str, endless: bool) -> None:
    assert is_endless(full_match(pattern)) is endless


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        *(("a+", "[ab]", "a"), ("a+", "b+", None), ("ab|c", "a[bc]", "ab"), ("ab", "ac", None)),
        ("a*", "b*", None),  # only the empty text
    ],
)
def test_a_text_in_common(first: str, second: str, text: str | None) -> None:
    assert shared_text(full_match(first), full_match(second)) == text
