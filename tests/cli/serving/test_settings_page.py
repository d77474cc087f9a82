"""docs/settings.md against the settings."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path

from maskwright.cli.arguments import CommandParser, parameters_of, read_options
from maskwright.cli.serving.serve import ServeOptions
from tools.settings_page import PAGE, tables, written

TEXT = PAGE.read_text()


def test_the_tables_are_those_of_the_settings() -> None:
    assert written(TEXT) == TEXT, "run tools/settings_page.py"
    for parameter in parameters_of(ServeOptions):
        assert f"| `{parameter.flag}` | `{parameter.variable}` |" in TEXT


def test_a_changed_description_changes_the_page() -> None:
    assert written(TEXT.replace("Most requests in a step", "x")) == TEXT
    assert "Most requests in a step" in tables(ServeOptions)


def test_the_file_that_is_shown_is_read(tmp_path: Path) -> None:
    found = re.search(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    assert found is not None
    file = tmp_path / "maskwright.toml"
    file.write_text(found[1])
    options = read_options(ServeOptions, CommandParser("", ""), ["--config", str(file)])
    assert options.port == tomllib.loads(found[1])["port"]
    assert options.server.chat_template_kwargs == {"enable_thinking": False}
    assert (options.ttft, options.chosen.adapter) == (["interactive=1.5"], ["sql=adapters/sql"])
    assert options.engine == replace(ServeOptions().engine, kv_bytes=2 * 10**9)
