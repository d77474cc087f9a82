"""Calls on the page of the API: tried, shown as code, with examples of their answers, and found by
their fields."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from axe_selenium_python import Axe
from jsonschema import Draft202012Validator
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select

from maskwright.server import ServerConfig, create_app
from maskwright.server.access import ApiKey, KeyRing, digest_of
from maskwright.server.openapi.document import PATH
from tests.live_server import live_server
from tests.pages.browser import SCHEMES, Browser
from tests.pages.demo_server import Served

WITHOUT_PROXIES = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
ENTRIES = "#operations details"
BATCHES = {
    "uploadFile", "listFiles", "describeFile", "deleteFile", "readFile",
    "createBatch", "listBatches", "describeBatch", "cancelBatch",
}  # fmt: skip


def opened(browser: Browser, url: str) -> Browser:
    browser.forget(url)
    browser.open(f"{url}/docs")
    browser.until(lambda: browser.all(ENTRIES))
    return browser


@pytest.fixture
def page(browser: Browser, served: Served) -> Browser:
    return opened(browser, served.url)


@pytest.fixture(scope="module")
def document(served: Served) -> Any:
    return httpx.get(f"{served.url}{PATH}").json()


@pytest.fixture(scope="module")
def folder(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with a folder for batches."""
    config = ServerConfig(batch_folder=tmp_path_factory.mktemp("batches"))
    with live_server(create_app(served.engine, config)) as url:
        yield url


def unfold(page: Browser, name: str) -> WebElement:
    page.run("document.getElementById(arguments[0]).open = true", name)
    return page.until(lambda: page.find(f"#{name} form"))


def send(page: Browser, name: str) -> str:
    """Send what stands in a form; what is shown of the answer once it is complete."""
    page.find(f"#{name} form button.main").click()
    page.until(lambda: page.find(f"#{name} form button.main").text == "Send")
    page.until(lambda: page.text(f"#{name} .answer strong, #{name} .answer .bad"))
    return page.text(f"#{name} .answer pre")


def test_a_call_is_tried(page: Browser) -> None:
    unfold(page, "createChatCompletion")
    answer = json.loads(send(page, "createChatCompletion"))
    assert answer["object"] == "chat.completion"
    assert page.text("#createChatCompletion .answer strong").strip() == "200 OK"
    assert "application/json" in page.text("#createChatCompletion .answer p")
    Select(page.find("#createChatCompletion select")).select_by_visible_text("Example: stream")
    events = send(page, "createChatCompletion").split("\n\n")
    assert events[-2] == "data: [DONE]"
    assert len(events) > 3
    body = page.find("#createChatCompletion-body")
    body.clear()
    body.send_keys('{"messages": 1}')
    error = json.loads(send(page, "createChatCompletion"))["error"]
    assert error["param"] == "messages"
    assert "400" in page.text("#createChatCompletion .answer strong.bad")
    assert [each for each in page.complaints() if "400" not in each] == []


def test_parameters_are_filled_in(page: Browser) -> None:
    unfold(page, "describeModel")
    page.find("#describeModel form button.main").click()
    assert page.text("#describeModel .answer") == "name is needed."
    page.find("#describeModel-name").send_keys("maskwright-demo")
    assert json.loads(send(page, "describeModel"))["id"] == "maskwright-demo"
    unfold(page, "state")
    Select(page.find("#state-history")).select_by_visible_text("1")
    page.find("#state-since").send_keys("0")
    assert "/v1/state?" in page.text("#state .program")
    assert "history" in json.loads(send(page, "state"))


def test_a_long_answer_can_be_stopped(page: Browser) -> None:
    unfold(page, "createChatCompletion")
    body = {
        "messages": [{"role": "user", "content": "Count."}],
        "guided_regex": "([0-9]{3} ){200}",
        "max_tokens": 1000,
        "stream": True,
    }
    field = page.find("#createChatCompletion-body")
    field.clear()
    field.send_keys(json.dumps(body))
    button = page.find("#createChatCompletion form button.main")
    button.click()
    page.until(lambda: "data: " in page.text("#createChatCompletion .answer pre"))
    button.click()
    page.until(lambda: page.text("#createChatCompletion .answer p") == "Stopped.")
    assert button.text == "Send"


