"""What happens to grammar processes: heavy grammars, limits, deaths, and what nobody needs."""

from __future__ import annotations

import functools
import gc
import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from weakref import ref

import pytest

from maskwright.errors import EngineStoppedError, GenerationError, LimitError
from maskwright.mask import compile_choice, compile_regex
from maskwright.models import LoadedModel
from maskwright.processes import Build, FollowedGrammar, GrammarProcesses, Inquiry
from maskwright.processes.follower import PROVEN
from maskwright.processes.nest import Nursery
from maskwright.processes.nursery import NICENESS, SESSION_NICENESS, weigh_less
from maskwright.processes.pool import MOST_OWN
from maskwright.processes.worker import Terms
from tests.bounds import wait_until
from tests.hostile.process import parent
from tests.processes.misbehaving import (
    deadly,
    failing_oddly,
    held,
    hungry,
    own_pid,
    resting,
    slow,
    slow_until,
    telling,
)


def until(done: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait for something that takes some seconds at most."""
    end = time.monotonic() + seconds
    while not done() and time.monotonic() < end:
        time.sleep(0.02)
    assert done()


def test_a_slow_grammar_gets_a_process_of_its_own(processes: GrammarProcesses) -> None:
    before = processes.stats.heavy
    grammar = processes.compile(Build(slow, (0.5, "a+"), {})).result(60)
    assert grammar.heavy
    assert processes.stats.heavy == before + 1
    assert grammar.min_tokens == 1
    assert len(processes.pids) >= 2


def test_others_are_served_while_one_is_slow(processes: GrammarProcesses) -> None:
    busy = processes.compile(Build(slow, (1.0, "b+"), {}))
    for number in range(5):
        processes.compile(Build(compile_regex, (f"c{{{number + 1}}}",), {})).result(60)
    assert not busy.done(), "the slow one was to take longer than the others together"
    assert busy.result(60).min_tokens == 1


def test_time_is_limited(processes: GrammarProcesses) -> None:
    with pytest.raises(LimitError) as caught:
        processes.compile(Build(slow, (60.0, "a"), {})).result(60)
    assert caught.value.limit == "seconds"
    assert processes.compile(Build(compile_regex, ("after",), {})).result(60).min_tokens > 0


def test_an_inquiry_has_a_process_of_its_own_that_ends_with_it(
    processes: GrammarProcesses,
) -> None:
    processes.compile(Build(compile_regex, ("before",), {})).result(60)
    shared = set(processes.pids)
    numbers = {processes.inquire(Inquiry(own_pid, ())).result(60) for _ in range(3)}
    assert len(numbers) == 3
    assert not numbers & shared
    until(lambda: not numbers & set(processes.pids))
    assert shared <= set(processes.pids)


def test_processes_of_single_grammars_let_others_go_first(processes: GrammarProcesses) -> None:
    """In a session of their own, since Linux may weigh whole sessions against each other."""
    here = os.getpriority(os.PRIO_PROCESS, 0)
    pids = {processes.inquire(Inquiry(own_pid, ())).result(60) for _ in range(2)}
    [pid] = {processes.inquire(Inquiry(own_pid, ()), kept=True).result(60)}
    assert pid not in pids
    assert os.getpriority(os.PRIO_PROCESS, pid) == min(here + NICENESS, 19)
    assert os.getsid(pid) == os.getsid(parent(pid)) == parent(pid)
    shared = next(other for other in processes.pids if other != pid)
    assert os.getpriority(os.PRIO_PROCESS, shared) == here
    assert os.getsid(shared) == os.getsid(0)


def test_the_session_of_single_grammars_lets_the_servers_go_first(
    processes: GrammarProcesses,
) -> None:
    [pid] = {processes.inquire(Inquiry(own_pid, ()), kept=True).result(60)}
    if (own := autogroup(pid)) is None:
        pytest.skip("this system doesn't weigh sessions against each other (no autogroup)")
    ours = autogroup(os.getpid())  # None for a process that never began a session
    assert ours is None or own[0] != ours[0]
    assert own[1] == f"nice {SESSION_NICENESS}"
    assert autogroup(parent(pid) or 0) == own
    shared = next(other for other in processes.pids if other != pid)
    assert autogroup(shared) == ours


def autogroup(pid: int) -> list[str] | None:
    """The name of the group in which the session of a process is weighed, and its niceness; None
    where there are no such groups, or it is in none."""
    try:
        return Path(f"/proc/{pid}/autogroup").read_text().strip().split(maxsplit=1) or None
    except OSError:
        return None


def test_the_niceness_of_a_session_is_set_again_where_the_system_is_not_ready(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written: list[str] = []

    def write(path: Path, text: str) -> None:
        assert str(path) == "/proc/self/autogroup"
        written.append(text)
        if len(written) < 3:
            raise BlockingIOError
        raise FileNotFoundError

    monkeypatch.setattr(Path, "write_text", write)
    weigh_less(4)
    assert written == ["4", "4", "4"]


def test_work_that_gets_little_time_is_not_said_to_take_more_than_its_limit(
    loaded: LoadedModel, tmp_path: Path
) -> None:
    """It rests for longer than a busy machine may keep it waiting."""
    processes = GrammarProcesses(loaded.vocab, seconds=0.5)
    try:
        job = Build(slow_until, (str(tmp_path / "never"), 0.1, "a"), {})
        with pytest.raises(LimitError, match=r"after \d seconds.*of the 0.5 seconds") as caught:
            processes.compile(job).result(60)
    finally:
        processes.close()
    assert caught.value.limit == "seconds"
    assert "less busy" in caught.value.message


def test_what_forks_processes_of_single_grammars_may_die(processes: GrammarProcesses) -> None:
    inquire = functools.partial(processes.inquire, Inquiry(own_pid, ()), kept=True)
    pid = inquire().result(60)
    background = parent(pid)
    os.kill(background, signal.SIGKILL)
    assert inquire().result(60) == pid, "what it has forked lives on"
    again = pid_after_death(pid, inquire)
    restarted = parent(again)
    assert restarted not in (background, os.getpid())
    later = pid_after_death(again, inquire)  # which is noticed, as nobody else holds its socket
    assert parent(later) == restarted


def pid_after_death(pid: int, inquire: Callable[[], Future[int]]) -> int:
    """Kill a process that is kept. Returns the number of the next one."""
    os.kill(pid, signal.SIGKILL)
    with suppress(EngineStoppedError):  # it may die while it answers
        inquire().result(60)
    following = inquire().result(60)
    assert following != pid
    return following


def test_a_kept_process_answers_one_inquiry_after_the_other(processes: GrammarProcesses) -> None:
    numbers = {processes.inquire(Inquiry(own_pid, ()), kept=True).result(60) for _ in range(3)}
    assert len(numbers) == 1
    assert numbers <= set(processes.pids)
    busy = processes.inquire(Inquiry(resting, (1.0,)), kept=True)
    other = processes.inquire(Inquiry(own_pid, ()), kept=True).result(60)
    assert not busy.done()
    assert other not in numbers, "nobody waits for another's inquiry"
    busy.result(60)
    assert processes.inquire(Inquiry(own_pid, ()), kept=True).result(60) in numbers


def test_a_kept_process_that_takes_too_long_is_replaced(processes: GrammarProcesses) -> None:
    before = processes.inquire(Inquiry(own_pid, ()), kept=True).result(60)
    with pytest.raises(LimitError):
        processes.inquire(Inquiry(slow, (60.0, "a")), kept=True).result(60)
    assert processes.inquire(Inquiry(own_pid, ()), kept=True).result(60) != before


def test_nobody_waits_for_an_inquiry_that_was_given_up(
    processes: GrammarProcesses, tmp_path: Path
) -> None:
    """A page cancels a question when the next one comes, however long that takes."""
    desk = processes.inquire(Inquiry(own_pid, ()), kept=True).result(60)
    limits = processes.stats.limits
    begun = tmp_path / "begun"
    given_up = processes.inquire(Inquiry(telling, (str(begun),)), kept=True)
    wait_until(begun.exists)
    assert given_up.cancel()
    assert processes.inquire(Inquiry(own_pid, ()), kept=True).result(60) != desk
    wait_until(lambda: desk not in processes.pids)  # nobody uses what it would find out
    assert processes.stats.limits == limits, "nothing that anybody waits for met a limit"
    again = processes.inquire(Inquiry(own_pid, ()), kept=True).result(60)
    assert processes.inquire(Inquiry(own_pid, ()), kept=True).result(60) == again


def test_a_short_inquiry_that_was_given_up_leaves_its_process_to_the_next(
    processes: GrammarProcesses,
) -> None:
    desk = processes.inquire(Inquiry(own_pid, ()), kept=True).result(60)
    given_up = processes.inquire(Inquiry(resting, (0.2,)), kept=True)
    assert given_up.cancel()
    wait_until(lambda: processes.inquire(Inquiry(own_pid, ()), kept=True).result(60) == desk)


def test_inquiries_that_were_given_up_before_they_were_begun_are_not_begun(
    processes: GrammarProcesses, tmp_path: Path
) -> None:
    """More than processes at a time: the last has to wait for none of them."""
    inquiries = [Inquiry(telling, (str(tmp_path / str(number)),)) for number in range(40)]
    for future in [processes.inquire(inquiry) for inquiry in inquiries]:
        assert future.cancel()
    assert processes.inquire(Inquiry(own_pid, ())).result(60)
    wait_until(lambda: len(processes.pids) <= 3)  # the shared ones, and the kept one
    assert len(list(tmp_path.iterdir())) <= 2 * MOST_OWN


def test_an_error_that_cannot_be_read_is_reported_in_other_words(
    processes: GrammarProcesses,
) -> None:
    for answer in (
        processes.compile(Build(failing_oddly, (), {})),
        processes.inquire(Inquiry(failing_oddly, ()), kept=True),
    ):
        with pytest.raises(GenerationError, match=r"^OddError: nothing of .* at the end$"):
            answer.result(60)
    assert processes.compile(Build(compile_regex, ("after",), {})).result(60).min_tokens > 0


def test_an_inquiry_is_limited_and_delays_nobody(processes: GrammarProcesses) -> None:
    restarts = processes.stats.restarts
    busy = processes.inquire(Inquiry(slow, (60.0, "a")))
    began = time.monotonic()
    processes.compile(Build(compile_regex, ("meanwhile",), {})).result(60)
    assert time.monotonic() - began < 2.0
    assert not busy.done()
    with pytest.raises(LimitError) as caught:
        busy.result(60)
    assert caught.value.limit == "seconds"
    assert processes.stats.restarts == restarts + 1, "only its own process was ended"
    with pytest.raises(LimitError) as caught:
        processes.inquire(Inquiry(hungry, (1 << 30,))).result(60)
    assert caught.value.limit == "bytes"


def test_memory_is_limited(processes: GrammarProcesses) -> None:
    future = processes.compile(Build(hungry, (1 << 30,), {}))
    with pytest.raises(LimitError) as caught:
        future.result(60)
    assert caught.value.limit == "bytes"
    assert not held


def test_what_ends_its_process_each_time_is_refused(processes: GrammarProcesses) -> None:
    restarts = processes.stats.restarts
    with pytest.raises(LimitError):
        processes.compile(Build(deadly, (), {})).result(60)
    assert processes.stats.restarts > restarts
    assert processes.compile(Build(compile_regex, ("after",), {})).result(60).min_tokens > 0


def test_a_process_that_is_killed_is_replaced(processes: GrammarProcesses) -> None:
    grammar = processes.compile(Build(compile_regex, ("(ab|cd)+",), {})).result(60)
    for pid in processes.pids:
        os.kill(pid, signal.SIGKILL)
    assert processes.least_tokens(grammar, 0).result(60) == grammar.min_tokens


def test_a_dropped_grammar_is_forgotten(processes: GrammarProcesses) -> None:
    grammar = processes.compile(Build(compile_regex, ("x{3}",), {})).result(60)
    number, kept = grammar.number, ref(grammar)
    del grammar
    until(lambda: gc.collect() >= 0 and kept() is None)
    for process in processes._pool.running:
        assert number not in process.holds.grammars


def test_processes_of_single_grammars_end_when_idle(processes: GrammarProcesses) -> None:
    processes.compile(Build(slow, (0.2, "e+"), {})).result(60)
    until(lambda: len(processes.pids) == 2, seconds=20)


def test_after_the_end_every_job_fails(loaded: LoadedModel) -> None:
    processes = GrammarProcesses(loaded.vocab)
    build = Build(compile_regex, ("a",), {})
    processes.compile(build).result(60)
    pids = processes.pids
    processes.close()
    with pytest.raises(EngineStoppedError):
        processes.compile(build).result(60)
    until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids))


def test_a_nursery_that_is_killed_is_replaced(loaded: LoadedModel) -> None:
    processes = GrammarProcesses(loaded.vocab)
    try:
        grammar = processes.compile(Build(compile_regex, ("(ab|cd)+",), {})).result(60)
        nursery = processes._nest._nursery
        assert nursery is not None
        for pid in (nursery.process.pid, *processes.pids):
            os.kill(pid, signal.SIGKILL)
        assert processes.least_tokens(grammar, 0).result(60) == grammar.min_tokens
        until(lambda: len(processes.pids) == 2)
        after = processes._nest._nursery
        assert after is not None
        assert after.process.pid != nursery.process.pid
    finally:
        processes.close()


def test_a_nursery_that_was_started_before_is_taken(loaded: LoadedModel) -> None:
    nursery = Nursery.start()
    processes = GrammarProcesses(loaded.vocab, nursery=nursery)
    try:
        grammar = processes.compile(Build(compile_regex, ("[f-h]",), {})).result(60)
        assert grammar.min_tokens == 1
        assert processes._nest._nursery is nursery
    finally:
        processes.close()
    assert nursery.process.poll() is not None


def test_a_nursery_that_ended_before_its_use_is_replaced(loaded: LoadedModel) -> None:
    nursery = Nursery.start()
    nursery.process.kill()
    nursery.process.wait()
    processes = GrammarProcesses(loaded.vocab, nursery=nursery)
    try:
        grammar = processes.compile(Build(compile_regex, ("[f-h]",), {})).result(60)
        assert grammar.min_tokens == 1
    finally:
        processes.close()


def test_a_nursery_ends_in_silence_where_no_vocabulary_comes(
    capfd: pytest.CaptureFixture[str],
) -> None:
    nursery = Nursery.start()
    time.sleep(0.3)  # it imports
    nursery.process.send_signal(signal.SIGINT)  # as a terminal does to all processes of a group
    nursery.connection.close()
    assert nursery.process.wait(60) == 0
    assert capfd.readouterr() == ("", "")


def test_answers_are_taken_while_processes_are_started(
    processes: GrammarProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Starting the nursery takes seconds: who needs no new process doesn't wait for that."""
    grammar = processes.compile(Build(compile_regex, ("[f-h]+",), {})).result(60)
    grammar.lessons = PROVEN
    fork, may_go_on = processes._nest.fork, threading.Event()

    def late(terms: Terms) -> tuple[Connection, int]:
        may_go_on.wait(30)
        return fork(terms)

    monkeypatch.setattr(processes._nest, "fork", late)
    heavy = processes.compile(Build(slow, (0.2, "k+"), {}))
    until(lambda: processes._pool.starting != [])
    assert processes.least_tokens(grammar, 0).result(10) == 1
    assert not heavy.done()
    may_go_on.set()
    assert heavy.result(60).min_tokens == 1


def test_a_large_shape_holds_nobody_up_who_sends_it(processes: GrammarProcesses) -> None:
    """Its process takes nothing from the connection, and everybody else goes on."""
    grammar = processes.compile(Build(compile_regex, ("[p-r]+",), {})).result(60)
    build = Build(compile_choice, (["x" * 3_000_000, "y"],), {})
    asked: list[Future[FollowedGrammar]] = []
    pids = processes.pids
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        sender = threading.Thread(target=lambda: asked.append(processes.compile(build)))
        sender.start()
        sender.join(10)
        assert not sender.is_alive()
        least = processes.least_tokens(grammar, 0)
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    assert least.result(60) == 1
    with suppress(LimitError):
        asked[0].result(60)
