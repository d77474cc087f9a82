"""Tokenizers that a tokenizer.json and few settings describe completely, and their chat templates.

They are read by `tokenizers` alone. The transformers library would read the same from them, but its
import takes a second and 80 MB. Whatever is not known here to be of this kind is left to it.

A template is code that came with a checkpoint: it runs in jinja's sandbox, and gets nothing but
plain data. What templates rely on beyond jinja is documented in the library's guide to writing
them: `raise_exception`, `strftime_now`, a `tojson` that escapes nothing, `break` and `continue`,
and blocks `generation`, which only mark text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from secrets import token_hex
from typing import Any, Final, NoReturn, cast

from jinja2 import Template, TemplateError, nodes
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace
from tokenizers import AddedToken, Tokenizer

from maskwright.json_faults import object_in_file

_REASONING: Final = ("reasoning_content", "thinking", "reasoning")
"""The names under which messages have their reasoning. Templates read the first, or the second."""


def render(
    source: str,
    messages: Sequence[Mapping[str, Any]],
    *,
    begins_answer: bool,
    continues: bool,
    variables: Mapping[str, Any],
) -> str:
    """Return a chat as the template `source` writes it, up to the beginning of an assistant's
    message if it `begins_answer`, or up to the end of the last message's text if it `continues`.
    `variables`: what the template sees beside the messages.

    Members of messages that are None are left out. Raises `TemplateError` of the template, and
    ValueError for a last message that can't be continued.
    """
    if not messages:
        raise ValueError("a chat needs a message")
    chat = [_with_reasoning(cast(dict[str, Any], _plain(message))) for message in messages]
    # Stands at the end of what is continued. No client can write it, and a template that trims
    # messages takes the space away.
    mark = f"end-{token_hex(16)} " if continues else ""
    text = _put_at_the_end(mark, chat[-1]) if continues else ""
    given = {str(name): _plain(value) for name, value in variables.items()}
    rendered = _compiled(source).render(
        {**given, "messages": chat, "add_generation_prompt": begins_answer and not continues}
    )
    return _up_to(mark, rendered, text) if continues else rendered


def _with_reasoning(message: dict[str, Any]) -> dict[str, Any]:
    """A message without members that are None, and its reasoning under both names."""
    message = {name: value for name, value in message.items() if value is not None}
    found = next((message[name] for name in _REASONING if name in message), None)
    if found is None:
        return message
    return {"thinking": found, **message, "reasoning_content": found}


def _put_at_the_end(mark: str, message: dict[str, Any]) -> str:
    """Put a mark at the end of a message's text, and return that text."""
    content: Any = message.get("content")
    if isinstance(content, str):
        message["content"] = content + mark
        return content
    blocks = [block for block in content or () if isinstance(block, dict) and "text" in block]
    if not blocks:
        raise ValueError("it has no text")
    text = str(blocks[-1]["text"])
    blocks[-1]["text"] = text + mark
    return text


def _up_to(mark: str, rendered: str, text: str) -> str:
    """What has been rendered before the last mark, without others. `text`: that of the message."""
    at = rendered.rfind(mark.rstrip())
    if at < 0 or text.strip() not in rendered:
        raise ValueError("the chat template doesn't show it as it is")
    before = rendered[:at].replace(mark, "")
    return before if rendered.startswith(mark, at) else before.rstrip()


def _plain(value: object) -> object:
    """The value as JSON has it. What JSON hasn't becomes the name of its type: templates ask at
    most whether it is there, and an object's methods are no business of theirs."""
    match value:
        case None | bool():
            return value
        case str():
            return str.__str__(value)
        case int():
            return int(value)
        case float():
            return float(value)
        case Mapping():
            items = cast(Mapping[object, object], value).items()
            return {_plain(name): _plain(each) for name, each in items}
        case list():
            return [_plain(each) for each in cast(list[object], value)]
        case tuple():
            return tuple(_plain(each) for each in cast(tuple[object, ...], value))
        case _:
            return f"<{type(value).__name__}>"


@lru_cache(maxsize=8)
def _compiled(source: str) -> Template:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, _Generation]
    )
    environment.filters["tojson"] = _to_json
    known = cast(dict[str, object], environment.globals)
    known["raise_exception"] = _raise_exception
    known["strftime_now"] = _strftime_now
    known["dict"] = _NewDict()
    known["namespace"] = _Variables
    return environment.from_string(source)


class _Generation(Extension):
    """The block `generation`, with which templates mark what the model has written."""

    tags = {"generation"}  # noqa: RUF012 - as jinja declares it

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.Scope(body).set_lineno(line)


class _NewDict:
    """`dict` in a template: makes dictionaries, and has none of a class's other attributes."""

    def __call__(self, *args: Any, **items: Any) -> dict[Any, Any]:
        return dict(*args, **items)

    def fromkeys(self, *args: Any) -> dict[Any, Any]:
        return dict.fromkeys(*args)


class _Variables(Namespace):
    """`namespace` in a template: its variables don't begin with an underscore, so that none stands
    for one of Python's own attributes."""

    def __init__(*args: Any, **named: Any) -> None:
        self, *given = args  # so that a variable may be called "self"
        for name in (held := dict(*given, **named)):
            _check_name(name)
        Namespace.__init__(self, held)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_name(name)
        super().__setitem__(name, value)


def _check_name(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise SecurityError(f"a namespace can't have a variable {name!r}: rename it")


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def _raise_exception(message: object) -> NoReturn:
    raise TemplateError(str(message))


def _strftime_now(form: str) -> str:
    return datetime.now().strftime(form)


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
        """Return a chat as the template writes it; see `render`. Texts are all that
        it writes, so `tokenize` is False."""
        assert self.chat_template is not None, "the tokenizer has no chat template"
        assert not tokenize
        return render(
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
    settings = object_in_file(directory / "tokenizer_config.json")
    file = directory / "chat_template.jinja"  # comes before the one in the settings
    template = settings.get("chat_template")
    template = file.read_text(encoding="utf-8") if file.exists() else template
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
