"""The HTTP face: OpenAI's chat completions protocol over the engine."""

from maskwright.server.app import create_app
from maskwright.server.config import ServerConfig
from maskwright.server.traces import RequestTrace, TraceFile, TraceSink

__all__ = ["RequestTrace", "ServerConfig", "TraceFile", "TraceSink", "create_app"]
