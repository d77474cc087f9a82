"""The dashboard in a real browser, and what it asks of the server."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from axe_selenium_python import Axe

from maskwright.dist.drain import Drain
from maskwright.dist.front.app import Front
from maskwright.dist.front.fleet import WorkerGroup
from maskwright.dist.front.wire import Address
from maskwright.server import ServerConfig
from maskwright.server.access import ApiKey, KeyRing, digest_of
from maskwright.server.app import create_app
from maskwright.server.observe.figures import joined_state
from tests.cli.conftest import Run, run  # noqa: F401 - a fixture
from tests.live_server import live_server
from tests.pages.browser import SCHEMES, Browser
from tests.pages.demo_server import Served

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 8}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
LEFT = 'refusals_total{code="client_gone"}'
FORMAT: Any = {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA}}


@pytest.fixture(scope="module")
def load(served: Served) -> Callable[[int], None]:
    """Sends a few requests, some with a shape, and waits for their answers."""

    def send(count: int) -> None:
        with served.client() as client:
            for number in range(count):
                text = f"Somebody is {number} years old and lives in a house by the sea."
                shape: Any = {"response_format": FORMAT} if number % 2 else {}
                client.chat.completions.create(
                    model="m", messages=[{"role": "user", "content": text}], max_tokens=24,
                    seed=number, **shape,
                )  # fmt: skip

    return send


@pytest.fixture
def board(browser: Browser, served: Served, load: Callable[[int], None]) -> Browser:
    load(4)
    browser.open(f"{served.url}/dashboard")
    browser.until(lambda: browser.all("#answers button"))
    return browser


def metrics(url: str) -> dict[str, float]:
    """Samples of `/metrics` by name and labels."""
    lines = httpx.get(f"{url}/metrics").text.splitlines()
    pairs = (line.rpartition(" ") for line in lines if not line.startswith("#"))
    return {name.removeprefix("maskwright_"): float(value) for name, _, value in pairs}


def shown(board: Browser) -> dict[str, float]:
    """The figures of the page by their names."""
    script = """return [...document.querySelectorAll('[data-figure]')]
        .map((each) => [each.dataset.figure, each.dataset.value])"""
    return {name: float(value) for name, value in board.run(script)}


def tokens(now: dict[str, float]) -> tuple[float, float]:
    """How many tokens of answers were forced so far, and how many were sampled."""
    forced, sampled = (
        now[f'output_tokens_total{{source="{source}"}}'] for source in ("forced", "sampled")
    )
    return forced, sampled


def figures(now: dict[str, float]) -> dict[str, float]:
    """What the page shows of the metrics, by the names of its figures."""
    forced, sampled = tokens(now)
    refused = sum(v for k, v in now.items() if k.startswith("refusals_total{") and k != LEFT)
    return {
        "running": now['requests{state="running"}'],
        "kv-use": now["kv_use"],
        "kv-used": now['kv_blocks{state="used"}'],
        "kv-cached": now['kv_blocks{state="cached"}'],
        "kv-free": now['kv_blocks{state="free"}'],
        "forced-share": forced / (forced + sampled),
        "mask-rows": now["mask_rows_total"],
        "late-rows": now["late_rows_total"],
        "grammar-processes": now["grammar_processes"],
        "refused": refused,
    }


def at_rest(board: Browser, served: Served) -> dict[str, float]:
    """The metrics once the engine has no more work, and the page shows them: a request's last step
    may be counted after its answer has been sent, and requests of other tests may still run."""

    def rests() -> bool:
        now = metrics(served.url)
        if any(now[f'requests{{state="{state}"}}'] for state in ("running", "waiting")):
            return False
        there = shown(board)
        return all(there[name] == value for name, value in figures(now).items())

    board.until(rests)
    return metrics(served.url)


def test_figures_are_those_of_the_metrics(board: Browser, served: Served) -> None:
    now = at_rest(board, served)
    forced, sampled = tokens(now)
    expected = figures(now)
    there = shown(board)
    assert {name: there[name] for name in expected} == expected
    assert forced > 0
    assert set(there) == {*expected, "ttft", "tpot"}
    text = " ".join(board.find("main").text.split())
    assert f"{int(forced + sampled):,} tokens so far" in text
    blocks = sum(now[f'kv_blocks{{state="{state}"}}'] for state in ("used", "cached", "free"))
    assert str(board.find("#blocks").get_attribute("aria-label")).startswith(
        f"{blocks:,.0f} blocks"
    )


def test_the_page_follows_the_server(board: Browser, load: Callable[[int], None]) -> None:
    first = "return Number(document.querySelector('#answers button').dataset.answer)"
    before = board.run(first)
    load(3)
    board.until(lambda: board.run(first) == before + 3)
    board.until(lambda: len(board.all("#throughput polyline")) == 2)
    assert len(board.all("#ttft circle")) >= 7
    assert board.all("#prefixes rect")


def test_the_timeline_of_an_answer_opens_and_closes(board: Browser, served: Served) -> None:
    answers = httpx.get(f"{served.url}/v1/state").json()["recent"]
    chosen = next(one for one in reversed(answers[-12:]) if one["shape"] == "json")
    button = f'[data-answer="{chosen["number"]}"]'
    board.find(button).click()
    board.until(lambda: board.find("#timeline").is_displayed())
    assert board.find(button).get_attribute("aria-expanded") == "true"
    assert chosen["request_id"] in board.text("#timeline h3")
    assert len(board.all("#timeline circle")) == chosen["steps"] == len(chosen["step_ms"])
    assert chosen["step_tokens"][-1] == chosen["sampled_tokens"] + chosen["forced_tokens"]
    titles = [each.get_attribute("textContent") for each in board.all("#timeline rect title")]
    assert any(str(title).startswith("decoding: ") for title in titles)
    board.find("#timeline button").click()
    assert not board.find("#timeline").is_displayed()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_it_is_accessible(board: Browser, scheme: str) -> None:
    board.colours(scheme)
    board.find("#theme").click()
    board.find("#theme").click()
    board.find("#theme").click()  # as the system says, drawn anew
    board.find("#answers button").click()
    axe = Axe(board.driver)
    axe.inject()
    found = axe.run()["violations"]
    assert found == [], axe.report(found)
    board.open("about:blank")  # axe's own script is not the page's


def test_a_page_that_is_paused_asks_nothing(board: Browser) -> None:
    asked = """return performance.getEntriesByType('resource')
        .filter((each) => each.name.includes('/v1/state')).length"""
    board.find("#pause").click()
    before = board.run(asked)
    time.sleep(2.3)
    assert board.run(asked) == before
    board.find("#pause").click()
    board.until(lambda: board.run(asked) > before)


def test_the_command_prints_what_the_page_shows(
    board: Browser,
    served: Served,
    run: Run,  # noqa: F811
) -> None:
    at_rest(board, served)
    found = json.loads(run("status", "--url", served.url, "--seconds", 0.6, "--json").stdout)
    printed = {key.replace("_", "-"): value for key, value in found["figures"].items()}
    there = shown(board)
    assert {"forced-share", "refused"} <= {*printed} & {*there}
    for name in {*printed} & {*there}:
        assert printed[name] == there[name], name
    assert found["figures"]["ttft_p50_ms"] == shown(board)["ttft"]
    assert found["rates"]["output_tokens_per_second"] == 0.0
    now = metrics(served.url)
    for name in ("mask_rows_total", "steps_total", 'kv_blocks{state="free"}'):
        assert found["metrics"][name] == now[name]
    lines = run("status", "--url", f"{served.url}/v1", "--seconds", 0.1).stdout
    assert "running" in lines
    assert "interactive" in lines
    assert re.search(r"forced %", lines)


def test_a_key_is_needed_for_the_figures_but_not_for_the_page(
    browser: Browser,
    served: Served,
    run: Run,  # noqa: F811
) -> None:
    config = ServerConfig(keys=KeyRing([ApiKey("ann", digest_of("secret"))]))
    with live_server(create_app(served.engine, config)) as url:
        assert httpx.get(f"{url}/dashboard").status_code == 200
        assert httpx.get(f"{url}/v1/state").status_code == 401
        refused = run("status", "--url", url)
        assert refused.returncode == 2
        assert "answers 401: an API key is needed" in refused.stderr
        assert run("status", "--url", url, "--api-key", "secret", "--seconds", 0.1).returncode == 0
        browser.open(f"{url}/dashboard")
        browser.until(lambda: browser.find("#key").is_displayed())
        browser.find("#key-field").send_keys("secret")
        browser.find("#key button.main").click()
        browser.until(lambda: browser.text("#health") in ("running", "idle"))
        logged = browser.complaints()
        assert all("401" in line for line in logged), "Chromium reports a refused request itself"
        browser.run("sessionStorage.clear()")


def test_a_router_shows_all_of_its_servers(
    browser: Browser,
    served: Served,
    load: Callable[[int], None],
    run: Run,  # noqa: F811
) -> None:
    """One server is asked as two workers, so that every count is twice that of the server."""
    load(2)
    group = WorkerGroup([Address.parse(served.url), Address.parse(f"{served.url}/v1")])
    front = Front(group, Drain(1.0), join_states=joined_state)
    with live_server(front) as url:  # pyright: ignore
        browser.open(f"{url}/dashboard")
        browser.until(lambda: browser.all("#answers button"))
        assert browser.text("#health") == "2 of 2 servers are ready"
        rows = [row.text.split()[:2] for row in browser.all("#servers tbody tr")]
        assert rows == [["w0", "ready"], ["w1", "ready"]]

        def doubled() -> bool:
            now, there = figures(metrics(served.url)), shown(browser)
            counts = ("kv-used", "kv-cached", "kv-free", "mask-rows", "refused")
            return all(there[name] == 2 * now[name] for name in counts)

        browser.until(doubled)
        axe = Axe(browser.driver)
        axe.inject()
        found = axe.run()["violations"]
        assert found == [], axe.report(found)
        browser.open("about:blank")  # axe's own script is not the page's

        document = httpx.get(f"{url}/v1/state").json()
        ends = [one["number"] for one in document["recent"]]
        assert ends == sorted(set(ends))
        newest = httpx.get(f"{url}/state", params={"since": ends[-2]}).json()["recent"]
        assert [one["number"] for one in newest] == ends[-1:]
        assert httpx.get(f"{url}/v1/state", params={"since": "x"}).status_code == 400
        lines = run("status", "--url", url, "--seconds", 0.1).stdout
        assert "2 of 2 servers are ready" in lines
        assert re.search(r"w1 +ready", lines)


def test_a_router_of_servers_with_keys_shows_them_with_a_key(served: Served) -> None:
    config = ServerConfig(keys=KeyRing([ApiKey("ann", digest_of("secret"))]))
    with live_server(create_app(served.engine, config)) as worker:
        group = WorkerGroup([Address.parse(worker)], key="secret")
        with live_server(Front(group, Drain(1.0), join_states=joined_state)) as url:  # pyright: ignore
            assert httpx.get(f"{url}/v1/state").status_code == 401
            headers = {"authorization": "Bearer secret"}
            found = httpx.get(f"{url}/v1/state", headers=headers).json()
            assert [each["ready"] for each in found["workers"]] == [True]


def test_nobody_there_is_reported(run: Run) -> None:  # noqa: F811
    found = run("status", "--url", "http://127.0.0.1:9")
    assert found.returncode == 3
    assert "no server answers at http://127.0.0.1:9/v1/state" in found.stderr


def test_since_is_a_number(served: Served) -> None:
    with served.client() as client:
        client.completions.create(model="demo", prompt="Once", max_tokens=1)
    newest = httpx.get(f"{served.url}/v1/state").json()["recent"][-1]["number"]
    answer = httpx.get(f"{served.url}/state?since={newest - 1}").json()
    assert [one["number"] for one in answer["recent"]] == [newest]
    for wrong in ("-1", "x", "½", ""):
        refused = httpx.get(f"{served.url}/v1/state", params={"since": wrong})
        assert refused.status_code == 400
