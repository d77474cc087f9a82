"""The engine with grammars in grammar processes: the answers equal those of an engine that
computes masks itself, and a process that ends costs none of them."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest

from maskwright.engine import Completion, Engine, EngineConfig, FinishReason, Request
from maskwright.engine.request.trace import Trace
from maskwright.mask import compile_regex
from maskwright.models import LoadedModel
from maskwright.processes import Build, GrammarProcesses
from maskwright.sampling import SamplingParams
from tests.bounds import wait_until
from tests.processes.shapes import BUILDS

SMALL = EngineConfig(blocks=64, block_size=4, max_running=8, max_batch_tokens=32)
CONFIGS = {
    "usual": SMALL,
    "overlap": EngineConfig(
        blocks=64, block_size=4, max_running=8, max_batch_tokens=32, overlap=True
    ),
    "one token a step": EngineConfig(
        blocks=64, block_size=4, max_running=8, max_batch_tokens=32, drafts=0
    ),
    "no canonical text": EngineConfig(
        blocks=64, block_size=4, max_running=8, max_batch_tokens=32, canonical=False
    ),
}


@pytest.fixture(scope="module")
def processes(loaded: LoadedModel) -> Iterator[GrammarProcesses]:
    processes = GrammarProcesses(loaded.vocab)
    yield processes
    processes.close()


def answers(
    loaded: LoadedModel, config: EngineConfig, processes: GrammarProcesses | None, repeats: int
) -> list[Completion]:
    """The answers of an engine to requests with every kind of grammar, drawn from fixed seeds."""
    generations = []
    with Engine(loaded, config) as engine:
        for name, build in BUILDS.items():
            grammar = (
                build(loaded.vocab) if processes is None else processes.compile(build).result(60)
            )
            for seed in range(repeats):
                limit = max(1, grammar.min_tokens) + (0, 3, 60)[seed % 3]
                request = Request(
                    loaded.encode(f"the cat {name}"),
                    SamplingParams(seed=seed, temperature=2.0),
                    limit,
                    grammar=grammar,
                )
                generations.append(engine.submit(request))
        return [generation.result() for generation in generations]


@pytest.mark.parametrize("name", CONFIGS)
def test_answers_are_those_of_masks_computed_here(
    loaded: LoadedModel, processes: GrammarProcesses, name: str
) -> None:
    config = CONFIGS[name]
    expected = answers(loaded, config, None, 6)
    for _ in range(2):  # nothing has been learned before the first
        found = answers(loaded, config, processes, 6)
        assert [each.token_ids for each in found] == [each.token_ids for each in expected]
        assert [each.finish_reason for each in found] == [each.finish_reason for each in expected]
        assert [each.shortened_at for each in found] == [each.shortened_at for each in expected]


def test_killed_processes_cost_no_answer(loaded: LoadedModel, processes: GrammarProcesses) -> None:
    expected = answers(loaded, SMALL, None, 12)
    restarts = processes.stats.restarts
    rng, ended = random.Random(0), threading.Event()

    def kill() -> None:
        for number in range(8):  # the first time at once: the answers may be there soon
            if number and ended.wait(rng.uniform(0.01, 0.5)):
                return
            for pid in processes.pids:
                with suppress(ProcessLookupError):  # it has been replaced meanwhile
                    os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        found = answers(loaded, SMALL, processes, 12)
    finally:
        ended.set()
        killer.join()
    assert [each.token_ids for each in found] == [each.token_ids for each in expected]
    wait_until(lambda: processes.stats.restarts > restarts)


def test_questions_are_in_traces_and_in_the_engine_counts(
    loaded: LoadedModel, processes: GrammarProcesses
) -> None:
    """The processes are stopped for a while, so the question of a new grammar's text is open for at
    least that long, and the row of logits that was computed meanwhile is late."""
    grammar = processes.compile(Build(compile_regex, ("[a-c]{20,30}x",), {})).result(60)
    traces: list[Trace] = []
    with Engine(loaded, SMALL) as engine:
        pids = processes.pids
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            asked = Request([66] * 5, SamplingParams(seed=2), 60, grammar=grammar)
            generation = engine.submit(asked)
            generation.when_ended(traces.append)
            time.sleep(0.2)
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)
        generation.result()
        free = engine.submit(Request([66] * 5, SamplingParams(seed=1), 3, eos=()))
        free.when_ended(traces.append)
        free.result()
        wait_until(lambda: len(traces) == 2)
        stats = engine.stats()
    with_grammar, without = traces
    assert with_grammar.questions > 0
    assert 200 <= with_grammar.question_ms < with_grammar.total_ms
    assert with_grammar.late_rows > 0
    assert 100 <= with_grammar.late_ms <= with_grammar.total_ms
    assert (without.questions, without.question_ms, without.late_rows, without.late_ms) == (0,) * 4
    assert stats.observations["question"].count == with_grammar.questions
    assert stats.observations["question"].total == pytest.approx(with_grammar.question_ms / 1000)
    assert stats.late_rows == with_grammar.late_rows


def test_steps_do_not_wait_for_answers(
    loaded: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that is on its way may save a row, but all requests would wait for it."""
    processes = GrammarProcesses(loaded.vocab)
    ask = processes.ask
    late: list[threading.Timer] = []

    def later(*args: Any, **options: Any) -> None:
        late.append(threading.Timer(0.02, ask, args, options))
        late[-1].start()

    monkeypatch.setattr(processes, "ask", later)
    try:
        with Engine(loaded, SMALL) as engine, ThreadPoolExecutor() as pool:
            ended = threading.Event()

            def run_free(tokens: int) -> None:
                while not ended.is_set():
                    free = Request([66] * 5, SamplingParams(seed=1), tokens, eos=())
                    engine.submit(free).result()

            # Their lengths differ, so that one of them always runs: a step waits if none does.
            free = [pool.submit(run_free, tokens) for tokens in (23, 37, 53)]
            wait_until(lambda: engine.stats().sampled_tokens > 50)
            before = engine.stats().seconds["wait"]
            for build in BUILDS.values():
                grammar = processes.compile(build).result(60)
                request = Request([66] * 5, SamplingParams(seed=1), 60, grammar=grammar)
                engine.submit(request).result()
            waited = engine.stats().seconds["wait"] - before
            ended.set()
            for each in free:
                each.result()
    finally:
        processes.close()
    assert len(late) > 10
    assert waited < 0.0003 * len(late), "about a millisecond for each if steps wait"


