"""Count the Python functions and modules of maskwright that run for one chat request.

    python tools/request_functions.py [--processes N] [--list]

A server of the demo model answers chats at its socket, whole and streamed ones, each with a schema
of three properties that it has not seen. Before, it has answered both kinds with another schema, so
that nothing is counted that a process does once. A profile hook notes each Python function of the
package that is called in any thread of the server's process, as `first_mask_classes.py` does;
printed is how many run for each of several such chats, in how many modules, and in which packages.

Without grammar processes, which is the default here, compiling and masks are counted too; with
them, only what the server's own process does.
"""

from __future__ import annotations

import argparse
import functools
import operator
import sys
import threading
import time
from collections import Counter
from collections.abc import Generator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from types import FrameType
from typing import Any, Final

import httpx

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from maskwright.engine import Engine, EngineConfig  # noqa: E402
from maskwright.models import DEMO_PATH, load  # noqa: E402
from maskwright.processes import GrammarProcesses  # noqa: E402
from maskwright.server import create_app  # noqa: E402
from tests.live_server import live_server  # noqa: E402
from tools.first_mask_classes import SCHEMA, Touched  # noqa: E402

ROUNDS: Final = 3
"""Chats of one kind. What runs for each of them is counted, and not what runs for one because of
how threads meet, or because its time has come."""

SETTLE_S: Final = 0.1
"""A request is recorded after its answer has been sent: that takes less than so many seconds."""

KINDS: Final = {"a whole chat": False, "a streamed chat": True}
"""What is counted, and whether the answer is streamed."""


class Watch:
    """Notes what runs in all threads that begin within the block `watching`."""

    def __init__(self) -> None:
        self._found: Touched | None = None

    @contextmanager
    def watching(self) -> Generator[None]:
        """Threads that begin here are watched, from their first call to their last."""
        threading.setprofile(self._note)
        try:
            yield
        finally:
            threading.setprofile(None)

    @contextmanager
    def noting(self) -> Generator[Touched]:
        """What runs in these threads while the block does."""
        found = self._found = Touched()
        try:
            yield found
        finally:
            self._found = None

    def _note(self, frame: FrameType, event: str, value: Any) -> None:
        if self._found is not None:
            self._found.note(frame, event, value)


def one_request(processes: int = 0) -> dict[str, Touched]:
    """What runs for a chat of each of `KINDS`, with so many grammar processes."""
    loaded, watch, found = load(DEMO_PATH), Watch(), dict[str, Touched]()
    work = closing(GrammarProcesses(loaded.vocab, count=processes)) if processes else nullcontext()
    with (
        watch.watching(),
        work as pool,
        Engine(loaded, EngineConfig()) as engine,
        live_server(create_app(engine, processes=pool)) as url,
    ):
        for stream in KINDS.values():
            _chat(url, "another", stream=stream)
        for kind, stream in KINDS.items():
            rounds: list[Touched] = []
            for number in range(ROUNDS):
                with watch.noting() as touched:
                    _chat(url, f"{kind[2:7]}_{number}", stream=stream)
                    time.sleep(SETTLE_S)
                rounds.append(touched)
            found[kind] = functools.reduce(operator.and_, rounds)
    return found


def _chat(url: str, prefix: str, *, stream: bool) -> None:
    """Have the schema answered, with `prefix` before the names of its properties."""
    names = [f"{prefix}_{name}" for name in SCHEMA["properties"]]
    properties = dict(zip(names, SCHEMA["properties"].values(), strict=True))
    schema = SCHEMA | {"properties": properties, "required": names}
    body = {
        "model": "demo",
        "messages": [{"role": "user", "content": "Who is it?"}],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "person", "schema": schema, "strict": True},
        },
        "temperature": 0,
        "max_tokens": 200,
        "stream": stream,
    }
    answer = httpx.post(f"{url}/v1/chat/completions", json=body, timeout=60)
    answer.raise_for_status()
    assert names[-1] in answer.text, answer.text


def report(found: Touched, *, each: bool = False) -> str:
    """How many functions and modules there are, and how many in each package; `each`: and which."""
    modules = Counter(map(_package, found.modules))
    functions = Counter(map(_package, found.functions))
    lines = [f"{len(found.functions)} functions in {len(found.modules)} modules"]
    for package, count in sorted(functions.items()):
        lines.append(f"  {package:24}{count:5} functions in {modules[package]:3} modules")
        if each:
            inside = (name for name in found.functions if _package(name) == package)
            lines += [f"    {name}" for name in sorted(inside)]
    return "\n".join(lines)


def _package(name: str) -> str:
    """The package of a module or function: at most two folders, and none for the modules that stand
    in no folder."""
    module, _, _ = name.partition(":")
    folders = module.split(".")[:-1]
    return ".".join(folders[:2]) or "maskwright"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--processes", type=int, default=0, help="grammar processes")
    parser.add_argument("--list", action="store_true", help="print the functions too")
    options = parser.parse_args()
    for kind, found in one_request(options.processes).items():
        print(f"{kind}: {report(found, each=options.list)}")


if __name__ == "__main__":
    main()
