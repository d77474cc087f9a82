"""Print a script with which a shell completes commands, options and their values.

`source <(maskwright completion bash)` in `~/.bashrc`; `source <(maskwright completion zsh)` in
`~/.zshrc`, after `compinit`; `maskwright completion fish | source` in `~/.config/fish/config.fish`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias, get_args, get_origin

from maskwright.cli.arguments import parameters_of
from maskwright.cli.output.appearance import Appearance
from maskwright.cli.program import COMMANDS, WORDS
from maskwright.settings import Argument, argument
from maskwright.shipped import KINDS, shipped

Shell: TypeAlias = Literal["bash", "zsh", "fish"]


@dataclass(frozen=True, slots=True)
class CompletionOptions:
    """What `maskwright completion` is given."""

    shell: Shell = argument("The shell: bash, zsh or fish.")


SHAPES: Final = frozenset({"shape", "shapes", "schema", "first", "second"})
"""The positional arguments that may be the name of a shape that ships."""


class CompletedOption(NamedTuple):
    """An option: its flags, its values if they are known, whether it takes one, and what it is."""

    flags: tuple[str, ...]
    values: tuple[str, ...]
    takes_value: bool
    text: str


class CompletedCommand(NamedTuple):
    """A command: its options, the words that come after it, and what it does."""

    options: tuple[CompletedOption, ...]
    words: tuple[str, ...]
    text: str


def run(options: CompletionOptions) -> None:
    commands = {name: _command(name) for name, command in COMMANDS.items() if command.installed}
    lines = {"bash": bash, "zsh": zsh, "fish": fish}[options.shell](commands)
    print("\n".join(lines))


def _command(name: str) -> CompletedCommand:
    command = COMMANDS[name]
    parameters = [*parameters_of(command.option_class()), *parameters_of(Appearance)]
    options: list[CompletedOption] = []
    words = [each.split()[1] for each in COMMANDS if each.startswith(f"{name} ")]
    for parameter in parameters:
        declared, kind = parameter.declared, parameter.kind
        values = tuple(map(str, get_args(kind))) if get_origin(kind) is Literal else ()
        if isinstance(declared, Argument):
            ship = [each for kind in KINDS for each in shipped(kind)]
            words += ship if parameter.name in SHAPES else values
            continue
        flags = [parameter.flag, *([declared.short] if declared.short else [])]
        if kind is bool and declared.flag is None:
            flags.append(f"--no-{parameter.setting}")
        text = declared.help.partition(". ")[0].rstrip(".")
        options.append(CompletedOption(tuple(flags), values, kind is not bool, text))
    options.append(CompletedOption(("--help",), (), False, "What the command takes"))
    return CompletedCommand(tuple(options), tuple(dict.fromkeys(words)), command.does)


def _firsts(commands: Mapping[str, CompletedCommand]) -> dict[str, str]:
    """The first words of commands, and what they do."""
    found = {name: command.text for name, command in commands.items() if " " not in name}
    return {**found, **WORDS}


def _pairs(commands: Mapping[str, CompletedCommand]) -> list[list[str]]:
    """The commands of two words."""
    return [name.split() for name in commands if " " in name]


def bash(commands: Mapping[str, CompletedCommand]) -> Iterator[str]:
    """The script for bash."""
    yield "_maskwright() {"
    yield '    local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"'
    yield '    local command="${COMP_WORDS[1]}" options="" words=""'
    yield "    COMPREPLY=()"
    for first, second in _pairs(commands):
        both = f"$command == {first} && ${{COMP_WORDS[2]}} == {second}"
        yield f'    if [[ $COMP_CWORD -gt 2 && {both} ]]; then command="{first} {second}"; fi'
    yield "    if [[ $COMP_CWORD -eq 1 || ( $COMP_CWORD -eq 2 && $before == help ) ]]; then"
    yield f'        COMPREPLY=($(compgen -W "{" ".join(_firsts(commands))}" -- "$current"))'
    yield "        return"
    yield "    fi"
    yield '    case "$command $before" in'
    for name, command in commands.items():
        for option in command.options:
            if option.values:
                cases = "|".join(f'"{name} {flag}"' for flag in option.flags)
                values = " ".join(option.values)
                yield f'        {cases}) COMPREPLY=($(compgen -W "{values}" -- "$current"))'
                yield "            return ;;"
    yield "    esac"
    yield '    case "$command" in'
    for name, command in commands.items():
        flags = " ".join(flag for option in command.options for flag in option.flags)
        yield f'        "{name}") options="{flags}"; words="{" ".join(command.words)}" ;;'
    yield "    esac"
    yield "    if [[ $current == -* ]]; then"
    yield '        COMPREPLY=($(compgen -W "$options" -- "$current"))'
    yield "    else"
    yield "        compopt -o filenames 2>/dev/null"
    yield '        COMPREPLY=($(compgen -W "$words" -- "$current") $(compgen -f -- "$current"))'
    yield "    fi"
    yield "}"
    yield "complete -F _maskwright maskwright"


def zsh(commands: Mapping[str, CompletedCommand]) -> Iterator[str]:
    """The script for zsh."""
    yield "#compdef maskwright"
    yield "_maskwright() {"
    yield "    local -a commands"
    yield "    commands=("
    for name, text in _firsts(commands).items():
        yield f"        {_quoted(f'{name}:{text}')}"
    yield "    )"
    yield "    if (( CURRENT == 2 )) || [[ $words[2] == help ]]; then"
    yield "        _describe command commands"
    yield "        return"
    yield "    fi"
    yield "    local command=$words[2]"
    yield "    shift words; (( CURRENT-- ))"
    for first, second in _pairs(commands):
        yield f'    if (( CURRENT > 2 )) && [[ "$command $words[2]" == "{first} {second}" ]]; then'
        yield f'        command="{first} {second}"; shift words; (( CURRENT-- ))'
        yield "    fi"
    yield '    case "$command" in'
    for name, command in commands.items():
        yield f"        {_quoted(name)}) _arguments \\"
        for option in command.options:
            for flag in option.flags:
                about = re.sub(r"([\[\]:\\])", r"\\\1", option.text)
                values = f"({' '.join(option.values)})" if option.values else "_files"
                value = f":value:{values}" if option.takes_value else ""
                yield f"            {_quoted(f'*{flag}[{about}]{value}')} \\"
        words = f'"words:word:({" ".join(command.words)})" ' if command.words else ""
        yield f"            '*:argument:_alternative {words}\"files:file:_files\"' ;;"
    yield "    esac"
    yield "}"
    yield "compdef _maskwright maskwright"


def fish(commands: Mapping[str, CompletedCommand]) -> Iterator[str]:
    """The script for fish."""
    yield "function __maskwright_command"
    yield "    set -l words (commandline -opc) ''"
    yield '    test "$words[2]" = "$argv[1]"; and begin'
    yield '        test (count $argv) -eq 1; or test "$words[3]" = "$argv[2]"'
    yield "    end"
    yield "end"
    complete, firsts = "complete -c maskwright -n", _firsts(commands)
    for name, text in firsts.items():
        yield f"{complete} '__maskwright_command \"\"' -f -a {name} -d {_quoted(text)}"
    yield f"{complete} '__maskwright_command help' -f -a '{' '.join(firsts)}'"
    for name, command in commands.items():
        longer = [" ".join(pair) for pair in _pairs(commands) if pair[0] == name]
        others = "".join(f"; and not __maskwright_command {each}" for each in longer)
        is_it = _quoted(f"__maskwright_command {name}{others}")
        for option in command.options:
            flags = " ".join(f"-l {f[2:]}" if f[1] == "-" else f"-s {f[1:]}" for f in option.flags)
            value = f" -x -a {_quoted(' '.join(option.values))}" if option.values else " -r"
            value = value if option.takes_value else ""
            yield f"{complete} {is_it} {flags}{value} -d {_quoted(option.text)}"
        if command.words:
            yield f"{complete} {is_it} -a {_quoted(' '.join(command.words))}"


def _quoted(text: str) -> str:
    """A text between single quotes, without any in it, as all three shells read it."""
    return "'" + text.replace("'", "’") + "'"
