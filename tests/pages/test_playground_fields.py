"""What the fields of the playground hold, and what becomes of it: a reload, an example, another
kind, a file."""

from __future__ import annotations

import json
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from tests.pages.browser import Browser
from tests.pages.demo_server import Served
from tests.pages.playground import opened, write

KINDS = ("schema", "regex", "lark", "gbnf", "ebnf", "tools", "structural_tag")


@pytest.fixture
def page(browser: Browser, served: Served) -> Browser:
    return opened(browser, served.url)


def choose(page: Browser, title: str) -> None:
    """Choose an example by its title."""
    page.until(lambda: len(page.all("#examples optgroup")) == 3)
    Select(page.find("#examples")).select_by_visible_text(title)


def fields(page: Browser) -> dict[str, Any]:
    """What stands in the fields."""
    names = ("shape-text", "input-text", "prompt", "system", "temperature", "top-p", "seed")
    found: dict[str, Any] = {name: page.find(f"#{name}").get_property("value") for name in names}
    found["kind"] = page.find("#kinds [aria-selected=true]").get_attribute("id")
    found["view"] = page.find("#views [aria-selected=true]").get_attribute("id")
    found["wrap"] = page.find("#wrap").get_attribute("aria-pressed")
    found["cases"] = page.run(
        "return [...document.querySelectorAll('#cases-list li')].map((each) => "
        "[each.querySelector('select').value, each.querySelector('code').textContent])"
    )
    return found


def fill_everything(page: Browser) -> dict[str, Any]:
    page.find("#tab-kinds-gbnf").click()
    write(page, "shape", 'root ::= "é" [0-9]{2}\n')
    write(page, "input", "é1x")
    page.until(lambda: page.text("#input .mark-fault") == "x")
    page.find("#keep").click()
    page.find("#wrap").click()
    page.find("#tab-views-generate").click()
    for name, text in (("system", "Be brief."), ("prompt", "A number?"), ("seed", "7")):
        page.find(f"#{name}").clear()
        page.find(f"#{name}").send_keys(text)
    return fields(page)


def test_everything_is_there_after_a_reload(page: Browser) -> None:
    before = fill_everything(page)
    assert before["cases"][-1] == ["reject", "é1x"]
    page.driver.refresh()
    page.until(lambda: page.text("#input .mark-fault") == "x")
    assert fields(page) == before
    page.find("#tab-kinds-schema").click()
    page.until(lambda: "doesn't match" in page.text("#verdict"))
    assert "autor" in fields(page)["input-text"]


def test_what_is_written_after_opening_a_link_is_there_after_a_reload(
    page: Browser, served: Served
) -> None:
    shared = fill_everything(page)
    page.find("#share").click()
    page.until(lambda: "#" in page.driver.current_url)
    link = page.driver.current_url
    opened(page, served.url)
    write(page, "input", "[]")
    page.driver.get(link)
    page.until(lambda: page.text("#input .mark-fault") == "x")
    assert fields(page) == {**shared, "wrap": "false"}  # which belongs to the reader
    write(page, "input", "é12")
    page.until(lambda: "✓ matches" in page.text("#verdict"))
    page.driver.refresh()
    page.until(lambda: "✓ matches" in page.text("#verdict"))
    assert fields(page)["input-text"] == "é12"


@pytest.mark.parametrize("title", ["A version (Regex)", "invoice", "A person (JSON Schema)"])
def test_choosing_an_example_can_be_undone(page: Browser, title: str) -> None:
    assert not page.find("#undo").is_displayed()
    write(page, "shape", '{"type": "integer"}')
    write(page, "input", "12")
    page.until(lambda: "✓ matches" in page.text("#verdict"))
    page.find("#keep").click()
    before = fields(page)
    choose(page, title)
    page.until(lambda: fields(page)["shape-text"] != before["shape-text"])
    page.until(lambda: page.text("#verdict") != "")
    page.find("#undo").click()
    page.until(lambda: "✓ matches" in page.text("#verdict"))
    assert fields(page) == before
    assert not page.find("#undo").is_displayed()


