"""Traces of requests, held against what was counted in steps."""

from __future__ import annotations

import json
import random
import threading
from concurrent.futures import Future
from dataclasses import asdict, replace
from typing import Any

import pytest
from msgspec import structs

from maskwright.engine import (
    Delta,
    Engine,
    EngineConfig,
    EngineStats,
    FinishReason,
    Generation,
    Request,
    Trace,
)
from maskwright.engine.distribution import Distribution
from maskwright.engine.histogram import Histogram
from maskwright.engine.request.trace import Record
from maskwright.engine.stats import Observations
from maskwright.errors import InputError
from maskwright.mask import compile_json_schema
from maskwright.models import LoadedModel
from maskwright.sampling import SamplingParams
from tests.bounds import wait_until
from tests.engine.step.test_core import Harness, NoPlainRows
from tests.engine.step.test_loop import request
from tests.engine.tiny import LiteralGrammar

CONFIG = EngineConfig(
    block_size=4, blocks=60, max_running=6, max_batch_tokens=32, reader_tokens=8, reader_seconds=1e6
)
SCHEMA = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}, "n": {"type": "integer", "maximum": 99}},
    "required": ["ok", "n"],
    "additionalProperties": False,
}


def serve_all(engine: Engine, asked: list[Request], *, cancel: frozenset[int]) -> list[Trace]:
    """Submit everything; a reader for each, some cancelled; the traces, once all have ended."""
    traces: list[Trace] = []
    lock = threading.Lock()

    def listen(trace: Trace) -> None:
        with lock:
            traces.append(trace)

    generations = []
    for number, one in enumerate(asked):
        generation = engine.submit(one)
        generation.when_ended(listen)
        generations.append(generation)
        if number in cancel:
            generation.cancel()
    wait_until(lambda: len(traces) == len(asked))
    return traces


def random_load(rng: random.Random, loaded: LoadedModel, count: int) -> list[Request]:
    schema = compile_json_schema(SCHEMA, loaded.vocab)
    late: Future = Future()
    threading.Timer(0.05, late.set_result, [LiteralGrammar(loaded.vocab, b"the cat")]).start()
    grammars = [None, None, schema, LiteralGrammar(loaded.vocab, b'{"the":"cat"}'), late]
    prompts = [[rng.randrange(256) for _ in range(n)] for n in (2, 20, 40)]
    asked = []
    for _ in range(count):
        grammar = rng.choice(grammars)
        asked.append(
            Request(
                [*rng.choice(prompts), rng.randrange(256)],
                SamplingParams(temperature=rng.choice([0.0, 1.0]), seed=rng.getrandbits(60)),
                max_tokens=rng.randint(40, 60),
                grammar=grammar,
                eos=None if grammar is not None else (),
                stop=("t",) if grammar is None and rng.random() < 0.2 else (),
                service=rng.choice(["interactive", "batch"]),
                timeout=rng.choice([None, None, None, 0.02]),
            )
        )
    return asked


def seconds(traces: list[Trace], name: str) -> list[float]:
    return [value / 1000 for t in traces if (value := getattr(t, f"{name}_ms")) is not None]


def hold(stats: EngineStats, traces: list[Trace]) -> None:
    """Invariant 14: the metrics equal the sums of the traces."""
    for counted, name in [
        (stats.sampled_tokens, "sampled_tokens"),
        (stats.forced_tokens, "forced_tokens"),
        (stats.drafted_tokens, "drafted_tokens"),
        (stats.accepted_tokens, "accepted_tokens"),
        (stats.model_drafted_tokens, "model_drafted_tokens"),
        (stats.model_accepted_tokens, "model_accepted_tokens"),
        (stats.prompt_tokens, "prompt_tokens"),
        (stats.preemptions, "preemptions"),
        (stats.mask_rows, "mask_rows"),
        (stats.mask_hits, "mask_hits"),
        (stats.late_rows, "late_rows"),
    ]:
        assert counted == sum(getattr(trace, name) for trace in traces), name
    reasons = [trace.finish_reason.value for trace in traces]
    assert stats.finished == {reason: reasons.count(reason) for reason in set(reasons)}
    assert stats.submitted == len(traces)
    for name in ("compile", "queue", "prefill", "decode", "ttft", "tpot", "total"):
        seen, traced = stats.observations[name], seconds(traces, name)
        assert seen.count == len(traced), name
        assert seen.total == pytest.approx(sum(traced)), name
    for name, field in (("prompt_length", "prompt_tokens"), ("output_length", "completion_tokens")):
        seen, lengths = stats.observations[name], [getattr(trace, field) for trace in traces]
        assert (seen.count, seen.total) == (len(traces), sum(lengths)), name
        assert seen.counts[0] == sum(1 for length in lengths if length <= 1), name
    assert (stats.prefill_queue_tokens, stats.reserved_kv_tokens) == (0, 0)
    assert stats.observations["mask"].count == stats.mask_rows
    assert stats.observations["mask"].total == pytest.approx(sum(seconds(traces, "mask")))
    between = sum(trace.steps for trace in traces) - stats.observations["ttft"].count
    assert stats.observations["inter_token"].count == between


