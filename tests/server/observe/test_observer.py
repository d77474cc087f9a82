"""What is reported of requests: the metrics page, traces, spans, logs; and that they agree."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from maskwright.cli.process.logs import JsonLines, TextLines
from maskwright.engine import Engine, EngineConfig, Request
from maskwright.errors import InputError
from maskwright.kernels.sample_inputs import ORDER
from maskwright.models import LoadedModel, load
from maskwright.sampling import SamplingParams
from maskwright.server import RequestTrace, ServerConfig, TraceFile, create_app
from maskwright.server.observe.spans import Spans
from tests.bounds import wait_until
from tests.engine.tiny import save_checkpoint
from tests.models.products import even_products, uneven_products
from tests.server.scripted import HELLO, Client, ScriptedEngine

CONFIG = EngineConfig(blocks=96, max_running=4, max_batch_tokens=64)
SCHEMA = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
    "additionalProperties": False,
}
SHAPE = {"type": "json_schema", "json_schema": {"name": "s", "schema": SCHEMA}}
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Served:
    """A real engine behind the application; `traces` are all that it has made."""

    def __init__(self, engine: Engine, config: ServerConfig | None = None) -> None:
        self.engine = engine
        self.traces: list[RequestTrace] = []
        self.http = TestClient(create_app(engine, config, [self.traces.append]))

    def chat(self, *, headers: dict[str, str] | None = None, **fields: Any) -> httpx.Response:
        body = {**HELLO, "max_tokens": 12, "seed": 3, **fields}
        return self.http.post("/v1/chat/completions", json=body, headers=headers)

    def samples(self) -> dict[tuple[str, tuple[str, ...]], float]:
        """The metrics page: value by name and label values."""
        page = self.http.get("/metrics").text
        return {
            (sample.name.removeprefix("maskwright_"), tuple(sample.labels.values())): sample.value
            for family in text_string_to_metric_families(page)
            for sample in family.samples
        }


@pytest.fixture
def served(tiny: LoadedModel) -> Iterator[Served]:
    with Engine(tiny, CONFIG) as engine:
        yield Served(engine)


def test_the_page_equals_the_sums_of_the_traces(served: Served) -> None:
    for _ in range(2):
        assert served.chat(response_format=SHAPE).status_code == 200
    for stream in (True, False):
        assert served.chat(stream=stream, n=2).status_code == 200
    assert served.chat(temperature="hot").status_code == 400
    assert served.http.get("/nowhere/at/all").status_code == 404
    wait_until(lambda: len(served.traces) == 6)
    traces = [trace.body() for trace in served.traces]
    page = served.samples()

    def total(field: str) -> float:
        return sum(one[field] or 0 for one in traces)

    def known(field: str) -> int:
        return sum(one[field] is not None for one in traces)

    assert len(traces) == 6
    for name, field in (
        ("prompt_tokens_total", "prompt_tokens"),
        ("prefix_hit_tokens_total", "cached_tokens"),
        ("preemptions_total", "preemptions"),
        ("mask_rows_total", "mask_rows"),
        ("mask_hits_total", "mask_hits"),
        ("mask_seconds_count", "mask_rows"),
    ):
        assert page[name, ()] == total(field), name
    for name in ("drafted_tokens", "accepted_tokens"):
        assert page[f"{name}_total", ("model",)] == total(f"model_{name}")
        looked_up = total(name) - total(f"model_{name}")
        assert page[f"{name}_total", ("lookup",)] == looked_up
    assert page["output_tokens_total", ("sampled",)] == total("sampled_tokens")
    assert page["output_tokens_total", ("forced",)] == total("forced_tokens") > 0
    for name, field in (
        ("queue_seconds", "queue_ms"),
        ("prefill_seconds", "prefill_ms"),
        ("decode_seconds", "decode_ms"),
        ("ttft_seconds", "ttft_ms"),
        ("tpot_seconds", "tpot_ms"),
        ("stream_seconds", "stream_ms"),
        ("client_ttft_seconds", "client_ttft_ms"),
        ("client_tpot_seconds", "client_tpot_ms"),
    ):
        assert page[f"{name}_count", ()] == known(field), name
        assert page[f"{name}_sum", ()] == pytest.approx(total(field) / 1000), name
    assert page["client_ttft_seconds_count", ()] == 2
    assert page["requests_submitted_total", ()] == 6
    reasons = {str(one["finish_reason"]) for one in traces}
    finished = sum(page["requests_finished_total", (reason,)] for reason in reasons)
    assert finished == 6
    assert page["grammars_total", ("compiled",)] == page["grammars_total", ("kept",)] == 1
    assert page["grammar_compile_seconds_count", ("compiled",)] == 1
    assert [one["grammar"] for one in traces].count("kept") == 1
    chat = "/v1/chat/completions"
    assert page["http_requests_total", ("POST", chat, "200")] == 4
    assert page["http_requests_total", ("POST", chat, "400")] == 1
    assert page["http_requests_total", ("GET", "none", "404")] == 1
    assert page["refusals_total", ("invalid_value",)] == page["refusals_total", ("not_found",)] == 1
    blocks = [page["kv_blocks", (state,)] for state in ("used", "cached", "free")]
    assert sum(blocks) == 96
    assert [page["requests", (s,)] for s in ("running", "waiting", "compiling", "paused")] == [
        0
    ] * 4
    assert page["healthy", ()] == 1


def test_whether_bits_depend_on_the_schedule_is_on_the_page(
    tiny: LoadedModel, tmp_path: Path
) -> None:
    """Once the engine's thread has found out; the compiled model's never do."""
    library = load(save_checkpoint(tmp_path), backend="transformers")
    for products, model, expected in (
        (uneven_products, tiny, 1),
        (uneven_products, library, 0),
        (even_products, library, 1),
    ):
        with products():
            engine = Engine(model, CONFIG)
            served = Served(engine)
            assert ("batch_invariant", ()) not in served.samples()
            with engine:
                assert served.chat(max_tokens=2).status_code == 200
                assert served.samples()["batch_invariant", ()] == expected


def test_buckets_add_up(served: Served) -> None:
    served.chat()
    page = served.http.get("/metrics").text
    (family,) = (f for f in text_string_to_metric_families(page) if f.name.endswith("batch_tokens"))
    counts = [sample.value for sample in family.samples if sample.name.endswith("_bucket")]
    assert counts == sorted(counts)
    (count,) = (sample.value for sample in family.samples if sample.name.endswith("_count"))
    assert counts[-1] == count > 0


def test_servers_share_no_metrics(tiny: LoadedModel, served: Served) -> None:
    served.chat()
    with Engine(tiny, CONFIG) as engine:
        assert Served(engine).samples()["requests_submitted_total", ()] == 0


# Traces -------------------------------------------------------------------------------------------


def test_a_client_that_asks_gets_the_trace_of_each_choice(served: Served) -> None:
    answer = served.chat(n=2, maskwright={"trace": True}, headers={"x-request-id": "mine"}).json()
    traces = [choice["maskwright"]["trace"] for choice in answer["choices"]]
    assert [trace["index"] for trace in traces] == [0, 1]
    for trace in traces:
        assert (trace["request_id"], trace["choices"], trace["stream"]) == ("mine", 2, False)
        assert trace["route"] == "/v1/chat/completions"
        assert trace["prompt_tokens"] == answer["usage"]["prompt_tokens"]
        parts = trace["queue_ms"] + trace["prefill_ms"] + trace["decode_ms"]
        assert parts == pytest.approx(trace["total_ms"])
        assert trace["request_ms"] >= trace["ttft_ms"]
        assert trace["stream_ms"] is trace["client_ttft_ms"] is None
    assert sum(t["completion_tokens"] for t in traces) == answer["usage"]["completion_tokens"]
    assert "maskwright" not in served.chat().json()["choices"][0]


def test_a_stream_ends_with_the_trace(served: Served) -> None:
    text = served.chat(stream=True, maskwright={"trace": True}).text
    events = [json.loads(line[6:]) for line in text.split("\n\n") if line.startswith("data: {")]
    own_fields = [event["choices"][0].get("maskwright") for event in events]
    assert own_fields[:-1] == [None] * (len(own_fields) - 1)
    trace = own_fields[-1]["trace"]
    assert trace["stream"]
    (whole,) = served.traces
    assert whole.client_ttft is not None
    if trace["client_ttft_ms"] is None:  # the first text was sent together with the trace
        assert trace["stream_ms"] is None
    else:
        assert trace["client_ttft_ms"] >= trace["ttft_ms"] - trace["total_ms"]
        assert trace["stream_ms"] >= 0
    assert whole.body()["request_ms"] >= trace["request_ms"] - 1


def test_a_client_that_leaves_is_traced_too(served: Served) -> None:
    never_ends = {str(token): -100 for token in served.engine.loaded.eos}
    asked = {"logit_bias": never_ends, "max_tokens": 150, "stream": True}
    with served.http.stream("POST", "/v1/chat/completions", json={**HELLO, **asked}):
        pass  # the test client reads on by itself; what matters is that it ends
    wait_until(lambda: len(served.traces) == 1)
    assert served.traces[0].body()["finish_reason"] in {"length", "cancelled"}


@pytest.mark.parametrize("fields", [{}, {"response_format": SHAPE}])
def test_a_replay_from_the_trace_of_tokens(
    tiny: LoadedModel, served: Served, fields: dict[str, Any]
) -> None:
    """What is in the JSON is enough: asked again over HTTP, and put to another engine."""
    sampled = {"temperature": 1.4, "top_p": 0.9, "presence_penalty": 0.2, "seed": None}
    asked = {**sampled, **fields, "max_tokens": 30, "maskwright": {"trace": "tokens"}}
    (choice,) = served.chat(**asked).json()["choices"]
    assert choice["logprobs"] is None, "scores were not asked for"
    traced = choice["maskwright"]["tokens"]
    assert traced["processors"] == list(ORDER)
    tokens = [step["token"] for step in traced["tokens"]]
    assert len(tokens) == choice["maskwright"]["trace"]["completion_tokens"]
    spelled = b"".join(bytes(step["bytes"]) for step in traced["tokens"])
    assert spelled.decode(errors="replace") == choice["message"]["content"]
    for number, step in enumerate(traced["tokens"]):
        assert step["position"] == len(traced["prompt_token_ids"]) + number
        assert step["masked"] >= step["raw"]
        assert (step["state"] is None) == (not fields or step["canonical"])
    (again,) = served.chat(**{**asked, "seed": traced["seed"]}).json()["choices"]
    assert again["maskwright"]["tokens"]["tokens"] == traced["tokens"]
    if not fields:
        params = {**traced["params"], "bad_words": tuple(traced["params"]["bad_words"])}
        replayed = Request(
            traced["prompt_token_ids"],
            SamplingParams(**params, seed=traced["seed"]),
            traced["max_tokens"],
        )
        with Engine(tiny, replace(CONFIG, drafts=0, block_size=4)) as other:
            assert list(other.submit(replayed).result().token_ids) == tokens


@pytest.mark.parametrize("wrong", ["all", 1, []])
def test_a_trace_of_something_else_is_refused(client: Client, wrong: Any) -> None:
    error = client.chat(maskwright={"trace": wrong}).json()["error"]
    assert error["param"] == "maskwright.trace"


def test_a_file_of_traces(tiny: LoadedModel, tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    file = TraceFile(str(path))
    with Engine(tiny, CONFIG) as engine:
        http = TestClient(create_app(engine, sinks=[file]))
        for _ in range(2):
            http.post("/v1/chat/completions", json={**HELLO, "max_tokens": 5})
    file.close()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["id"] for line in lines] == [1, 2]
    with pytest.raises(InputError, match="can't write"):
        TraceFile(str(tmp_path / "no" / "such" / "folder"))


def test_a_sink_that_fails_harms_nobody(
    tiny: LoadedModel, caplog: pytest.LogCaptureFixture
) -> None:
    def full(_: RequestTrace) -> None:
        raise OSError("no space left")

    with Engine(tiny, CONFIG) as engine:
        http = TestClient(create_app(engine, sinks=[full]))
        for _ in range(2):
            assert http.post("/v1/chat/completions", json=HELLO).status_code == 200
        assert engine.alive
    assert "no space left" in caplog.text


# Spans --------------------------------------------------------------------------------------------


def test_spans(tiny: LoadedModel) -> None:
    exporter = InMemorySpanExporter()
    spans = Spans(SimpleSpanProcessor(exporter))
    with Engine(tiny, CONFIG) as engine:
        http = TestClient(create_app(engine, sinks=[spans]))
        body = {**HELLO, "max_tokens": 5, "response_format": SHAPE, "max_completion_tokens": 30}
        http.post("/v1/chat/completions", json=body, headers={"traceparent": PARENT})
        http.post("/v1/chat/completions", json={**HELLO, "max_tokens": 5, "n": 2, "seed": -1})
    child, *others = exporter.get_finished_spans()
    spans.close()
    assert child.name == "POST /v1/chat/completions"
    assert child.parent is not None
    assert f"{child.context.trace_id:032x}" == PARENT.split("-")[1]
    assert f"{child.parent.span_id:016x}" == PARENT.split("-")[2]
    attributes = dict(child.attributes or {})
    assert attributes["maskwright.finish_reason"] == "grammar_complete"
    assert attributes["maskwright.shape"] == "json"
    for name in ("queue_ms", "prefill_ms", "decode_ms", "compile_ms", "kv_blocks_peak"):
        assert f"maskwright.{name}" in attributes
    assert child.end_time - child.start_time == pytest.approx(
        attributes["maskwright.request_ms"] * 1e6, abs=2
    )
    assert [span.parent for span in others] == [None, None]
    assert [span.attributes["maskwright.index"] for span in others] == [0, 1]
    # Text: what is sent has no room for numbers above 2^63.
    assert others[0].attributes["maskwright.seed"] == str(2**64 - 1)


def test_a_parent_that_is_none_is_left_alone(client: Client, engine: ScriptedEngine) -> None:
    response = client.call(
        "POST", "/v1/chat/completions", json=HELLO, headers={"traceparent": "nonsense"}
    )
    assert response.status_code == 200


# Logs ---------------------------------------------------------------------------------------------


@contextmanager
def logged(formatter: logging.Formatter) -> Iterator[io.StringIO]:
    """What the package logs while the block runs."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    logger = logging.getLogger("maskwright")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield stream
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)