def test_a_request_that_waits_for_its_grammar_holds_no_other(
    loaded: LoadedModel, processes: GrammarProcesses
) -> None:
    """The processes are stopped in mid-text: what is known goes on, and what is not waits."""
    grammar = processes.compile(BUILDS["anything"]).result(60)
    with Engine(loaded, SMALL) as engine:
        free = engine.submit(Request([66] * 5, SamplingParams(seed=1), 200, eos=()))
        pids = processes.pids
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            held = engine.submit(Request([66] * 5, SamplingParams(seed=2), 60, grammar=grammar))
            assert free.result().finish_reason is FinishReason.LENGTH
            time.sleep(0.05)
            assert engine.stats().running == 1, "the other request was to wait"
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)
        assert held.result().finish_reason in {FinishReason.GRAMMAR, FinishReason.STOP}
        assert engine.stats().blocks_used == 0


def test_steps_in_a_row_follow_what_has_been_learned(
    loaded: LoadedModel, processes: GrammarProcesses
) -> None:
    """A table is made of what the first answers have taught, and made again when that is more."""
    build = Build(compile_regex, ("(yes|no|the (cat|sat)) [0-9]{6}x?",), {})
    config = EngineConfig(drafts=0, device_steps=4)

    def drawn(grammar: Any) -> tuple[list[Completion], int]:
        with Engine(loaded, config) as engine:
            found: list[Completion] = []
            for seed in range(40):
                request = Request([65], SamplingParams(seed=seed), 40, grammar=grammar)
                found.append(engine.submit(request).result())
            return found, engine.stats().device_steps

    expected, steps = drawn(build(loaded.vocab))
    found, learned = drawn(processes.compile(build).result(60))
    assert found == expected
    assert min(steps, learned) > 0
