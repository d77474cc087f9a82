"""How the playground looks: what a newcomer sees first, on a phone too, and how fast it follows."""

from __future__ import annotations

import io
import json
import time
from typing import Any

import pytest
from axe_selenium_python import Axe
from PIL import Image
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from maskwright.server import ServerConfig, create_app
from tests.live_server import live_server
from tests.pages.browser import SCHEMES, Browser
from tests.pages.demo_server import Served
from tests.pages.playground import opened, write

SCREENS = [(1280, 900), (390, 844)]
LARGE = 283_000


@pytest.fixture
def page(browser: Browser, served: Served) -> Browser:
    return opened(browser, served.url)


def box(page: Browser, selector: str) -> dict[str, float]:
    """Where an element is seen, in pixels."""
    script = "return document.querySelector(arguments[0]).getBoundingClientRect().toJSON()"
    return page.run(script, selector)


def is_in_sight(page: Browser, selector: str, height: int) -> bool:
    place = box(page, selector)
    return 0 <= place["top"] < place["bottom"] <= height


@pytest.mark.parametrize(("width", "height"), SCREENS)
def test_a_newcomer_sees_what_this_is_and_asks_the_model(
    page: Browser, width: int, height: int
) -> None:
    page.viewport(width, height)
    for selector in (".lead p", "#toy", "#ask", "#verdict"):
        assert is_in_sight(page, selector, height), selector
    assert "the model can write nothing else" in page.text(".lead p")
    assert page.find("#toy").text == (
        "A toy of 3 million parameters writes here; serve your own with maskwright serve MODEL."
    )
    page.find("#ask").click()
    page.until(lambda: page.text("#sums dl"))
    assert is_in_sight(page, "#tokens", height)
    assert box(page, "#tokens")["bottom"] <= box(page, "#verdict")["top"] or width > 680
    written = page.run(
        "return [...document.querySelectorAll('#tokens .token')].map((e) => e.textContent).join('')"
    )
    assert set(json.loads(written)) >= {"name", "age", "role"}


def test_the_button_stops_the_model_while_it_writes(page: Browser) -> None:
    write(page, "shape", '{"type": "array", "items": {"type": "integer"}, "minItems": 90}')
    page.until(lambda: "can be used" in page.text("#check"))
    page.find("#ask").click()
    page.until(lambda: "Stop" in page.text("#ask"))
    page.find("#ask").click()
    page.until(lambda: page.text("#sums") == "Stopped.")
    assert "Ask the model" in page.text("#ask")


def test_the_shortcut_is_shown_and_works(page: Browser) -> None:
    assert page.find("#ask kbd").text == "Ctrl+Enter"
    page.find("#tab-views-generate").click()
    assert page.find("#view-generate .ask kbd").text == "Ctrl+Enter"
    page.find("#shape-text").send_keys(Keys.CONTROL, Keys.ENTER)
    page.until(lambda: page.text("#sums dl"))


def test_another_model_is_no_toy(browser: Browser, served: Served) -> None:
    with live_server(create_app(served.engine, ServerConfig(model_name="large"))) as url:
        opened(browser, url)
        browser.until(lambda: browser.text("#model") == "large")
        assert not browser.find("#toy").is_displayed()
        browser.driver.get("about:blank")


HELP = {
    "#check .term": "Keywords of the schema",
    "#cases-list select": "the beginning of a text",
    "#tab-views-step": "one token at a time",
    "#tab-kinds-structural_tag": "a part with a shape of its own",
}


@pytest.mark.parametrize("selector", HELP)
def test_words_are_explained_when_they_are_pointed_at(page: Browser, selector: str) -> None:
    page.until(lambda: "3 of 3 as expected" in page.text("#cases-count"))
    element = page.find(selector)
    ActionChains(page.driver).move_to_element(element).perform()
    page.until(lambda: page.find("#help").is_displayed())
    assert HELP[selector] in page.text("#help")
    assert element.get_attribute("aria-describedby") == "help"
    place = box(page, "#help")
    assert place["left"] >= 0
    assert place["right"] <= page.run("return innerWidth")
    page.find("body").send_keys(Keys.ESCAPE)
    assert not page.find("#help").is_displayed()
    page.find("body").send_keys(Keys.TAB)  # from now on the keyboard is used
    page.run("arguments[0].focus()", element)
    page.until(lambda: page.find("#help").is_displayed())
    assert HELP[selector] in page.text("#help")


def test_what_is_pressed_is_not_covered_by_its_explanation(page: Browser) -> None:
    page.find("#tab-views-diagram").click()
    page.until(lambda: page.text("#view-diagram svg"))
    time.sleep(0.5)  # longer than the pointer has to rest
    assert not page.find("#help").is_displayed()


def test_the_word_of_each_explanation_is_shown(page: Browser) -> None:
    assert page.text("#check .term") == "enforced"
    page.find("#tab-kinds-gbnf").click()
    page.until(lambda: page.text("#check .term"))
    assert page.text("#check .term") == "at least"  # a grammar has no keywords
    page.find("#tab-kinds-schema").click()
    page.until(lambda: page.text("#check .term"))
    assert "prefix" in page.text("#cases-list select")
    assert page.text("#tab-views-step") == "Step"
    assert page.text("#tab-kinds-structural_tag") == "Tag"


