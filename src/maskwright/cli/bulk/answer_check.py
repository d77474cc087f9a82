"""Checks an answer under its schema, by other means than the masks that it was made with."""

from __future__ import annotations

from typing import Final, NamedTuple, cast

from maskwright.instances import InstanceCheck, NotJsonError, UndecidedError

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
