"""LangChain's own tests of chat models, with its client of OpenAI's protocol and our server."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients.cases import ABSENT, MODEL

langchain_openai: Any = pytest.importorskip("langchain_openai", reason=ABSENT)
standard: Any = pytest.importorskip("langchain_tests.integration_tests", reason=ABSENT)

KNOWLEDGE = {
    "test_unicode_tool_call_integration": "an argument has to be a name in Chinese",
    "test_agent_loop": "a tool has to be called unasked whose schema begins with its properties",
}
"""Tests that a model of three million parameters fails, and what they ask of it."""


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.filterwarnings("ignore:.*is marked with '@pytest.mark.asyncio'")
class TestChatModel(standard.ChatModelIntegrationTests):
    @property
    def chat_model_class(self) -> Any:
        return langchain_openai.ChatOpenAI

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {
            "model": MODEL,
            "base_url": self.url,
            "api_key": "none",
            "max_retries": 0,
            "temperature": 0,
            "stream_usage": True,
        }

    @pytest.fixture(autouse=True)
    def _asked(self, url: str, request: pytest.FixtureRequest) -> None:
        type(self).url = url
        if reason := KNOWLEDGE.get(request.node.originalname):
            pytest.skip(f"needs knowledge: {reason}")