@pytest.mark.parametrize(("overlap", "swap_bytes"), [(False, 0), (True, 0), (False, 1 << 18)])
def test_metrics_equal_the_sums_of_traces(
    loaded: LoadedModel, overlap: bool, swap_bytes: int
) -> None:
    asked = random_load(random.Random(7), loaded, 60)
    with Engine(loaded, replace(CONFIG, overlap=overlap, swap_bytes=swap_bytes)) as engine:
        traces = serve_all(engine, asked, cancel=frozenset(range(5, 60, 11)))
        stats = engine.stats()
        hold(stats, traces)
    assert {trace.id for trace in traces} == set(range(1, 61))
    assert {FinishReason.CANCELLED, FinishReason.GRAMMAR} <= {t.finish_reason for t in traces}
    assert stats.preemptions > 0
    for trace in traces:
        work = (trace.prefill_ms or 0) + (trace.decode_ms or 0)
        assert 0 <= trace.late_ms + trace.preempted_ms <= work + 1e-6
        assert (trace.preempted_ms > 0) <= (trace.preemptions > 0)
    assert any(trace.preempted_ms > 0 for trace in traces)
    assert (stats.swaps > 0) == (swap_bytes > 0)
    assert stats.swaps <= stats.preemptions
    assert stats.forced_tokens > 0
    assert stats.mask_hits > 0
    assert stats.observations["compile"].count > 0
    for trace in traces:
        parts = trace.compile_ms, trace.queue_ms, trace.prefill_ms, trace.decode_ms
        whole = sum(part or 0 for part in parts) + trace.paused_ms
        assert whole == pytest.approx(trace.total_ms)
        json.dumps(asdict(trace), allow_nan=False)


def test_a_trace_tells_what_the_client_got(loaded: LoadedModel) -> None:
    with Engine(loaded, CONFIG) as engine:
        prompt = list(range(60, 90))
        first = engine.submit(request(loaded, prompt=prompt, max_tokens=20))
        got = first.result()
        assert first.output == got.token_ids
        trace = first.trace
        assert trace is not None
        assert trace.completion_tokens == len(got.token_ids) == 20
        assert (trace.prompt_tokens, trace.cached_tokens) == (30, 0)
        assert trace.reserved_kv_tokens == 50  # nothing is known of answers yet
        assert trace.finish_reason is got.finish_reason
        assert trace.seed == first.seed
        assert trace.kv_blocks_peak >= 12  # 49 positions of 4
        again = engine.submit(request(loaded, prompt=prompt, max_tokens=20))
        assert again.result() == got
        assert again.trace is not None
        assert again.trace.cached_tokens == 29 == engine.stats().prefix_hits
        assert again.trace.steps < 20 or again.trace.accepted_tokens == 0
        assert again.trace.mask_rows == 0


def test_what_never_ran_has_no_times_of_running(loaded: LoadedModel) -> None:
    with Engine(loaded, CONFIG) as engine:
        gone = engine.submit(request(loaded, grammar=Future(), eos=None))
        gone.cancel()
        gone.result()
        trace = gone.trace
        assert trace is not None
        assert trace.finish_reason is FinishReason.CANCELLED
        assert trace.compile_ms == pytest.approx(trace.total_ms)
        assert (trace.queue_ms, trace.prefill_ms, trace.decode_ms, trace.ttft_ms) == (
            0.0, None, None, None,
        )  # fmt: skip


