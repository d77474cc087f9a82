"""The bodies of POST /tokenize and POST /detokenize, in the forms of three other servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from maskwright.server.json import Json
from maskwright.server.request.answer_request import Prompt, TextPrompt
from maskwright.server.request.chat_prompt import PromptFields
from maskwright.server.request.model import Array, ByType, IdArray, RequestModel, Strings
from maskwright.server.request.tool_use import FunctionFields


@dataclass(frozen=True, slots=True)
class AskedTokens:
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
    with_pieces: bool = Field(default=False, description="Each token is returned with its text.")

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
    add_special_tokens: bool = Field(
        default=True, description="The tokenizer may add special tokens."
    )
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
        Ids | Annotated[tuple[Ids, ...], Array()],
        ByType("an array of token ids", first=(list,)),
    ]
    skip_special_tokens: bool = Field(default=False, description="Leave out control tokens.")

    def arrays(self) -> tuple[list[tuple[int, ...]], bool]:
        """Return the arrays of ids, and whether there may be several."""
        arrays = [one for one in self.tokens if isinstance(one, tuple)]
        one = tuple(token for token in self.tokens if isinstance(token, int))
        return (arrays, True) if arrays else ([one], False)
