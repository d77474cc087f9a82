"""The watched client times what it gets, and notices what goes wrong; memory is counted whole."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
import uuid
from contextlib import closing
from typing import Any

import pytest

from tests.bounds import wait_until
from tests.hostile.process import command_line, proportional_bytes, started_with
from tests.hostile.process import parent as parent_of
from tests.hostile.scripted import scripted
from tests.hostile.watch import Gap, Waits, Watch, longest_ms, p99_ms, unserved_ms


def chunk(text: str, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice]})}\n\n".encode()


def test_a_silence_is_a_gap_of_its_time() -> None:
    """But for the time by which a client of a busy machine reads late what comes before it."""
    pieces: list[Any] = [chunk("["), 0.02, chunk('"a"'), 0.5, chunk("]", "stop"), b"data: [DONE]"]
    with scripted(200, pieces) as url, Watch(url) as watch:
        begin = time.monotonic()
        watch.wait_for_answers(2)
        end = time.monotonic()
    assert watch.faults == []
    assert set(watch.texts) == {'["a"]'}
    gaps = watch.during(begin, end)
    assert 0.3 <= longest_ms(gaps) / 1e3 < 0.5 + 5
    assert sum(gap.seconds >= 0.3 for gap in gaps) == 2
    assert min(gap.seconds for gap in gaps) < 0.3


def test_a_collection_does_not_look_through_what_the_process_held_before() -> None:
    held = [[number] for number in range(1000)]
    with scripted(200, [chunk("[]", "stop"), b"data: [DONE]"]) as url, Watch(url):
        watched = {id(found) for found in gc.get_objects()}
        assert not watched.intersection(map(id, held))
    assert {id(found) for found in gc.get_objects()}.issuperset(map(id, held))


@pytest.mark.parametrize(
    ("status", "pieces", "message"),
    [
        (200, [chunk("[")], "without a finish reason"),
        (200, [chunk("["), b'data: {"error": {"code": "limit_exceeded"}}\n\n'], "limit_exceeded"),
        (503, [b"stopped"], "status 503"),
    ],
)
def test_a_broken_stream_is_a_fault(status: int, pieces: list[Any], message: str) -> None:
    with scripted(status, pieces) as url, Watch(url) as watch:
        wait_until(lambda: watch.faults)
    assert message in watch.faults[0]
    assert watch.texts == []


def test_during_takes_what_overlaps() -> None:
    watch = Watch("http://127.0.0.1:1")
    watch.gaps += [Gap(0.0, 1.0), Gap(1.0, 0.5), Gap(1.5, 2.0), Gap(3.5, 1.0)]
    assert watch.during(1.2, 3.0) == watch.gaps[1:3]
    assert watch.during(0.0, 9.0) == watch.gaps


def test_figures_of_gaps() -> None:
    gaps = [Gap(0.0, 0.001)] * 99 + [Gap(0.0, 0.5, 0.375), Gap(0.0, 0.25)]
    assert (longest_ms(gaps), unserved_ms(gaps)) == (500, 250)
    assert p99_ms(gaps[:-1]) == 1
    assert (longest_ms([]), unserved_ms([]), p99_ms([])) == (0, 0, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how long a thread has waited")
def test_waits_are_those_of_a_thread_that_could_run() -> None:
    """Another thread's work on the same processor is waited for, a sleep is not a wait."""
    with closing(Waits()) as waits:
        begin = waits.seconds()
        time.sleep(0.2)
        slept = waits.seconds() - begin
        processors = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(processors)})
        try:
            work = "import time\nend = time.monotonic() + 1.5\nwhile time.monotonic() < end: pass"
            with subprocess.Popen([sys.executable, "-c", work]) as other:
                begin, wall, own = waits.seconds(), time.monotonic(), time.thread_time()
                while other.poll() is None:
                    pass
                waited = waits.seconds() - begin
                lost = time.monotonic() - wall - (time.thread_time() - own)
        finally:
            os.sched_setaffinity(0, processors)
    assert slept < 0.1
    assert waited == pytest.approx(lost, rel=0.2, abs=0.05)
    assert waited > 0.3


def test_every_process_that_started_with_a_mark_is_found() -> None:
    """A grandchild too, and also in a session of its own and when its parent has been killed."""
    mark = str(uuid.uuid4())
    program = (
        "import subprocess, sys, time; "
        "child = subprocess.Popen([sys.executable, '-c', 'x = bytearray(50_000_000); "
        "print(flush=True); import time; time.sleep(1000)'], start_new_session=True); "
        "time.sleep(1000)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, "MASKWRIGHT_TESTED_SERVER": mark},
        stdout=subprocess.PIPE,
    )
    try:
        assert parent.stdout is not None
        parent.stdout.readline()
        pids = started_with(mark)
        assert len(pids) == 2
        assert pids[0] == parent.pid
        assert parent_of(pids[1]) == parent.pid
        assert "bytearray" in command_line(pids[1])
        assert proportional_bytes(pids[1]) > 45_000_000
        parent.kill()
        parent.wait()
        assert started_with(mark) == pids[1:]
    finally:
        for pid in started_with(mark):
            os.kill(pid, 9)
        parent.wait()
        assert parent.stdout is not None
        parent.stdout.close()
    wait_until(lambda: started_with(mark) == [])
