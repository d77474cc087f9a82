"""The official `openai` package of npm: parsing, streams, tools, responses and errors."""

from __future__ import annotations

from tests.clients.node.scripts import run_tests


def test_openai_node(url: str) -> None:
    run_tests("openai_node.mjs", "openai", url)
