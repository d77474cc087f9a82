"""The playground in a real browser."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.keys import Keys

from tests.pages.browser import Browser
from tests.pages.demo_server import Served


@pytest.fixture
def page(browser: Browser, served: Served) -> Browser:
    """The page with the example with which it begins, once that has been read."""
    browser.open(f"{served.url}/")
    browser.until(lambda: "doesn't match" in browser.text("#verdict"))
    return browser


def write(page: Browser, field: str, text: str) -> None:
    """Put a text into a field as a reader would, at once."""
    script = "const a = arguments[0]; a.value = arguments[1]; a.dispatchEvent(new Event('input'))"
    page.run(script, page.find(f"#{field}-text"), text)


def test_what_is_wrong_is_underlined_where_it_is(page: Browser) -> None:
    assert page.text("#input .mark-fault") == "o"  # the role "autor"
    assert page.text("#verdict button") == "line 1, column 77"
    assert page.text("#shape .mark-place") == '"role"'
    page.until(lambda: "/properties/role/enum" in page.text("#reasons"))
    page.find("#reasons ul:last-child button").click()
    page.until(lambda: "✓ matches" in page.text("#verdict"))
    assert '"role": "author"' in str(page.find("#input-text").get_property("value"))
    assert page.all("#input .mark-fault") == []


@pytest.mark.parametrize(
    ("kind", "shape", "place", "marked"),
    [
        ("schema", '{"type": "object",\n "properties": {]}', "line 2, column 17", "]"),
        ("schema", '{"a": 1,\n "type": "strin"}', "line 2, column 2", '"type"'),
        ("regex", "a(b", "line 1, column 2", "("),
        ("lark", 'start: "a" thing\n', "line 1, column 12", "thing"),
        ("tools", '[{"type": "function", "function": {"name": 1}}]', "", ""),
    ],
)
def test_a_broken_shape_is_underlined(
    page: Browser, kind: str, shape: str, place: str, marked: str
) -> None:
    page.find(f"#tab-kinds-{kind}").click()
    write(page, "shape", shape)
    page.until(lambda: "✗" in page.text("#check"))
    if place:
        assert page.text("#check button") == place
        assert page.text("#shape .mark-fault") == marked
    assert "can't be used yet" in page.text("#verdict")
    page.find("#shape-text").send_keys(Keys.CONTROL, "a", Keys.DELETE)


def test_a_click_shows_what_was_allowed_there(page: Browser) -> None:
    area = page.find("#input-text")
    page.run(
        "arguments[0].focus(); arguments[0].setSelectionRange(61, 61);"
        "arguments[0].dispatchEvent(new Event('click'))",
        area,
    )
    page.until(lambda: "column 62" in page.text("#inspection h3"))
    assert "/age" in page.text("#inspection")
    page.until(lambda: page.text("#shape .mark-place") == '"age"')
    assert "of 4,000" in page.text("#inspection")
