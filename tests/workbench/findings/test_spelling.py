from __future__ import annotations

import pytest

from maskwright.workbench.findings.finding import odd_spelling, odd_value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *(("paid", None), ("in progress", None), ("café", None), ("日本", None), ("", None)),
        ("cafe\u0301", "NFC"),
        ("10\u00a0kg", "U+00A0 (no-break space)"),
        ("a\u200bb", "U+200B (zero width space)"),
    ],
)
def test_spelling(text: str, message: str | None) -> None:
    found = odd_spelling(text)
    assert odd_value(text) == found
    assert (found is None) == (message is None)
    assert message is None or message in str(found)


@pytest.mark.parametrize("text", [" a", "a ", "\ta"])
def test_values_have_white_space_inside_only(text: str) -> None:
    assert odd_spelling(text) is None
    assert "white space" in str(odd_value(text))
