"""A piece of work: what is asked about one record, and what comes of it. Answers are checked under
their schemas by other means than the masks that they were made with."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, cast

from msgspec import field

from maskwright.immutable import Immutable
from maskwright.instances import InstanceCheck, NotJsonError, UndecidedError

Key: TypeAlias = int | str
"""What identifies a record in results: its place in the input, or its `custom_id`."""


class WorkItem(Immutable):
    """What is asked about one record.

    `path`: the endpoint. `body`: the request, None if there is a `problem` with the record.
    `carried`: fields of the record that its result repeats. `digest`: changes with the request;
    None if results don't have it.
    """

    key: Key
    path: str = ""
    body: dict[str, object] | None = None
    problem: str | None = None
    carried: Mapping[str, object] = field(default_factory=dict[str, object])
    digest: str | None = None


class ServerAnswer(Immutable):
    """What a server has answered. `body`: JSON, or text if it is none. `attempts`: how often the
    request was sent."""

    status: int
    body: object
    request_id: str | None
    attempts: int


class WorkResult(Immutable):
    """What comes of a record: a line of the results, or of the failures with the `code` of its
    reason. `is_unchecked`: whether the answer is valid could not be decided."""

    line: dict[str, object]
    code: str | None = None
    is_unchecked: bool = False


class TokenUse(Immutable):
    """Tokens of one answer or of many."""

    prompt: int = 0
    cached: int = 0
    completion: int = 0

    def __add__(self, other: TokenUse) -> TokenUse:
        return TokenUse(
            self.prompt + other.prompt,
            self.cached + other.cached,
            self.completion + other.completion,
        )


class RecordWork(Protocol):
    """All records of an input. `items` reads them anew each time."""

    def items(self) -> Iterator[WorkItem]: ...

    def result(self, item: WorkItem, answer: ServerAnswer) -> WorkResult:
        """What comes of a record that was answered."""
        ...

    def refused(self, item: WorkItem, code: str, reason: str, attempts: int = 0) -> WorkResult:
        """What comes of a record without an answer."""
        ...

    def key_of(self, line: dict[str, Any]) -> Key | None:
        """Which record a line of an earlier run is about; None if the line is not of this kind."""
        ...

    def use_of(self, line: dict[str, Any]) -> TokenUse:
        """The tokens that a line of results has cost."""
        ...


def token_use(usage: object) -> TokenUse:
    """The tokens in the field `usage` of an answer, in the form of any of OpenAI's endpoints."""
    if not isinstance(usage, dict):
        return TokenUse()
    counts = cast(dict[str, Any], usage)
    details = counts.get("prompt_tokens_details") or counts.get("input_tokens_details") or {}
    return TokenUse(
        int(counts.get("prompt_tokens", counts.get("input_tokens", 0)) or 0),
        int(details.get("cached_tokens", 0) or 0),
        int(counts.get("completion_tokens", counts.get("output_tokens", 0)) or 0),
    )


def digest_of(body: object) -> str:
    """A short text that changes with a request."""
    text = json.dumps(body, sort_keys=True, default=str).encode()
    return hashlib.blake2b(text, digest_size=8).hexdigest()


CUT_OFF: Final = "the answer was shortened by its token limit"


def is_cut_off(answer: object) -> bool:
    """Whether the body of an answer, of any endpoint, says that the token limit has shortened it or
    one of its choices."""
    match answer:
        case {"choices": list(choices)}:
            return any(
                isinstance(choice, dict)
                and cast(dict[str, object], choice).get("finish_reason") == "length"
                for choice in cast(list[object], choices)
            )
        case {"incomplete_details": {"reason": "max_output_tokens"}}:
            return True
        case _:
            return False


class AnswerVerdict(NamedTuple):
    """What is wrong with an answer; or why that can't be decided, for a schema that the package
    `jsonschema` doesn't understand, such as one with `\\p{L}` in a pattern. None if it is valid."""

    problem: str | None = None
    undecided: str | None = None


def verdict_on(text: str, check: InstanceCheck) -> AnswerVerdict:
    """Check one answer."""
    try:
        errors = check.errors(text, 1)
    except NotJsonError as error:
        return AnswerVerdict(f"not JSON: {error}")
    except UndecidedError as error:
        return AnswerVerdict(undecided=str(error)[:500])
    for error in errors:
        place = "".join(f"/{part}" for part in error.absolute_path) or "the root"
        return AnswerVerdict(f"{error.message[:500]} (at {place}, by {error.validator})")
    return AnswerVerdict()
