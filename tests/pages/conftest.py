"""One server with the shipped model, and one browser, for all tests of pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.pages.browser import Browser, absent, chromium
from tests.pages.demo_server import Served, demo_server


@pytest.fixture(scope="session")
def served() -> Iterator[Served]:
    with demo_server() as served:
        yield served


@pytest.fixture(scope="session")
def chromium_window() -> Iterator[Browser]:
    reason = absent()
    if reason is not None:
        pytest.skip(reason)
    with chromium() as browser:
        yield browser


@pytest.fixture
def browser(chromium_window: Browser) -> Iterator[Browser]:
    """The browser; a test fails where the console has an error, or another server was asked."""
    chromium_window.colours("light")
    yield chromium_window
    assert chromium_window.complaints() == []
