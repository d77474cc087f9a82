"""A piece of work: what is asked about one record, and what comes of it. Answers are checked under
their schemas by other means than the masks that they were made with.

Options of `maskwright batch` describe the work on records: a prompt for each, and a schema that its
answer has to satisfy.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypeAlias, cast

from msgspec import field

from maskwright.cli.asking import SourceFormat
from maskwright.cli.bulk.sources import read_records
from maskwright.cli.input.texts import bytes_of, text_argument
from maskwright.errors import InputError
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


PLACE: Final = re.compile(r"\{\{\s*(.*?)\s*\}\}")
USUAL: Final = ("messages", "prompt", "text")
"""Without a template, a record's prompt is the first of these fields that it has."""


class PromptTemplate(Immutable):
    """How records become chats. In a template `{{name}}` stands for a field of the record: a string
    as it is, any other value as JSON. Single braces are ordinary text, since prompts often contain
    JSON. `template`: None takes the first of the usual fields. `system`: a
    system message before the prompt."""

    template: str | None = None
    system: str | None = None

    def messages(self, fields: dict[str, object]) -> list[object]:
        """The chat about one record. Raises InputError if the record lacks a field."""
        before: list[object] = []
        if self.system is not None:
            before = [{"role": "system", "content": self.system}]
        if self.template is not None:
            text = PLACE.sub(lambda found: _filled(fields, found[1]), self.template)
            return [*before, {"role": "user", "content": text}]
        for name in USUAL:
            value = fields.get(name)
            if name == "messages" and isinstance(value, list):
                return [*before, *value]
            if isinstance(value, str):
                return [*before, {"role": "user", "content": value}]
        # The field with the longest text is likely to be what is asked about.
        texts = {name: len(value) for name, value in fields.items() if isinstance(value, str)}
        example = max(texts, key=texts.__getitem__, default="FIELD")
        raise InputError(
            f"the record has none of the fields {', '.join(USUAL)}; it has {_named(fields)}. "
            f"--prompt-template says what is asked, such as '{{{{{example}}}}}'"
        )


