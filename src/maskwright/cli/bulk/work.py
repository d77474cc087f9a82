"""A piece of work: what is asked about one record, and what comes of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, cast

Key: TypeAlias = int | str
"""What identifies a record in results: its place in the input, or its `custom_id`."""


@dataclass(frozen=True, slots=True)
class WorkItem:
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


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """What a server has answered. `body`: JSON, or text if it is none. `attempts`: how often the
    request was sent."""

    status: int
    body: object
    request_id: str | None
    attempts: int


@dataclass(frozen=True, slots=True)
class WorkResult:
    """What comes of a record: a line of the results, or of the failures with the `code` of its
    reason. `is_unchecked`: whether the answer is valid could not be decided."""

    line: dict[str, object]
    code: str | None = None
    is_unchecked: bool = False


@dataclass(frozen=True, slots=True)
class TokenUse:
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
