"""Sizes and counts as people write them."""

import pytest

from maskwright.errors import InputError
from maskwright.sizing.units import (
    binary_size,
    decimal_size,
    parse_count,
    parse_size,
    size_of,
)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("76GB", 76 * 10**9), ("76 gb", 76 * 10**9), ("24GiB", 24 * 2**30), ("1.5kB", 1500),
        ("4TB", 4 * 10**12), ("512", 512), ("512B", 512), ("3.9e9", 3_900_000_000),
        ("64MiB", 2**26), ("1G", 10**9), ("1Gi", 2**30), ("2 k", 2000), ("0.5mi", 2**19),
    ],
)  # fmt: skip
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text, "memory") == size


@pytest.mark.parametrize(
    ("text", "count"), [("14B", 14 * 10**9), ("350M", 350_000_000), ("7e9", 7 * 10**9)]
)
def test_counts(text: str, count: int) -> None:
    assert parse_count(text, "parameters") == count


@pytest.mark.parametrize("text", ["", "GB", "-1GB", "1XB", "76 G B", "0GB", "1e9e9"])
def test_what_is_no_size_names_the_option(text: str) -> None:
    with pytest.raises(InputError, match="--memory") as caught:
        parse_size(text, "memory")
    assert caught.value.param == "memory"


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0), ("0GB", 0), (str(2**60 + 1), 2**60 + 1), ("1G", 10**9), ("268435456", 1 << 28),
        ("", None), ("x", None), ("-1", None), ("1XB", None),
    ],
)  # fmt: skip
def test_sizes_that_may_be_nothing(text: str, size: int | None) -> None:
    assert size_of(text) == size


@pytest.mark.parametrize("size", [256 << 20, 3 << 19, 5, 1 << 40])
def test_a_shown_size_is_read_again(size: int) -> None:
    assert size_of(binary_size(size)) == size


def test_shown_sizes() -> None:
    assert [decimal_size(size) for size in (76e9, 1.342e9, 512, 123_456_789)] == [
        "76 GB", "1.34 GB", "512 B", "123 MB",
    ]  # fmt: skip
    assert [binary_size(size) for size in (2**30, 3 << 19, 7)] == ["1.0 GiB", "1.5 MiB", "7 B"]
