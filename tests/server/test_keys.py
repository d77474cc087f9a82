from __future__ import annotations

import hmac
import re
from pathlib import Path

import pytest

from maskwright.errors import InputError
from maskwright.server.access import ApiKey, KeyRing, digest_of, read_keys

ALICE = ApiKey("alice", digest_of("secret of alice"))
BOB = ApiKey("bob", digest_of("secret of bob"), requests_per_minute=2)


def test_a_digest_is_what_sha256sum_prints() -> None:
    """The documented one-liner: printf %s KEY | sha256sum."""
    printed = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert digest_of("abc") == printed


def test_a_key_is_found_by_its_text() -> None:
    ring = KeyRing([ALICE, BOB])
    assert ring.find("secret of alice") is ALICE
    assert ring.find("secret of bob") is BOB
    for text in ("", "secret of", "secret of alice ", ALICE.sha256, "\udcff"):
        assert ring.find(text) is None


def test_every_digest_is_compared_whichever_key_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the time of an answer doesn't tell which key, or how much of one, was right."""
    compared: list[tuple[str, str]] = []

    def compare(one: str, other: str) -> bool:
        compared.append((one, other))
        return one == other

    monkeypatch.setattr(hmac, "compare_digest", compare)
    ring = KeyRing([ALICE, BOB])
    for text in ("secret of alice", "secret of bob", "of nobody"):
        compared.clear()
        ring.find(text)
        assert compared == [(key.sha256, digest_of(text)) for key in (ALICE, BOB)]


def test_keys_are_replaced_as_a_whole_or_not_at_all() -> None:
    ring = KeyRing([ALICE])
    with pytest.raises(InputError, match="two keys have the name 'bob'"):
        ring.replace([BOB, BOB])
    with pytest.raises(InputError, match="two keys have the sha256"):
        ring.replace([BOB, ApiKey("carol", BOB.sha256)])
    assert ring.find("secret of alice") is ALICE
    ring.replace([BOB])
    assert ring.find("secret of alice") is None


def test_a_file_holds_keys_with_their_limits(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    file.write_text(
        f'[[key]]\nname = "alice"\nsha256 = "{ALICE.sha256}"\n\n'
        f'[[key]]\nname = "bob"\nsha256 = "{BOB.sha256}"\nrequests_per_minute = 2\n'
        'tokens_per_minute = 30\ntokens_per_day = 400\nclasses = ["batch", "agent"]\n'
    )
    first, second = read_keys(file)
    assert first == ALICE
    assert second == ApiKey("bob", BOB.sha256, 2, 30, 400, ("batch", "agent"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("key = 1", "may only contain tables [[key]]"),
        ("[other]", "may only contain tables [[key]]"),
        ("[[key]", "is not TOML"),
        ('[[key]]\nname = "a"', "each key needs a text sha256"),
        ("[[key]]\nname = 1", "each key needs a text name"),
        ('[[key]]\nname = "a b"\nsha256 = "D"', "the name 'a b' is not"),
        ('[[key]]\nname = "a"\nsha256 = "plain"', "sha256 of a is not 64"),
        ('[[key]]\nname = "a"\nsha256 = "D"\nrequests = 1', "there is no field 'requests'"),
        ('[[key]]\nname = "a"\nsha256 = "D"\ntokens_per_day = 0', "tokens_per_day of a is 0"),
        ('[[key]]\nname = "a"\nsha256 = "D"\ntokens_per_day = true', "tokens_per_day of a is True"),
        ('[[key]]\nname = "a"\nsha256 = "D"\nclasses = "batch"', "classes of a is not a list"),
    ],
)
def test_a_mistake_in_a_file_is_reported(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "keys.toml"
    file.write_text(text.replace('"D"', f'"{ALICE.sha256}"'))
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        read_keys(file)
    assert str(file) in caught.value.message


def test_a_file_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_keys(tmp_path / "none")
