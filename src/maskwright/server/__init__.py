"""The HTTP interface: OpenAI's protocols over the engine.

- `answer/`: Bodies of answers, streams, log-probabilities.
- `batches/`: OpenAI's files and batches, kept in a folder of the local disk.
- `guarantees/`: What was enforced for an answer, and whether it holds.
- `observe/`: Metrics, traces and spans of requests and of the engine.
- `openapi/`: The description of the API as an OpenAPI document.
- `pages/`: The pages that people open in a browser.
- `request/`: From the bytes of a body to a typed request.
- `stream`: What a stream waits for: new output, and a client that reads.
- `access`: The keys of clients, and the rates and quotas of each.
- `access_control`: Lets requests in: by their keys, rates and bytes, before a drain.
- `app`: The application: its routes and what they call.
- `config`: The server's settings, and the fingerprint of software, model and settings.
- `continuation`: Answers that are begun by one server and continued by another.
- `errors`: Every failure as an error body in OpenAI's form.
- `exchange`: The record of one HTTP request, for logs, metrics and traces.
- `generation_routes`: The endpoints that generate answers.
- `handoff`: Requests whose prompt one server computes, and whose answer another one gives.
- `json`: JSON objects of the server, and JSON Schemas of a few kinds.
- `middleware`: Wraps every request: ids, internal errors, and what metrics, traces and logs get.
- `prompt_sizes`: How many tokens the prompts of a body take at least, found in its bytes.
- `prompts`: The prompts of a request as token ids, and whether these and an answer fit.
- `recipes`: Decides which grammar an answer has, and keeps it compiled.
- `route`: One path and its methods, and work that ends when its client disconnects.
- `shapes`: Checks shapes, writes texts of them, and has examples.
- `starter`: From a typed request to generations of the engine.
- `token_routes`: The endpoints that tokenise texts and join tokens.

Each name is imported when it is first asked for: settings can be checked without importing torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from maskwright.server.app import create_app
    from maskwright.server.config import ServerConfig
    from maskwright.server.observe.traces import RequestTrace, TraceFile, TraceSink

__all__ = ["RequestTrace", "ServerConfig", "TraceFile", "TraceSink", "create_app"]

_MODULES: Final = {"ServerConfig": "config", "create_app": "app"}
"""Where each name stands; those that are missing are traces."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"maskwright.server.{_MODULES.get(name, 'observe.traces')}")
    value = globals()[name] = getattr(module, name)
    return value
