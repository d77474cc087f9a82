"""Dates, times and durations as RFC 3339 defines them, leap days and leap seconds included."""

from __future__ import annotations

from functools import cache, partial
from typing import Final

from maskwright.grammar.regular import Regular, alt, concat, loop, words
from maskwright.grammar.translate import full_match

_DAY: Final = 24 * 60
_LAST_MINUTE: Final = _DAY - 1


@cache
def date() -> Regular:
    leap_year = r"(\d\d(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)"
    any_day = (
        r"((0[13578]|1[02])-(0[1-9]|[12]\d|3[01])"
        r"|(0[469]|11)-(0[1-9]|[12]\d|30)"
        r"|02-(0[1-9]|1\d|2[0-8]))"
    )
    return full_match(rf"\d{{4}}-{any_day}|{leap_year}-02-29")


@cache
def time() -> Regular:
    hours = (concat(words([f"{hour:02}:"]), _minutes(hour)) for hour in range(24))
    return alt(*hours)


@cache
def date_time() -> Regular:
    return concat(date(), full_match("[Tt]"), time())


@cache
def duration() -> Regular:
    clock = r"T(\d+H(\d+M(\d+S)?)?|\d+M(\d+S)?|\d+S)"
    days = r"(\d+Y(\d+M(\d+D)?)?|\d+M(\d+D)?|\d+D)"
    return full_match(rf"P({days}({clock})?|{clock}|\d+W)")


def _minutes(hour: int) -> Regular:
    """What follows `HH:`. Unrolled when it is reached: a minute a leap second may fall in has to
    be remembered until the offset is read."""
    return loop(("minutes", hour), False, partial(_unrolled_minutes, hour), plain=True)


def _unrolled_minutes(hour: int) -> Regular:
    usual = concat(full_match(r"[0-5]\d:[0-5]\d(\.\d+)?"), _offset())
    return alt(usual, *(_leap_second(hour, minute) for minute in range(60)))


def _leap_second(hour: int, minute: int) -> Regular:
    """`MM:60` and the offsets that make `HH:MM` the last minute of a day in UTC."""
    ahead = (hour * 60 + minute - _LAST_MINUTE) % _DAY
    behind = -ahead % _DAY
    offsets = [f"+{ahead // 60:02}:{ahead % 60:02}", f"-{behind // 60:02}:{behind % 60:02}"]
    if not ahead:
        offsets += ["Z", "z"]
    return concat(words([f"{minute:02}:60"]), full_match(r"(\.\d+)?"), words(offsets))


@cache
def _offset() -> Regular:
    return full_match(r"[Zz]|[+-]([01]\d|2[0-3]):[0-5]\d")
