from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from maskwright.cli.arguments import (
    CommandParser,
    Configurable,
    parameters_of,
    read_options,
)
from maskwright.cli.program import COMMANDS
from maskwright.errors import InputError
from maskwright.settings import Option, argument, option
from tests.source_tree import PACKAGE


@dataclass(frozen=True, slots=True)
class Inner:
    """Options that another class has as a field."""

    memory: int = option(3 << 19, "Memory.", is_size=True, least=0)
    name: list[str] = option([], "May be repeated.")
    internal: int = 5
    """No option."""


@dataclass(frozen=True, slots=True)
class Outer:
    """The options of a command."""

    shape: str = argument("A shape.")
    files: list[str] = argument("Files.", [])
    kind: Literal["auto", "regex"] = option("auto", "Its kind.")
    most_tokens: int | None = option(None, "Tokens.", least=1, most=9)
    share: float = option(0.5, "50% or so.")
    order: bool = option(True, "In order.")
    rows: bool = option(False, "As JSON.", flag="--json")
    cache: str = option("off", "A folder.", envvar="TEST_CACHE")
    port: int = option(8000, "A port.", envvar="TEST_PORT", least=0)
    inner: Inner = field(default_factory=Inner)


def flat(options: Any) -> dict[str, Any]:
    found = asdict(options)
    inner = found.pop("inner")
    return {**found, **inner}


def call(*given: str) -> dict[str, Any]:
    parser = CommandParser("maskwright it", "Does it.\n\nAnd\nmore.")
    return flat(read_options(Outer, parser, [*given]))


DEFAULTS = {
    "shape": "s",
    "files": [],
    "kind": "auto",
    "most_tokens": None,
    "share": 0.5,
    "order": True,
    "rows": False,
    "name": [],
    "cache": "off",
    "port": 8000,
    "memory": 3 << 19,
    "internal": 5,
}


@pytest.mark.parametrize(
    ("given", "differing"),
    [
        (("s",), {}),
        (("s", "a", "-"), {"files": ["a", "-"]}),
        (("s", "--kind", "regex", "a"), {"kind": "regex", "files": ["a"]}),
        (("--most-tokens", "9", "s"), {"most_tokens": 9}),
        (("s", "--share=-1.5"), {"share": -1.5}),
        (("s", "--memory", "1G"), {"memory": 10**9}),
        (("s", "--memory", "2 GiB"), {"memory": 2 << 30}),
        (("s", "--memory=268435456"), {"memory": 1 << 28}),
        (("s", "--memory", "0"), {"memory": 0}),
        (("s", "--no-order", "--json"), {"order": False, "rows": True}),
        (("s", "--name", "a=b", "x", "--name", "c"), {"name": ["a=b", "c"], "files": ["x"]}),
    ],
)
def test_what_is_given(given: tuple[str, ...], differing: dict[str, Any]) -> None:
    assert call(*given) == {**DEFAULTS, **differing}


def test_a_repeated_option_leaves_its_default_as_it_is() -> None:
    assert call("s", "--name", "a")["name"] == ["a"]
    assert call("s")["name"] == []


def test_the_environment_replaces_a_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_CACHE", "/there")
    assert call("s")["cache"] == "/there"
    assert call("s", "--cache", "/here")["cache"] == "/here"
    monkeypatch.setenv("TEST_CACHE", "")
    assert call("s")["cache"] == "", "a text may be empty"


@pytest.mark.parametrize(
    ("value", "port"), [("9000", 9000), ("0", 0), ("", 8000), ("tcp://10.0.0.1:8000", 8000)]
)
def test_a_number_in_the_environment(
    monkeypatch: pytest.MonkeyPatch, value: str, port: int
) -> None:
    """An empty one is none, nor is the address that Kubernetes puts there for a service with the
    name of the program."""
    monkeypatch.setenv("TEST_PORT", value)
    assert call("s")["port"] == port
    assert call("s", "--port", "7")["port"] == 7