def _filled(fields: dict[str, object], name: str) -> str:
    if name not in fields:
        near = get_close_matches(name, map(str, fields), n=1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise InputError(f"the record has no field {name!r}{hint}; it has {_named(fields)}")
    value = fields[name]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _named(fields: dict[str, object]) -> str:
    return ", ".join(map(str, list(fields)[:20])) or "none"


ENDPOINT: Final = "/v1/chat/completions"
OF_ALL: Final = frozenset({400, 404, 422})
"""Statuses of refusals that concern all requests if they name a field that all of them have."""
OF_A_RECORD: Final = frozenset({"context_length_exceeded", "empty_support", "limit_exceeded"})
"""Codes of refusals that depend on the record, whatever field they name."""
LONGEST_TEXT: Final = 2000
"""Characters of an invalid answer that its failure shows."""


class Extraction(Immutable):
    """Work on records. `options`: fields of each request. `carry`: names of fields of a record that
    its result repeats. `schema`: None for answers of any text."""

    path: Path
    source: SourceFormat
    template: PromptTemplate
    options: dict[str, object]
    carry: Sequence[str] = ()
    schema: InstanceCheck | None = None

    def items(self) -> Iterator[WorkItem]:
        for record in read_records(self.path, self.source):
            fields, problem, body = record.fields, record.problem, None
            # A record is named by its own `id`, its file, or its place in the input.
            known = (fields.get(name) for name in ("id", "custom_id", "file"))
            named = (value for value in known if isinstance(value, str | int))
            carried: dict[str, object] = {"id": next(named, record.index)}
            for name in self.carry:
                carried.setdefault(name, fields.get(name))
            if problem is None:
                try:
                    body = {"messages": self.template.messages(fields), **self.options}
                except InputError as error:
                    problem = error.message
            if problem is not None and record.place:
                problem = f"{record.place}: {problem}"
            digest = digest_of(body if problem is None else problem)
            yield WorkItem(record.index, ENDPOINT, body, problem, carried, digest)

    def result(self, item: WorkItem, answer: ServerAnswer) -> WorkResult:
        if answer.status != 200:
            self._require_no_fault_of_all(answer)
            code, reason = _error(answer)
            return self.refused(item, code, reason, answer.attempts)
        body = cast(dict[str, Any], answer.body)
        usage = body.get("usage")
        match body:
            case {"choices": [{"message": {"content": str(text)}}, *_]}:
                pass
            case _:
                return self._invalid(item, "no_text", "the answer has no text", "", usage, answer)
        if is_cut_off(body):
            return self._invalid(item, "cut_off", CUT_OFF, text, usage, answer)
        if self.schema is None:
            return WorkResult({**_head(item), "output": text, "usage": usage})
        problem, undecided = verdict_on(text, self.schema)
        if problem is None:
            try:
                line = {**_head(item), "output": json.loads(text), "usage": usage}
            except (ValueError, RecursionError) as error:  # too many digits, or levels
                problem = f"not a value of JSON that can be read: {error}"
            else:
                why = {} if undecided is None else {"unchecked": undecided}
                return WorkResult({**line, **why}, is_unchecked=undecided is not None)
        return self._invalid(item, "invalid_answer", problem, text, usage, answer)

    def refused(self, item: WorkItem, code: str, reason: str, attempts: int = 0) -> WorkResult:
        line = {**_head(item), "code": code, "reason": reason, "attempts": attempts}
        return WorkResult(line, code)

    def key_of(self, line: dict[str, Any]) -> Key | None:
        index = line.get("index")
        return index if isinstance(index, int) else None

    def use_of(self, line: dict[str, Any]) -> TokenUse:
        return token_use(line.get("usage"))

    def _require_no_fault_of_all(self, answer: ServerAnswer) -> None:
        """Raise InputError if the server refuses what all requests have in common: the schema, or
        another field that options have given."""
        match answer.body:
            case {"error": {"message": message, "param": str(param), **others}}:
                field = re.split(r"[.\[]", param)[0]
                of_all = answer.status in OF_ALL and field in self.options
                if not of_all or others.get("code") in OF_A_RECORD:
                    return
                if field == "response_format":
                    raise InputError(f"the server refuses the schema: {message}", param="schema")
                raise InputError(
                    f"the server refuses the field {param} of all requests: {message}", param="body"
                )
            case _:
                pass

    def _invalid(
        self, item: WorkItem, code: str, reason: str, text: str, usage: object, answer: ServerAnswer
    ) -> WorkResult:
        line = self.refused(item, code, reason, answer.attempts).line
        return WorkResult({**line, "answer": text[:LONGEST_TEXT], "usage": usage}, code)


def _head(item: WorkItem) -> dict[str, object]:
    return {"index": item.key, **item.carried, "digest": item.digest}


def _error(answer: ServerAnswer) -> tuple[str, str]:
    """Code and message of an answer that is an error."""
    match answer.body:
        case {"error": {"message": str(message), **others}}:
            code = others.get("code")
            return (code if isinstance(code, str) else f"http_{answer.status}"), message
        case _:
            return f"http_{answer.status}", str(answer.body)[:500]


def extraction_of(
    path: Path,
    source: SourceFormat,
    template: PromptTemplate,
    schema: str | None,
    fields: dict[str, object],
    carry: list[str],
) -> Extraction:
    """The work on records. Raises InputError for a schema that can't be read."""
    if schema is None:
        return Extraction(path, source, template, fields, carry)
    read = _read_schema(schema)
    shape = {"name": "record", "schema": read, "strict": True}
    fields = {"response_format": {"type": "json_schema", "json_schema": shape}, **fields}
    return Extraction(path, source, template, fields, carry, InstanceCheck(json.dumps(read)))


def _read_schema(argument: str) -> dict[str, object] | bool:
    """The JSON Schema that an argument stands for, as other commands read it. Raises InputError."""
    # Only here, because it imports the compilers, which a command without a schema doesn't need.
    from maskwright.cli.input.shapes import SchemaArgument, read_shape  # noqa: PLC0415

    try:
        found = read_shape(argument, "schema")
    except InputError as error:
        raise InputError(f"--schema: {error}", param="schema") from None
    assert isinstance(found, SchemaArgument)
    return found.schema


def template_of(argument: str | None) -> str | None:
    """The text of a template: the argument itself if it has a place for a field, else a file."""
    if argument is None or "{{" in argument:
        return argument and text_argument(argument, "prompt-template")
    try:
        return bytes_of(argument).decode()
    except InputError as error:
        way_out = "a template is a file, or a text with {{FIELD}}"
        raise InputError(f"--prompt-template {error}; {way_out}", param="prompt_template") from None


def journals_of(output: str, failures: str | None) -> tuple[Path, Path]:
    """The journals of results and failures. Raises InputError if an option names one file twice, or
    no format."""
    path = Path(output)
    if path.suffix not in (".jsonl", ".ndjson", ".parquet"):
        raise InputError(f"{output}: the name has to end in .jsonl or .parquet", param="output")
    results = path.with_name(f"{path.name}.jsonl") if path.suffix == ".parquet" else path
    failed = path.with_suffix(".failures.jsonl") if failures is None else Path(failures)
    if failed.resolve() == results.resolve():
        raise InputError("results and failures need two files", param="failures")
    return results, failed
