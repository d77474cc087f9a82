"""What a client asks for, whichever endpoint it used: prompts, the shape of the answers, how they
are generated, and what the client receives of them; and the field `maskwright`, options that only
this server has."""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from msgspec import field
from pydantic import Field, PlainValidator, WithJsonSchema

from maskwright.grammar.schema.options import AdditionalProperties, Numbers, UnusableTools
from maskwright.immutable import Immutable
from maskwright.sampling import SamplingParams, Scale
from maskwright.server.continuation import StreamBeginning, parse_continuation
from maskwright.server.json import Json
from maskwright.server.request.messages import ChatPrompt
from maskwright.server.request.model import ClosedModel, Worded, described
from maskwright.server.request.shape import Shape
from maskwright.server.request.tool_use import ToolUse

_INTEGER: Final = {"type": "integer"}
_INDEX: Final = {"type": "integer", "minimum": 0}
_CONTINUATION: Final[Json] = {
    "type": "object",
    "description": "The beginning of a stream that another server has generated; for routers.",
    "properties": {
        "key": {"type": "string"},
        "created": _INTEGER,
        "seeds": {"type": "array", "items": _INDEX},
        "deltas": {
            "type": "array",
            "description": "The choice, whether the delta ends it, the first token of the choice "
            "that its token limit has changed (null for none), and the tokens of the delta.",
            "items": {
                "type": "array",
                "items": {"type": ["integer", "boolean", "null"]},
                "minItems": 3,
            },
        },
        "events": _INTEGER,
    },
    "required": ["key", "created", "seeds", "deltas", "events"],
}


class OwnOptions(ClosedModel):
    """Options that only this server has."""

    logprobs: Scale = described(
        "raw",
        "The log-probabilities are the model's own (`raw`), or conditional on the tokens that the "
        "shape allows. Needs log-probabilities to be asked for.",
    )
    trace: Annotated[bool | Literal["tokens"], Worded('true, false or "tokens"')] = described(
        False, "Return a trace of the generation, also of how each token was chosen."
    )
    service: str | None = described(None, "The class of service.")
    timeout: (
        Annotated[float, Field(gt=0, allow_inf_nan=False), Worded("a number of seconds above 0")]
        | None
    ) = described(None, "Most seconds that the answer may take; the server's limit at most.")
    additional_properties: AdditionalProperties | None = described(
        None,
        "Whether objects may have members that their schema doesn't mention; the server's setting "
        "by default.",
    )
    report: bool = described(False, "Say what was enforced, and check the answer again.")
    explain: bool = described(False, "Keep for `/v1/explain` how each token was chosen.")
    length_if_shortened: bool = described(
        True,
        "The finish reason of an answer that the token limit has shortened is `length`, also if "
        "its text is whole.",
    )
    continuation: Annotated[
        StreamBeginning | None, PlainValidator(parse_continuation), WithJsonSchema(_CONTINUATION)
    ] = None
    numbers: Numbers | None = described(
        None, "How numbers in JSON are written: `plain` without an exponent."
    )
    unusable_tools: UnusableTools = described(
        "refuse",
        "What is done with a tool whose schema can't be used, where other answers are possible "
        "than its call.",
    )

    @property
    def trace_tokens(self) -> bool:
        """Whether it is returned how each token was chosen."""
        return self.trace == "tokens"

    @property
    def scores_tokens(self) -> bool:
        """Whether it is noted how each token was chosen."""
        return self.trace_tokens or self.explain


class TextPrompt(Immutable):
    """A text that is continued as it is. `special`: the tokenizer may add the special tokens with
    which texts of this model begin."""

    text: str
    special: bool = True


class TokenPrompt(Immutable):
    """Token ids that are continued as they are."""

    tokens: tuple[int, ...]


Prompt: TypeAlias = ChatPrompt | TextPrompt | TokenPrompt


class TokenLimit(Immutable):
    """The limit on the tokens of the answer, and the field that contained it."""

    tokens: int
    field: str


class GenerationOptions(Immutable):
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


class ReplyOptions(Immutable):
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


class AnswerRequest(Immutable):
    """A valid request. Only what depends on the model (lengths, token ids) is not checked yet.

    - `place`: the field that contained the prompts, which errors name.
    - `first_place`: that of the first message, where it has one of its own.
    - `echoed`: the settings that a response repeats, as they were sent.
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
    echoed: Json = field(default_factory=dict[str, object])