def test_a_very_long_answer_is_cut_with_a_word(page: Browser) -> None:
    unfold(page, "tokenize")
    # The browser is answered in place of the server, which never says so much.
    page.run(
        "const fetched = window.fetch; window.fetch = (path, given) => path.endsWith('/tokenize')"
        " ? Promise.resolve(new Response('x'.repeat(1000003))) : fetched(path, given)"
    )
    shown = send(page, "tokenize")
    assert shown == "x" * 1_000_000 + "\n… and 3 characters more"


def programs(page: Browser, language: str) -> dict[str, str]:
    """The code of each call in a language, as it stands there when the page is opened."""
    page.run(
        "for (const each of document.querySelectorAll(arguments[0])) each.open = true", ENTRIES
    )
    count = len(page.all(ENTRIES))
    page.until(lambda: len(page.all(f"{ENTRIES} .program")) == count)
    page.run(
        "for (const each of document.querySelectorAll('.trial .tools button'))"
        " if (each.textContent === arguments[0]) each.click()",
        language,
    )
    return page.run(
        "return Object.fromEntries([...document.querySelectorAll(arguments[0])]"
        ".map((each) => [each.id, each.querySelector('.program').textContent]))",
        ENTRIES,
    )


def is_complete(program: str) -> bool:
    """Whether a program needs nothing to be filled in, and answers on a server without a folder."""
    return (
        "{" not in program.partition("\n")[0]
        and "/files" not in program
        and ("/batches" not in program)
    )


def test_each_call_is_a_command_of_curl_that_runs(page: Browser, document: Any) -> None:
    commands = programs(page, "curl")
    assert all(each.startswith("curl ") for each in commands.values())
    bodies = [
        operation["operationId"]
        for path, item in document["paths"].items()
        for operation in item.values()
        if "requestBody" in operation and f"/v1{path}" not in document["paths"]
    ]
    assert all("END_OF_REQUEST" in commands[name] or " -F " in commands[name] for name in bodies)
    runnable = {name: each for name, each in commands.items() if is_complete(each)}
    assert {"createChatCompletion", "createMessage", "checkShape", "metrics", "ping"} <= {*runnable}
    for name, command in runnable.items():
        ran = subprocess.run(
            ["bash", "-c", command.replace("curl ", "curl --fail --silent --show-error ", 1)],
            capture_output=True, timeout=60, env=WITHOUT_PROXIES,
        )  # fmt: skip
        assert ran.returncode == 0, (name, ran.stderr)


