"""The playground in a real browser."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from axe_selenium_python import Axe
from selenium.webdriver.common.keys import Keys

from maskwright.server import ServerConfig, create_app
from maskwright.server.access import ApiKey, KeyRing, digest_of
from tests.live_server import live_server
from tests.pages.browser import SCHEMES, Browser
from tests.pages.demo_server import Served
from tests.pages.playground import opened, write

WITHOUT_PROXIES = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}


@pytest.fixture
def page(browser: Browser, served: Served) -> Browser:
    """The page with the example with which it begins, once that has been read."""
    return opened(browser, served.url)


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


def test_an_answer_is_generated_and_each_token_is_explained(page: Browser) -> None:
    page.find("#tab-views-generate").click()
    page.find("#generate").click()
    page.until(lambda: page.text("#sums dl"))
    tokens = page.all("#tokens button.token")
    answer = json.loads(
        "".join(page.run("return arguments[0].textContent", each) for each in tokens)
    )
    assert set(answer) >= {"name", "age", "role"}
    kinds = {
        "forced" if "forced" in str(each.get_attribute("class")) else "chosen" for each in tokens
    }
    assert kinds == {"forced", "chosen"}
    forced = sum("forced" in str(each.get_attribute("class")) for each in tokens)
    assert page.text("#sums dd") == f"{len(tokens)}, {forced} of them forced"
    for chart in page.all("#sums .bars"):
        assert len(chart.find_elements("css selector", "i")) == len(tokens)
    tokens[0].send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert "token 3," in page.text("#token-detail")
    assert "of the probability kept" in page.text("#token-detail")
    page.all("#sums button")[-1].click()
    page.until(lambda: "✓ matches" in page.text("#verdict"))


def test_what_the_server_refuses_is_reported(page: Browser) -> None:
    page.find("#tab-views-generate").click()
    page.run("document.getElementById('limit').value = '1'")
    page.find("#generate").click()
    page.until(lambda: "max_tokens" in page.text("#sums"))
    assert [each for each in page.complaints() if "400" not in each] == []


def test_a_question_about_another_shape_is_not_waited_for(page: Browser) -> None:
    """However long the server takes to answer it."""
    page.run(
        "const real = window.fetch;"
        "window.fetch = (path, request) => window.held || !path.includes('explain')"
        "  ? real(path, request)"
        "  : new Promise((_, reject) => { window.held = true;"
        "      request.signal.onabort = () => reject(request.signal.reason); });"
    )
    write(page, "input", "12")
    page.until(lambda: page.run("return window.held === true"))
    write(page, "shape", '{"type": "integer"}')
    page.until(lambda: "✓ matches" in page.text("#verdict"))


def test_why_a_text_was_not_read_stands_where_the_verdict_would(page: Browser) -> None:
    page.run(
        "const real = window.fetch;"
        "window.fetch = async (path, request) => path.includes('explain') &&"
        "  JSON.parse(request.body).text === '12'"
        """  ? new Response('{"error": {"message": "too busy"}}', { status: 503 })"""
        "  : real(path, request);"
    )
    write(page, "input", "12")
    page.until(lambda: page.text("#verdict") == "too busy")
    write(page, "input", "13")
    page.until(lambda: "doesn't match" in page.text("#verdict"))


def test_an_answer_is_written_step_by_step(page: Browser) -> None:
    page.find("#tab-views-step").click()
    page.find("#step-begin").click()
    shown = "#view-step .tokens .token"
    for length in range(1, 5):
        page.until(lambda: page.all("#view-step .options button"))
        assert page.driver.switch_to.active_element.get_attribute("class") == "option"
        page.driver.switch_to.active_element.send_keys(Keys.ENTER)
        page.until(lambda count=length: len(page.all(shown)) == count)
    assert page.text("#view-step .tokens").startswith('{"name": "')
    page.all("#view-step .tools button")[0].click()
    page.until(lambda: len(page.all(shown)) == 3)
    masked = page.all("#view-step .option:disabled")
    assert all("not allowed" in each.text for each in masked)


def test_a_link_holds_everything(page: Browser, served: Served) -> None:
    page.find("#tab-kinds-gbnf").click()
    write(page, "shape", 'root ::= "é" [0-9]{2}\n')
    write(page, "input", "é1x")
    page.until(lambda: page.text("#input .mark-fault") == "x")
    page.find("#keep").click()
    page.find("#share").click()
    page.until(lambda: "#" in page.driver.current_url)
    link = page.driver.current_url
    assert page.complaints() == []
    page.open(f"{served.url}/")
    page.open(link)
    page.until(lambda: page.text("#input .mark-fault") == "x")
    assert page.find("#shape-text").get_property("value") == 'root ::= "é" [0-9]{2}\n'
    assert page.find("#tab-kinds-gbnf").get_attribute("aria-selected") == "true"
    page.until(lambda: "as expected" in page.text("#cases-count"))
    assert page.all("#cases-list select")[-1].get_property("value") == "reject"
    page.run("location.hash = '#1broken'")
    page.until(lambda: page.find("#shape-text").get_property("value") == 'root ::= "é" [0-9]{2}\n')


def test_examples_are_chosen_from_a_menu(page: Browser) -> None:
    page.until(lambda: len(page.all("#examples optgroup")) == 3)
    for title, kind, verdict in (
        ("A call of a function (Tools)", "tools", "… the beginning"),
        ("Words and a value (Structural tag)", "structural_tag", "✓ matches"),
        ("semver", "lark", "✓ matches"),
        ("invoice", "schema", "✓ matches"),
        ("An address line (EBNF)", "ebnf", "✓ matches"),
        ("A version (Regex)", "regex", "✓ matches"),
    ):
        option = next(
            each for each in page.all("#examples option") if each.get_property("text") == title
        )
        page.run(
            "const menu = document.getElementById('examples'); menu.value = arguments[0];"
            "menu.dispatchEvent(new Event('change'))",
            option.get_property("value"),
        )
        page.until(lambda text=verdict: text in page.text("#verdict"))
        selected = page.find("#kinds [aria-selected=true]").get_attribute("id")
        assert selected == f"tab-kinds-{kind}"
        page.until(lambda: "can be used" in page.text("#check"))


def test_the_request_is_shown_as_code(page: Browser) -> None:
    page.find("#copy").click()
    program = page.text("#code pre")
    body = json.loads(program.partition("<<'END_OF_REQUEST'\n")[2].partition("\nEND_OF")[0])
    assert body["response_format"]["json_schema"]["schema"]["required"] == ["name", "age", "role"]
    python, typescript = page.all("#code [aria-pressed=false]")
    python.click()
    program = page.text("#code pre")
    call = ast.parse(program).body[2]
    assert isinstance(call, ast.Assign)
    assert isinstance(call.value, ast.Call)
    given = {each.arg: ast.literal_eval(each.value) for each in call.value.keywords}
    assert given == body
    typescript.click()
    assert 'import OpenAI from "openai"' in page.text("#code pre")
    page.find("#code-copy").click()
    page.until(lambda: page.text("#notice") == "Copied")


def test_the_code_that_is_copied_runs_as_it_is(page: Browser, tmp_path: Path) -> None:
    page.find("#copy").click()
    command = page.text("#code pre")
    answered = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, timeout=60, env=WITHOUT_PROXIES
    )
    assert answered.returncode == 0, answered.stderr
    content = json.loads(answered.stdout)["choices"][0]["message"]["content"]
    page.all("#code [aria-pressed=false]")[0].click()
    program = tmp_path / "request.py"
    program.write_text(page.text("#code pre"))
    asked = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, timeout=60, env=WITHOUT_PROXIES
    )
    assert asked.returncode == 0, asked.stderr
    assert {"name", "age", "role"} <= set(json.loads(content))
    assert json.loads(asked.stdout) == json.loads(content)


def test_the_shape_is_drawn(page: Browser) -> None:
    page.find("#tab-views-diagram").click()
    page.until(lambda: "author" in page.text("#view-diagram svg"))
    page.find("#view-diagram [data-as=graph]").click()
    page.until(lambda: "author" not in page.text("#view-diagram svg"))


def test_values_of_the_tree_select_their_text(page: Browser) -> None:
    page.find("#tab-views-tree").click()
    leaf = page.all("#view-tree .leaf")[2]
    assert leaf.text == "age: 36"
    leaf.click()
    script = (
        "const a = document.activeElement; return a.value.slice(a.selectionStart, a.selectionEnd)"
    )
    assert page.run(script) == '"age": 36'


def test_the_keyboard_reaches_everything(page: Browser) -> None:
    reached: list[str] = []
    page.run("document.body.focus()")
    for _ in range(60):
        page.driver.switch_to.active_element.send_keys(Keys.TAB)
        active = page.driver.switch_to.active_element
        reached.append(str(active.get_attribute("id")))
        if reached.count("examples") > 1:
            break
    wanted = {"examples", "copy", "share", "theme", "shape-text", "sample", "keep", "input-text"}
    assert wanted | {"tab-kinds-schema", "tab-views-inspect"} <= set(reached)
    page.find("#tab-kinds-schema").send_keys(Keys.ARROW_RIGHT)
    assert page.driver.switch_to.active_element.get_attribute("id") == "tab-kinds-regex"
    page.until(lambda: "can be used" in page.text("#check"))
    page.find("#tab-views-inspect").send_keys(Keys.END)
    assert page.find("#view-step").is_displayed()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_nothing(page: Browser, scheme: str) -> None:
    page.colours(scheme)
    page.until(lambda: "author" in page.text("#reasons"))
    axe = Axe(page.driver)
    axe.inject()
    for view in ("inspect", "tree", "diagram", "generate", "step"):
        page.find(f"#tab-views-{view}").click()
        if view == "generate":
            page.find("#generate").click()
            page.until(lambda: page.text("#sums dl"))
        if view == "step":
            page.find("#step-begin").click()
            page.until(lambda: page.all("#view-step .options button"))
        found = axe.run()["violations"]
        faults = [(each["id"], [node["html"] for node in each["nodes"]]) for each in found]
        assert faults == [], view


def test_a_narrow_window_scrolls_in_one_direction_only(page: Browser) -> None:
    page.driver.set_window_size(500, 900)
    page.run("document.getElementById('views').scrollIntoView()")
    for view in ("inspect", "generate", "diagram"):
        page.find(f"#tab-views-{view}").click()
        assert page.run("return document.documentElement.scrollWidth <= innerWidth")


def test_the_colours_can_be_chosen(page: Browser) -> None:
    ground = "return getComputedStyle(document.body).backgroundColor"
    light = page.run(ground)
    page.colours("dark")
    dark = page.run(ground)
    assert light != dark
    page.find("#theme").click()  # light, whatever the system says
    assert page.run(ground) == light
    page.find("#theme").click()
    page.colours("light")
    assert page.run(ground) == dark
    page.find("#theme").click()
    assert page.run(ground) == light


def test_nothing_that_is_written_becomes_markup(page: Browser) -> None:
    evil = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    page.find("#tab-kinds-lark").click()
    write(page, "shape", f'start: "{evil}" a\na: "</style><script>1</script>"\n')
    write(page, "input", evil)
    page.until(lambda: "… the beginning" in page.text("#verdict"))
    page.find("#keep").click()
    for view in ("inspect", "tree", "diagram"):
        page.find(f"#tab-views-{view}").click()
    page.until(lambda: "script" in page.text("#view-diagram svg"))
    assert len(page.all("script")) == 1
    assert len(page.all("img")) == 1  # that of the bar
    assert page.all("svg script") == []


def test_a_key_is_asked_for_where_one_is_needed(browser: Browser, served: Served) -> None:
    """And kept for the tab."""
    key = "mw-" + "k" * 24
    config = ServerConfig(keys=KeyRing([ApiKey("page", digest_of(key))]))
    with live_server(create_app(served.engine, config)) as url:
        browser.open(f"{url}/")
        browser.until(lambda: browser.find("#key").is_displayed())
        browser.find("#key-field").send_keys(key, Keys.ENTER)
        browser.until(lambda: "doesn't match" in browser.text("#verdict"))
        assert [each for each in browser.complaints() if "401" not in each] == []
        browser.driver.refresh()
        browser.until(lambda: "doesn't match" in browser.text("#verdict"))
        browser.driver.get("about:blank")  # the page may still be asking the server, which ends now


TWO_REQUESTS = """
    const fetched = window.fetch;
    window.answered = 0;
    window.fetch = (path, options) => {
      if (!path.startsWith("/test/")) return fetched(path, options);
      if (options.headers.authorization) return Promise.resolve(new Response("{}"));
      const refused = () => new Response("{}", { status: 401 });
      if (path === "/test/early") return Promise.resolve(refused());
      return new Promise((resolve) => { window.refuseLate = () => resolve(refused()); });
    };
    import("/pages/playground/api.js").then(({ send }) => {
      for (const path of ["/test/early", "/test/late"]) {
        send(path).then(() => { window.answered += 1; });
      }
    });
"""
"""Two requests without a key; one of them is refused when it is told to."""


def test_a_key_is_asked_for_once_if_requests_are_refused_late(page: Browser) -> None:
    page.run(TWO_REQUESTS)
    page.until(lambda: page.find("#key").is_displayed())
    page.find("#key-field").send_keys("mw-" + "k" * 24, Keys.ENTER)
    page.until(lambda: page.run("return window.answered") == 1)
    page.run("window.refuseLate()")
    page.until(lambda: page.run("return window.answered") == 2)
    assert not page.find("#key").is_displayed()
    page.run("sessionStorage.clear()")
