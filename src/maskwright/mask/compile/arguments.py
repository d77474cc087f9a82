"""What callers give the compilers: checked, and kept as the recipe of the grammar."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from functools import wraps
from io import BytesIO
from os import PathLike
from typing import Any, Final, NoReturn, ParamSpec, cast

from maskwright.errors import InputError, named
from maskwright.grammar.schema.document import loaded, of_class
from maskwright.grammar.schema.document_text import document_of
from maskwright.limits import Limits
from maskwright.mask.grammar import Grammar, Recipe
from maskwright.vocab import Vocabulary
from maskwright.vocab.hugging_face import is_tokenizer

_P = ParamSpec("_P")

_KINDS: Final[Mapping[str, tuple[type, str]]] = {
    "limits": (Limits, "a maskwright.Limits"),
    "documents": (Mapping, "a dict of schemas by URI"),
}
"""The types of optional arguments, and how a message names them."""
_ABSENT: Final = object()


def compiler(compile: Callable[_P, Grammar]) -> Callable[_P, Grammar]:
    """Check the vocabulary and the limits of a compiler, and what has to be a text, by the
    annotations of its parameters; and keep with its grammar what it was compiled from.

    All parameters after `vocab` have to be given by name.
    """
    parameters = inspect.signature(compile).parameters
    names = [*parameters]
    before_vocab = names.index("vocab")
    call = f"{compile.__name__}({', '.join(names[: before_vocab + 1])}, …)"
    texts = [name for name in names[:before_vocab] if parameters[name].annotation == "str"]
    classes = [name for name in names if name in _KINDS]

    @wraps(compile)
    def run(*args: _P.args, **options: _P.kwargs) -> Grammar:
        given: dict[str, Any] = dict(zip(names, args, strict=False))
        given.update(options)
        vocab = given.pop("vocab", _ABSENT)
        if not isinstance(vocab, Vocabulary) and vocab is not _ABSENT:
            _refuse_vocabulary(vocab, given, call)
        for name in classes:
            value, (kind, words) = given.get(name), _KINDS[name]
            if value is not None and not isinstance(value, kind):
                raise InputError(f"{name} has to be {words}, not {named(value)}", param=name)
        for name in texts:
            if name in given:
                check_text(given[name], name)
        grammar = compile(*args, **options)
        grammar.recipe = _recipe(run, given, grammar)
        return grammar

    return run


def check_text(value: Any, name: str) -> None:
    """Raise `InputError` for an argument that has to be a text and is none."""
    if isinstance(value, str):
        return
    hint = ""
    if isinstance(value, bytes):
        hint = ": decode it"
    elif isinstance(getattr(value, "pattern", None), str):
        hint = ": pass its pattern, and syntax='python'"
    elif hasattr(value, "read_text"):
        hint = ": pass the text of the file, path.read_text()"
    elif isinstance(value, Enum):
        hint = ": pass its value"
    raise InputError(f"{name} has to be a text, not {named(value)}{hint}", param=name)


def listed(value: Any, name: str, of: str) -> tuple[Any, ...]:
    """The items of an argument, in any collection. Raises `InputError` for what is no list."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise InputError(f"{name} has to be a list of {of}, not {named(value)}", param=name)
    return tuple(cast("Iterable[Any]", value))


def _refuse_vocabulary(vocab: Any, given: dict[str, Any], call: str) -> NoReturn:
    if any(isinstance(value, Vocabulary) for value in given.values()):
        raise InputError(f"the arguments are in another order: {call}", param="vocab")
    hint = "make one of a tokenizer with Vocabulary.from_tokenizer(tokenizer)"
    if is_tokenizer(vocab):
        hint = "pass Vocabulary.from_tokenizer(tokenizer), which is made once and used for all"
    raise InputError(f"vocab has to be a Vocabulary, not {named(vocab)}: {hint}", param="vocab")


class _Pickler(pickle.Pickler):
    """Writes the document in a file in place of its path, which is another file elsewhere."""

    def reducer_override(self, obj: object) -> Any:
        return (loaded, (of_class(obj),)) if isinstance(obj, PathLike) else NotImplemented


def _recipe(
    compile: Callable[..., Grammar], given: dict[str, Any], grammar: Grammar
) -> Recipe | None:
    """How a grammar is made again, if what it is compiled from can be pickled. That is pickled at
    once, since a caller may change it later, unless its text is known."""
    vocab, text = grammar.vocabulary, grammar.written
    if text is not None and "documents" not in given:
        del given["schema"]
        return _compiled_of_text, (compile, text, given, vocab)
    data = BytesIO()
    try:
        _Pickler(data, pickle.HIGHEST_PROTOCOL).dump(given)
    except Exception:  # objects of callers may raise anything
        return None
    return _compiled_again, (compile, data.getvalue(), vocab)


def _compiled_of_text(
    compile: Callable[..., Grammar], text: bytes, options: dict[str, Any], vocab: Vocabulary
) -> Grammar:
    return compile(document_of(text), vocab, **options)


def _compiled_again(compile: Callable[..., Grammar], data: bytes, vocab: Vocabulary) -> Grammar:
    return compile(**pickle.loads(data), vocab=vocab)
