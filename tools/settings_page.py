"""Writes the tables of docs/settings.md from the settings themselves.

    python tools/settings_page.py [--out FILE]

`tests/cli/serving/test_settings_page.py` says when the page is behind.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from maskwright.cli.arguments import Parameter, parameters_of, shown_default
from maskwright.cli.fleet.route import RouteOptions
from maskwright.cli.options import USER_CACHE
from maskwright.cli.serving.serve import ServeOptions
from maskwright.settings import Option

PAGE = Path(__file__).resolve().parents[1] / "docs" / "settings.md"
COMMANDS: dict[str, type[Any]] = {"serve": ServeOptions, "route": RouteOptions}
TABLES = r"(<!-- settings of {name} -->\n).*?(<!-- end -->)"


def tables(options: type[Any]) -> str:
    """A table for each group of settings, with option, variable, default and what it does."""
    groups: dict[str | None, list[Parameter]] = defaultdict(list)
    for parameter in parameters_of(options):
        assert isinstance(parameter.declared, Option)
        groups[parameter.declared.group].append(parameter)
    parts: list[str] = []
    for title, parameters in groups.items():
        heading = f"### {title}\n\n" if title else ""
        rows = "\n".join(map(_row, parameters))
        head = "| option | variable | default | what it is |\n|---|---|---|---|\n"
        parts.append(f"{heading}{head}{rows}\n")
    return "\n" + "\n".join(parts) + "\n"


def _row(parameter: Parameter) -> str:
    shown = shown_default(parameter) or "–"
    if shown == str(USER_CACHE):  # the folder of whoever writes the page
        shown = "`~/.cache/maskwright`"
    text = parameter.declared.help.replace("|", "\\|").replace("*", "\\*")
    text = re.sub(r"(?<![\w`-])(--[a-z][\w-]*|/[a-z][\w/]*|\{.*?\})", r"`\1`", text)
    return f"| `{parameter.flag}` | `{parameter.variable}` | {shown} | {text} |"


def written(page: str) -> str:
    """The page with its tables as they should be."""
    for name, options in COMMANDS.items():
        pattern = re.compile(TABLES.format(name=name), re.DOTALL)
        made = tables(options)
        page, count = pattern.subn(lambda found, made=made: found[1] + made + found[2], page)
        assert count == 1, f"the page has no place for the settings of {name}"
    return page


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=PAGE, help="file that is written")
    parser.parse_args().out.write_text(written(PAGE.read_text()))
