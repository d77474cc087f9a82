"""Dates, times and durations as RFC 3339 defines them, leap days and leap seconds included."""

from __future__ import annotations

from functools import cache, partial
from string import digits
from typing import Final

from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular import charset
from maskwright.grammar.regular.terms import Regular, alt, concat, state, words

_DAY: Final = 24 * 60
_LAST_MINUTE: Final = _DAY - 1
_MIDNIGHT: Final = "00:00:00Z"
_HELD: Final = charset.of(digits + ":.+-Zz")
"""The characters of times of day."""


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
    """A leap second is the last second of a day in UTC. So the automaton remembers the minute of
    the day until the seconds and the offset have been read."""
    return _clock("")


@cache
def date_time() -> Regular:
    return concat(date(), full_match("[Tt]"), time())


@cache
def duration() -> Regular:
    clock = r"T(\d+H(\d+M(\d+S)?)?|\d+M(\d+S)?|\d+S)"
    days = r"(\d+Y(\d+M(\d+D)?)?|\d+M(\d+D)?|\d+D)"
    return full_match(rf"P({days}({clock})?|{clock}|\d+W)")


def _clock(read: str) -> Regular:
    """What may follow the characters `read` of `HH:MM:`."""
    moves = partial(_clock_moves, read)
    ending = _MIDNIGHT[len(read) :]
    to_end = len(_MIDNIGHT)  # more than an offset takes
    return state(
        ("clock", read),
        False,
        moves,
        plain=True,
        shortest=lambda: ending,
        to_end=to_end,
        held=_HELD,
    )


def _clock_moves(read: str) -> list[tuple[int, int, Regular]]:
    match len(read):
        case 0:
            following = "012"
        case 1:
            following = "0123" if read == "2" else digits
        case 3:
            following = "012345"
        case 4:
            following = digits
        case 2:
            following = ":"
        case _:
            minute = int(read[:2]) * 60 + int(read[3:])
            return [(0x3A, 0x3A, _seconds(minute))]
    return [(ord(each), ord(each), _clock(read + each)) for each in following]


@cache
def _usual_seconds() -> Regular:
    return concat(full_match(r"[0-5]\d(\.\d+)?"), _offset())


def _seconds(minute: int) -> Regular:
    """Seconds and offset after `HH:MM:`, which is minute `minute` of the day."""
    return alt(_usual_seconds(), _leap_second(minute))


def _leap_second(minute: int) -> Regular:
    """Second 60, with the offsets that make this minute the last one of a day in UTC."""
    east = (minute - _LAST_MINUTE) % _DAY  # of Greenwich, where clocks are ahead
    west = -east % _DAY
    offsets = [f"+{east // 60:02}:{east % 60:02}", f"-{west // 60:02}:{west % 60:02}"]
    if not east:
        offsets += ["Z", "z"]
    return concat(words(["60"]), full_match(r"(\.\d+)?"), words(offsets))


@cache
def _offset() -> Regular:
    return full_match(r"[Zz]|[+-]([01]\d|2[0-3]):[0-5]\d")