@pytest.mark.parametrize(
    ("value", "message"), [("x", "'x' is no whole number"), ("-1", "-1 is less than 0")]
)
def test_a_wrong_value_in_the_environment_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, value: str, message: str
) -> None:
    monkeypatch.setenv("TEST_PORT", value)
    with pytest.raises(InputError, match=f"the variable TEST_PORT: {message}"):
        call("s")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((), "the following arguments are required: SHAPE"),
        (("s", "--kind", "x"), "argument --kind: 'x' is none of auto, regex"),
        (("s", "--most-tokens", "x"), "argument --most-tokens: 'x' is no whole number"),
        (("s", "--most-tokens", "0"), "argument --most-tokens: 0 is less than 1"),
        (("s", "--most-tokens", "10"), "argument --most-tokens: 10 is more than 9"),
        (("s", "--share", "x"), "argument --share: 'x' is no number"),
        (("s", "--memory", "1X"), "argument --memory: '1X' is no size such as 512MiB or 2GB"),
        (("s", "--memory=-1"), "argument --memory: '-1' is no size such as 512MiB or 2GB"),
        (("s", "--most", "5"), "there is no option --most; did you mean --most-tokens?"),
        (("s", "--shar=1"), "there is no option --shar; did you mean --share?"),
        (("s", "--zzz"), "there is no option --zzz"),
        (("--jsn",), "there is no option --jsn; did you mean --json?"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], given: tuple[str, ...], message: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        call(*given)
    assert ended.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"maskwright it: {message}")
    assert err.endswith("; 'maskwright it --help' says what can be given\n")
    assert err.count("\n") == 1


def test_help_shows_defaults_and_paragraphs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit) as ended:
        call("--help")
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert "\nDoes it.\n\nAnd more.\n" in shown
    assert "--kind auto|regex" in shown
    assert "Its kind. [default: auto]" in shown
    assert "50% or so. [default: 0.5]" in shown
    assert "--order, --no-order" in shown
    assert "In order. [default: yes]" in shown
    assert "[default: off; variable: TEST_CACHE]" in shown
    assert "As JSON.\n" in shown
    assert "--memory SIZE" in shown
    assert "Memory. [default: 1.5 MiB]" in shown
    assert "A port. [default: 8000; variable: TEST_PORT]" in shown


def test_what_looks_like_an_option_may_be_a_value() -> None:
    assert call("s", "--cache", "--not an option")["cache"] == "--not an option"
    assert call("s", "--", "--jsn")["files"] == ["--jsn"]


@dataclass(frozen=True)
class Settings(Configurable):
    """The options of a command that has variables and a file."""

    port: int = option(8000, "A port.", least=0, most=9999)
    share: float | None = option(None, "A share.")
    memory: int = option(1024, "Memory.", is_size=True)
    order: bool = option(True, "In order.")
    kind: Literal["auto", "regex"] = option("auto", "Its kind.")
    folder: Path | None = option(None, "A folder.")
    origins: tuple[str, ...] = option((), "Origins.", flag="--origin")
    adapter: list[str] = option([], "A=B.")
    values: Mapping[str, object] = option({}, "JSON.")
    name_it: str | None = option(None, "A name.", flag="--name")


def settled(*given: str) -> dict[str, Any]:
    found = asdict(read_options(Settings, CommandParser("maskwright it", ""), [*given]))
    del found["config"]
    return found


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "it.toml"


WRITTEN = """\
port = 1
share = 2
memory = "2 kB"
order = false
kind = "regex"
folder = "here"
origin = ["a", "b"]
name = "x"
[adapter]
one = "two=three"
[values]
think = [true]
"""


def test_every_kind_of_setting_may_stand_in_the_file(file: Path) -> None:
    file.write_text(WRITTEN)
    assert settled("--config", "it.toml") == {
        "port": 1,
        "share": 2.0,
        "memory": 2000,
        "order": False,
        "kind": "regex",
        "folder": Path("here"),
        "origins": ("a", "b"),
        "adapter": ["one=two=three"],
        "values": {"think": [True]},
        "name_it": "x",
    }


@pytest.mark.parametrize(
    ("name", "text", "field_name", "value"),
    [
        ("PORT", "7", "port", 7),
        ("SHARE", "0.25", "share", 0.25),
        ("MEMORY", "1KiB", "memory", 1024),
        ("ORDER", "false", "order", False),
        ("ORDER", "1", "order", True),
        ("KIND", "regex", "kind", "regex"),
        ("FOLDER", "there", "folder", Path("there")),
        ("ORIGIN", "a, b", "origins", ("a", "b")),
        ("ADAPTER", "a=b", "adapter", ["a=b"]),
        ("VALUES", '{"a": 1}', "values", {"a": 1}),
        ("NAME", "", "name_it", ""),
    ],
)
def test_every_kind_of_setting_may_stand_in_a_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str, field_name: str, value: object
) -> None:
    monkeypatch.setenv(f"MASKWRIGHT_{name}", text)
    assert settled()[field_name] == value