def test_text_and_cases_belong_to_a_kind(page: Browser) -> None:
    first = fields(page)
    seen: list[tuple[str, str]] = []
    for kind in KINDS[1:]:
        page.find(f"#tab-kinds-{kind}").click()
        page.until(lambda: page.all("#verdict .good, #verdict .open"))
        page.until(lambda: "…" not in page.text("#cases-list li > :first-child"))
        assert page.all("#verdict .bad, #check .bad, #cases .bad") == [], kind
        there = fields(page)
        seen.append((there["shape-text"], there["input-text"]))
        assert there["prompt"] != first["prompt"]
    assert len(set(seen)) == len(KINDS) - 1
    write(page, "input", "The answer")
    page.find("#tab-kinds-schema").click()
    page.until(lambda: "doesn't match" in page.text("#verdict"))
    assert fields(page) == first
    page.find("#tab-kinds-structural_tag").click()
    page.until(lambda: "… the beginning" in page.text("#verdict"))
    assert fields(page)["input-text"] == "The answer"


def test_text_and_cases_are_grey_while_the_shape_cannot_be_used(page: Browser) -> None:
    page.until(lambda: "3 of 3 as expected" in page.text("#cases-count"))
    letters = "return getComputedStyle(document.querySelector('#input .layer')).color"
    quiet = "return getComputedStyle(document.querySelector('#model')).color"
    assert page.run(letters) != page.run(quiet)
    shape = str(page.find("#shape-text").get_property("value"))
    write(page, "shape", shape[:-1])
    page.until(lambda: "✗" in page.text("#check"))
    assert "can't be used yet" in page.text("#verdict")
    assert page.run(letters) == page.run(quiet)
    assert page.all("#written .good, #written .bad, #input .mark-fault") == []
    assert page.text("#cases-count") == "3"
    write(page, "shape", shape)
    page.until(lambda: "3 of 3 as expected" in page.text("#cases-count"))
    page.until(lambda: "doesn't match" in page.text("#verdict"))
    assert page.run(letters) != page.run(quiet)


def test_a_shape_is_formatted_without_a_change_of_its_values(page: Browser) -> None:
    text = '{"maximum":12345678901234567890.10,"a":{},"enum":["x\\"{",[] ,1e400],"a" : null}'
    write(page, "shape", text)
    page.find("#format").click()
    formatted = str(page.find("#shape-text").get_property("value"))
    assert formatted == (
        '{\n  "maximum": 12345678901234567890.10,\n  "a": {},\n  "enum": [\n    "x\\"{",\n'
        '    [],\n    1e400\n  ],\n  "a": null\n}'
    )
    page.find("#shape-text").send_keys(Keys.CONTROL, "z")
    assert page.find("#shape-text").get_property("value") == text
    write(page, "shape", '{"a": ')
    page.find("#format").click()
    page.until(lambda: "not valid JSON" in page.text("#notice"))
    assert page.find("#shape-text").get_property("value") == '{"a": '
    for kind, is_off in (("regex", True), ("lark", True), ("tools", False)):
        page.find(f"#tab-kinds-{kind}").click()
        assert (page.find("#format").get_attribute("disabled") == "true") == is_off


def test_long_lines_are_wrapped_where_that_is_asked_for(page: Browser) -> None:
    too_wide = (
        "const e = document.querySelector('#shape .editor'); return e.scrollWidth > e.clientWidth"
    )
    write(page, "shape", json.dumps({"description": "many words " * 40}))
    page.until(lambda: page.run(too_wide))
    page.find("#wrap").click()
    assert page.find("#wrap").get_attribute("aria-pressed") == "true"
    assert not page.run(too_wide)
    page.find("#wrap").click()
    assert page.run(too_wide)


DROP = """
    const given = new DataTransfer();
    const bytes = Uint8Array.from(arguments[2], (each) => each.charCodeAt(0));
    given.items.add(new File([bytes], arguments[1]));
    for (const name of ["dragover", "drop"]) {
      const event = new DragEvent(name, { dataTransfer: given, bubbles: true, cancelable: true });
      document.querySelector(arguments[0]).dispatchEvent(event);
      if (!event.defaultPrevented) return "the browser opens the file";
    }
    return "";
"""


def drop(page: Browser, place: str, name: str, data: bytes) -> None:
    assert page.run(DROP, place, name, data.decode("latin-1")) == ""


