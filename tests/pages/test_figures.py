"""Every number that the playground shows can be had from a command with `--json`.

The dashboard's are compared in `test_dashboard.py`: `maskwright status` prints what it is drawn
from.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, run  # noqa: F401 - a fixture
from tests.pages.browser import Browser
from tests.pages.demo_server import Served
from tests.pages.playground import opened

SCHEMA = """{
  "type": "object",
  "properties": {
    "name": {"type": "string", "maxLength": 12},
    "age": {"type": "integer", "minimum": 0, "maximum": 130},
    "tags": {"type": "array", "items": {"enum": ["a", "b"]}}
  },
  "required": ["name", "age"],
  "additionalProperties": false
}"""
GRAMMAR = 'root ::= "total" ("s" | [0-9]{2,4}) " items"\n'
PROMPT = "Anna Berg is 34 years old."


@pytest.fixture
def page(browser: Browser, served: Served) -> Browser:
    return opened(browser, served.url)


def write(page: Browser, kind: str, shape: str, text: str) -> None:
    page.find(f"#tab-kinds-{kind}").click()
    script = "const a = arguments[0]; a.value = arguments[1]; a.dispatchEvent(new Event('input'))"
    page.run(script, page.find("#shape-text"), shape)
    page.run(script, page.find("#input-text"), text)


def numbers(text: str) -> list[float]:
    return [float(each.replace(",", "")) for each in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]


def percent(share: float) -> str:
    """As `percent` of generate.js writes it."""
    if 0 < share < 0.0005:
        return "<0.1%"
    return f"{100 * share:.0f}%" if share > 0.9995 or share == 0 else f"{100 * share:.1f}%"


def test_of_the_shape(page: Browser, run: Run) -> None:  # noqa: F811
    write(page, "schema", SCHEMA, '{"name": "Anna"')
    page.until(lambda: "the beginning" in page.text("#verdict"))
    page.until(lambda: "can be used" in page.text("#check"))
    answer = json.loads(run("check", SCHEMA, "--json").stdout)
    assert answer["milliseconds"] > 0
    shown = numbers(page.text("#check"))
    # The server's answers have a space after each comma and colon, which `check` doesn't demand.
    shortest = '{"name": "", "age": 0}'
    assert shown[:2] == [answer["enforced"], len(shortest)]
    assert answer["shortest_bytes"] == len(shortest.replace(" ", ""))
    assert len(shown) == 3  # and the milliseconds
    found = answer["findings"]
    assert numbers(page.text("#findings summary")) == [len(found)]
    script = """return [...document.querySelectorAll('#findings button')]
        .map((each) => each.textContent)"""
    places = page.run(script)
    assert sorted(places) == sorted(f"{each['line']}:{each['column']}" for each in found)


def test_of_the_text(page: Browser, run: Run, tmp_path: Path) -> None:  # noqa: F811
    write(page, "gbnf", GRAMMAR, "total12345")
    page.until(lambda: page.text("#input .mark-fault") == "5")
    page.until(lambda: "of 4,000" in page.text("#inspection"))
    answer = json.loads(run("match", GRAMMAR, "--text", "total12345", "--json").stdout)["texts"][0]
    assert numbers(page.text("#verdict button")) == [answer["line"], answer["column"]]

    page.run(
        "arguments[0].focus(); arguments[0].setSelectionRange(6, 6);"
        "arguments[0].dispatchEvent(new Event('click'))",
        page.find("#input-text"),
    )
    page.until(lambda: "column 7" in page.text("#inspection h3"))
    asked = ("next", GRAMMAR, "--text", "total1", "--model", "demo", "--json")
    answer = json.loads(run(*asked).stdout)
    facts = page.text("#inspection dl")
    assert f"{answer['count']} characters" in facts
    assert f"{answer['tokens']['count']} of {answer['tokens']['of']:,}" in facts

    remove = "[aria-label='Remove this case']"
    while page.all(f"#cases-list {remove}"):
        page.run(f'document.querySelector("{remove}").click()')
    page.find("#keep").click()
    page.until(lambda: "as expected" in page.text("#cases-count"))
    cases = [{"shape": "a.gbnf", "reject": ["total12345"]}]
    (tmp_path / "a.gbnf").write_text(GRAMMAR)
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    answer = json.loads(run("test", tmp_path / "cases.json", "--json").stdout)
    passed = len(answer["cases"]) - answer["failed"]
    assert page.text("#cases-count").startswith(f"{passed} of {len(answer['cases'])}")


def test_of_an_answer(page: Browser, run: Run) -> None:  # noqa: F811
    write(page, "schema", SCHEMA, "")
    page.find("#tab-views-generate").click()
    prompt = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))"
    page.run(prompt, page.find("#prompt"), PROMPT)
    page.find("#generate").click()
    page.until(lambda: page.text("#sums dl"))
    found: dict[str, Any] = json.loads(
        run("generate", SCHEMA, "--prompt", PROMPT, "--max-tokens", "400", "--json").stdout
    )
    shown = page.run("return [...document.querySelectorAll('#sums dd')].map((e) => e.textContent)")
    tokens, kept, latency, masks = shown
    answer = "".join(
        page.run(
            "return [...document.querySelectorAll('#tokens button')].map((e) => e.textContent)"
        )
    )
    assert json.loads(answer.rstrip("∅")) == json.loads(found["text"])
    assert numbers(tokens) == [found["counts"]["tokens"], found["counts"]["forced"]]
    mean, least = percent(found["kept"]["mean"]), percent(found["kept"]["least"])
    assert kept == f"{mean} on average, {least} at least"
    assert len(numbers(latency)) == 2
    assert min(found["trace"]["ttft_ms"], found["trace"]["tpot_ms"]) > 0
    assert len(numbers(masks)) == 2
    assert found["trace"]["mask_rows"] > 0
    assert len(found["arrival_ms"]) == len(found["steps"]) == len(page.all("#tokens button"))
    for at in (0, 3):
        page.run("document.querySelectorAll('#tokens button')[arguments[0]].focus()", at)
        page.until(lambda at=at: f"token {at + 1}," in page.text("#token-detail"))
        step, detail = found["steps"][at], page.text("#token-detail")
        assert f"id {step['token']}" in detail
        assert f"{percent(step['kept'])} of the probability kept" in detail
        if not step["forced"]:
            assert f"among {step['allowed']:,} allowed" in detail
            assert f"gave it {percent(math.exp(step['raw']))}" in detail
            assert f"made that {percent(math.exp(step['masked']))}" in detail


def test_of_a_step(page: Browser, run: Run) -> None:  # noqa: F811
    write(page, "gbnf", GRAMMAR, "total")
    page.find("#tab-views-generate").click()
    prompt = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))"
    page.run(prompt, page.find("#prompt"), PROMPT)
    page.find("#tab-views-step").click()
    page.find("#step-begin").click()
    page.until(lambda: page.all("#view-step .options button"))
    asked = ("next", GRAMMAR, "--probabilities", "--prompt", PROMPT, "--json")
    answer = json.loads(run(*asked).stdout)
    text = page.text("#view-step")
    assert f"{answer['tokens']['count']:,} of {answer['tokens']['of']:,} tokens are allowed" in text
    # The page adds up those of the 20 likeliest tokens that are allowed, which is nearly all.
    likely = [each for each in answer["likely"] if each["is_allowed"]]
    assert f"{percent(sum(each['raw'] for each in likely))} of the probability kept" in text
    script = """return [...document.querySelectorAll('#view-step .option')]
        .map((each) => [each.title, each.textContent])"""
    rows = page.run(script)
    assert [title for title, _ in rows] == [f"token {each['token']}" for each in answer["likely"]]
    for (_, row), each in zip(rows, answer["likely"], strict=True):
        assert percent(each["raw"]) in row
