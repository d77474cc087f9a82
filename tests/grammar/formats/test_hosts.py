"""Addresses, host names and mailboxes: examples of their RFCs, and all forms of addresses."""

from __future__ import annotations

import ipaddress
import random
from itertools import product

import pytest

from maskwright.grammar.formats import hosts
from maskwright.grammar.regular.derivative import contains
from maskwright.grammar.regular.terms import Regular


def split(language: Regular, accepted: list[str], rejected: list[str]) -> None:
    assert [text for text in accepted if not contains(language, text)] == []
    assert [text for text in rejected if contains(language, text)] == []


def test_ipv4() -> None:
    split(
        hosts.ipv4(),
        ["0.0.0.0", "255.255.255.255", "192.0.2.235", "99.100.199.200", "9.10.249.250"],
        [
            "256.0.0.0",
            "1.2.3",
            "1.2.3.4.5",
            "01.2.3.4",
            "1.2.3.04",
            "1..2.3",
            "1.2.3.4.",
            "",
            "1.2.3.a",
        ],
    )
    for octet in range(300):
        assert contains(hosts.ipv4(), f"1.{octet}.3.4") is (octet < 256)


def test_how_many_groups_an_ipv6_address_has() -> None:
    """Every number of groups before and after `::`, with and without an IPv4 address at the end."""
    for before, after in product(range(10), range(10)):
        for ending in ([], ["1.2.3.4"]):
            left = ":".join(["1"] * before)
            right = ":".join(["2"] * after + ending)
            groups = before + after + 2 * len(ending)
            text = f"{left}::{right}"
            assert contains(hosts.ipv6(), text) is (groups <= 7), text
            text = ":".join(["1"] * before + ending)
            whole = before + 2 * len(ending) == 8
            assert contains(hosts.ipv6(), text) is whole, text


def test_random_ipv6_addresses_against_the_standard_library() -> None:
    chance = random.Random(7)
    seen = {True: 0, False: 0}
    for _ in range(5_000):
        text = ":".join(
            chance.choice(["", "0", "ab", "FFFF", "1.2.3.4"]) for _ in range(chance.randint(2, 9))
        )
        try:
            ipaddress.IPv6Address(text)
            valid = True
        except ValueError:
            valid = False
        assert contains(hosts.ipv6(), text) is valid, text
        seen[valid] += 1
    assert min(seen.values()) > 100


def test_ipv6() -> None:
    split(
        hosts.ipv6(),
        [
            *("::", "::1", "1::", "2001:DB8:0:0:8:800:200C:417A", "FF01::101", "::13.1.68.3"),
            *(
                "::FFFF:129.144.52.38",
                "0:0:0:0:0:0:13.1.68.3",
                "1:2:3:4:5:6:7::",
                "::2:3:4:5:6:7:8",
            ),
        ],
        [
            *("", ":", ":::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", "::1:2:3:4:5:6:7:8"),
            *(
                "1:2:3:4:5:6:7::8",
                "12345::",
                "g::",
                "::1%eth0",
                "1.2.3.4",
                "::1.2.3",
                "::1.2.3.4:5",
            ),
        ],
    )


@pytest.mark.parametrize(
    "language",
    [hosts.hostname(), hosts.plain_hostname(), hosts.unreserved_hostname(((0x2E, 0x2E),))],
    ids=["any", "plain", "unreserved"],
)
def test_host_names(language: Regular) -> None:
    label = "a" * 63
    split(
        language,
        [
            *("a", "A-1", "1", "3com.com", "a.b.c", "a--b", "x", "xn", "Xn.x"),
            *(label, f"{label}.{label}.{label}.{'a' * 61}", "xn-a", "x--n", "axn--a"),
        ],
        [
            *("", ".", "a.", ".a", "a..b", "-a", "a-", "a.-b", "a_b", "a b", "ü", "a!"),
            *(label + "a", f"{label}.{label}.{label}.{'a' * 62}"),
        ],
    )


def test_punycode_is_left_out_of_plain_names() -> None:
    names = ["xn--a", "XN--a", "xN--bcher-kva", "a.xn--b", "xn--a.b"]
    split(hosts.hostname(), names, [])
    split(hosts.plain_hostname(), [], names)
    split(hosts.plain_hostname(), ["a", "xn-a", "xna--b", "xn.xn-a"], ["a.xn--b", "", "-", "a."])


def test_reserved_labels_have_hyphens_as_third_and_fourth_characters() -> None:
    language = hosts.unreserved_hostname(((0x2E, 0x2F),))
    taken = ["a.b/c", "a--b", "abc--d", "ab-c-d", "ab", "ab-c", "1-2", "xn/n--1"]
    split(language, taken, ["a./b", "a-/b", "a/xn--b", "ab--c", "a.b1--c", "a---b", "ab-", "ab--"])


@pytest.mark.parametrize("language", [hosts.email(), hosts.idn_email()], ids=["ascii", "idn"])
def test_mailboxes(language: Regular) -> None:
    split(
        language,
        [
            *("a@b", "joe.bloggs@example.com", "te~st@example.com", "!#$%&'*+/=?^_`{|}~-@x"),
            *('"joe bloggs"@example.com', '"joe..bloggs"@x', '"joe@bloggs"@x', '"\\""@x', '""@x'),
            *("a@[127.0.0.1]", "a@[IPv6:::1]", "a@[ipv6:1::2]", "a@b-c.d", "a@1"),
        ],
        [
            *(
                "",
                "a",
                "@b",
                "a@",
                "a@b@c",
                ".a@b",
                "a.@b",
                "a..b@c",
                "a b@c",
                '"a@b',
                'a"b"@c',
                '"""@x',
            ),
            *("a@-b", "a@b-", "a@.b", "a@b.", "a@b..c", "a@b_c"),
            *("a@[127.0.0.300]", "a@[::1]", "a@[IPv6:1.2.3.4]", "a@127.0.0.1]", "(c)a@b", "a@b "),
        ],
    )


def test_mailboxes_beyond_ascii() -> None:
    names = ["실례@실례.테스트", "ü@x", '"ü ü"@x', "a@ü-ü"]
    split(hosts.idn_email(), names, ["ü@", "a@-ü", "a@ü-", "ü..ü@x"])
    split(hosts.email(), [], names)