def test_files_can_be_dropped(page: Browser) -> None:
    drop(page, "#shape-text", "shape.json", b'{"type":\r\n "integer"}')
    page.until(lambda: fields(page)["shape-text"] == '{"type":\n "integer"}')
    drop(page, "#input-text", "some text.txt", b"12")
    page.until(lambda: "✓ matches" in page.text("#verdict"))
    drop(page, "#shape-text", "words.GBNF", 'root ::= "é" | "12"\n'.encode())
    page.until(lambda: fields(page)["shape-text"] == 'root ::= "é" | "12"\n')
    assert fields(page)["kind"] == "tab-kinds-gbnf"
    drop(page, "#input-text", "bytes", b"\xff")
    page.until(lambda: "bytes is no text in UTF-8." in page.text("#notice"))
    drop(page, "#input-text", "long.txt", b"1" * ((4 << 20) + 1))
    page.until(lambda: "long.txt has more than 4 MiB." in page.text("#notice"))
    assert page.run(DROP, "header", "shape.json", "1") == ""  # which leaves the page as it is
    page.until(lambda: page.text("#verdict") != "")
    assert fields(page)["shape-text"] == 'root ::= "é" | "12"\n'


def test_files_can_be_chosen(page: Browser, tmp_path: Any) -> None:
    file = tmp_path / "version.regex"
    file.write_text("v[0-9]")
    page.find("#shape-file + input").send_keys(str(file))
    page.until(lambda: fields(page)["shape-text"] == "v[0-9]")
    assert fields(page)["kind"] == "tab-kinds-regex"


def body(page: Browser) -> dict[str, Any]:
    """The request as the page shows it."""
    page.find("#copy").click()
    program = page.text("#code pre")
    page.find("#code").send_keys(Keys.ESCAPE)
    return json.loads(program.partition("<<'END_OF_REQUEST'\n")[2].partition("\nEND_OF")[0])


def test_system_prompt_seed_and_top_p_are_sent_where_they_are_given(page: Browser) -> None:
    page.find("#tab-views-generate").click()
    plain = body(page)
    assert [each["role"] for each in plain["messages"]] == ["user"]
    assert not {"seed", "top_p"} & set(plain)
    for name, text in (("system", "Be brief."), ("seed", "0"), ("top-p", "0.5")):
        page.find(f"#{name}").send_keys(text)
    page.find("#limit").clear()  # an empty field leaves it to the server
    sent = body(page)
    assert sent["messages"][0] == {"role": "system", "content": "Be brief."}
    assert (sent["seed"], sent["top_p"]) == (0, 0.5)
    assert "max_tokens" not in sent
    page.find("#generate").click()
    page.until(lambda: page.text("#sums dl"))
    page.find("#seed").clear()
    page.find("#seed").send_keys(str(2**53))
    page.find("#generate").click()
    page.until(lambda: "The seed has to be a whole number" in page.text("#sums"))


@pytest.mark.parametrize(("heat", "is_allowed"), [("100", True), ("2.5", True), ("100.5", False)])
def test_a_temperature_is_as_high_as_the_api_allows(
    page: Browser, heat: str, is_allowed: bool
) -> None:
    page.find("#tab-views-generate").click()
    field = page.find("#temperature")
    assert field.get_attribute("max") == "100"
    field.clear()
    field.send_keys(heat)
    page.find("#generate").click()
    if is_allowed:
        page.until(lambda: page.text("#sums dl"))
    else:
        page.until(lambda: "temperature" in page.text("#sums .bad"))
        assert [each for each in page.complaints() if "400" not in each] == []


def test_allowed_tokens_come_before_forbidden_ones(page: Browser) -> None:
    page.find("#tab-views-step").click()
    page.find("#step-begin").click()
    buttons = "#view-step .options button, #view-step .chips button"
    order = f"return [...document.querySelectorAll('{buttons}')].map((each) => each.disabled)"
    written = "#view-step .tokens .token"
    mixed = 0
    for length in range(8):
        page.until(lambda count=length: len(page.all(written)) == count and page.all(buttons))
        order_shown = page.run(order)
        assert order_shown == sorted(order_shown)
        mixed += len(set(order_shown)) == 2
        page.find("#view-step .options button:enabled, #view-step .chips button").click()
    assert mixed > 0
