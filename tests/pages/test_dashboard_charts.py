"""The plots and words of the dashboard, as somebody reads them who knows other dashboards."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from axe_selenium_python import Axe
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from maskwright.server.observe.figures import SECONDS
from tests.bounds import wait_until
from tests.live_server import ask_and_leave
from tests.pages.browser import SCHEMES, Browser
from tests.pages.demo_server import Served

CHOICE: Any = {"guided_choice": ["red", "blue"]}


def answer_one(served: Served) -> None:
    with served.client() as client:
        client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "A colour?"}], extra_body=CHOICE
        )


@pytest.fixture
def board(browser: Browser, served: Served) -> Browser:
    answer_one(served)
    browser.forget(served.url)
    browser.open(f"{served.url}/dashboard")
    browser.until(lambda: browser.all("#answers button"))
    return browser


DOTS = """
    return import("/pages/dashboard/charts.js").then(({ dots }) => {
      const place = document.getElementById("ttft");
      dots(place, "Times", arguments[0], arguments[1], { span: 300, unit: String });
      const box = (element) => element.getBoundingClientRect().toJSON();
      return {
        chart: box(place.querySelector("svg")),
        clip: box(place.querySelector("clipPath rect")),
        lines: [...place.querySelectorAll(".dash")].map(box),
        clipped: [...place.querySelectorAll(".dash, .dot")]
          .every((each) => each.closest("[clip-path]")),
        axis: [...place.querySelectorAll("svg > text")].map((each) => Number(each.textContent)),
      };
    });
