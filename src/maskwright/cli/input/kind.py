"""The kinds of a shape that a command can be given. Imports nothing, as `--help` needs them."""

from __future__ import annotations

from typing import Literal

Kind = Literal["auto", "schema", "regex", "lark", "gbnf", "ebnf"]
