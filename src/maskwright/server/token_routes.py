"""The endpoints that tokenise texts and join tokens, each in the forms of three other servers, and
those that count the tokens of prompts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from starlette.requests import Request
from starlette.responses import JSONResponse

from maskwright.engine import Engine
from maskwright.errors import InputError
from maskwright.server.json import Json
from maskwright.server.prompts import PromptReader
from maskwright.server.request.answer_request import AnswerRequest, TextPrompt
from maskwright.server.request.anthropic_request import parse_anthropic_request
from maskwright.server.request.body import read_as, read_object
from maskwright.server.request.chat_prompt import parse_chat_prompt
from maskwright.server.request.fields import Fields, invalid, missing, token_id
from maskwright.server.request.response_request import parse_response_request
from maskwright.server.request.tool_use import parse_tool_use
from maskwright.server.route import Endpoint


class TokenRoutes:
    """The endpoints of one engine that use its tokenizer."""

    def __init__(self, engine: Engine, prompts: PromptReader, body_bytes: int) -> None:
        """`body_bytes`: upper bound on the bytes of a request body."""
        self._engine = engine
        self._loaded = engine.loaded
        self._vocab = engine.loaded.vocab
        self._names = {token: name for name, token in self._vocab.special_tokens.items()}
        self._prompts = prompts
        self._body_bytes = body_bytes

    def endpoints(self, prefix: str) -> tuple[Endpoint, ...]:
        """Return the endpoints, with `prefix` before their paths."""
        return (
            Endpoint(f"{prefix}/tokenize", self.tokenize, ["POST"]),
            Endpoint(f"{prefix}/detokenize", self.detokenize, ["POST"]),
            Endpoint(f"{prefix}/responses/input_tokens", self.response_input, ["POST"]),
            Endpoint(f"{prefix}/messages/count_tokens", self.anthropic_input, ["POST"]),
        )

    async def tokenize(self, http: Request) -> JSONResponse:
        """Tokenise a chat (`messages`), one text or several (`prompt`), or a text as llama.cpp's
        clients send it (`content`)."""
        body = Fields(await read_object(http, self._body_bytes))
        if body.has("content"):
            return JSONResponse(await self._content(body))
        if body.has("messages"):
            use = parse_tool_use(body)
            prompt = parse_chat_prompt(body)
            tokens = await self._prompts.tokens(prompt, None if use is None else use.sent)
            return JSONResponse(self._counted(body, tokens))
        special = body.boolean("add_special_tokens", default=True)
        prompt = body.get("prompt")
        if prompt is None:
            raise missing("prompt")
        if isinstance(prompt, str):
            tokens = await self._prompts.tokens(TextPrompt(prompt, special))
            return JSONResponse(self._counted(body, tokens))
        many = [await self._prompts.tokens(TextPrompt(one, special)) for one in _texts(body)]
        limit = self._engine.max_context
        counts = [len(tokens) for tokens in many]
        return JSONResponse({"tokens": many, "count": counts, "max_model_len": limit})

    async def detokenize(self, http: Request) -> JSONResponse:
        """Join token ids, or each of several arrays of them. The text has the name that each of
        the three servers gives it."""
        body = Fields(await read_object(http, self._body_bytes))
        special = not body.boolean("skip_special_tokens")
        items = body.items("tokens")
        if items is None:
            raise missing("tokens")
        text: object
        if items and isinstance(items[0][0], list):
            text = [self._text(_ids(one, place), place, special) for one, place in items]
        else:
            text = self._text(_ids(body.get("tokens"), "tokens"), "tokens", special)
        return JSONResponse({"prompt": text, "content": text, "text": text})

    async def response_input(self, http: Request) -> JSONResponse:
        """Count the tokens of the prompt that a request of the responses protocol has."""
        request = await read_as(http, self._body_bytes, parse_response_request)
        count = await self._input_tokens(request.answer)
        return JSONResponse({"object": "response.input_tokens", "input_tokens": count})

    async def anthropic_input(self, http: Request) -> JSONResponse:
        """Count the tokens of the prompt that a request of Anthropic's protocol has."""
        request = await read_as(http, self._body_bytes, parse_anthropic_request)
        return JSONResponse({"input_tokens": await self._input_tokens(request)})

    async def _input_tokens(self, request: AnswerRequest) -> int:
        adapter = request.model if request.model in self._engine.adapters else None
        [prompt] = await self._prompts.read(request, adapter)
        return len(prompt)

    async def _content(self, body: Fields) -> Json:
        text = body.string("content") or ""
        prompt = TextPrompt(text, body.boolean("add_special"))
        tokens = await self._prompts.tokens(prompt)
        if not body.boolean("with_pieces"):
            return {"tokens": tokens}
        return {"tokens": [{"id": token, "piece": self._piece(token)} for token in tokens]}

    def _counted(self, body: Fields, tokens: list[int]) -> Json:
        names = self._loaded.tokenizer.convert_ids_to_tokens(tokens)
        return {
            "count": len(tokens),
            "max_model_len": self._engine.max_context,
            "tokens": tokens,
            "token_strs": names if body.boolean("return_token_strs") else None,
        }

    def _piece(self, token: int) -> object:
        """Return the text of a token, or its bytes if they are only a part of a character."""
        data = self._data(token)
        try:
            return data.decode()
        except UnicodeDecodeError:
            return list(data)

    def _data(self, token: int) -> bytes:
        return self._vocab.tokens[token] or self._names.get(token, "").encode()

    def _text(self, tokens: Sequence[int], place: str, special: bool) -> str:
        """Join tokens; `special`: those of control tokens included."""
        outside = next((token for token in tokens if token >= self._vocab.size), None)
        if outside is not None:
            raise InputError(
                f"{place} names token {outside}; the vocabulary has {self._vocab.size}", param=place
            )
        pieces = (self._data(token) if special else self._vocab.tokens[token] for token in tokens)
        return b"".join(pieces).decode(errors="replace")


def _texts(body: Fields) -> tuple[str, ...]:
    if not isinstance(body.get("prompt"), list):
        raise invalid("prompt", "a string or an array of strings", body.get("prompt"))
    return body.strings("prompt")


def _ids(value: object, place: str) -> list[int]:
    if not isinstance(value, list):
        raise invalid(place, "an array of token ids", value)
    items = enumerate(cast(list[object], value))
    return [token_id(item, f"{place}[{at}]") for at, item in items]
