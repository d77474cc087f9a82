"""What a client asks for, whichever endpoint it used: prompts, the shape of the answers, how they
are generated, and what the client receives of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from maskwright.sampling import SamplingParams
from maskwright.server.request.messages import Message
from maskwright.server.request.own_options import OwnOptions
from maskwright.server.request.shape import Shape
from maskwright.server.request.tool_use import ToolUse


@dataclass(frozen=True, slots=True)
class ChatPrompt:
    """A conversation, which the model's chat template turns into a prompt.

    - `variables`: additional variables of the template.
    - `begins_answer`: the prompt ends with the beginning of an assistant's message.
    - `continues`: the answer continues the last message instead.
    """

    messages: tuple[Message, ...]
    variables: Mapping[str, object] = field(default_factory=dict[str, object])
    begins_answer: bool = True
    continues: bool = False


@dataclass(frozen=True, slots=True)
class TextPrompt:
    """A text that is continued as it is. `special`: the tokenizer may add the special tokens with
    which texts of this model begin."""

    text: str
    special: bool = True


@dataclass(frozen=True, slots=True)
class TokenPrompt:
    """Token ids that are continued as they are."""

    tokens: tuple[int, ...]


Prompt: TypeAlias = ChatPrompt | TextPrompt | TokenPrompt


@dataclass(frozen=True, slots=True)
class TokenLimit:
    """The limit on the tokens of the answer, and the field that contained it."""

    tokens: int
    field: str


@dataclass(frozen=True, slots=True)
class GenerationOptions:
    """How each answer is generated.

    - `n`: answers for each prompt.
    - `stop`, `stop_tokens`: strings and tokens that end the answer. `include_stop`: they are part
      of it.
    - `bad_words`: strings that never occur in the answer.
    - `kept`: how many tokens of a prompt are kept; -1 for as many as leave room for the answer;
      None for all. `keeps_beginning`: they are its first tokens, not its last ones.
    - `prompt_logprobs`: the log-probabilities of the prompt's tokens are computed, each with so
      many of the likeliest tokens; None for none.
    - `thinking_tokens`: the most tokens of a reasoning section; None for no bound.
      `thinking_optional`: an answer without such a section keeps to the bound too.
      `thinking_last`: what the section says before its end once it has had all of them.
    - `compact`: JSON has no whitespace. `closed`: objects have no members that their schema doesn't
      mention, or may have some (False); None for the server's default.
    - `user`: the user whose fair share of the engine the request counts towards.
    - `cache_salt`: only requests with equal salts share cached prefixes.
    """

    params: SamplingParams
    n: int
    stop: tuple[str, ...]
    own: OwnOptions
    user: str
    cache_salt: str
    stop_tokens: tuple[int, ...] = ()
    include_stop: bool = False
    bad_words: tuple[str, ...] = ()
    kept: int | None = None
    keeps_beginning: bool = False
    prompt_logprobs: int | None = None
    thinking_tokens: int | None = None
    thinking_optional: bool = False
    thinking_last: str = ""
    compact: bool = False
    closed: bool | None = None


@dataclass(frozen=True, slots=True)
class ReplyOptions:
    """What the client receives of its answers, and how.

    - `include_usage`: a stream ends with the usage. `continuous_usage`: each of its chunks has the
      usage so far.
    - `id`: the client's name for the request, which becomes a part of the answer's id.
    - `logprobs`: each token is returned with its log-probability.
    - `token_ids`: the ids of the tokens of prompts and answers are returned.
    - `tokens_as_ids`: log-probabilities name tokens by their ids.
    - `one_function`: the request has `functions`, so that a call is returned as a `function_call`.
    - `prompt_logprobs`: the log-probabilities of the prompt's tokens are returned, with so many of
      the likeliest tokens; None for no such field.
    - `echo`: the text of the prompt comes before each answer; and, with `logprobs`, its
      log-probabilities before the answer's. `only_echo`: the answer itself is left out.
    - `include_reasoning`: reasoning that is apart from the text is returned.
    - `separate_reasoning`: a reasoning section is returned apart from the text.
    - `best`: how many answers for each prompt are returned, the likeliest ones; None for all.
    """

    stream: bool = False
    include_usage: bool = False
    continuous_usage: bool = False
    id: str | None = None
    logprobs: bool = False
    prompt_logprobs: int | None = None
    echo: bool = False
    only_echo: bool = False
    best: int | None = None
    separate_reasoning: bool = True
    include_reasoning: bool = True
    one_function: bool = False
    token_ids: bool = False
    tokens_as_ids: bool = False


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """A valid request. Only what depends on the model (lengths, token ids) is not checked yet.

    - `place`: the field that contained the prompts, which errors name.
    - `first_place`: that of the first message, where it has one of its own.
    """

    model: str | None
    prompts: tuple[Prompt, ...]
    place: str
    shape: Shape
    tool_use: ToolUse | None
    limit: TokenLimit | None
    options: GenerationOptions
    reply: ReplyOptions
    first_place: str | None = None