def test_the_verdict_stays_in_sight_on_a_phone(page: Browser) -> None:
    page.viewport(390, 844)
    for place in ("0", "document.body.scrollHeight / 2", "document.body.scrollHeight"):
        page.run(f"scrollTo(0, {place})")
        assert is_in_sight(page, "#verdict", 844)
    page.run("document.getElementById('shape-text').focus()")
    write(page, "shape", "{}")
    page.until(lambda: "✓ matches" in page.text("#verdict"))
    assert is_in_sight(page, "#verdict", 844)
    assert page.run("return document.documentElement.scrollWidth <= innerWidth")


def test_header_rows_are_aligned(page: Browser) -> None:
    page.viewport(1280, 900)
    places = (
        "return [...document.querySelectorAll(arguments[0])]"
        ".map((each) => each.getBoundingClientRect()).map(({top, bottom}) => [top, bottom])"
    )
    for selector in (".head", ".row"):
        rows = page.run(places, selector)
        assert len(rows) == 3
        assert rows[0] == rows[1] == rows[2]


@pytest.mark.parametrize("field", ["shape", "input"])
def test_the_focus_frame_is_whole(page: Browser, field: str) -> None:
    page.viewport(1280, 900)
    page.run(f"document.getElementById('{field}-text').focus()")
    shown = Image.open(io.BytesIO(page.driver.get_screenshot_as_png())).convert("RGB")
    place = {side: round(at) for side, at in box(page, f"#{field}").items()}
    accent = (0x34, 0x50, 0xC4)
    for x in (place["left"], place["right"] - 1):
        column = {shown.getpixel((x, y)) for y in range(place["top"], place["bottom"])}
        assert column == {accent}
    for y in (place["top"], place["bottom"] - 1):
        row = {shown.getpixel((x, y)) for x in range(place["left"], place["right"])}
        assert row == {accent}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_nothing_on_a_phone(page: Browser, scheme: str) -> None:
    page.viewport(390, 844)
    page.colours(scheme)
    page.find("#ask").click()
    page.until(lambda: page.text("#sums dl"))
    page.run("document.querySelector('#check .term').focus()")
    axe = Axe(page.driver)
    axe.inject()
    found = axe.run()["violations"]
    faults = [(each["id"], [node["html"] for node in each["nodes"]]) for each in found]
    assert faults == []


def large_schema() -> dict[str, Any]:
    """A schema; each second part has a misspelled keyword."""
    properties: dict[str, Any] = {}
    while len(json.dumps(properties, indent=2)) < LARGE - 80_000:
        for _ in range(100):
            number = len(properties)
            properties[f"field_{number}"] = {
                "type": "object",
                "description": f"Part {number} of the record.",
                "properties": {
                    "name": {"type": "string", "maxlength" if number % 2 else "maxLength": 40},
                    "kind": {"enum": ["a", "b", f"c{number}"]},
                },
                "required": ["name"],
            }
    return {"type": "object", "properties": properties}


def written(form: str) -> str:
    """The large schema with a line for each member, or on one line; 283 kB or a little more."""
    schema = large_schema()
    indent = 2 if form == "lines" else None
    short = len(json.dumps(schema, indent=indent))
    schema["description"] = "many words " * max(0, (LARGE - short) // 11)
    return json.dumps(schema, indent=indent)


class Typed:
    """What keys cost a page: processor time of its main thread, because others may be at work on
    the machine."""

    def __init__(self, page: Browser) -> None:
        self.page = page

    def seconds(self) -> float:
        measured = self.page.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        return next(each["value"] for each in measured if each["name"] == "TaskDuration")

    def median(self, field: str) -> float:
        """The median of five letters, typed within the text of `field`, in seconds."""
        self.page.run(
            "const a = document.querySelector(arguments[0]); a.focus();"
            "const at = a.value.indexOf(' of the record', a.value.length / 3);"
            "a.setSelectionRange(at, at);",
            field,
        )
        self.page.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        each: list[float] = []
        for _ in range(5):
            before = self.seconds()
            key = {"type": "char", "text": "x"}
            self.page.driver.execute_cdp_cmd("Input.dispatchKeyEvent", key)
            each.append(self.seconds() - before)
        self.page.driver.execute_cdp_cmd("Performance.disable", {})
        assert "xxxxx of the record" in str(self.page.find(field).get_property("value"))
        return sorted(each)[2]


@pytest.mark.parametrize("form", ["lines", "one line"])
def test_a_key_in_a_large_schema_takes_little_time(page: Browser, form: str) -> None:
    """At most four times what the browser takes for a bare field with the same text: twice is
    usual, and a page that draws the whole text at each key, or sets its width, takes six times."""
    text = written(form)
    assert LARGE - 100 < len(text) < LARGE + 40_000
    page.run(
        "const bare = document.createElement('textarea'); bare.id = 'bare';"
        "bare.style.cssText = 'width: 600px; height: 400px'; bare.value = arguments[0];"
        "document.body.append(bare);",
        text,
    )
    bare = Typed(page).median("#bare")
    page.run("document.getElementById('bare').remove()")
    write(page, "shape", text)
    page.until(lambda: "warnings" in page.text("#findings summary"))
    page.until(lambda: page.text("#verdict") != "")
    typed = Typed(page).median("#shape-text")
    page.until(lambda: "xxxxx" in page.text("#shape .layer"))
    assert typed <= 4 * bare
