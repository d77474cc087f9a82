"""The HTTP face: OpenAI's chat completions protocol over the engine.

- `answer/`: What is sent back: whole answers, streams, log-probabilities.
- `grammars/`: The grammar of an answer: which one, and its compiled form.
- `observe/`: What is told of requests and of the engine: metrics, traces, spans.
- `request/`: From the bytes of a body to a typed request.
- `app`: The HTTP application.
- `completions`: A chat request on its way into the engine.
- `config`: How the HTTP server behaves.
- `disconnect`: Work that ends when the client goes away.
- `errors`: Every failure as OpenAI's error body.
- `exchange`: One HTTP request while it is answered.
- `json`: JSON objects as the server writes them.
- `middleware`: Around every request.
"""

from maskwright.server.app import create_app
from maskwright.server.config import ServerConfig
from maskwright.server.observe.traces import RequestTrace, TraceFile, TraceSink

__all__ = ["RequestTrace", "ServerConfig", "TraceFile", "TraceSink", "create_app"]