def test_an_option_counts_before_a_variable_and_that_before_the_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert settled()["port"] == 8000
    file.write_text("port = 1\norder = false\n")
    monkeypatch.setenv("MASKWRIGHT_CONFIG", "it.toml")
    assert (settled()["port"], settled()["order"]) == (1, False)
    monkeypatch.setenv("MASKWRIGHT_PORT", "2")
    monkeypatch.setenv("MASKWRIGHT_ORDER", "true")
    assert (settled()["port"], settled()["order"]) == (2, True)
    found = settled("--port", "3", "--no-order")
    assert (found["port"], found["order"]) == (3, False)
    monkeypatch.setenv("MASKWRIGHT_CONFIG", "")
    assert settled()["port"] == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# x\nprot = 1", "it.toml:2: there is no setting prot; did you mean port?"),
        ("name_it = 1", "it.toml:1: there is no setting name_it"),
        ("config = 'x'", "it.toml:1: there is no setting config"),
        ("zzzzz = 1", "it.toml:1: there is no setting zzzzz; --help lists the settings"),
        ("\n[engine]\nport = 1", "it.toml:2: there is no setting engine"),
        ("port = '1'", "it.toml:1: port: '1' is no whole number"),
        ("port = 10000", "it.toml:1: port: 10000 is more than 9999"),
        ("port = true", "it.toml:1: port: True is no whole number"),
        ("port = 1.5", "it.toml:1: port: 1.5 is no whole number"),
        ("share = 'a'", "it.toml:1: share: 'a' is no number"),
        ("order = 1", "it.toml:1: order: 1 is neither true nor false"),
        ("memory = '1X'", "it.toml:1: memory: '1X' is no size"),
        ("kind = 'lark'", "it.toml:1: kind: 'lark' is none of auto, regex"),
        ("name = 5", "it.toml:1: name: 5 is no text"),
        ("origin = 'a'", "it.toml:1: origin: 'a' is no array of texts"),
        ("origin = [1]", "it.toml:1: origin: 1 is no text"),
        ("values = '[1]'", "it.toml:1: values: it must be a JSON object"),
        ("port = ", "it.toml: Invalid value"),
    ],
)
def test_a_mistake_in_the_file_names_the_place(file: Path, text: str, message: str) -> None:
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        settled("--config", "it.toml")
    assert caught.value.message.startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [(None, "can't read no.toml: No such file or directory"), (b"\xff", "it.toml is no UTF-8")],
)
def test_a_file_that_cannot_be_read_is_named(file: Path, text: bytes | None, message: str) -> None:
    if text is not None:
        file.write_bytes(text)
    with pytest.raises(InputError, match=message):
        settled("--config", "no.toml" if text is None else "it.toml")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("ORDER", "maybe", "'maybe' is neither true nor false"),
        ("KIND", "lark", "'lark' is none of auto, regex"),
        ("VALUES", "[1]", "it must be a JSON object"),
        ("VALUES", "{", "it is not JSON"),
        ("PORT", "10000", "10000 is more than 9999"),
    ],
)
def test_a_mistake_in_a_variable_names_it(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str, message: str
) -> None:
    monkeypatch.setenv(f"MASKWRIGHT_{name}", text)
    with pytest.raises(InputError, match=f"the variable MASKWRIGHT_{name}: {message}"):
        settled()


def test_help_has_the_settings_in_groups(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        settled("--help")
    shown = capsys.readouterr().out
    assert "usage: maskwright it [OPTIONS]\n" in shown
    assert "\nWhere settings come from:\n  --config FILE" in shown


def test_no_two_options_say_the_same_in_words_of_their_own() -> None:
    """What several commands take is described once: changed at one of them, it changes at all."""
    literals: Counter[str] = Counter()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Call(
                    func=ast.Name(id="option"), args=[_, ast.Constant(value=str(text))]
                ) | (
                    ast.Call(func=ast.Name(id="argument"), args=[ast.Constant(value=str(text)), *_])
                ):
                    literals[text] += 1
                case _:
                    pass
    assert len(literals) > 100
    assert [text for text, count in literals.items() if count > 1] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_has_its_own_name_and_a_help_text(name: str) -> None:
    parameters = list(parameters_of(COMMANDS[name].option_class()))
    assert all(each.declared.help for each in parameters)
    flags = [each.flag for each in parameters if isinstance(each.declared, Option)]
    assert len(set(flags)) == len(flags)
