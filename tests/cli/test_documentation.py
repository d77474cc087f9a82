"""What the documents show of the command line is what the program prints."""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import re
import shlex
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from maskwright.cli.arguments import CommandParser, read_options
from maskwright.cli.program import COMMANDS, WORDS, divided
from tests.cli.conftest import Run
from tests.source_tree import ROOT, tracked

DOCUMENTS = (
    "../README.md",
    "batch.md",
    "command-line.md",
    "tutorial.md",
    *sorted(
        str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs" / "guides").glob("*.md")
    ),
)
CUT = "…"
"""As the last line shown: more was printed. Within a line: what differs from run to run."""


class Example(NamedTuple):
    """A command of a `console` block, the lines shown below it, and its exit code."""

    document: str
    command: str
    lines: list[str]
    code: int


def text_of(document: str) -> str:
    return (ROOT / "docs" / document).read_text()


def examples(document: str) -> list[Example]:
    found: list[Example] = []
    for block in re.findall(r"```console\n(.*?)```", text_of(document), re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *lines = part.rstrip("\n").split("\n")
            code = 0
            if lines and (ended := re.fullmatch(r"\[exit code (\d+)\]", lines[-1])):
                code = int(ended[1])
                lines.pop()
            found.append(Example(document, command, lines, code))
    return found


EXAMPLES = [example for document in DOCUMENTS for example in examples(document)]


def is_shown(line: str, shown: str) -> bool:
    return bool(re.fullmatch(re.escape(shown).replace(CUT, ".*"), line))


@pytest.mark.parametrize(
    "example", EXAMPLES, ids=[f"{each.document}: {each.command}" for each in EXAMPLES]
)
def test_a_command_prints_what_is_shown(
    run: Run, example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in files(example.document).items():
        (tmp_path / name).write_text(text)
    program, *arguments = shlex.split(example.command)
    assert program == "maskwright"
    found = run(*arguments)
    printed = (found.stdout + found.stderr).rstrip("\n").split("\n")
    lines = example.lines
    if lines and lines[-1] == CUT:
        lines = lines[:-1]
        printed = printed[: len(lines)]
    if len(printed) != len(lines) or not all(map(is_shown, printed, lines)):
        assert printed == lines  # shows the difference
    assert found.returncode == example.code


def files(document: str) -> dict[str, str]:
    """The files that a document shows: a block after a line that names one in bold."""
    pattern = r"\*\*`([\w.-]+)`\*\*:?\n\n```\w*\n(.*?)```"
    return dict(re.findall(pattern, text_of(document), re.DOTALL))


@pytest.mark.parametrize("document", ["../README.md", "command-line.md", "tutorial.md"])
def test_there_are_files_and_examples(document: str) -> None:
    assert files(document)
    assert len(examples(document)) >= 3


@pytest.mark.parametrize(
    ("shown", "line", "expected"),
    [
        ("took … ms", "took 46 ms", True),
        ("took … ms", "took 46 s", False),
        ("a+", "aa", False),
    ],
)
def test_what_differs_from_run_to_run_is_left_open(shown: str, line: str, expected: bool) -> None:
    assert is_shown(line, shown) is expected


def invocations(path: Path) -> list[str]:
    """The commands of `sh` blocks, which show no output, and in documents whose commands aren't
    run, those of `console` blocks."""
    text = path.read_text()
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    if path not in {(ROOT / "docs" / name).resolve() for name in DOCUMENTS}:
        blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
        lines += [line[2:] for block in blocks for line in block.splitlines() if line[:2] == "$ "]
    return [line for line in lines if line[:11] == "maskwright "]


def words(command: str) -> list[str]:
    """The words of a command, up to a comment or where its output goes."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    return list(itertools.takewhile(lambda word: word not in ("|", "&", ">", ">>"), lexer))


PAGES = [path for path in tracked("*.md") if path.name != "CHANGELOG.md"]
INVOCATIONS = [(path, command) for path in PAGES for command in invocations(path)]


def call(name: str, arguments: list[str], parser: CommandParser) -> Any:
    """The options with which a command would run."""
    return read_options(COMMANDS[name].option_class(), parser, arguments)


@pytest.mark.parametrize(
    ("path", "command"),
    INVOCATIONS,
    ids=[f"{path.relative_to(ROOT)}: {command}" for path, command in INVOCATIONS],
)
def test_a_command_that_is_not_run_takes_its_options(path: Path, command: str) -> None:
    name, arguments = divided(words(command)[1:])
    assert call(name, arguments, CommandParser(name, "")) is not None


def test_the_page_names_every_command() -> None:
    page = text_of("command-line.md")
    named = set(re.findall(r"^## ([\w-]+): |^\| `([\w -]+)` \|", page, re.MULTILINE))
    assert set(COMMANDS) - {"".join(each) for each in named} == set()


@functools.cache
def options(name: str) -> frozenset[str]:
    """The options of a command."""
    parser = CommandParser(name, "")
    with pytest.raises(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        call(name, ["--help"], parser)
    return frozenset(re.findall(r"--[\w-]+", parser.format_help()))


def unknown(span: str) -> list[str]:
    """What a span names that is no command, or no option of its command."""
    name, rest = divided(span.removeprefix("maskwright ").split())
    if name in COMMANDS:
        return [word for word in rest if word[:2] == "--" and word not in options(name)]
    known = name in ("COMMAND", "--help", "--version", *WORDS) or not span.startswith("maskwright ")
    return [] if known else [name]


def test_commands_and_options_within_sentences_exist() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {span}: {word}"
        for path in PAGES
        for span in re.findall(r"(?<!`)`([a-z][^`\n]* [^`\n]+)`(?!`)", prose(path))
        for word in unknown(span)
    ]
    assert wrong == []


def prose(path: Path) -> str:
    return re.sub(r"^```.*?^```", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ("maskwright serve --port 8001", []),
        ("serve --trace FILE --gone", ["--gone"]),
        ("maskwright gone", ["gone"]),
        ("git gone --hard", []),
    ],
)
def test_what_no_command_takes_is_found(span: str, expected: list[str]) -> None:
    assert unknown(span) == expected


def test_there_are_such_commands() -> None:
    named = {path.stem for path, _ in INVOCATIONS}
    assert named >= {"grammars", "tutorial", "your-own-model", "operations", "scale"}
