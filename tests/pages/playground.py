"""What the tests of the playground do with it."""

from __future__ import annotations

from tests.pages.browser import Browser


def opened(browser: Browser, url: str) -> Browser:
    """The page as a newcomer finds it, with the example with which it begins, once that has been
    read."""
    browser.forget(url)
    browser.open(f"{url}/")
    browser.until(lambda: "doesn't match" in browser.text("#verdict"))
    return browser


def write(page: Browser, field: str, text: str) -> None:
    """Put a text into a field as a reader would, at once."""
    script = "const a = arguments[0]; a.value = arguments[1]; a.dispatchEvent(new Event('input'))"
    page.run(script, page.find(f"#{field}-text"), text)
