"""What tests of pages say when they fail."""

from __future__ import annotations

import pytest

from tests.pages.browser import Browser


def test_an_error_has_what_the_page_says_at_the_end(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not what it said when the wait began."""
    monkeypatch.setattr("tests.pages.browser.PATIENCE", 1.0)
    browser.open("data:text/html,now")  # without scripts, which would miss what is removed
    browser.run("setTimeout(() => (document.body.textContent = 'later'), 200)")
    with pytest.raises(AssertionError, match="the page says: later"):
        browser.until(lambda: False)
