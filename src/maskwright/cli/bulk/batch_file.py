"""A file in OpenAI's batch format as work: requests as they stand, and results in that format."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, cast

from maskwright.cli.bulk.work import (
    CUT_OFF,
    AnswerVerdict,
    Key,
    ServerAnswer,
    TokenUse,
    WorkItem,
    WorkResult,
    is_cut_off,
    token_use,
    verdict_on,
)
from maskwright.errors import InputError
from maskwright.instances import InstanceCheck
from maskwright.records.batch_lines import error_line, numbered_lines, parse_batch_line, result_line
from maskwright.server.request.shape import FIELDS as SHAPE_FIELDS

MOST_SCHEMAS: Final = 64
"""Schemas that are kept ready at a time."""


def _has_shape(request: dict[str, object]) -> bool:
    """Whether a request asks for a shape, or gives tools. An answer of any text may be meant to end
    at its token limit."""
    match request:
        case {"text": {"format": {"type": str(kind)}}} if kind != "text":
            return True
        case {"response_format": {"type": "text"}}:
            fields = SHAPE_FIELDS - {"response_format"}
        case _:
            fields = SHAPE_FIELDS
    return any(request.get(field) for field in (*fields, "tools", "functions"))


def _failure(line: dict[str, Any], code: str, reason: str) -> WorkResult:
    return WorkResult({**line, "error": {"code": code, "message": reason}}, code)


class BatchFile:
    """Work on the requests of a file. Each has its own model and shape; answers are checked under
    the JSON Schema of their request."""

    def __init__(self, path: Path) -> None:
        self._path = path
        # Many requests of a file usually share a schema.
        self._check_of = lru_cache(MOST_SCHEMAS)(InstanceCheck)

    def items(self) -> Iterator[WorkItem]:
        """Raises InputError for a line that is no request, and for a `custom_id` that comes
        twice: without it a result has no name."""
        known: set[str] = set()
        for number, line in numbered_lines(self._path):
            place = f"{self._path}, line {number}"
            try:
                request = parse_batch_line(line)
            except InputError as error:
                raise InputError(f"{place}: {error.message}") from None
            if request.custom_id in known:
                raise InputError(f"{place}: the custom_id {request.custom_id!r} comes twice")
            known.add(request.custom_id)
            yield WorkItem(request.custom_id, request.url, request.body)

    def result(self, item: WorkItem, answer: ServerAnswer) -> WorkResult:
        line = result_line(str(item.key), answer.status, answer.request_id, answer.body)
        if answer.status != 200:
            return WorkResult(line, f"http_{answer.status}")
        request = item.body or {}
        if is_cut_off(answer.body) and _has_shape(request):
            return _failure(line, "cut_off", CUT_OFF)
        problem, undecided = self._verdict(request, answer.body)
        if problem is None:
            return WorkResult(line, is_unchecked=undecided is not None)
        return _failure(line, "invalid_answer", problem)

    def refused(self, item: WorkItem, code: str, reason: str, attempts: int = 0) -> WorkResult:
        return WorkResult(error_line(str(item.key), code, reason), code)

    def key_of(self, line: dict[str, Any]) -> Key | None:
        custom_id = line.get("custom_id")
        return custom_id if isinstance(custom_id, str) and "response" in line else None

    def use_of(self, line: dict[str, Any]) -> TokenUse:
        match line:
            case {"response": {"body": {"usage": usage}}}:
                return token_use(usage)
            case _:
                return TokenUse()

    def _verdict(self, request: dict[str, object], answer: object) -> AnswerVerdict:
        """Check a chat completion under the schema of its request. Answers of other endpoints,
        calls of tools, and refusals are taken as they are."""
        match request, answer:
            case (
                {"response_format": {"type": "json_schema", "json_schema": {"schema": schema}}},
                {"choices": list(choices)},
            ):
                check = self._check_of(json.dumps(schema))
            case _:
                return AnswerVerdict()
        verdict = AnswerVerdict()
        for choice in cast(list[Any], choices):
            match choice:
                case {"message": {"content": str(text)}}:
                    found = verdict_on(text, check)
                    if found.problem is not None:
                        return found
                    verdict = found if found.undecided else verdict
                case _:
                    pass
        return verdict
