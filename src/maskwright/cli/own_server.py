"""A server in the process of a command, which asks it and then ends it."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import uvicorn

from maskwright.cli.output.progress import progress
from maskwright.cli.process.draining import http_config
from maskwright.cli.process.listening import listen
from maskwright.cli.serving.start import warm_up
from maskwright.engine import Engine
from maskwright.models import DEMO_PATH, load
from maskwright.server import create_app
from maskwright.server.config import KEEP_ALIVE_SECONDS

START_SECONDS: Final = 30.0


@contextmanager
def own_server(model: str | None, cache: Path | None = None) -> Generator[str]:
    """The address of a model's server on a free loopback port, while the block runs. `model`: a
    folder or an id on the Hugging Face hub; None for the demo model."""
    with progress("loading the model"):
        loaded = load(model or DEMO_PATH, cache=cache)
    with listen("127.0.0.1", 0) as listening, Engine(loaded) as engine:
        with progress("warming up"):
            warm_up(engine)
        server = uvicorn.Server(http_config(create_app(engine), KEEP_ALIVE_SECONDS))
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        end = time.monotonic() + START_SECONDS
        while not server.started and thread.is_alive() and time.monotonic() < end:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(START_SECONDS)
