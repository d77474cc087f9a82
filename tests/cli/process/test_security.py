from __future__ import annotations

import re
from pathlib import Path

import pytest

from maskwright.cli.process.listening import KeySource, tls_files
from maskwright.errors import InputError
from maskwright.server.access import digest_of


def test_a_key_and_a_file_are_used_together(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    file.write_text(f'[[key]]\nname = "alice"\nsha256 = "{digest_of("a")}"\n')
    ring = KeySource("b", str(file)).ring()
    assert ring is not None
    assert [key.name for key in ring.keys] == ["alice", "default"]
    assert ring.find("a") is ring.keys[0]
    assert ring.find("b") is ring.keys[1]
    assert KeySource(None, None).ring() is None


def test_a_source_without_a_key_is_a_mistake(tmp_path: Path) -> None:
    """An empty variable must not open a server that was to be closed."""
    file = tmp_path / "keys.toml"
    file.write_text("")
    with pytest.raises(InputError, match="contains no key"):
        KeySource(None, str(file)).ring()
    for empty in ("", " "):
        with pytest.raises(InputError, match="the API key is empty"):
            KeySource(empty, None).ring()


def test_a_certificate_needs_its_key(tmp_path: Path) -> None:
    assert tls_files(None, None) is None
    for given in (("cert", None), (None, "key")):
        with pytest.raises(InputError, match="needed together"):
            tls_files(*given)
    wrong = tmp_path / "wrong.pem"
    wrong.write_text("no certificate")
    for name, message in ((str(wrong), "PEM"), ("/no/such/file", "No such file")):
        with pytest.raises(InputError, match=re.escape(f"can't use the certificate {name}")) as got:
            tls_files(name, name)
        assert message in got.value.message
