"""The process from which grammar processes are forked.

It runs one thread, has imported everything and laid out the vocabulary, so that a grammar process
is there within milliseconds and shares these pages. `main` begins it.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import time
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle, send_handle
from pathlib import Path
from typing import Final

import numpy as np

from maskwright.mask import compile_grammar, compile_json_schema, compile_regex
from maskwright.mask.shared.generations import tables_of
from maskwright.processes.messages import Build
from maskwright.processes.validation import JsonCheck, checked
from maskwright.processes.worker import Terms, begin
from maskwright.vocab import Vocabulary
from maskwright.workbench.explanation import ExplainedText, explained

NICENESS: Final = 10
"""By how much the processes of single grammars lower their priority."""

SESSION_NICENESS: Final = 3
"""The niceness of the session of these processes, where Linux weighs sessions against each other: a
third of a processor is left to them where the server could use all of it. With 10 it is a tenth,
and a schema of 60,000 properties did not end in time beside 16 streams."""

_SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "short": {"type": "string", "maxLength": 9, "pattern": "^[a-z]"},
        "one": {"type": "string", "oneOf": [{"pattern": f"{letter}.*b"} for letter in "acde"]},
        "numbers": {"type": "array", "items": {"type": "number"}, "uniqueItems": True},
        "kind": {"enum": ["a", "b"]},
        "when": {"type": "string", "format": "date-time"},
        "where": {"type": "string", "format": "uri"},
        "whom": {"type": "string", "format": "email"},
        "part": {"$id": "https://example.com/part", "type": "boolean"},
    },
    "required": ["text"],
}
_TEXT = b'{"text": "a\\n", "short": "a", "one": "ab", "numbers": [1, 2.5], "kind": "a"'


def warm_up(vocabulary: Vocabulary) -> None:
    """Make what every grammar needs, and import what is imported at its first use."""
    row = np.zeros(vocabulary.words, np.int32)
    for grammar, text in (
        (compile_json_schema(_SCHEMA, vocabulary), _TEXT),
        (compile_regex("[a-z]{2,5} [0-9]+", vocabulary), b"ab "),
        (compile_grammar('start: "a" /[b-d]+/ | "(" start ")"', vocabulary), b"((a"),
    ):
        matcher = grammar.matcher()
        for at in range(len(text) + 1):
            matcher.fill_mask(row, 200)
            matcher.forced_tokens()
            matcher.accept_bytes(text[at : at + 1])
        matcher.fill_mask(row, matcher.min_tokens + 1)
        matcher.events()
    _ = tables_of(vocabulary).parts.holds_quote
    checked([JsonCheck("", "0", "true")], vocabulary)
    build = Build(compile_json_schema, (_SCHEMA,), {})
    explained(build, ExplainedText('{"text": 1', None, 0), vocabulary)


def main(handle: int) -> None:
    """Fork a grammar process for each pair of terms and socket that comes over a socket, and answer
    with its number; until the connection is closed. `handle`: the socket to the engine's process,
    over which the vocabulary comes first."""
    connection = Connection(handle)
    try:
        vocabulary: Vocabulary = connection.recv()
    except EOFError:  # it has no model after all
        return
    warm_up(vocabulary)
    gc.collect()
    gc.freeze()  # so that no collection writes to the pages that the forks share
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the system clears away forks that have ended
    connection.send(os.getpid())
    fork_each(connection, vocabulary, Background(connection, vocabulary))


def fork_each(
    connection: Connection, vocabulary: Vocabulary, background: Background | None = None
) -> None:
    """Fork processes until the connection is closed; with `background`, processes of single
    grammars there."""
    while True:
        try:
            terms: Terms = connection.recv()
            handle = recv_handle(connection)
        except EOFError:
            return
        if background is not None and not terms.shared:
            number = background.fork(terms, handle)
        else:
            number = os.fork()
            if number == 0:
                try:
                    connection.close()
                    if background is not None:
                        background.close()
                    begin(Connection(handle), vocabulary, terms)
                finally:
                    os._exit(0)
        os.close(handle)
        connection.send(number)


class Background:
    """A fork of the nursery that forks the processes of single grammars. They have a low priority:
    what is heavy may not slow the model or the shared processes.

    They all have one session of their own. Where Linux shares time out between sessions first
    ("autogroup"), a process of low priority that keeps a processor busy makes its whole session
    light there: an engine in the same session has waited for a processor for up to 0.8 s. In a
    session of their own they would together get as much time as the server, since their priority
    counts within the session alone; so the session has a niceness too.
    """

    def __init__(self, nursery: Connection, vocabulary: Vocabulary) -> None:
        self._nursery = nursery
        self._vocabulary = vocabulary
        self._begin()

    def fork(self, terms: Terms, handle: int) -> int:
        """Fork a process with these terms and this socket. Returns its number."""
        for _ in range(2):
            try:
                self._connection.send(terms)
                send_handle(self._connection, handle, self._number)
                return self._connection.recv()
            except (OSError, EOFError):  # it has ended
                self.close()
                self._begin(handle)
        raise OSError("the process that forks processes of single grammars has ended twice")

    def close(self) -> None:
        """Leave it to the nursery: it ends when no process holds a connection to it."""
        self._connection.close()

    def _begin(self, *inherited: int) -> None:
        """Start it. `inherited`: open files that it may not keep open."""
        ours, theirs = socket.socketpair()
        self._number = os.fork()
        if self._number == 0:
            try:
                self._nursery.close()
                ours.close()
                for handle in inherited:
                    os.close(handle)
                self._run(Connection(theirs.detach()))
            finally:
                os._exit(0)
        theirs.close()
        self._connection = Connection(ours.detach())

    def _run(self, connection: Connection) -> None:
        os.setsid()
        os.nice(NICENESS)
        weigh_less(SESSION_NICENESS)
        fork_each(connection, self._vocabulary)


def weigh_less(niceness: int) -> None:
    """Give the session of this process a niceness among all sessions, where the system has one
    (Linux with "autogroup")."""
    for _ in range(10):
        try:
            Path("/proc/self/autogroup").write_text(str(niceness))
        except BlockingIOError:  # for all processes together, one change in 0.1 s is allowed
            time.sleep(0.05)
        except OSError:
            return
        else:
            return