def test_each_call_is_a_program_in_python(page: Browser, tmp_path: Path) -> None:
    found = programs(page, "Python")
    for text in found.values():
        ast.parse(text)
    assert "httpx.delete(" in found["deleteFile"]
    assert 'files={"file": open("requests.jsonl", "rb")}' in found["uploadFile"]
    for name in ("createChatCompletion", "createMessage", "health"):
        program = tmp_path / f"{name}.py"
        program.write_text(found[name])
        ran = subprocess.run(
            [sys.executable, program], capture_output=True, text=True, timeout=60,
            env=WITHOUT_PROXIES,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        assert "error" not in json.loads(ran.stdout)


def test_code_follows_what_is_filled_in(page: Browser) -> None:
    unfold(page, "describeModel")
    page.find("#describeModel-name").send_keys("a b/c'd")
    assert page.text("#describeModel .program").endswith("/v1/models/a%20b%2Fc'd")
    unfold(page, "tokenize")
    body = page.find("#tokenize-body")
    body.clear()
    body.send_keys('{"prompt": null')
    python = page.all("#tokenize .tools button")[2]
    python.click()
    assert python.get_attribute("aria-pressed") == "true"
    assert page.text("#tokenize .program") == "# The body is not valid JSON yet."
    body.send_keys("}")
    assert "json={" in page.text("#tokenize .program")
    assert '"prompt": None' in page.text("#tokenize .program")


def test_examples_of_answers_have_their_schemas(page: Browser, document: Any) -> None:
    programs(page, "curl")
    count = 0
    for item in document["paths"].values():
        for operation in item.values():
            shown = page.run(
                "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)",
                f"[id='{operation['operationId']}'] .example",
            )
            for status, answer in operation["responses"].items():
                content = answer.get("content", {}).get("application/json")
                if not status.startswith("2") or content is None or not shown:
                    continue
                schema = {"components": document["components"], **content["schema"]}
                Draft202012Validator(schema).validate(json.loads(shown[0]))
                count += 1
    assert count > 20


def test_an_answer_of_each_generating_call_is_shown(page: Browser) -> None:
    programs(page, "curl")
    for name, field in (("createChatCompletion", "choices"), ("createMessage", "content")):
        assert field in json.loads(page.text(f"#{name} .example"))


def test_files_and_batches_are_described_where_they_are_off(page: Browser) -> None:
    tags = page.run(
        "return [...document.querySelectorAll('section[aria-label=Batches] details')]"
        ".map((each) => [each.id, each.querySelector('summary').textContent])"
    )
    assert {name for name, _ in tags} == BATCHES
    assert all("needs serve --batch-folder FOLDER" in words for _, words in tags)
    unfold(page, "listBatches")
    assert "--batch-folder" in send(page, "listBatches")
    assert [each for each in page.complaints() if "404" not in each] == []


def test_files_and_batches_are_tried(browser: Browser, folder: str, tmp_path: Path) -> None:
    page = opened(browser, folder)
    lines = tmp_path / "asked.jsonl"
    body = {"messages": [{"role": "user", "content": "A colour?"}], "max_tokens": 4}
    line = {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": body}
    lines.write_text(json.dumps(line) + "\n")
    unfold(page, "uploadFile")
    page.find("#uploadFile-file").send_keys(str(lines))
    assert "-F 'file=@asked.jsonl'" in page.text("#uploadFile .program")
    file = json.loads(send(page, "uploadFile"))
    assert file["filename"] == "asked.jsonl"
    unfold(page, "createBatch")
    asked = {
        "input_file_id": file["id"],
        "endpoint": "/v1/chat/completions",
        "completion_window": "24h",
    }
    page.find("#createBatch-body").clear()
    page.find("#createBatch-body").send_keys(json.dumps(asked))
    batch = json.loads(send(page, "createBatch"))
    unfold(page, "describeBatch")
    page.find("#describeBatch-id").send_keys(batch["id"])
    page.until(lambda: json.loads(send(page, "describeBatch"))["status"] == "completed")
    unfold(page, "deleteFile")
    page.find("#deleteFile-id").send_keys(file["id"])
    assert json.loads(send(page, "deleteFile"))["deleted"] is True
    page.driver.get("about:blank")


def search(page: Browser, words: str) -> set[str]:
    """The calls that a search leaves."""
    page.find("#search").clear()
    page.find("#search").send_keys(words)
    return set(
        page.run(
            "return [...document.querySelectorAll(arguments[0])]"
            ".filter((each) => each.checkVisibility()).map((each) => each.id)",
            ENTRIES,
        )
    )


def test_a_search_finds_calls_by_their_fields(page: Browser) -> None:
    found = search(page, "temperature")
    generating = {"createChatCompletion", "createCompletion", "createResponse", "createMessage"}
    assert generating <= found
    assert not found & {"listModels", "tokenize", "health", "createBatch"}
    assert page.text("#createChatCompletion .found") == "temperature"
    assert search(page, "input_file_id") >= {"createBatch"}
    assert not search(page, "input_file_id") & generating
    assert search(page, "shortest_bytes") == {"checkShape"}  # a field of an answer
    assert search(page, "maskwright trace ttft") <= generating
    assert search(page, "no such words") == set()
    assert [each.text for each in page.all("#operations h2") if each.is_displayed()] == []
    page.find("#search").send_keys(Keys.CONTROL, "a", Keys.DELETE)
    assert len(page.all(ENTRIES)) == len([e for e in page.all(ENTRIES) if e.is_displayed()])


MARKDOWN = """
    return import("/pages/docs/markdown.js").then(({ blocks }) => {
      const box = document.createElement("div");
      box.append(...blocks(arguments[0]));
      return box.innerHTML;
    });
"""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a `b<i>` c", "<p>a <code>b&lt;i&gt;</code> c</p>"),
        ("**a `b`**", "<p><strong>a <code>b</code></strong></p>"),
        ("[a](https://b.c/d)", '<p><a href="https://b.c/d">a</a></p>'),
        ("[a](javascript:b)", "<p>a</p>"),
        ("a\n\n- b\n- `c`", "<p>a</p><ul><li>b</li><li><code>c</code></li></ul>"),
        ("a * b ` c", "<p>a * b ` c</p>"),
        ("<img src=x>", "<p>&lt;img src=x&gt;</p>"),
    ],
)
def test_markdown_is_rendered(page: Browser, text: str, shown: str) -> None:
    assert page.run(MARKDOWN, text) == shown


