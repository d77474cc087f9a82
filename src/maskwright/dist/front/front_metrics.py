"""The router's metrics, and its workers' with their names."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

SECONDS = (0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05)


class FrontMetrics:
    """Counters of one router; their names begin with `maskwright_router_`."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        prefix = "maskwright_router"
        self._requests = Counter(
            f"{prefix}_requests", "Requests by worker and status.", ["worker", "status"],
            registry=registry,
        )  # fmt: skip
        self._retries = Counter(
            f"{prefix}_retries", "Requests sent to another worker before their first byte.",
            ["worker", "reason"], registry=registry,
        )  # fmt: skip
        self._continued = Counter(
            f"{prefix}_continued", "Streams that another worker went on with, by the lost worker.",
            ["worker"], registry=registry,
        )  # fmt: skip
        self._failed = Counter(
            f"{prefix}_failed", "Requests that the router itself answered with an error.",
            ["code"], registry=registry,
        )  # fmt: skip
        self._choices = Counter(
            f"{prefix}_choices", "Choices of a worker by what decided.", ["reason"],
            registry=registry,
        )  # fmt: skip
        self._handed = Counter(
            f"{prefix}_hand_offs", "Requests that a worker computed the prompt of for another one, "
            "by what became of its blocks.", ["worker", "outcome"], registry=registry,
        )  # fmt: skip
        self._handed_bytes = Counter(
            f"{prefix}_hand_off_bytes", "Bytes of keys and values that a worker sent to others.",
            ["worker"], registry=registry,
        )  # fmt: skip
        self._ready = Gauge(
            f"{prefix}_worker_ready", "Whether a worker takes requests.", ["worker"],
            registry=registry,
        )  # fmt: skip
        self._running = Gauge(
            f"{prefix}_worker_running", "Requests that a worker is answering.", ["worker"],
            registry=registry,
        )  # fmt: skip
        self._deciding = Histogram(
            f"{prefix}_choice_seconds", "Time to read a request and to choose its worker.",
            buckets=SECONDS, registry=registry,
        )  # fmt: skip

    def note_answer(self, worker: str, status: int) -> None:
        self._requests.labels(worker, str(status)).inc()

    def note_retry(self, worker: str, reason: str) -> None:
        self._retries.labels(worker, reason).inc()

    def note_continued(self, worker: str) -> None:
        self._continued.labels(worker).inc()

    def note_failed(self, code: str) -> None:
        self._failed.labels(code).inc()

    def note_choice(self, reason: str, seconds: float) -> None:
        self._choices.labels(reason).inc()
        self._deciding.observe(seconds)

    def note_hand_off(self, worker: str, outcome: str, nbytes: int) -> None:
        self._handed.labels(worker, outcome).inc()
        self._handed_bytes.labels(worker).inc(nbytes)

    def note_state(self, worker: str, *, ready: bool, running: int) -> None:
        self._ready.labels(worker).set(ready)
        self._running.labels(worker).set(running)

    def page(self, pages: Mapping[str, str]) -> bytes:
        """Return the router's metrics and the workers', given by name, in Prometheus' text
        format."""
        return generate_latest(self._registry) + joined(pages).encode()


def joined(pages: Mapping[str, str]) -> str:
    """Join the pages of workers: each sample gets a label `worker`, and the samples of a metric
    stand together after one description."""
    families: dict[str, list[str]] = {}
    for name, page in pages.items():
        family, described = "", False
        for line in page.splitlines():
            if line.startswith("# "):
                parts = line.split(" ", 3)
                if len(parts) > 2 and parts[1] == "HELP":
                    family, described = parts[2], parts[2] in families
                if family and not described:
                    families.setdefault(family, []).append(line)
            elif line:
                families.setdefault(family, []).append(_labelled(line, name))
    return "".join(f"{line}\n" for lines in families.values() for line in lines)


def _labelled(sample: str, worker: str) -> str:
    name, brace, rest = sample.partition("{")
    if brace and " " not in name:
        return f'{name}{{worker="{worker}",{rest}'
    name, _, value = sample.partition(" ")
    return f'{name}{{worker="{worker}"}} {value}'
