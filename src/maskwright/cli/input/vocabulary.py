"""The vocabulary of a checkpoint, read without the model and without torch."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tokenizers import Tokenizer

from maskwright.errors import InputError
from maskwright.json_faults import object_in_file
from maskwright.model_options import DEMO_PATH
from maskwright.user_cache import user_cache
from maskwright.vocab import Vocabulary

DEMO: Final = "demo"
"""Names the demo model, which ships with the package."""


def read_vocabulary(model: str) -> Vocabulary:
    """The vocabulary of a folder with a tokenizer.json, of that file itself, or of the demo model.

    The end tokens come from generation_config.json or config.json beside it. Raises InputError.
    """
    file = tokenizer_file(model)
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises nothing more precise
        raise InputError(f"{file}: {error}", param="model") from None
    return Vocabulary.from_tokenizer(tokenizer, eos=_end_tokens(file.parent), cache=user_cache())


def tokenizer_file(model: str) -> Path:
    """The file tokenizer.json of a folder, of that file itself, or of the demo model. Raises
    InputError."""
    path = DEMO_PATH if model == DEMO else Path(model)
    file = path / "tokenizer.json" if path.is_dir() else path
    if not file.is_file():
        raise InputError(
            f"{model}: there is no tokenizer.json; give the folder of a checkpoint, or 'demo'",
            param="model",
        )
    return file


def _end_tokens(folder: Path) -> list[int]:
    for name in ("generation_config.json", "config.json"):
        ids = object_in_file(folder / name).get("eos_token_id")
        if ids is not None:
            return ids if isinstance(ids, list) else [ids]
    return []
