"""Whether an answer has the shape that was asked for, by libraries that did not generate it.

Schemas are checked by `jsonschema`, patterns by the package `regex` after a translation of what
ECMA-262 writes otherwise. A check that takes too much time or memory is given up: hostile shapes
are hostile to these libraries too.
"""

from __future__ import annotations

import functools
import json
import resource
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from types import FrameType
from typing import Any, Final

import jsonschema
import regex
from jsonschema import validators
from jsonschema.exceptions import ValidationError

from tests.hostile.shape import HostileShape

VALID: Final = "valid"
UNCHECKED: Final = "unchecked"
"""What `verdict` says where the check took too much; any other word is a complaint."""

CHECK_SECONDS: Final = 1.0
"""Processor time that one check may take."""

MOST_DIGITS: Final = 400
"""Digits of a number that is read exactly."""

CHECK_BYTES: Final = 1 << 30
"""Memory that one check may take beyond what the process has."""

FORMATS: Final = ("date", "email", "idn-email", "idn-hostname", "ipv4", "ipv6", "uuid")
"""Those that `jsonschema` checks without other packages than the project has."""

_DOT: Final = r"[^\n\r\u2028\u2029]"
_ESCAPES: Final = {"d": "0-9", "w": "A-Za-z0-9_"}
_UNICODE: Final = regex.compile(
    r"\\u\{([0-9a-fA-F]+)\}|\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
)


class CheckTimeoutError(Exception):
    """A check took too long."""


def verdict(shape: HostileShape, message: Mapping[str, Any]) -> str:
    """What is to be said of an answer (`content` and `tool_calls`): VALID, UNCHECKED, or what is
    wrong with it."""
    try:
        with cpu_limit(CHECK_SECONDS), memory_limit(CHECK_BYTES):
            _check(shape, message)
    except (CheckTimeoutError, TimeoutError, RecursionError, MemoryError):
        return UNCHECKED
    except ValidationError as error:
        if _may_err(shape):
            return UNCHECKED
        return f"invalid at {error.json_path}: {error.message[:200]}"
    except (ValueError, KeyError) as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return VALID


def _check(shape: HostileShape, message: Mapping[str, Any]) -> None:
    text = message.get("content") or ""
    calls = message.get("tool_calls") or []
    if shape.functions:
        if not calls and shape.fields["tool_choice"] != "auto":
            raise ValueError("no function is called")
        for call in calls:
            function = call["function"]
            check_instance(shape.functions[function["name"]], function["arguments"])
        return
    if shape.schema is not None:
        check_instance(shape.schema, text)
        return
    if shape.answer is None and shape.pattern is None:
        raise ValueError(f"nothing says what an answer of {shape.name!r} looks like")
    wanted = translated(shape.pattern) if shape.answer is None else shape.answer
    if regex.fullmatch(wanted, text, timeout=CHECK_SECONDS) is None:
        raise ValueError(f"no match: {text[:100]!r}")


def _may_err(shape: HostileShape) -> bool:
    """Whether `jsonschema` may refuse what is valid: a format that it doesn't check passes, so that
    what negates such a format fails."""
    text = json.dumps(shape.fields)
    formats = set(regex.findall(r'"format": "([a-z0-9-]+)"', text))
    negates = any(f'"{keyword}":' in text for keyword in ("not", "oneOf", "if"))
    return negates and not formats <= _CHECKER.checkers.keys()


def check_instance(schema: Any, text: str) -> None:
    """Raise ValueError or ValidationError unless `text` is JSON whose names are unique, and an
    instance of the schema."""
    value = json.loads(
        text, object_pairs_hook=_unique_names, parse_constant=_refused, parse_float=_number
    )
    schema = json.loads(json.dumps(schema), parse_float=_number)
    _VALIDATOR(schema, format_checker=_CHECKER).validate(value)


def _number(written: str) -> int | float:
    """The value of a number, as it is written where a float would be another integer: 1e308 is a
    power of ten, and the float is a little more."""
    exact, rounded = Decimal(written), float(written)
    if abs(exact) < 2**53 or exact != exact.to_integral_value():
        return rounded
    return int(exact) if abs(exact.adjusted()) <= MOST_DIGITS else rounded


@functools.cache
def translated(pattern: str) -> str:
    """A pattern of ECMA-262 in the syntax of the package `regex`."""
    pattern = _UNICODE.sub(_character, pattern)
    out: list[str] = []
    in_class = False
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 1
            out.append(_escape(pattern[at], in_class))
        elif in_class:
            in_class = char != "]"
            out.append("\\[" if char == "[" else char)
        elif char == "[":
            in_class = True
            out.append(char)
        else:
            out.append({".": _DOT, "$": r"\Z"}.get(char, char))
        at += 1
    return "".join(out)


def _escape(letter: str, in_class: bool) -> str:
    inner = _ESCAPES.get(letter.lower())
    if inner is None:
        return f"\\{letter}"
    if in_class:
        return inner if letter.islower() else f"\\{letter}"
    return f"[{'' if letter.islower() else '^'}{inner}]"


def _character(found: Any) -> str:
    if found[1] is not None:
        return regex.escape(chr(int(found[1], 16)))
    pair = bytes.fromhex(found[2] + found[3])
    return regex.escape(pair.decode("utf-16-be"))


def _found(pattern: str, text: str) -> bool:
    return regex.search(translated(pattern), text, timeout=CHECK_SECONDS) is not None


def _pattern(_: Any, pattern: str, instance: Any, __: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str) and not _found(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(
    validator: Any, patterns: Mapping[str, Any], instance: Any, _: Any
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    for pattern, schema in patterns.items():
        for name, value in instance.items():
            if _found(pattern, name):
                yield from validator.descend(value, schema, path=name, schema_path=pattern)


def _additional_properties(
    validator: Any, allowed: Any, instance: Any, schema: Any
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    patterns = schema.get("patternProperties", {})
    for name, value in instance.items():
        if name in schema.get("properties", {}) or any(_found(p, name) for p in patterns):
            continue
        yield from validator.descend(value, allowed, path=name)


_VALIDATOR: Final = validators.extend(
    jsonschema.Draft202012Validator,
    {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
    },
)
_CHECKER: Final = jsonschema.FormatChecker(
    [name for name in FORMATS if name in jsonschema.FormatChecker.checkers]
)


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError(f"a name comes twice among {[name for name, _ in pairs][:20]}")
    return value


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


@contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Raise CheckTimeoutError in the block once this process has computed for `seconds`. For the
    main thread alone; what compiled code computes is interrupted only when it returns."""

    def stop(_: int, __: FrameType | None) -> None:
        raise CheckTimeoutError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@contextmanager
def memory_limit(more: int) -> Iterator[None]:
    """Let allocations fail with MemoryError in the block once this process has `more` bytes of
    address space beyond those that it has now. For every thread of the process."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
