from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest

from maskwright.cli.arguments import Argument, CommandParser, Option, call_with
from maskwright.errors import InputError

seen: dict[str, Any] = {}


def command(
    shape: Annotated[str, Argument(help="A shape.")],
    files: Annotated[list[str], Argument(help="Files.")] = [],  # noqa: B006
    kind: Annotated[Literal["auto", "regex"], Option(help="Its kind.")] = "auto",
    most_tokens: Annotated[int | None, Option(help="Tokens.", least=1, most=9)] = None,
    share: Annotated[float, Option(help="50% or so.")] = 0.5,
    order: Annotated[bool, Option(help="In order.")] = True,
    rows: Annotated[bool, Option("--json", help="As JSON.")] = False,
    name: Annotated[list[str], Option(help="May be repeated.")] = [],  # noqa: B006
    cache: Annotated[str, Option(help="A folder.", envvar="TEST_CACHE")] = "off",
    port: Annotated[int, Option(help="A port.", envvar="TEST_PORT", least=0)] = 8000,
    memory: Annotated[int, Option(help="Memory.", is_size=True, least=0)] = 3 << 19,
) -> int | None:
    seen.clear()
    seen.update(locals())
    return len(files) or None


def call(*given: str) -> int:
    return call_with(command, CommandParser("maskwright it", "Does it.\n\nAnd\nmore."), [*given])


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
    assert call(*given) == len(differing.get("files", []))
    assert seen == {**DEFAULTS, **differing}


def test_a_repeated_option_leaves_its_default_as_it_is() -> None:
    call("s", "--name", "a")
    call("s")
    assert seen["name"] == []


def test_the_environment_replaces_a_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_CACHE", "/there")
    call("s")
    assert seen["cache"] == "/there"
    call("s", "--cache", "/here")
    assert seen["cache"] == "/here"
    monkeypatch.setenv("TEST_CACHE", "")
    call("s")
    assert seen["cache"] == "", "a text may be empty"


@pytest.mark.parametrize(
    ("value", "port"), [("9000", 9000), ("0", 0), ("", 8000), ("tcp://10.0.0.1:8000", 8000)]
)
def test_a_number_in_the_environment(
    monkeypatch: pytest.MonkeyPatch, value: str, port: int
) -> None:
    """An empty one is none, nor is the address that Kubernetes puts there for a service with the
    name of the program."""
    monkeypatch.setenv("TEST_PORT", value)
    call("s")
    assert seen["port"] == port
    call("s", "--port", "7")
    assert seen["port"] == 7


@pytest.mark.parametrize(
    ("value", "told"), [("x", "'x' is no whole number"), ("-1", "-1 is less than 0")]
)
def test_a_wrong_value_in_the_environment_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, value: str, told: str
) -> None:
    monkeypatch.setenv("TEST_PORT", value)
    with pytest.raises(InputError, match=f"the variable TEST_PORT: {told}"):
        call("s")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((), "the following arguments are required: SHAPE"),
        (("s", "--kind", "x"), "argument --kind: 'x' is none of auto, regex"),
        (("s", "--most-tokens", "x"), "argument --most-tokens: 'x' is no whole number"),
        (("s", "--most-tokens", "0"), "argument --most-tokens: 0 is less than 1"),
        (("s", "--most-tokens", "10"), "argument --most-tokens: 10 is more than 9"),
        (("s", "--share", "x"), "argument --share: 'x' is no number"),
        (("s", "--memory", "1X"), "argument --memory: '1X' is no size such as 512MiB or 2GB"),
        (("s", "--memory=-1"), "argument --memory: '-1' is no size such as 512MiB or 2GB"),
        (("s", "--most", "5"), "unrecognized arguments: --most"),  # no abbreviations
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], given: tuple[str, ...], told: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        call(*given)
    assert ended.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"maskwright it: {told}")
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
