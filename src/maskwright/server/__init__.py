"""The HTTP face: OpenAI's chat completions protocol over the engine."""

from maskwright.server.app import create_app
from maskwright.server.config import ServerConfig

__all__ = ["ServerConfig", "create_app"]
