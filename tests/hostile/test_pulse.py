"""The pulse tells when the machine was busy."""

from __future__ import annotations

import os
import signal
import time

from tests.hostile.pulse import Pulse


def test_a_process_that_was_held_up_tells_for_how_long() -> None:
    with Pulse() as pulse:
        time.sleep(0.2)
        pid = pulse._process.pid
        begin = time.monotonic()
        os.kill(pid, signal.SIGSTOP)
        time.sleep(0.3)
        os.kill(pid, signal.SIGCONT)
        end = time.monotonic()
        held = max(pulse.during(begin, end))
        after = time.monotonic()
        beats = len(pulse.during(after, time.monotonic() + 0.5))
    assert 0.2 < held < 5
    assert beats >= 2
    assert not os.path.exists(f"/proc/{pid}/exe")


def test_times_before_are_left_out() -> None:
    with Pulse() as pulse:
        time.sleep(0.4)
        now = time.monotonic()
        late = pulse.during(now, now)
        assert 1 <= len(late) < len(pulse.beats)
