"""Dates, times and durations: examples of RFC 3339, and calendars day by day."""

from __future__ import annotations

from calendar import monthrange

import pytest

from maskwright.grammar.formats import language as formats
from maskwright.grammar.regular.beginnings import farthest
from maskwright.grammar.regular.derivative import contains, derivative
from maskwright.grammar.regular.shortest import shortest
from maskwright.grammar.regular.terms import Regular


def split(language: Regular, accepted: list[str], rejected: list[str]) -> None:
    assert [text for text in accepted if not contains(language, text)] == []
    assert [text for text in rejected if contains(language, text)] == []


@pytest.mark.parametrize("year", [1, 4, 1900, 1996, 2000, 2023, 2024, 2100, 2400, 9999])
def test_every_day_of_a_year(year: int) -> None:
    for month in range(14):
        last = monthrange(year, month)[1] if 1 <= month <= 12 else 0
        for day in range(34):
            text = f"{year:04}-{month:02}-{day:02}"
            assert contains(formats.date(), text) is (1 <= day <= last), text


def test_how_dates_are_written() -> None:
    split(
        formats.date(),
        ["0000-02-29", "2024-12-31"],
        [
            "2024-1-01",
            "24-01-01",
            "2024-01-1",
            "2024/01/01",
            "20240101",
            "2024-01-01 ",
            "",
            "-1-01-01",
        ],
    )


@pytest.mark.parametrize(
    ("accepted", "rejected"),
    [
        (
            ["00:00:00Z", "23:59:59z", "12:30:45+00:00", "12:30:45-23:59"],
            ["24:00:00Z", "12:60:00Z"],
        ),
        (["12:30:45.1Z", "12:30:45.123456789Z"], ["12:30:45.Z", "12:30:45,1Z", "12:30:45"]),
        ([], ["12:30Z", "1:30:45Z", "12:30:45+24:00", "12:30:45+00:60", "12:30:45+0000", ""]),
        # A leap second is the last second of a day in UTC, whatever the offset.
        (
            ["23:59:60Z", "23:59:60.9z", "23:59:60+00:00", "23:59:60-00:00"],
            ["23:58:60Z", "22:59:60Z"],
        ),
        (["15:59:60-08:00", "01:29:60+01:30", "00:59:60+01:00"], ["15:59:60+08:00", "01:29:60Z"]),
        (["23:29:60-00:30", "12:34:60+12:35", "00:00:60+00:01"], ["23:29:60+00:30", "00:00:60Z"]),
        ([], ["23:59:61Z", "23:59:60+00:01", "23:59:60.Z"]),
    ],
)
def test_times(accepted: list[str], rejected: list[str]) -> None:
    split(formats.time(), accepted, rejected)


def test_every_minute_has_the_offsets_of_its_leap_second() -> None:
    """The local time of 23:59:60 UTC at an offset, for every quarter of an hour."""
    for minutes in range(-23 * 60 - 45, 24 * 60, 15):
        sign, (hour, minute) = "-" if minutes < 0 else "+", divmod(abs(minutes), 60)
        local = (24 * 60 - 1 + minutes) % (24 * 60)
        text = f"{local // 60:02}:{local % 60:02}:60{sign}{hour:02}:{minute:02}"
        assert contains(formats.time(), text), text
        other = (local + 1) % (24 * 60)
        text = f"{other // 60:02}:{other % 60:02}:60{sign}{hour:02}:{minute:02}"
        assert not contains(formats.time(), text), text


def test_dates_with_times() -> None:
    split(
        formats.date_time(),
        [
            "1985-04-12T23:20:50.52Z",
            "1996-12-19T16:39:57-08:00",
            "1990-12-31T23:59:60Z",
            "1990-12-31T15:59:60-08:00",
            "1937-01-01t12:00:27.87+00:20",
        ],
        [
            "1985-04-12 23:20:50Z",
            "1985-04-12T23:20:50",
            "1985-04-31T00:00:00Z",
            "1985-04-12",
            "T00:00:00Z",
        ],
    )


def test_durations() -> None:
    split(
        formats.duration(),
        [
            "P1Y",
            "P1Y2M3D",
            "P2M3D",
            "P3D",
            "P1YT1H",
            "PT1H2M3S",
            "PT36H",
            "PT2M",
            "P4W",
            "P0D",
            "P10Y2M",
        ],
        [
            "",
            "P",
            "PT",
            "P1",
            "1Y",
            "P1D2M",
            "P1Y3D",
            "PT1H3S",
            "PT1M2H",
            "P1W2D",
            "P1.5D",
            "p1d",
            "P1DT",
        ],
    )


@pytest.mark.parametrize("text", ["23:59:60.5Z", "01:30:60+01:31", "22:00:59-23:59", "00:00:00z"])
@pytest.mark.parametrize("day", ["", "2024-02-29T"])
def test_how_far_it_is_to_an_end_at_most_is_known(day: str, text: str) -> None:
    """Without that, hundreds of states were made for the first mask after a digit."""
    language = formats.date_time() if day else formats.time()
    most = farthest(language)
    assert most is not None
    for read in range(len(day + text)):
        rest = shortest(derivative(language, (day + text)[:read]), 1_000)
        assert rest is not None
        assert len(rest) <= most
