"""The shipped model on a real server, in the test process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import openai

from maskwright.cli.serving.serve import GRAMMAR_PROCESSES
from maskwright.cli.serving.start import grammar_work, warm_up
from maskwright.engine import Engine, EngineConfig
from maskwright.models import DEMO_PATH, load
from maskwright.server import ServerConfig, create_app
from tests.bounds import PATIENCE
from tests.live_server import live_server


@dataclass(frozen=True)
class Served:
    """A running server: `url` without a path, and the engine behind it."""

    url: str
    engine: Engine

    def client(self) -> openai.OpenAI:
        return openai.OpenAI(
            base_url=f"{self.url}/v1", api_key="none", max_retries=0, timeout=PATIENCE
        )

    def async_client(self) -> openai.AsyncOpenAI:
        return openai.AsyncOpenAI(
            base_url=f"{self.url}/v1", api_key="none", max_retries=0, timeout=PATIENCE
        )


@contextmanager
def demo_server(config: ServerConfig | None = None) -> Iterator[Served]:
    """Warmed up as `maskwright serve` does: no client waits for what is compiled once."""
    loaded = load(DEMO_PATH)
    with (
        grammar_work(loaded.vocab, GRAMMAR_PROCESSES, 10.0, 512 << 20) as processes,
        Engine(loaded, EngineConfig(max_running=32)) as engine,
    ):
        warm_up(engine, processes)
        with live_server(create_app(engine, config, processes=processes)) as url:
            yield Served(url, engine)
