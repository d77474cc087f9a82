"""The HTTP interface: OpenAI's chat completions protocol over the engine.

- `answer/`: What is sent back: whole answers, streams, log-probabilities.
- `grammars/`: The grammar of an answer: which one, and its compiled form.
- `observe/`: Metrics, traces and spans of requests and of the engine.
- `request/`: From the bytes of a body to a typed request.
- `app`: The application: its routes and what they call.
- `completions`: From a typed request to generations of the engine.
- `config`: The server's settings.
- `disconnect`: Cancels work when its client goes away.
- `errors`: Every failure as an error body in OpenAI's form.
- `exchange`: What is noted of one HTTP request while it is answered.
- `json`: How the server writes JSON.
- `middleware`: What surrounds every request: limits, ids, logging.
"""

from maskwright.server.app import create_app
from maskwright.server.config import ServerConfig
from maskwright.server.observe.traces import RequestTrace, TraceFile, TraceSink

__all__ = ["RequestTrace", "ServerConfig", "TraceFile", "TraceSink", "create_app"]
