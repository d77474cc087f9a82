"""The server that all clients ask: one that runs, or the shipped model in this process."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

VARIABLE = "MASKWRIGHT_URL"
"""Names a variable with a server's address (no path), for environments without the package."""


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of the server, without a path."""
    if address := os.environ.get(VARIABLE):
        yield address
        return
    from tests.pages.demo_server import demo_server  # noqa: PLC0415  (needs the package)

    with demo_server() as served:
        yield served.url


@pytest.fixture(scope="session")
def url(server: str) -> str:
    """The base URL that clients are given."""
    return f"{server}/v1"
