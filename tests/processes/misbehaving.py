"""Compilers that take time or memory which no limit counts. They import little, since a grammar
process imports them with its first job."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import cast

from maskwright.mask import Grammar, compile_regex
from maskwright.vocab import Vocabulary

held: list[bytes] = []


def slow(seconds: float, pattern: str, vocabulary: Vocabulary) -> Grammar:
    """Compile after some seconds of work that no limit counts."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return compile_regex(pattern, vocabulary)


def explain_slowly(*given: object) -> Grammar:
    """Take the place of an inquiry, whose last argument is the vocabulary, for a minute."""
    return slow(60.0, "a", cast(Vocabulary, given[-1]))


def slow_until(path: str, seconds: float, pattern: str, vocabulary: Vocabulary) -> Grammar:
    """Compile after some seconds of work, and not before there is a file at `path`: what a test
    does meanwhile may take any time."""
    end = time.process_time() + seconds
    while time.process_time() < end or not Path(path).exists():
        if time.process_time() >= end:
            time.sleep(0.002)
    return compile_regex(pattern, vocabulary)


def hungry(nbytes: int, vocabulary: Vocabulary) -> Grammar:
    """Take memory for good, and then compile."""
    held.append(b"x" * nbytes)
    return compile_regex("a", vocabulary)


def deadly(vocabulary: Vocabulary) -> Grammar:
    """End the process."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError(vocabulary)


def own_pid(vocabulary: Vocabulary) -> int:
    """The number of the process."""
    del vocabulary
    return os.getpid()


def resting(seconds: float, vocabulary: Vocabulary) -> float:
    """Rest, and find out for how long."""
    del vocabulary
    time.sleep(seconds)
    return seconds


class OddError(Exception):
    """An error that can be pickled, but not made again from that."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"{reason} at {place}")


def failing_oddly(vocabulary: Vocabulary) -> Grammar:
    """Raise what the other process can't read."""
    raise OddError("the end", f"nothing of {vocabulary.size} tokens")


def telling(path: str, vocabulary: Vocabulary) -> int:
    """Write a file, so that it is seen that this was begun, and go on for a minute."""
    Path(path).touch()
    slow(60.0, "a", vocabulary)
    raise AssertionError("it was to be ended")