def test_no_mark_of_markdown_is_left(page: Browser) -> None:
    programs(page, "curl")
    words = page.run(
        "return [...document.querySelectorAll('#about, summary, #operations td:last-child')]"
        ".map((each) => each.textContent)"
    )
    assert len(words) > 100
    assert [each for each in words if "`" in each or "**" in each] == []


def test_a_key_is_asked_for_once(browser: Browser, served: Served) -> None:
    key = "mw-" + "k" * 24
    config = ServerConfig(keys=KeyRing([ApiKey("page", digest_of(key))]))
    with live_server(create_app(served.engine, config)) as url:
        page = opened(browser, url)
        unfold(page, "listModels")
        page.find("#listModels form button.main").click()
        page.until(lambda: page.find("#key").is_displayed())
        page.find("#key-field").send_keys(key, Keys.ENTER)
        page.until(lambda: "maskwright-demo" in page.text("#listModels .answer pre"))
        assert "$MASKWRIGHT_API_KEY" in page.text("#listModels .program")
        assert key not in page.text("#listModels .program")
        assert [each for each in page.complaints() if "401" not in each] == []
        page.run("sessionStorage.clear()")
        page.driver.get("about:blank")


@pytest.mark.parametrize("width", [1280, 390])
def test_words_in_tables_are_whole(page: Browser, width: int) -> None:
    """A column that is too narrow for its words would break them between letters."""
    page.viewport(width, 844)
    for name in ("createChatCompletion", "uploadFile", "state"):
        unfold(page, name)
    lines = """return [...document.querySelectorAll(arguments[0])]
        .map((each) => [each.textContent, each.getClientRects().length])"""
    shown = page.run(lines, ".reference td a, .reference td:first-child code")
    assert len(shown) >= 7
    assert [word for word, count in shown if count > 1] == []
    assert page.text("#createChatCompletion > table th") == "Status"


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [1280, 390])
def test_calls_are_accessible(page: Browser, scheme: str, width: int) -> None:
    page.viewport(width, 844)
    page.colours(scheme)
    for name in ("createChatCompletion", "uploadFile", "state"):
        unfold(page, name)
    send(page, "createChatCompletion")
    search(page, "id")
    assert page.run("return document.documentElement.scrollWidth <= innerWidth")
    axe = Axe(page.driver)
    axe.inject()
    found = axe.run()["violations"]
    assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found] == []
    page.open("about:blank")  # axe's own script is not the page's
