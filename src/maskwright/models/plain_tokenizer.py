"""Tokenizers that a tokenizer.json and few settings describe completely.

They are read by `tokenizers` alone. The transformers library would read the same from them, but its
import takes a second and 80 MB. Whatever is not known here to be of this kind is left to it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

from tokenizers import AddedToken, Tokenizer

from maskwright.models import chat_template

_NAMED: Final = (
    *("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token"),
    "mask_token",
)
"""Settings that name a token. Templates see them as variables."""
_SETTINGS: Final = frozenset(
    {
        *_NAMED,
        *("backend", "chat_template", "clean_up_tokenization_spaces", "extra_special_tokens"),
        *("model_max_length", "tokenizer_class"),
    }
)
_CLASSES: Final = ("PreTrainedTokenizerFast", "TokenizersBackend")
_OTHER_FILES: Final = (
    *("added_tokens.json", "special_tokens_map.json", "chat_template.json"),
    "additional_chat_templates",
)
"""Further files that the library reads."""
_MENDED_FROM: Final = 100_000
"""Tokens above which the library looks whether a tokenizer needs mending."""


class PlainTokenizer:
    """A tokenizer of this kind. `chat_template` may be replaced."""

    def __init__(
        self, backend: Tokenizer, template: str | None, named: Mapping[str, str], extra: list[str]
    ) -> None:
        """`named`: tokens by their settings; `extra`: other tokens that are special as well."""
        self.backend_tokenizer: Final = backend
        self.chat_template = template
        self._named: Final = dict(named)
        special = dict.fromkeys((*named.values(), *extra))
        self.all_special_ids: Final = [backend.token_to_id(token) for token in special]

    @property
    def split_special_tokens(self) -> bool:
        """False: the name of a special token in a text is that token."""
        return False

    def __len__(self) -> int:
        return self.backend_tokenizer.get_vocab_size(with_added_tokens=True)

    @property
    def eos_token_id(self) -> int | None:
        """The end token that the settings name."""
        token = self._named.get("eos_token")
        return None if token is None else self.backend_tokenizer.token_to_id(token)

    @property
    def added_tokens_decoder(self) -> Mapping[int, AddedToken]:
        """The tokens beside the model's own by their ids."""
        return self.backend_tokenizer.get_added_tokens_decoder()

    def convert_ids_to_tokens(self, ids: Sequence[int]) -> list[str | None]:
        """Return the names of tokens."""
        return [self.backend_tokenizer.id_to_token(token) for token in ids]

    def apply_chat_template(
        self,
        conversation: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] | None = None,
        documents: Sequence[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool = False,
        tokenize: bool = False,
        **variables: Any,
    ) -> str:
        """Return a chat as the template writes it; see `chat_template.render`. Texts are all that
        it writes, so `tokenize` is False."""
        assert self.chat_template is not None, "the tokenizer has no chat template"
        assert not tokenize
        return chat_template.render(
            self.chat_template,
            conversation,
            begins_answer=add_generation_prompt,
            continues=continue_final_message,
            variables={**self._named, **variables, "tools": tools, "documents": documents},
        )


def read_plain_tokenizer(directory: Path, model_type: object) -> PlainTokenizer | None:
    """Read the tokenizer of a checkpoint; None if it is left to the library."""
    # Of other types of models, the library has classes of its own that change what is read.
    if model_type != "llama" or any((directory / name).exists() for name in _OTHER_FILES):
        return None
    settings = _object(directory / "tokenizer_config.json")
    template = _template(directory, settings)
    named = {name: settings[name] for name in _NAMED if settings.get(name) is not None}
    extra: Any = settings.get("extra_special_tokens") or []
    if (
        not settings.keys() <= _SETTINGS
        or settings.get("tokenizer_class") not in _CLASSES
        or settings.get("backend", "tokenizers") != "tokenizers"
        or not isinstance(template, str | None)
        or not isinstance(extra, list)
    ):
        return None
    try:
        backend = Tokenizer.from_file(str(directory / "tokenizer.json"))
    except Exception:  # of no more precise type; the library says what is wrong
        return None
    added = backend.get_added_tokens_decoder().values()
    special = [token.content for token in added if token.special]
    if (
        any(token not in special for token in (*named.values(), *cast(list[object], extra)))
        or backend.get_vocab_size() > _MENDED_FROM
        or backend.post_processor is None
        or not (backend.truncation is backend.padding is None)
    ):
        return None
    backend.encode_special_tokens = False
    return PlainTokenizer(backend, template, named, cast(list[str], extra))


def _template(directory: Path, settings: Mapping[str, Any]) -> Any:
    """The chat template: a file of its own comes first."""
    file = directory / "chat_template.jinja"
    return file.read_text(encoding="utf-8") if file.exists() else settings.get("chat_template")


def _object(file: Path) -> dict[str, Any]:
    """The object in a file of JSON; an empty one if there is none."""
    try:
        found: object = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return cast(dict[str, Any], found) if isinstance(found, dict) else {}