"""


@pytest.mark.parametrize("highest", [0.5, 3.0, 4000.0])
def test_the_axis_includes_the_percentiles(board: Browser, highest: float) -> None:
    board.find("#pause").click()
    marks = [
        {"name": "median", "style": "s3", "value": 1.0},
        {"name": "95th percentile", "style": "s2", "value": highest},
    ]
    drawn = board.run(DOTS, [[-10, 1.0], [-5, 2.0]], marks)
    assert max(each for each in drawn["axis"] if each is not None) >= max(2.0, highest)
    assert len(drawn["lines"]) == 2
    for line in drawn["lines"]:
        assert drawn["chart"]["top"] <= line["top"] <= line["bottom"] <= drawn["chart"]["bottom"]


def test_plots_are_clipped(board: Browser) -> None:
    """A mark that is far outside is not seen over other cards."""
    board.find("#pause").click()
    plot = board.run(DOTS, [[-900, 1.0], [-5, 2.0]], [])
    assert plot["clipped"]
    for name in ("throughput", "requests"):
        drawn = board.all(f"#{name} polyline, #{name} polygon")
        clipped = board.all(f"#{name} [clip-path] polyline, #{name} [clip-path] polygon")
        assert len(drawn) == len(clipped)


def past(served: Served) -> dict[str, list[float]]:
    return httpx.get(f"{served.url}/v1/state?history=1").json()["history"]


def test_plots_begin_before_the_page_was_opened(browser: Browser, served: Served) -> None:
    wait_until(lambda: len(past(served)["times"]) >= 3)
    began = time.time()
    browser.open(f"{served.url}/dashboard")
    browser.until(lambda: browser.all("#throughput polyline"))
    points = browser.run(
        "const line = document.querySelector('#requests polyline');"
        "return line.getAttribute('points').split(' ').length"
    )
    before = [at for at in past(served)["times"] if began - 300 <= at < began]
    assert points >= len(before) >= 2
    assert began - before[0] >= SECONDS


def axis(board: Browser, name: str) -> list[str]:
    script = "return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)"
    return board.run(script, f"#{name} svg > text[text-anchor]")[-3:]


def test_the_time_that_is_shown_can_be_chosen(board: Browser) -> None:
    expected = {
        "Last 5 min": ["−5 min", "−2.5 min", "now"],
        "Last 15 min": ["−15 min", "−7.5 min", "now"],
        "Last hour": ["−60 min", "−30 min", "now"],
    }
    options = Select(board.find("#range"))
    assert [each.text for each in options.options] == list(expected)
    assert options.first_selected_option.text == "Last 5 min"
    for title, labels in expected.items():
        options.select_by_visible_text(title)
        for name in ("throughput", "requests", "ttft", "tpot"):
            assert [each for each in axis(board, name) if each] == labels
    board.driver.refresh()
    board.until(lambda: board.all("#answers button"))
    assert Select(board.find("#range")).first_selected_option.text == "Last hour"


@pytest.mark.parametrize(
    ("chart", "names"),
    [
        ("throughput", ["of answers", "of prompts"]),
        ("requests", ["running", "waiting", "compiling", "paused"]),
        ("ttft", ["an answer"]),
    ],
)
def test_values_are_shown_at_the_pointer(board: Browser, chart: str, names: list[str]) -> None:
    board.until(lambda: board.all(f"#{chart} polyline, #{chart} circle"))
    assert not board.find(f"#{chart} .values").is_displayed()
    ActionChains(board.driver).move_to_element(board.find(f"#{chart} svg")).perform()
    board.until(lambda: board.find(f"#{chart} .values").is_displayed())
    words = board.text(f"#{chart} .values")
    for name in names:
        assert name in words
    assert board.all(f"#{chart} .cursor")
    drawn = board.find(f"#{chart} svg")
    board.until(lambda: board.find(f"#{chart} svg") != drawn)  # it is drawn anew
    assert board.find(f"#{chart} .values").is_displayed()
    ActionChains(board.driver).move_to_element(board.find("h1")).perform()
    board.until(lambda: not board.find(f"#{chart} .values").is_displayed())


def test_the_values_are_those_of_the_documents(board: Browser, served: Served) -> None:
    """After the answers, the plot of requests ends with what the metrics say."""
    board.find("#pause").click()
    script = (
        "return [...document.querySelectorAll('#requests .legend b')].map((b) => b.textContent)"
    )
    from_documents = board.run(script)
    ActionChains(board.driver).move_to_element_with_offset(
        board.find("#requests svg"), int(board.find("#requests svg").size["width"] / 2) - 4, 0
    ).perform()
    board.until(lambda: board.find("#requests .values").is_displayed())
    words = board.run(
        "const shown = document.querySelectorAll('#requests .values span b');"
        "return [...shown].map((each) => each.textContent)"
    )
    assert words == from_documents


def test_the_stages_have_a_legend_in_their_colours(board: Browser) -> None:
    colours = (
        "return Object.fromEntries([...document.querySelectorAll('#stages li')].map((each) => "
        "[each.textContent, getComputedStyle(each.querySelector('i')).backgroundColor]))"
    )
    legend = board.run(colours)
    assert len(legend) == len(set(legend.values())) == 7
    parts = board.run(
        "return [...document.querySelectorAll('#answers rect')].map((each) => "
        "[each.querySelector('title').textContent.split(': ')[0], getComputedStyle(each).fill])"
    )
    assert parts
    for name, colour in parts:
        assert legend[name] == colour


def figure(board: Browser, name: str) -> int:
    """A number of the card of grammar processes and refusals."""
    script = """const [title] = [...document.querySelectorAll('#processes dt')]
        .filter((each) => each.textContent === arguments[0]);
        return title?.nextElementSibling.textContent ?? ''"""
    return int(board.run(script, name).replace(",", ""))


def test_a_client_that_leaves_is_not_refused(board: Browser, served: Served) -> None:
    refused, left = figure(board, "refusals"), figure(board, "left by their clients")
    body = {
        "messages": [{"role": "user", "content": "Many words?"}],
        "max_tokens": 1000,
        "guided_regex": "[a-z ]{900}",
    }
    ask_and_leave(served.url, body, lambda: served.engine.stats().running > 0)
    board.until(lambda: figure(board, "left by their clients") == left + 1)
    assert figure(board, "refusals") == refused
    assert "client_gone" not in board.text("#processes")
    answered = httpx.post(f"{served.url}/v1/chat/completions", json={"messages": 1})
    assert answered.status_code == 400
    board.until(lambda: figure(board, "refusals") == refused + 1)
    assert figure(board, "left by their clients") == left + 1
    code = answered.json()["error"]["code"]
    board.until(lambda: f"refused: {code}" in board.text("#processes"))


def test_ends_are_reported_in_the_words_of_the_api(board: Browser, served: Served) -> None:
    found = httpx.get(f"{served.url}/v1/state").json()["recent"][-1]
    assert found["finish_reason"] == "grammar_complete"
    row = f"[data-answer='{found['number']}']"
    board.until(lambda: board.all(row))
    shown = board.run("return arguments[0].closest('tr').children[3]", board.find(row))
    assert shown.text == "stop"
    assert shown.find_element("css selector", "span").get_attribute("title") == (
        "the shape was complete"
    )
    assert "grammar_complete" not in board.text("main")


JARGON = (
    *("Key/value blocks", "Cached prefixes", "Classes of service", "Time to fill a mask"),
    *("Forced by grammars", "Blocks in use", "First token, median", "Further token, median"),
    *("came after their logits", "preemptions, of them swapped", "Requests"),
)


def test_jargon_is_explained_when_it_is_pointed_at(board: Browser) -> None:
    terms = {each.text: each for each in board.all("main .term")}
    assert set(JARGON) <= set(terms)
    board.find("#pause").click()
    for word in JARGON:
        term = next(each for each in board.all("main .term") if each.text == word)
        board.run("arguments[0].scrollIntoView({ block: 'center' })", term)
        board.until(lambda: board.run("return new Promise(requestAnimationFrame)"))
        ActionChains(board.driver).move_to_element(term).perform()
        board.until(lambda: board.find("#help").is_displayed())
        assert len(board.text("#help")) > 40
        assert board.text("#help") == term.get_attribute("data-help")
        board.find("body").send_keys(Keys.ESCAPE)


@pytest.mark.slow
def test_idle_looks_idle(board: Browser, served: Served, load: Callable[[int], None]) -> None:
    load(1)
    board.until(lambda: board.text("#health") == "running")
    board.until(lambda: board.text("#health") == "idle")
    quiet = "return getComputedStyle(arguments[0]).color"
    names = board.run(quiet, board.find("#tiles .name"))
    assert board.run(quiet, board.find("[data-figure=running]")) == names
    assert board.run(quiet, board.find("[data-figure=ttft]")) != names
    board.find("#pause").click()
    drawn = board.run(DOTS, [], [{"name": "median", "style": "s3", "value": 1.0}])
    assert "nothing in this time" in board.text("#ttft")
    assert drawn["lines"] == []
    assert [each for each in drawn["axis"] if each is not None] == []


@pytest.fixture
def load(served: Served) -> Callable[[int], None]:
    def send(count: int) -> None:
        for _ in range(count):
            answer_one(served)

    return send


def test_buttons_stand_in_one_row_on_a_phone(board: Browser) -> None:
    board.viewport(390, 844)
    tops = "return [...document.querySelectorAll('.bar .tools > :not(.sr)')].map((e) => "
    tops += "{ const { top, bottom } = e.getBoundingClientRect(); return (top + bottom) / 2; })"
    middles = board.run(tops)
    assert len(middles) == 5
    assert max(middles) - min(middles) < 2


@pytest.mark.parametrize("scheme", SCHEMES)
def test_it_is_accessible_on_a_phone(board: Browser, scheme: str) -> None:
    board.viewport(390, 844)
    board.colours(scheme)
    assert board.run("return document.documentElement.scrollWidth <= innerWidth")
    board.run("document.querySelector('main .term').focus()")
    axe = Axe(board.driver)
    axe.inject()
    found = axe.run()["violations"]
    assert found == [], axe.report(found)
    board.open("about:blank")  # axe's own script is not the page's
