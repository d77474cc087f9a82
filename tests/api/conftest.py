"""The shipped model behind a real server on loopback, and the official client."""

from __future__ import annotations

from collections.abc import Iterator

import openai
import pytest

from tests.pages.demo_server import Served, demo_server


@pytest.fixture(scope="session")
def served() -> Iterator[Served]:
    with demo_server() as served:
        yield served


@pytest.fixture
def client(served: Served) -> Iterator[openai.OpenAI]:
    with served.client() as client:
        yield client
