"""The Vercel AI SDK, over responses, over chat completions, and as a compatible server."""

from __future__ import annotations

from tests.clients.node.scripts import run_tests


def test_vercel_ai(url: str) -> None:
    run_tests("vercel_ai.mjs", "ai", url)
