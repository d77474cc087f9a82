"""Each alert that ships, firing where it should and silent where it should not, by an evaluator of
the part of PromQL that the rules use and, where it is installed, by promtool itself."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from maskwright.server.observe.metrics import Metrics
from tests.cli.test_documentation import options
from tests.deploy.promql import Labels, Series, firing, parse_series, parse_values
from tests.server.observe.test_engine_metrics import STATS, ScriptedStats
from tests.source_tree import ROOT

FILE = ROOT / "deploy" / "prometheus" / "alerts.yaml"
RULES: dict[str, dict[str, Any]] = {
    rule["alert"]: rule for rule in yaml.safe_load(FILE.read_text())["groups"][0]["rules"]
}
WHO = {"job": "maskwright", "instance": "a:8000"}
EVERY = 15.0
"""Seconds between two samples, and between two evaluations."""
MINUTES = 20


class Scenario(NamedTuple):
    """Samples of 20 minutes, and whether the alert fires at their end."""

    alert: str
    fires: bool
    series: dict[str, str]


def histogram(name: str, fast: int, slow: int) -> dict[str, str]:
    """A histogram that gets so many fast values (at most 0.05) and slow ones (5 to 10) a sample."""
    whole = fast + slow
    counts = {"0.05": fast, "0.25": fast, "1.0": fast, "2.5": fast, "5.0": fast, "10.0": whole}
    return {
        f'maskwright_{name}_bucket{{le="{bound}"}}': f"0+{count}x80"
        for bound, count in {**counts, "+Inf": whole}.items()
    }


WAITING, FREE = ({'maskwright_requests{state="waiting"}': f"{count}x80"} for count in (3, 0))
SCENARIOS = [
    Scenario("MaskwrightEngineStopped", True, {"maskwright_healthy": "1x40 0x40"}),
    Scenario("MaskwrightEngineStopped", False, {"maskwright_healthy": "1x80"}),
    Scenario("MaskwrightEngineStopped", False, {"maskwright_healthy": "1x76 0x2"}),
    Scenario("MaskwrightSlowFirstToken", True, histogram("ttft_seconds", 9, 1)),
    Scenario("MaskwrightSlowFirstToken", False, histogram("ttft_seconds", 97, 3)),
    Scenario("MaskwrightSlowFirstToken", False, histogram("ttft_seconds", 0, 0)),
    Scenario("MaskwrightSlowTokens", True, histogram("tpot_seconds", 9, 1)),
    Scenario("MaskwrightSlowTokens", False, histogram("tpot_seconds", 97, 3)),
    Scenario("MaskwrightLongQueue", True, {**histogram("queue_seconds", 8, 2), **WAITING}),
    Scenario("MaskwrightLongQueue", False, {**histogram("queue_seconds", 8, 2), **FREE}),
    Scenario("MaskwrightLongQueue", False, {**histogram("queue_seconds", 95, 5), **WAITING}),
    Scenario("MaskwrightKvFull", True, {"maskwright_kv_use": "0.5x40 0.97x40"}),
    Scenario("MaskwrightKvFull", False, {"maskwright_kv_use": "0.9x80"}),
    Scenario("MaskwrightKvFull", False, {"maskwright_kv_use": "0.97x70 0.9 0.97x8"}),
    Scenario("MaskwrightRefusals", True,
             {'maskwright_requests_refused_total{reason="queue"}': "0+1x80",
              'maskwright_requests_refused_total{reason="objective"}': "0+1x80",
              "maskwright_requests_submitted_total": "0+20x80"}),
    Scenario("MaskwrightRefusals", False,
             {'maskwright_requests_refused_total{reason="queue"}': "0+1x80",
              'maskwright_requests_refused_total{reason="objective"}': "0x80",
              "maskwright_requests_submitted_total": "0+20x80"}),
    Scenario("MaskwrightRefusals", False,
             {'maskwright_requests_refused_total{reason="queue"}': "7x80",
              "maskwright_requests_submitted_total": "20x80"}),
    Scenario("MaskwrightPreemptions", True,
             {"maskwright_preemptions_total": "0+2x80",
              "maskwright_requests_submitted_total": "0+10x80"}),
    Scenario("MaskwrightPreemptions", False,
             {"maskwright_preemptions_total": "0+1x80",
              "maskwright_requests_submitted_total": "0+20x80"}),
    Scenario("MaskwrightPreemptions", False,
             {"maskwright_preemptions_total": "50x80",
              "maskwright_requests_submitted_total": "100x80"}),
    Scenario("MaskwrightLateMasks", True,
             {"maskwright_late_rows_total": "0+60x80", "maskwright_mask_rows_total": "0+1000x80"}),
    Scenario("MaskwrightLateMasks", False,
             {"maskwright_late_rows_total": "0+40x80", "maskwright_mask_rows_total": "0+1000x80"}),
    Scenario("MaskwrightServerErrors", True,
             {'maskwright_http_requests_total{route="/v1/x",status="500"}': "4x75 5x5",
              'maskwright_http_requests_total{route="/v1/x",status="200"}': "0+10x80"}),
    Scenario("MaskwrightServerErrors", False,
             {'maskwright_http_requests_total{route="/v1/x",status="500"}': "4x80",
              'maskwright_http_requests_total{route="/v1/x",status="429"}': "0+10x80"}),
]  # fmt: skip


def written(name: str) -> str:
    """A series with the labels that Prometheus adds."""
    labels_of = dict(parse_series(name)) | WHO
    metric = labels_of.pop("__name__")
    labels = ",".join(f'{key}="{value}"' for key, value in labels_of.items())
    return f"{metric}{{{labels}}}"


def samples(scenario: Scenario) -> Series:
    return {
        parse_series(written(name)): [
            (EVERY * number, value)
            for number, value in enumerate(parse_values(values))
            if value is not None
        ]
        for name, values in scenario.series.items()
    }


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: f"{one.alert}-{one.fires}")
def test_an_alert_fires_when_it_should(scenario: Scenario) -> None:
    found = firing(RULES[scenario.alert], samples(scenario), 60.0 * MINUTES, EVERY)
    who: Labels = frozenset(WHO.items())
    assert found == ([who] if scenario.fires else [])


def test_every_alert_is_shown_firing_and_silent() -> None:
    for fires in (True, False):
        assert {one.alert for one in SCENARIOS if one.fires is fires} == set(RULES)


def test_every_metric_that_is_named_exists() -> None:
    """In expressions and descriptions, as a running server has it."""
    metrics = Metrics(cast(Any, ScriptedStats(STATS)), "m")
    page, _ = metrics.page("text/plain")
    known = {
        name
        for family in text_string_to_metric_families(page.decode())
        for name in (family.name, f"{family.name}_total", f"{family.name}_bucket")
    }
    known.add("maskwright_heavy_grammars_total")  # of a server with grammar processes
    named = set(re.findall(r"maskwright_\w+", FILE.read_text()))
    assert named - known == set()


def test_every_option_that_is_named_exists() -> None:
    named = set(re.findall(r"(?<![\w-])--[a-z-]+", FILE.read_text()))
    assert named
    assert named <= options("serve")


def promtool_tests() -> Iterator[dict[str, Any]]:
    """The scenarios in promtool's form."""
    for scenario in SCENARIOS:
        rule = RULES[scenario.alert]
        alert = {
            "exp_labels": {**WHO, **rule.get("labels", {})},
            "exp_annotations": rule["annotations"],
        }
        yield {
            "interval": f"{EVERY:.0f}s",
            "input_series": [
                {"series": written(name), "values": values}
                for name, values in scenario.series.items()
            ],
            "alert_rule_test": [
                {
                    "eval_time": f"{MINUTES}m",
                    "alertname": scenario.alert,
                    "exp_alerts": [alert] if scenario.fires else [],
                }
            ],
        }


def test_promtool_agrees(tmp_path: Path) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed")
    file = tmp_path / "tests.yaml"
    document = {
        "rule_files": [str(FILE)],
        "evaluation_interval": f"{EVERY:.0f}s",
        "tests": list(promtool_tests()),
    }
    file.write_text(yaml.safe_dump(document))
    for arguments in (["check", "rules", str(FILE)], ["test", "rules", str(file)]):
        found = subprocess.run([promtool, *arguments], capture_output=True, text=True, check=False)
        assert found.returncode == 0, found.stdout + found.stderr
