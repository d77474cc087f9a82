"""What the grammar processes have done, as Prometheus reads it."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from maskwright.processes import GrammarProcesses


class ProcessMetrics(Collector):
    """Reads the counts of one server's grammar processes."""

    def __init__(self, processes: GrammarProcesses) -> None:
        self._processes = processes

    def describe(self) -> list[Metric]:
        """Nothing: registering must not read the processes."""
        return []

    def collect(self) -> Iterator[Metric]:
        stats = self._processes.stats
        for name, told, value in (
            ("grammar_processes", "Grammar processes that run.", stats.running),
            ("grammar_process_bytes",
             "Physical memory of grammar processes; what they share counts for each.",
             self._processes.memory),
        ):  # fmt: skip
            yield GaugeMetricFamily(f"maskwright_{name}", told, value=value)
        for name, told, value in (
            ("grammar_process_restarts", "Grammar processes that had to be replaced.",
             stats.restarts),
            ("grammar_process_jobs", "Jobs of grammar processes, of every kind.", stats.jobs),
            ("grammar_questions", "Questions about what comes next in a text.", stats.questions),
            ("heavy_grammars", "Grammars that got a process of their own.", stats.heavy),
            ("grammar_process_limits", "Jobs that took too much time or memory.", stats.limits),
        ):  # fmt: skip
            yield CounterMetricFamily(f"maskwright_{name}", told, value=value)
