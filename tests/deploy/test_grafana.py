"""The dashboard for Grafana: its structure, and its expressions over the metrics of a server."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.deploy.promql import Series, evaluate
from tests.pages.demo_server import Served, demo_server
from tests.source_tree import ROOT

FILE = ROOT / "deploy" / "grafana" / "maskwright.json"
DASHBOARD: dict[str, Any] = json.loads(FILE.read_text())
PANELS: list[dict[str, Any]] = DASHBOARD["panels"]
TARGETS = [(panel["title"], each["expr"]) for panel in PANELS for each in panel["targets"]]
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
COLUMNS = 24
UNITS = {"short", "s", "percentunit", "bytes", "reqps"}
"""Ids of units that Grafana knows."""
INSTANCE = "a:8000"
MINUTE = 60.0


def test_the_form_is_that_of_a_dashboard() -> None:
    """As the schema of dashboards in Grafana's documentation has it, version 39."""
    assert DASHBOARD["schemaVersion"] == 39
    assert DASHBOARD["title"] == "Maskwright"
    assert re.fullmatch(r"[\w-]{1,40}", DASHBOARD["uid"])
    assert DASHBOARD["time"] == {"from": "now-1h", "to": "now"}
    assert "id" not in DASHBOARD  # which a server gives
    ids = [panel["id"] for panel in PANELS]
    assert len(set(ids)) == len(ids)
    for panel in PANELS:
        assert panel["type"] in ("stat", "timeseries")
        assert panel["title"]
        assert panel["description"]
        assert panel["datasource"] == SOURCE
        defaults = panel["fieldConfig"]["defaults"]
        assert defaults["unit"] in UNITS
        assert panel["fieldConfig"]["overrides"] == []
        [first, *others] = defaults["thresholds"]["steps"]
        assert first["value"] is None
        assert all(isinstance(each["value"], int | float) for each in others)
        letters = [each["refId"] for each in panel["targets"]]
        assert letters == [chr(ord("A") + number) for number in range(len(letters))]
        assert all(each["datasource"] == SOURCE for each in panel["targets"])


def test_grafanas_own_classes_read_all_of_it() -> None:
    """Read by them and written again it has every field that it had: none is unknown to Grafana's
    schema, or is of another type there."""
    models: Any = pytest.importorskip("grafana_foundation_sdk.models.dashboard")
    plugins: Any = importlib.import_module("grafana_foundation_sdk.cog.plugins")
    encoder: Any = importlib.import_module("grafana_foundation_sdk.cog.encoder")
    plugins.register_default_plugins()
    read = models.Dashboard.from_json(DASHBOARD)
    assert missing(DASHBOARD, json.loads(json.dumps(read, cls=encoder.JSONEncoder))) == []
    changed = {**DASHBOARD, "refesh": "5s"}
    read = models.Dashboard.from_json(changed)
    written = json.loads(json.dumps(read, cls=encoder.JSONEncoder))
    assert missing(changed, written) == ["/refesh"]