def test_the_time_of_a_slow_reader_is_reported(loaded: LoadedModel) -> None:
    with Engine(loaded, replace(CONFIG, reader_seconds=0.1)) as engine:
        stuck = engine.submit(request(loaded, max_tokens=100))
        next(iter(stuck))
        wait_until(lambda: stuck.trace is not None)
        assert stuck.trace is not None
        assert stuck.trace.finish_reason is FinishReason.TIMEOUT
        assert 100 <= stuck.trace.paused_ms <= stuck.trace.total_ms


def test_a_reader_that_is_away_costs_no_token_time(loaded: LoadedModel) -> None:
    """Tokens take 10 ms by the engine's clock, and the reader is away for 30 s."""
    harness = Harness(loaded, replace(CONFIG, overlap=False, drafts=0, reader_seconds=1e9))
    harness.core._plain = NoPlainRows()
    sample = harness.runner.sample

    def sample_slowly(*arguments: Any) -> Any:
        harness.now += 0.01
        return sample(*arguments)

    harness.runner.sample = sample_slowly
    harness.add(request(loaded, max_tokens=20), 1)
    (active,) = harness.core._active.values()
    generation, behind = active.generation, active.generation.throttle
    for number in range(20):
        generation.throttle = lambda number=number: number == 7
        harness.step()
        if number == 7:
            assert harness.core.idle, "the request is paused"
            harness.now += 30.0
            generation.throttle = behind
            harness.core.resume(1)
    trace, seen = generation.trace, harness.core.seen
    assert trace is not None
    assert trace.completion_tokens == trace.steps == 20
    assert trace.paused_ms == pytest.approx(30_000)
    times = (trace.ttft_ms, trace.tpot_ms, trace.longest_gap_ms)
    assert times == pytest.approx((10, 10, 10))
    assert trace.decode_ms == pytest.approx(190)
    assert trace.total_ms == pytest.approx(30_200)
    assert seen.tpot.read().total == pytest.approx(0.01)
    assert seen.inter_token.read().total == pytest.approx(0.19)
    assert seen.total.read().total == pytest.approx(30.2)


def test_pauses_are_in_no_part_of_a_life_but_their_own() -> None:
    """Before the first token too, which comes late where a grammar forces a long beginning; and
    where the request ends in a pause."""
    seen = Observations()
    record = Record(100.0, prompt=3, seed=1, compiling=True)
    record.compiled(101.0, seen)
    record.pause(101.5)
    record.pause(105.0)
    record.resume(111.5)
    record.admitted(112.0, seen)
    record.pause(112.25)
    record.resume(132.25)
    record.drew(1, 133.0, seen)
    record.drew(1, 135.0, seen)
    record.pause(135.5)
    record.completion = 2
    trace = record.end(1, FinishReason.TIMEOUT, 235.5, seen)
    assert (trace.compile_ms, trace.queue_ms, trace.prefill_ms) == (1000, 1000, 1000)
    assert (trace.ttft_ms, trace.decode_ms, trace.tpot_ms) == (3000, 2500, 2500)
    assert (trace.longest_gap_ms, trace.paused_ms, trace.total_ms) == (2000, 130_000, 135_500)
    totals = {name: found.total for name, found in seen.read().items() if found.count}
    assert totals == {
        "compile": 1.0,
        "queue": 1.0,
        "prefill": 1.0,
        "ttft": 3.0,
        "decode": 2.5,
        "tpot": 2.5,
        "inter_token": 2.0,
        "total": 135.5,
        "prompt_length": 3,
        "output_length": 2,
    }


def test_a_wait_for_a_mask_without_any_drawn_token_is_a_part_of_prefill() -> None:
    """The grammar has forced all of the text, its end included."""
    seen = Observations()
    record = Record(100.0, prompt=3, seed=1)
    record.admitted(101.0, seen)
    record.await_mask(103.0)
    trace = record.end(1, FinishReason.GRAMMAR, 105.0, seen)
    assert (trace.queue_ms, trace.prefill_ms, trace.late_ms) == (1000, 4000, 2000)
    assert (trace.ttft_ms, trace.decode_ms, trace.total_ms) == (None, None, 5000)
    assert seen.prefill.read().total == 4.0


def test_a_listener_that_comes_late_is_called_at_once(loaded: LoadedModel) -> None:
    with Engine(loaded, CONFIG) as engine:
        generation = engine.submit(request(loaded))
        generation.result()
        wait_until(lambda: generation.trace is not None)
        heard: list[Trace] = []
        generation.when_ended(heard.append)
        assert heard == [generation.trace]


