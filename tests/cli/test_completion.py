"""The scripts of `maskwright completion`, as the shells themselves use them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from maskwright.cli.program import COMMANDS, WORDS
from tests.cli.conftest import Run

FIRSTS = {name for name in COMMANDS if " " not in name} | set(WORDS)


def needs(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(shell) is None, reason=f"there is no {shell}")


def completed_by_bash(script: str, line: str, folder: Path) -> set[str]:
    """What bash offers for the last word of a line."""
    words = line.split(" ")
    quoted = " ".join(f"'{word}'" for word in words)
    program = f"{script}\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}\n"
    program += "compopt() { :; }\n_maskwright\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n"
    ended = subprocess.run(
        ["bash", "--norc"], input=program, capture_output=True, text=True, cwd=folder
    )
    assert ended.stderr == ""
    return set(ended.stdout.split())


@needs("bash")
def test_bash_completes_commands_options_values_shapes_and_files(run: Run, tmp_path: Path) -> None:
    script = run("completion", "bash").stdout
    (tmp_path / "inv.json").write_text("{}")

    def offered(line: str) -> set[str]:
        return completed_by_bash(script, line, tmp_path)

    assert offered("maskwright ") == FIRSTS
    assert offered("maskwright ser") == {"serve"}
    assert offered("maskwright help ser") == {"serve"}
    assert offered("maskwright check --prop") == {"--property-order"}
    assert offered("maskwright check --property-order ") == {"any", "schema"}
    assert offered("maskwright serve --no-pre") == {"--no-prefix-cache"}
    assert offered("maskwright serve --kv-by") == {"--kv-bytes"}
    assert offered("maskwright check inv") == {"invoice", "inv.json"}
    assert offered("maskwright completion ") >= {"bash", "zsh", "fish"}
    assert offered("maskwright bench se") >= {"serve"}
    assert offered("maskwright bench serve --ra") == {"--rates"}
    assert offered("maskwright bench --ra") == set()
    assert offered("maskwright match --color a") == {"auto", "always"}
    assert offered("maskwright nothing --x") == set()


@needs("fish")
def test_fish_completes_commands_options_and_values(run: Run, tmp_path: Path) -> None:
    script = run("completion", "fish").stdout

    def offered(line: str) -> set[str]:
        program = f"{script}\ncomplete -C '{line}'\n"
        ended = subprocess.run(
            ["fish", "--no-config"], input=program, capture_output=True, text=True, cwd=tmp_path
        )
        assert ended.stderr == ""
        return {each.partition("\t")[0] for each in ended.stdout.splitlines()}

    assert offered("maskwright ") == FIRSTS
    assert offered("maskwright check --prop") == {"--property-order"}
    assert offered("maskwright check --property-order ") == {"any", "schema"}
    assert offered("maskwright bench serve --ra") == {"--rates"}
    assert offered("maskwright bench --ra") == set()
    assert offered("maskwright check invo") == {"invoice"}


@needs("zsh")
def test_zsh_reads_its_script(run: Run) -> None:
    """And asks `_arguments` for the options of the command."""
    script = run("completion", "zsh").stdout
    program = f"""\
compdef() {{ :; }}
_describe() {{ print -l -- $commands; }}
_arguments() {{ print -l -- "$@"; }}
{script}
words=(maskwright ''); CURRENT=2; _maskwright; print -- ---
words=(maskwright check ''); CURRENT=3; _maskwright; print -- ---
words=(maskwright bench serve ''); CURRENT=4; _maskwright
"""
    ended = subprocess.run(["zsh", "-f"], input=program, capture_output=True, text=True)
    assert ended.stderr == ""
    commands, check, bench = ended.stdout.split("---\n")
    assert {line.partition(":")[0] for line in commands.splitlines()} == FIRSTS
    (order,) = (line for line in check.splitlines() if "--property-order[" in line)
    assert order.endswith(":(schema any)")
    assert "*--fix[" in check
    assert "*--rates[" in bench
    assert "--fix" not in bench


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_option_is_in_the_script(run: Run, shell: str) -> None:
    script = run("completion", shell).stdout
    assert all(word in script for name in COMMANDS for word in name.split())
    assert ("-l kv-bytes" if shell == "fish" else "--kv-bytes") in script


def test_a_shell_that_is_not_known_is_refused(run: Run) -> None:
    found = run("completion", "ksh")
    assert found.returncode == 2
    assert "'ksh' is none of bash, zsh, fish" in found.stderr
