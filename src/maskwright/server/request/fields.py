"""Reads a JSON object of a request field by field, each with its type and bounds.

An explicit null counts as an absent field. Errors name the field by its dotted path
(`messages[0].content`), the expected type and the actual value.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Final, cast

from maskwright.errors import InputError

_MOST_SHOWN: Final = 60
"""Most characters of a value that an error shows."""


class Fields:
    """One JSON object and its place in the body (`""` is the body itself)."""

    def __init__(self, values: dict[str, object], place: str = "") -> None:
        self.values = values
        self.place = place

    @classmethod
    def of(cls, value: object, place: str) -> Fields:
        """Read `value` as an object."""
        if not isinstance(value, dict):
            raise invalid(place, "an object", value)
        return cls(cast(dict[str, object], value), place)

    def at(self, name: str) -> str:
        """The dotted path of a field."""
        return f"{self.place}.{name}" if self.place else name

    def get(self, name: str) -> object:
        """The raw value; None if the field is absent."""
        return self.values.get(name)

    def has(self, name: str) -> bool:
        return self.values.get(name) is not None

    def present(self) -> Iterator[str]:
        """Yield the names of all fields that are not null."""
        return (name for name, value in self.values.items() if value is not None)

    def string(self, name: str) -> str | None:
        value = self.get(name)
        if value is None or isinstance(value, str):
            return value
        raise invalid(self.at(name), "a string", value)

    def boolean(self, name: str, default: bool = False) -> bool:
        value = self.get(name)
        if value is None:
            return default
        if isinstance(value, bool):
            return value
        raise invalid(self.at(name), "true or false", value)

    def integer(self, name: str, low: int, high: int) -> int | None:
        value = self.get(name)
        if value is None:
            return None
        number = _as_integer(value)
        if number is not None and low <= number <= high:
            return number
        raise invalid(self.at(name), f"an integer from {low} to {high}", value)

    def number(self, name: str, low: float, high: float, default: float) -> float:
        value = self.get(name)
        if value is None:
            return default
        number = as_number(value)
        if number is not None and low <= number <= high:
            return number
        raise invalid(self.at(name), f"a number {_bounds(low, high)}", value)

    def choice(self, name: str, options: Sequence[str]) -> str | None:
        value = self.get(name)
        if value is None or value in options:
            return cast(str | None, value)
        raise invalid(self.at(name), f"one of {', '.join(map(repr, options))}", value)

    def object(self, name: str) -> Fields | None:
        value = self.get(name)
        return None if value is None else Fields.of(value, self.at(name))

    def items(self, name: str) -> list[tuple[object, str]] | None:
        """The elements of an array, each with its dotted path."""
        value = self.get(name)
        if value is None:
            return None
        if not isinstance(value, list):
            raise invalid(self.at(name), "an array", value)
        place = self.at(name)
        return [(item, f"{place}[{i}]") for i, item in enumerate(cast(list[object], value))]

    def strings(self, name: str) -> tuple[str, ...]:
        """Return an array of strings, or one string as an array; empty if the field is absent."""
        value = self.get(name)
        if isinstance(value, str):
            return (value,)
        strings: list[str] = []
        for item, place in self.items(name) or ():
            if not isinstance(item, str):
                raise invalid(place, "a string", item)
            strings.append(item)
        return tuple(strings)

    def only(self, *known: str) -> None:
        """Refuse every field that is not among `known`, so that a typing error never means an
        unconstrained answer."""
        for name in self.present():
            if name not in known:
                raise InputError(
                    f"unknown field {shown(name)}; known here: {', '.join(known)}",
                    param=self.at(name),
                    code="unknown_field",
                )


def as_number(value: object) -> float | None:
    """Return a finite JSON number as a float; None for any other value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def token_id(value: object, place: str, end: float = math.inf) -> int:
    """Return a token id below `end`. Raises InputError for any other value."""
    number = _as_integer(value)
    if number is None or not 0 <= number < end:
        raise invalid(place, "a token id", value)
    return number


def missing(place: str) -> InputError:
    return InputError(f"{place} is required", param=place, code="missing_required_parameter")


def invalid(place: str, wanted: str, value: object) -> InputError:
    """Return the error for a value of a wrong type or out of bounds."""
    return InputError(f"{place} must be {wanted}, not {shown(value)}", param=place)


def shown(value: object) -> str:
    """Return a value as JSON of bounded length; of an array or object only what it is."""
    match value:
        case dict():
            return "an object"
        case []:
            return "an empty array"
        case list():
            return "an array"
        case _:
            text = json.dumps(value, ensure_ascii=False)
            return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 1]}…"


def _as_integer(value: object) -> int | None:
    """Return a JSON number without a fraction, which may be written as 1.0; None for any other
    value."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _bounds(low: float, high: float) -> str:
    return f"from {low:g} to {high:g}" if math.isfinite(high) else f"of at least {low:g}"