def test_listeners_are_called_before_the_reader(loaded: LoadedModel) -> None:
    """So who has the end of an answer finds what it held free: its adapter, and its claim."""
    generation = Generation(1, 0, 1, lambda _: None)
    seen: list[bool] = []
    generation.when_ended(lambda _: seen.append(not generation._unread))
    trace = generation.record.end(1, FinishReason.STOP, 1.0, Observations())
    generation.end(Delta("", (), FinishReason.STOP), trace)
    assert seen == [True]
    assert generation.result().finish_reason is FinishReason.STOP


def test_an_error_is_reported_by_its_code(loaded: LoadedModel) -> None:
    late: Future = Future()
    with Engine(loaded, CONFIG) as engine:
        generation = engine.submit(request(loaded, grammar=late, eos=None))
        late.set_exception(InputError("no", code="invalid_grammar"))
        with pytest.raises(InputError):
            generation.result()
        assert generation.trace is not None
        assert generation.trace.error == "invalid_grammar"


# Replay -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("grammar", ["none", "schema", "literal"])
def test_a_replay_gives_the_same_tokens_under_the_same_masks(
    loaded: LoadedModel, grammar: str
) -> None:
    """Alone, then among neighbours, with other settings, from what the trace holds alone."""
    made = {
        "none": None,
        "schema": compile_json_schema(SCHEMA, loaded.vocab),
        "literal": LiteralGrammar(loaded.vocab, b'{"the":"cat"}'),
    }[grammar]
    asked = Request(
        [70, 71, 72],
        SamplingParams(temperature=1.3, top_k=40, min_p=0.01, seed=None, logprobs=2),
        max_tokens=40,
        grammar=made,
        trace=True,
    )
    with Engine(loaded, CONFIG) as engine:
        generation = engine.submit(asked)
        got = generation.result()
        trace = generation.trace
    assert trace is not None
    assert [score.token for score in got.scores] == list(got.token_ids)
    params = replace(asked.params, seed=trace.seed)
    with Engine(loaded, replace(CONFIG, overlap=True, max_batch_tokens=12, drafts=3)) as engine:
        crowd = [engine.submit(request(loaded, n, 50)) for n in range(4)]
        again = engine.submit(replace(asked, params=params)).result()
        for other in crowd:
            other.result()
    assert again.token_ids == got.token_ids
    for then, now in zip(got.scores, again.scores, strict=True):
        assert structs.replace(then, place=None) == structs.replace(now, place=None)
        assert then.place is not None
        assert now.place is not None
        assert then.place.canonical == now.place.canonical
        assert (then.place.state is None) == (grammar == "none" or then.place.canonical)
    if grammar == "schema":
        assert len({score.mask for score in got.scores}) > 1
        rows = {(t.place.row, t.mask) for t in got.scores if t.place and t.place.row is not None}
        assert len({row for row, _ in rows}) > 1


def test_a_trace_needs_scores() -> None:
    with pytest.raises(InputError, match="trace"):
        Request([1], SamplingParams(), 1, trace=True)


# Histograms ---------------------------------------------------------------------------------------


def test_a_histogram_counts_up_to_its_bounds() -> None:
    histogram = Histogram((1.0, 2.0))
    for value in (0.5, 1.0, 1.5, 2.0, 9.0):
        histogram.note(value)
    histogram.note(1.2, 3)
    assert histogram.read() == Distribution((1.0, 2.0), (2, 5, 1), pytest.approx(17.6))
    assert histogram.read().count == 8


def test_what_a_request_waits_for_is_timed_on_its_own_clock() -> None:
    """A row that is late from 2 to 5 with a pause from 3 to 4, a dropped one, then a preemption;
    a row that is late while the request has no blocks counts as preempted alone."""
    record, seen = Record(0.0, prompt=3, seed=1), Observations()
    record.admitted(1.0, seen)
    record.await_mask(2.0)
    record.pause(3.0)
    record.resume(4.0)
    record.drew(1, 5.0, seen)
    record.await_mask(6.0)
    record.drop_row(6.5)
    record.preempt(7.0)
    record.preempt(7.5)
    record.await_mask(8.0)
    record.drew(1, 9.0, seen)
    record.await_mask(10.0)
    trace = record.end(1, FinishReason.STOP, 10.25, seen)
    assert trace.late_ms == pytest.approx(1000 * (2.0 + 0.5 + 0.25))
    assert trace.preempted_ms == pytest.approx(1000 * 2.0)
    assert trace.late_rows == 4