def test_json_logs_name_the_request_and_hold_no_text(client: Client) -> None:
    secret = "a word that nobody should read"
    messages = [{"role": "user", "content": secret}]
    with logged(JsonLines()) as stream:
        named = {"x-request-id": "this-one"}
        path = "/v1/chat/completions"
        client.call("POST", path, json={**HELLO, "messages": messages}, headers=named)
        client.call("POST", path, json={"messages": messages, "n": "x"}, headers=named)
        client.call("GET", "/health")
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["request_id"] for line in lines] == ["this-one"] * 2
    assert [(line["status"], line["code"]) for line in lines] == [
        (200, None), (400, "invalid_value"),
    ]  # fmt: skip
    assert all(line["level"] == "info" and line["ms"] > 0 for line in lines)
    assert secret not in stream.getvalue()


def test_prompts_are_logged_when_asked(client: Client) -> None:
    client.config = ServerConfig(log_prompts=True)
    for formatter in (JsonLines(), TextLines()):
        with logged(formatter) as stream:
            client.chat()
        assert "user: hello" in stream.getvalue()


def test_lines_for_people(client: Client, engine: ScriptedEngine) -> None:
    engine.refuse = lambda _: ZeroDivisionError("boom")
    with logged(TextLines()) as stream:
        named = {"x-request-id": "this-one"}
        client.call("POST", "/v1/chat/completions", json=HELLO, headers=named)
    text = stream.getvalue()
    assert " error this-one: " in text
    assert "ZeroDivisionError: boom" in text
    assert " info this-one: POST /v1/chat/completions 500 in " in text
    assert text.rstrip().endswith("(internal_error)")
