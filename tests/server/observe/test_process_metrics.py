"""What Prometheus reads of grammar processes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from maskwright.processes import ProcessStats
from maskwright.server.observe.metrics import ProcessMetrics

API = Path(__file__).resolve().parents[3] / "docs" / "api.md"


@dataclass
class ScriptedProcesses:
    """Stands in for grammar processes: it has nothing but counts."""

    stats: ProcessStats
    memory: int


def test_every_count_has_its_name_and_is_documented() -> None:
    stats = ProcessStats(running=3, restarts=4, jobs=50, questions=40, heavy=2, limits=1)
    registry = CollectorRegistry()
    registry.register(ProcessMetrics(cast(Any, ScriptedProcesses(stats, 1 << 20))))
    found = {
        sample.name.removeprefix("maskwright_"): sample.value
        for family in text_string_to_metric_families(generate_latest(registry).decode())
        for sample in family.samples
        if not sample.name.endswith("_created")
    }
    assert found == {
        "grammar_processes": 3,
        "grammar_process_bytes": 1 << 20,
        "grammar_process_restarts_total": 4,
        "grammar_process_jobs_total": 50,
        "grammar_questions_total": 40,
        "heavy_grammars_total": 2,
        "grammar_process_limits_total": 1,
    }
    reference = API.read_text(encoding="utf-8")
    assert [name for name in found if f"`{name}`" not in reference] == []
