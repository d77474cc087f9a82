"""`maskwright diagnose` on synthetic traces, and on those that a running server has written."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskwright.cli.observe.diagnose import STAGES, read_traces, timed_requests
from maskwright.cli.serving.start import warm_up
from maskwright.engine import Engine, EngineConfig
from maskwright.errors import InputError
from maskwright.models import DEMO_PATH, load
from maskwright.server import TraceFile, create_app
from tests.bounds import PATIENCE, wait_until
from tests.cli.conftest import Run
from tests.cli.observe.synthetic import SLOW, steady, trace, write
from tests.live_server import live_server
from tests.source_tree import ROOT


def serve_load(file: Path, config: EngineConfig, *loads: tuple[int, list[dict[str, Any]]]) -> None:
    """Have a server answer some loads one after another, each with so many requests at a time, and
    write their traces."""
    sink = TraceFile(str(file))
    with Engine(load(DEMO_PATH), config) as engine:
        warm_up(engine)
        app = create_app(engine, sinks=(sink,))
        with live_server(app) as url, httpx.Client(timeout=PATIENCE) as client:

            def ask(body: dict[str, Any]) -> None:
                asked = {"messages": [{"role": "user", "content": "Hello"}], **body}
                client.post(f"{url}/v1/chat/completions", json=asked).raise_for_status()

            for at_once, bodies in loads:
                with ThreadPoolExecutor(at_once) as pool:
                    list(pool.map(ask, bodies))
            count = sum(len(bodies) for _, bodies in loads)
            wait_until(lambda: len(file.read_text().splitlines()) == count)
    sink.close()


def found_in(run: Run, file: Path, *options: object) -> dict[str, Any]:
    return json.loads(run("diagnose", file, "--json", *options).stdout)


def test_a_server_with_one_slot_has_its_tail_in_the_queue(run: Run, tmp_path: Path) -> None:
    bodies = [{"max_tokens": 12, "seed": n, "ignore_eos": True} for n in range(24)]
    file = tmp_path / "traces.jsonl"
    config = EngineConfig(max_running=1, max_batch_tokens=64)
    serve_load(file, config, (1, bodies[:16]), (8, bodies[16:]))
    found = found_in(run, file, "--share", 10)
    assert found["requests"] == 24
    assert found["culprit"] == "queue"
    assert "waiting in the queue" in run("diagnose", file, "--share", 10).stdout.replace("\n ", "")


def test_a_server_with_few_long_answers_has_its_tail_in_decoding(run: Run, tmp_path: Path) -> None:
    bodies = [{"max_tokens": 90 if n % 10 == 4 else 2, "temperature": 1.0, "seed": n,
               "ignore_eos": True} for n in range(50)]  # fmt: skip
    file = tmp_path / "traces.jsonl"
    serve_load(file, EngineConfig(), (1, bodies))
    found = found_in(run, file, "--share", 10)
    assert found["culprit"] == "decode"
    assert found["slowest"]["completion_tokens"] > 80 > found["middle"]["completion_tokens"]
    law = found["littles_law"]
    assert law["counted"] == pytest.approx(law["product"], rel=0.3), "one request at a time"
    assert law["most"] == 1 or law["most"] == 2
    for group in ("middle", "slowest"):
        assert sum(found[group]["stages"].values()) == pytest.approx(found[group]["whole"])


@pytest.mark.parametrize("culprit", SLOW)
def test_the_culprit_stands_in_the_first_sentence(run: Run, tmp_path: Path, culprit: str) -> None:
    file = write(tmp_path / "t.jsonl", steady(200, 5.0, **SLOW[culprit]))
    found = found_in(run, file)
    assert found["culprit"] == culprit
    shown = " ".join(run("diagnose", file).stdout.split())
    assert shown.startswith(" ".join(found["verdict"].split()))
    assert found["advice"].split()[0] in shown
    assert "Little's law: " in shown


def test_a_class_of_service_is_looked_at_alone(run: Run, tmp_path: Path) -> None:
    traces = steady(100, 5.0, **SLOW["queue"])
    for number, each in enumerate(traces):
        each["service"] = "batch" if number % 2 else "interactive"
    file = write(tmp_path / "t.jsonl", traces)
    assert found_in(run, file, "--service", "batch")["requests"] == 50
    nobody = run("diagnose", file, "--service", "nobody")
    assert (nobody.returncode, nobody.stdout) == (2, "")
    assert "0 requests are too few" in nobody.stderr


def test_the_picture_is_written(run: Run, tmp_path: Path) -> None:
    file = write(tmp_path / "t.jsonl", steady(200, 5.0, **SLOW["masks"]))
    drawn = tmp_path / "tail.svg"
    assert run("diagnose", file, "--plot", drawn).returncode == 0
    assert len(list(ElementTree.fromstring(drawn.read_text()).iter())) > 30


def test_the_document_shows_what_is_printed(run: Run, tmp_path: Path) -> None:
    file = write(tmp_path / "t.jsonl", steady(400, 5.0, **SLOW["masks"]))
    document = (ROOT / "docs" / "operations.md").read_text()
    shown = document.partition("$ maskwright diagnose traces.jsonl\n")[2].partition("```")[0]
    assert run("diagnose", file).stdout == shown


TIMES = st.floats(0, 1000)


@given(
    st.dictionaries(
        st.sampled_from(
            ["compile_ms", "queue_ms", "prefill_ms", "decode_ms", "paused_ms", "client_ttft_ms"]
        ),
        TIMES,
    ),
    st.floats(0, 1), st.floats(0, 1), st.booleans(),
)  # fmt: skip
def test_stages_add_up(times: dict[str, float], late: float, lost: float, stream: bool) -> None:
    fields = trace(1, 0.0, **times)
    work = fields["prefill_ms"] + fields["decode_ms"]
    fields |= {
        "late_ms": late * work,
        "preempted_ms": (1 - late) * lost * work,
        "stream": stream,
    }
    (found,) = timed_requests([fields])
    assert set(found.stages) == set(STAGES)
    assert all(value >= -1e-6 for value in found.stages.values())
    assert sum(found.stages.values()) == pytest.approx(found.whole)


def test_the_slowest_choice_stands_for_a_request() -> None:
    one, other = trace(1, 5.0, decode_ms=10.0), trace(1, 5.0, decode_ms=900.0)
    (found,) = timed_requests([one, other])
    assert found.stages["decode"] == 900.0
    assert [r.received for r in timed_requests([trace(2, 7.0), trace(1, 5.0)])] == [5.0, 7.0]


def test_what_a_stream_takes_after_its_first_text_is_its_readers() -> None:
    """500 ms in the server before the engine, and 300 ms after it until everything was sent."""
    fields = trace(1, 0.0, stream=True, client_ttft_ms=522.2, request_ms=1022.2)
    (found,) = timed_requests([fields])
    assert found.stages["server"] == pytest.approx(500.0)
    assert found.stages["reader"] == pytest.approx(300.0)
    (whole,) = timed_requests([{**fields, "stream": False}])
    assert (whole.stages["server"], whole.stages["reader"]) == (pytest.approx(800.0), 0.0)


def test_a_request_that_ended_in_the_queue_has_no_other_times() -> None:
    fields = trace(1, 0.0, prefill_ms=0.0, decode_ms=0.0)
    fields |= {"prefill_ms": None, "decode_ms": None, "compile_ms": None}
    (found,) = timed_requests([fields])
    assert found.stages["prefill"] == found.stages["decode"] == 0.0


def test_a_last_line_that_is_being_written_is_left_out(tmp_path: Path) -> None:
    file = write(tmp_path / "t.jsonl", [trace(1, 0.0), trace(2, 1.0)])
    assert len(read_traces(str(file))) == 2
    with file.open("a") as more:
        more.write(json.dumps(trace(3, 2.0))[:50])
    assert [one["request_id"] for one in read_traces(str(file))] == ["req_1", "req_2"]


def test_a_whole_last_line_without_its_end_counts(tmp_path: Path) -> None:
    file = write(tmp_path / "t.jsonl", [trace(1, 0.0), trace(2, 1.0)])
    file.write_text(file.read_text().rstrip("\n"))
    assert [one["request_id"] for one in read_traces(str(file))] == ["req_1", "req_2"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nothing", "t.jsonl:2: not JSON"),
        ("[1]", "t.jsonl:2: not a JSON object"),
        ('{"request_id": "a"}', "t.jsonl:2: no trace of a request: received is missing"),
    ],
)
def test_what_is_no_trace_is_reported_with_its_line(
    tmp_path: Path, line: str, message: str
) -> None:
    file = write(tmp_path / "t.jsonl", [trace(1, 0.0)])
    file.write_text(file.read_text() + line + "\n")
    with pytest.raises(InputError, match=message):
        read_traces(str(file))
