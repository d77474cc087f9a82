from __future__ import annotations

from maskwright.dist.drain import Drain


def test_a_drain_is_done_when_the_last_request_has_been_answered() -> None:
    now = 0.0
    drain = Drain(10.0, lambda: now)
    with drain.answering():
        assert not drain.begun
        drain.begin()
        with drain.answering():
            assert (drain.active, drain.done, drain.late) == (2, False, False)
        now = 9.9
        assert not drain.late
        drain.begin()  # changes nothing
        now = 10.0
        assert drain.late
    assert drain.done
    assert not drain.late


def test_a_request_that_fails_is_no_longer_counted() -> None:
    drain = Drain(10.0)
    try:
        with drain.answering():
            raise ValueError
    except ValueError:
        pass
    assert drain.active == 0
    assert not drain.done
