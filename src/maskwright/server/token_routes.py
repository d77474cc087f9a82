"""The endpoints that tokenise texts and join tokens, each in the forms of three other servers, and
those that count the tokens of prompts; with the bodies of the former."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from maskwright.engine import Engine
from maskwright.immutable import Immutable
from maskwright.server.json import Json
from maskwright.server.prompts import PromptReader
from maskwright.server.request.answer_request import Prompt, TextPrompt
from maskwright.server.request.anthropic_request import AnthropicRequest
from maskwright.server.request.body import read_as
from maskwright.server.request.messages import PromptFields
from maskwright.server.request.model import (
    Array,
    ByType,
    IdArray,
    RequestModel,
    Strings,
    check_tokens,
    described,
)
from maskwright.server.request.response_request import ResponseRequest
from maskwright.server.request.sampling_fields import GeneratingRequest
from maskwright.server.request.tool_use import FunctionFields


class AskedTokens(Immutable):
    """What to tokenise, and the form of the answer: tokens of llama.cpp's `content`, of `one`
    prompt, or of `several`. `pieces`: with the text of each token."""

    form: Literal["content", "one", "several"]
    prompts: tuple[Prompt, ...]
    tools: Sequence[Mapping[str, Any]] | None
    pieces: bool


_STRINGS: Any = Field(default=False, description="Return the tokens' texts too.")


class TokenizeContentRequest(RequestModel):
    """A text, as llama.cpp's clients send it."""

    content: str
    add_special: bool = False
    with_pieces: bool = described(False, "Each token is returned with its text.")

    def asked(self) -> AskedTokens:
        text = TextPrompt(self.content, self.add_special)
        return AskedTokens("content", (text,), None, self.with_pieces)


class TokenizeChatRequest(PromptFields, FunctionFields):
    """A chat."""

    return_token_strs: bool = _STRINGS

    def asked(self) -> AskedTokens:
        use = self.tool_use()
        tools = None if use is None else use.sent
        return AskedTokens("one", (self.prompt(),), tools, self.return_token_strs)


class TokenizeTextRequest(RequestModel):
    """A text, or several."""

    prompt: Annotated[
        str | Annotated[tuple[str, ...], Strings()], ByType("a string or an array of strings")
    ]
    add_special_tokens: bool = described(True, "The tokenizer may add special tokens.")
    return_token_strs: bool = _STRINGS

    def asked(self) -> AskedTokens:
        one = isinstance(self.prompt, str)
        texts = (self.prompt,) if isinstance(self.prompt, str) else self.prompt
        prompts = tuple(TextPrompt(text, self.add_special_tokens) for text in texts)
        form = "one" if one else "several"
        return AskedTokens(form, prompts, None, self.return_token_strs)


def parse_tokenize_request(tree: Json) -> AskedTokens:
    """Read a body. Raises InputError, whose `param` is the dotted path of the first wrong field."""
    if tree.get("content") is not None:
        return TokenizeContentRequest.read(tree).asked()
    if tree.get("messages") is not None:
        return TokenizeChatRequest.read(tree).asked()
    return TokenizeTextRequest.read(tree).asked()


Ids: TypeAlias = Annotated[tuple[int, ...], IdArray()]


class DetokenizeRequest(RequestModel):
    """Token ids, or several arrays of them."""

    tokens: Annotated[
        Ids | Annotated[tuple[Ids, ...], Array()], ByType("an array of token ids", first=(list,))
    ]
    skip_special_tokens: bool = described(False, "Leave out control tokens.")

    def arrays(self) -> tuple[list[tuple[int, ...]], bool]:
        """Return the arrays of ids, and whether there may be several."""
        arrays = [one for one in self.tokens if isinstance(one, tuple)]
        one = tuple(token for token in self.tokens if isinstance(token, int))
        return (arrays, True) if arrays else ([one], False)


FEW_TOKENS: Final = 10_000
"""Tokens whose JSON is written in the event loop, in some milliseconds."""


class TokenRoutes:
    """The endpoints of one engine that use its tokenizer. Long texts and answers are read and
    written in threads."""

    def __init__(self, engine: Engine, prompts: PromptReader, body_bytes: int) -> None:
        """`body_bytes`: upper bound on the bytes of a request body."""
        self._engine = engine
        self._loaded = engine.loaded
        self._vocab = engine.loaded.vocab
        self._names = {token: name for name, token in self._vocab.special_tokens.items()}
        self._prompts = prompts
        self._body_bytes = body_bytes

    async def tokenize(self, http: Request) -> Response:
        """Tokenise a chat (`messages`), one text or several (`prompt`), or a text as llama.cpp's
        clients send it (`content`)."""
        asked = await read_as(http, self._body_bytes, parse_tokenize_request)
        many = await self._prompts.tokens(asked.prompts, asked.tools)
        make = partial(self._tokenised, asked, many)
        if sum(map(len, many)) <= FEW_TOKENS:
            return JSONResponse(make())
        written = await asyncio.to_thread(lambda: _written(make()))
        return Response(written, media_type="application/json")

    async def detokenize(self, http: Request) -> JSONResponse:
        """Join token ids, or each of several arrays of them. The text has the name that each of
        the three servers gives it."""
        text = await read_as(http, self._body_bytes, self._joined)
        return JSONResponse({"prompt": text, "content": text, "text": text})

    def _joined(self, tree: Json) -> str | list[str]:
        asked = DetokenizeRequest.read(tree)
        special = not asked.skip_special_tokens
        arrays, several = asked.arrays()
        if not several:
            return self._text(arrays[0], "tokens", special)
        return [self._text(one, f"tokens[{at}]", special) for at, one in enumerate(arrays)]

    async def response_input(self, http: Request) -> JSONResponse:
        """Count the tokens of the prompt that a request of the responses protocol has."""
        count = await self._input_tokens(http, ResponseRequest)
        return JSONResponse({"object": "response.input_tokens", "input_tokens": count})

    async def anthropic_input(self, http: Request) -> JSONResponse:
        """Count the tokens of the prompt that a request of Anthropic's protocol has."""
        return JSONResponse({"input_tokens": await self._input_tokens(http, AnthropicRequest)})

    async def _input_tokens(self, http: Request, model: type[GeneratingRequest]) -> int:
        request = await read_as(http, self._body_bytes, model.parse)
        adapter = request.model if request.model in self._engine.adapters else None
        return await self._prompts.count(request, adapter)

    def _tokenised(self, asked: AskedTokens, many: list[list[int]]) -> Json:
        counts = [len(tokens) for tokens in many]
        if asked.form == "content":
            pieces = asked.pieces
            listed = [{"id": token, "piece": self._piece(token)} if pieces else token
                      for token in many[0]]  # fmt: skip
            return {"tokens": listed}
        answer: Json = {"tokens": many, "count": counts, "max_model_len": self._engine.max_context}
        if asked.form == "one":
            [tokens] = many
            convert = self._loaded.tokenizer.convert_ids_to_tokens
            answer.update(tokens=tokens, count=counts[0])
            answer["token_strs"] = convert(tokens) if asked.pieces else None
        return answer

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
        """Join tokens; `special`: control tokens have their names."""
        check_tokens(place, tokens, self._vocab.size)
        pieces = (self._data(token) if special else self._vocab.tokens[token] for token in tokens)
        return b"".join(pieces).decode(errors="replace")


def _written(answer: Json) -> bytes:
    """Return the JSON of an answer in many small steps, between which other threads can have the
    interpreter's lock."""
    encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
    return "".join(encoder.iterencode(answer)).encode()
