"""Prompts of megabytes: how soon they are answered, and what others wait for them.

    python benchmarks/server/long_prompts.py [--cases "one message",…] [--rounds 10] [--save]

A row for each kind of prompt. `answer_ms` is the time from the last byte of a request to the first
of its answer, asked for by one client at a time. Then three clients send such a request at once,
and while they wait, one client asks for chats of three tokens, and another one for `/health`:
`chat_ms` and `health_ms` are these times beside them, `alone` the medians of as many without them,
in turns, and `added` the 90th percentile and the greatest of what they took longer than that.
"""

from __future__ import annotations

import argparse
import json
import socket
import statistics
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.report import Report, percentile, some_of
from tests.api.served_process import served_process

SIZE: Final = 5_000_000
SENDERS: Final = 3
PAUSE: Final = 0.3
"""Seconds before the last byte of a request, in which the server takes in the others."""

CHAT, TEXT, RESPONSES = "/v1/chat/completions", "/v1/completions", "/v1/responses"
LINE: Final = "The order 4711 of Anna Smith, Berlin, was paid on 2024-05-01 with 12.50 EUR.\n"


def english(size: int) -> str:
    return (LINE * (size // len(LINE) + 1))[:size]


def said(*texts: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text} for text in texts], "max_tokens": 3}


CASES: Final[dict[str, Callable[[], tuple[str, dict[str, Any]]]]] = {
    "one message": lambda: (CHAT, said(english(SIZE))),
    "ten messages": lambda: (CHAT, said(*[english(SIZE // 10)] * 10)),
    "many messages": lambda: (CHAT, said(*[english(90)] * 40_000)),
    "Chinese": lambda: (CHAT, said("中文字符，" * (SIZE // 15))),
    "completions": lambda: (TEXT, {"prompt": english(SIZE)}),
    "responses": lambda: (RESPONSES, {"input": english(SIZE)}),
    "token ids": lambda: (TEXT, {"prompt": [65] * (SIZE // 4)}),
    # Which aren't refused by their bytes.
    "80 kB": lambda: (CHAT, said(english(80_000))),
    "spaces": lambda: (CHAT, said(" " * SIZE)),
    "tools": lambda: (CHAT, {**said("Anna"), "tools": [tool(english(SIZE))]}),
    "the end is kept": lambda: (TEXT, {"prompt": english(SIZE // 5), "truncate_prompt_tokens": 9}),
    "tokenize": lambda: ("/tokenize", {"prompt": english(SIZE // 5)}),
}


def tool(description: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "f", "description": description}}


def main() -> int:
    options = arguments()
    report = Report(
        "long_prompts", packages=("tokenizers", "torch", "uvicorn"), rounds=options.rounds
    )
    with served_process() as server:
        Small(server.url).ask(9)
        for name in options.cases:
            report.add(name, **measured(server.url, request(*CASES[name]()), options.rounds))
    report.finish(save=options.save)
    return 0


def measured(url: str, large: bytes, rounds: int) -> dict[str, Any]:
    answers = [Line(url).ask(large, apart=True) for _ in range(rounds)]
    alone, beside = Small(url), Small(url)
    for _ in range(rounds):
        with sending(url, large) as waiting:
            asked = 0
            while any(thread.is_alive() for thread in waiting):
                beside.ask(1)
                asked += 1
        time.sleep(PAUSE)
        alone.ask(asked)
    row = {"MB": round(len(large) / 1e6, 1), "n": len(beside.took["chat"])}
    row |= {"answer_ms p50": median(answers), "answer_ms max": max(answers)}
    for name in SMALL:
        usual, more = median(alone.took[name]), sorted(beside.took[name])
        row |= {f"{name}_ms alone": usual, f"{name}_ms p50": median(more)}
        row[f"{name}_added_ms p90"] = percentile(more, 90) - usual
        row[f"{name}_added_ms max"] = more[-1] - usual
    return {name: round(value, 1) for name, value in row.items()}


class Small:
    """Clients that ask for small chats, and at the same time for the state of health. `took`: the
    milliseconds of each."""

    def __init__(self, url: str) -> None:
        self.took: dict[str, list[float]] = {name: [] for name in SMALL}
        self._lines = {name: Line(url) for name in SMALL}

    def ask(self, count: int) -> None:
        for _ in range(count):
            threads = [threading.Thread(target=self._ask, args=(name,)) for name in SMALL]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

    def _ask(self, name: str) -> None:
        self.took[name].append(self._lines[name].ask(SMALL[name]))


@contextmanager
def sending(url: str, large: bytes) -> Generator[list[threading.Thread]]:
    """Clients that send a large request each, in threads that end with their answers."""
    threads = [threading.Thread(target=Line(url).ask, args=(large,)) for _ in range(SENDERS)]
    for thread in threads:
        thread.start()
    yield threads
    for thread in threads:
        thread.join()


class Line:
    """A connection to a server."""

    def __init__(self, url: str) -> None:
        host, _, port = url.removeprefix("http://").partition(":")
        self._socket = socket.create_connection((host, int(port)))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._reader = self._socket.makefile("rb")

    def ask(self, data: bytes, *, apart: bool = False) -> float:
        """The milliseconds from sending a request, or with `apart` from sending its last byte, to
        the beginning of its answer, which is read."""
        if apart:
            self._socket.sendall(data[:-1])
            time.sleep(PAUSE)
            data = data[-1:]
        began = time.perf_counter()
        self._socket.sendall(data)
        self._reader.peek(1)
        took = 1000 * (time.perf_counter() - began)
        lines = list(iter(self._reader.readline, b"\r\n"))
        if b" 5" in lines[0]:
            raise RuntimeError(f"no answer: {lines[0]!r}")
        fields = dict(line.lower().strip().split(b": ", 1) for line in lines[1:])
        self._reader.read(int(fields[b"content-length"]))
        return took


def request(path: str, body: dict[str, Any]) -> bytes:
    content = json.dumps(body, ensure_ascii=False).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


SMALL: Final = {
    "chat": request(CHAT, said("Anna")),
    "health": b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n",
}


def median(values: list[float]) -> float:
    return statistics.median(values)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=some_of(CASES), default=list(CASES))
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--save", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
