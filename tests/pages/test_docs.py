"""The page that shows the description of the API."""

from __future__ import annotations

from typing import Any
from urllib.parse import urljoin

import httpx
import pytest
from axe_selenium_python import Axe

from maskwright.server.openapi.document import PATH
from tests.pages.browser import SCHEMES, Browser
from tests.pages.demo_server import Served

SHOWN = "#operations details, #schemas details"


@pytest.fixture
def page(browser: Browser, served: Served) -> Browser:
    browser.open(f"{served.url}/docs")
    browser.until(lambda: browser.all(SHOWN))
    return browser


@pytest.fixture(scope="module")
def document(served: Served) -> Any:
    return httpx.get(f"{served.url}{PATH}").json()


def test_every_operation_and_schema_is_shown_once(page: Browser, document: Any) -> None:
    paths = document["paths"]
    expected = [
        operation["operationId"]
        for path, item in paths.items()
        for operation in item.values()
        if f"/v1{path}" not in paths
    ]
    heads = {each for each in expected if each.endswith("Head")}
    ids = page.run("return [...document.querySelectorAll('#operations details')].map((e) => e.id)")
    assert sorted(ids) == sorted(set(expected) - heads)
    names = page.run(
        "return [...document.querySelectorAll('#schemas summary')].map((e) => e.innerText)"
    )
    assert names == sorted(document["components"]["schemas"])


def test_a_schema_unfolds_with_its_fields(page: Browser, served: Served, document: Any) -> None:
    page.open(f"{served.url}/docs#schema-ChatCompletionRequest")
    unfolded = page.until(lambda: page.all("#schema-ChatCompletionRequest[open] tbody tr"))
    fields = [row.text.split()[0] for row in unfolded]
    assert fields == list(document["components"]["schemas"]["ChatCompletionRequest"]["properties"])
    rows = {name: row.text for name, row in zip(fields, unfolded, strict=True)}
    assert "number from 0 to 100" in rows["temperature"]
    assert "default 1" in rows["temperature"]
    assert "required" in rows["messages"]


def test_a_search_narrows_the_page_down(page: Browser) -> None:
    page.find("#search").send_keys("text/plain openmetrics")
    left = page.until(lambda: [each for each in page.all(SHOWN) if each.is_displayed()][:9])
    shown = {str(each.get_attribute("id")) for each in left}
    assert shown == {"metrics"}
    assert page.text("#found").startswith("1 of ")


@pytest.mark.parametrize("path", ["/", "/dashboard", "/docs"])
def test_the_pages_lead_to_each_other(served: Served, path: str) -> None:
    text = httpx.get(f"{served.url}{path}").text
    for name, address in {"./": "/", "dashboard": "/dashboard", "docs": "/docs"}.items():
        assert urljoin(path, name) == address
        assert (f'href="{name}"' in text) == (address != path)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_it_is_accessible(page: Browser, scheme: str) -> None:
    page.colours(scheme)
    for name in ("createChatCompletion", "schema-Model", "schema-ToolChoice"):
        page.run("document.getElementById(arguments[0]).open = true", name)
    page.until(lambda: page.all("#schema-ToolChoice[open] pre"))
    axe = Axe(page.driver)
    axe.inject()
    found = axe.run()["violations"]
    assert found == [], axe.report(found)
    page.open("about:blank")  # axe's own script is not the page's
