"""Tables in TOML, YAML or JSON files. Every mistake in them is named."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import yaml

from maskwright.errors import InputError


def read_table(file: Path) -> dict[str, Any]:
    """The table that a file holds. Raises InputError for one that can't be read."""
    try:
        content = file.read_text(encoding="utf-8")
        match file.suffix:
            case ".toml":
                table: object = tomllib.loads(content)
            case ".yaml" | ".yml":
                table = yaml.safe_load(content)
            case ".json":
                table = json.loads(content)
            case _:
                raise InputError(f"{file}: a .toml, .yaml or .json file is needed", param="file")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"can't read {file}: {error}", param="file") from None
    except (ValueError, yaml.YAMLError) as error:
        raise InputError(f"{file} can't be parsed: {error}", param="file") from None
    if not isinstance(table, dict):
        raise InputError(f"{file} is no table of settings", param="file")
    return cast(dict[str, Any], table)


def known(table: Mapping[str, Any], names: tuple[str, ...], where: str) -> None:
    """Raise InputError for a setting of the table `where` that is none of `names`."""
    for name in table:
        if name not in names:
            raise InputError(
                f"{where} has no setting {name!r}; there are {', '.join(names)}", param=where
            )


def one_of(value: object, names: tuple[str, ...], where: str) -> str:
    """The name `value`. Raises InputError if it is none of `names`."""
    if value not in names:
        raise InputError(
            f"there is no {where} {value!r}; there are {', '.join(names)}", param=where
        )
    return str(value)
