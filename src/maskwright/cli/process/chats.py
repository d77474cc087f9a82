"""Chats with a server: requests for streams, and the text that comes."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import httpx

from maskwright.cli.input.shapes import RegexArgument, SchemaArgument, Shape
from maskwright.cli.options import ServerAccess
from maskwright.cli.process.reaching import base_address, client_arguments, reaching
from maskwright.errors import AddressError, InputError

OK: Final = 200
CONNECT_S: Final = 10.0
"""Seconds within which a server has to be reached. An answer may take any time."""

Message: TypeAlias = Mapping[str, str]


@dataclass(slots=True)
class StreamedAnswer:
    """An answer as it comes: what is iterated are its pieces. Afterwards the whole `text`, why it
    ended, and what the server counted."""

    pieces: Generator[str]
    text: str = ""
    finish_reason: str | None = None
    usage: dict[str, Any] | None = field(default=None)


class ChatClient:
    """Asks one server for answers of one model: of `model`, else of the first that it lists."""

    def __init__(self, client: httpx.Client, model: str | None) -> None:
        self._client = client
        self._model = model or self._first_model()

    def stream(
        self, messages: Sequence[Message], shape: Shape | None, fields: Mapping[str, object]
    ) -> StreamedAnswer:
        """Ask for an answer in a shape. `fields`: further ones of the request. Raises AddressError
        if no server answers, and InputError with its words if it refuses, once the answer is
        iterated."""
        body = {
            "model": self._model,
            "messages": list(messages),
            "stream": True,
            "stream_options": {"include_usage": True},
            **shape_fields(shape),
            **fields,
        }
        answer = StreamedAnswer(piece for piece in ())
        answer.pieces = self._pieces(body, answer)
        return answer

    def _pieces(self, body: Mapping[str, object], answer: StreamedAnswer) -> Generator[str]:
        with (
            reaching(self._client.base_url),
            self._client.stream("POST", "/v1/chat/completions", json=body) as response,
        ):
            if response.status_code != OK:
                raise _refused(response)
            for line in response.iter_lines():
                if not line.startswith("data: ") or line == "data: [DONE]":
                    continue
                event = json.loads(line.removeprefix("data: "))
                if "error" in event:
                    raise InputError(f"the answer ends: {event['error'].get('message')}")
                answer.usage = event.get("usage") or answer.usage
                for choice in event.get("choices", ()):
                    answer.finish_reason = choice.get("finish_reason") or answer.finish_reason
                    piece = choice.get("delta", {}).get("content")
                    if piece:
                        answer.text += piece
                        yield piece

    def _first_model(self) -> str:
        with reaching(self._client.base_url):
            response = self._client.get("/v1/models")
        if response.status_code != OK:
            raise _refused(response)
        try:
            return str(response.json()["data"][0]["id"])
        except (ValueError, KeyError, IndexError, TypeError):
            raise AddressError(f"at {self._client.base_url} is no server of models") from None


@contextmanager
def chat_client(url: str, access: ServerAccess, model: str | None = None) -> Generator[ChatClient]:
    """A client of the server at an address, with or without `/v1`. Raises as `ChatClient`."""
    timeout = httpx.Timeout(None, connect=CONNECT_S)
    with reaching(url):
        client = httpx.Client(
            base_url=base_address(url), timeout=timeout, **client_arguments(access)
        )
    with client:
        yield ChatClient(client, model)


def shape_fields(shape: Shape | None) -> dict[str, object]:
    """The fields of a request by which an answer has a shape."""
    match shape:
        case None:
            return {}
        case SchemaArgument(schema=schema):
            named = {"name": "answer", "schema": schema}
            return {"response_format": {"type": "json_schema", "json_schema": named}}
        case RegexArgument(pattern=pattern):
            return {"structured_outputs": {"regex": pattern}}
        case _:
            return {"structured_outputs": {"grammar": shape.text}}


def _refused(response: httpx.Response) -> InputError:
    """What a server says that refuses a request."""
    response.read()
    try:
        message = response.json()["error"]["message"]
    except (ValueError, KeyError, TypeError):
        message = response.text[:300] or response.reason_phrase
    return InputError(f"{response.url} answers {response.status_code}: {message}", param="url")