def missing(wanted: Any, found: Any, place: str = "") -> list[str]:
    """The places of what is in `wanted`, and not so in `found`."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        names: dict[str, Any] = wanted
        return [
            at for name in names for at in missing(names[name], found.get(name), f"{place}/{name}")
        ]
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        pairs: list[tuple[Any, Any]] = list(zip(wanted, found, strict=True))
        return [at for index, pair in enumerate(pairs) for at in missing(*pair, f"{place}/{index}")]
    return [] if wanted == found else [place]


def test_the_panels_fill_the_grid_without_overlap() -> None:
    cells = [
        {
            (panel["gridPos"]["x"] + right, panel["gridPos"]["y"] + down)
            for right in range(panel["gridPos"]["w"])
            for down in range(panel["gridPos"]["h"])
        }
        for panel in PANELS
    ]
    for one, other in combinations(cells, 2):
        assert not one & other
    every = set[tuple[int, int]]().union(*cells)
    assert {right for right, _ in every} == set(range(COLUMNS))
    assert len(every) == COLUMNS * (1 + max(down for _, down in every))


def test_the_variables_are_those_that_are_used() -> None:
    variables = {each["name"]: each for each in DASHBOARD["templating"]["list"]}
    used = set(re.findall(r"\$\{?([a-z]\w*)", json.dumps(PANELS)))
    assert used == set(variables)
    assert variables["datasource"]["type"] == "datasource"
    assert variables["datasource"]["query"] == "prometheus"
    query = variables["instance"]["query"]["query"]
    assert query == "label_values(maskwright_healthy, instance)"
    assert all('{instance=~"$instance"' in expression for _, expression in TARGETS)


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with demo_server() as served:
        yield served


@pytest.fixture(scope="module")
def series(served: Served) -> Series:
    """What Prometheus has of a server that answers between two minutes."""
    found: dict[frozenset[tuple[str, str]], list[tuple[float, float]]] = {}
    for number in range(3):
        scrape(served, found, number * MINUTE)
        ask(served)
    return found


def scrape(served: Served, found: dict[Any, list[tuple[float, float]]], at: float) -> None:
    for family in text_string_to_metric_families(httpx.get(f"{served.url}/metrics").text):
        for sample in family.samples:
            labels = {**sample.labels, "__name__": sample.name, "instance": INSTANCE}
            found.setdefault(frozenset(labels.items()), []).append((at, sample.value))


def ask(served: Served) -> None:
    """A free answer, one of a shape, and a refusal."""
    body: dict[str, Any] = {"messages": [{"role": "user", "content": "A colour?"}], "max_tokens": 8}
    for more, status in (({}, 200), ({"guided_choice": ["red", "blue"]}, 200), ({"n": -1}, 400)):
        answer = httpx.post(f"{served.url}/v1/chat/completions", json={**body, **more})
        assert answer.status_code == status


def test_every_metric_and_label_that_is_named_exists(series: Series) -> None:
    known = [dict(labels) for labels in series]
    for title, expression in TARGETS:
        for name, matchers in re.findall(r"(maskwright_\w+)\{([^}]*)\}", expression):
            labels = [each for each in known if each["__name__"] == name]
            assert labels, (title, name)
            for label, sign, value in re.findall(r'(\w+)(!?=)"([^"]*)"', matchers):
                assert all(label in each for each in labels), (title, label)
                if sign == "=":
                    assert any(each[label] == value for each in labels), (title, value)
        named = set(re.findall(r"maskwright_\w+", expression))
        assert named == set(re.findall(r"(maskwright_\w+)\{", expression)), title


@pytest.mark.parametrize(("title", "expression"), TARGETS)
def test_every_expression_has_values(series: Series, title: str, expression: str) -> None:
    plain = re.sub(r'instance=~"\$instance",?', "", expression).replace("$__rate_interval", "5m")
    vector = evaluate(plain, series, 2 * MINUTE)
    assert vector, title
    [panel] = [each for each in PANELS if each["title"] == title and expression in str(each)]
    assert set(panel["targets"][0]) >= {"expr", "legendFormat"}
    legend = next(each["legendFormat"] for each in panel["targets"] if each["expr"] == expression)
    for label in re.findall(r"\{\{(\w+)\}\}", legend):
        assert all(label in dict(labels) for labels in vector), (title, label)


def test_figures_are_those_of_the_server(series: Series, served: Served) -> None:
    stats = served.engine.stats()
    by_title = dict(TARGETS[:6])
    plain = re.sub(r'instance=~"\$instance",?', "", by_title["Blocks in use"])
    [share] = evaluate(plain, series, 2 * MINUTE).values()
    assert share == stats.blocks_used / stats.blocks_total
    plain = re.sub(r'instance=~"\$instance",?', "", by_title["Engines that run"])
    assert list(evaluate(plain, series, 2 * MINUTE).values()) == [1.0]
