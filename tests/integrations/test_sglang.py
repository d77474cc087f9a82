"""The grammar backend of SGLang, as its scheduler uses it.

SGLang's interface is the installed one, or a stand-in with the names that its documents promise.
"""

from __future__ import annotations

import importlib
import json
import random
import re
from collections.abc import Callable
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any

import pytest
import torch

from tests.engine.tiny import tokenizer
from tests.integrations import stand_ins
from tests.integrations.document import example
from tests.integrations.stand_ins import provide

PADDING = 9


@pytest.fixture
def registered() -> dict[str, Callable[..., Any]]:
    return {}


@pytest.fixture
def module(
    monkeypatch: pytest.MonkeyPatch, registered: dict[str, Callable[..., Any]]
) -> ModuleType:
    provide(
        monkeypatch,
        "sglang.srt.constrained.base_grammar_backend",
        BaseGrammarBackend=stand_ins.BaseGrammarBackend,
        BaseGrammarObject=stand_ins.BaseGrammarObject,
        InvalidGrammarObject=stand_ins.InvalidGrammarObject,
        register_grammar_backend=registered.__setitem__,
    )
    provide(
        monkeypatch,
        "sglang.srt.server_args",
        add_grammar_backend_choices=lambda names: None,
    )
    found = importlib.import_module("maskwright.integrations.sglang")
    monkeypatch.setattr(found, "register_grammar_backend", registered.__setitem__)
    return found


@pytest.fixture
def backend(module: ModuleType, registered: dict[str, Callable[..., Any]]) -> Any:
    """The backend as SGLang gets it: by the name that is registered."""
    module.register()
    fast = tokenizer()
    return registered["maskwright"](None, fast, len(fast) + PADDING, {fast.eos_token_id})


def write(backend: Any, text: Any, rng: random.Random) -> list[int]:
    """Write a whole text in the second row of a batch of three."""
    size, tokens = backend._vocab.size, []
    while not text.is_terminated():
        mask = text.allocate_vocab_mask(size, 3, torch.device("cpu"))
        text.fill_vocab_mask(mask, 1)
        logits = torch.zeros(3, size)
        text.apply_vocab_mask(logits, text.move_vocab_mask(mask, logits.device))
        assert logits[[0, 2]].isfinite().all()
        tokens.append(rng.choice(logits[1].isfinite().nonzero()[:, 0].tolist()))
        text.accept_token(tokens[-1])
    return tokens


def spelled(backend: Any, tokens: list[int]) -> bytes:
    return b"".join(backend._vocab.tokens[token] for token in tokens)


def test_texts_follow_their_shapes(backend: Any) -> None:
    rng = random.Random(1)
    schema = {"type": "array", "items": {"type": "boolean"}, "maxItems": 3}
    text = backend.dispatch_json(json.dumps(schema))
    assert isinstance(json.loads(spelled(backend, write(backend, text.copy(), rng))), list)
    assert text.finished is False, "a copy is a text of its own"
    pattern = backend.dispatch_regex("(ab){2}")
    assert spelled(backend, write(backend, pattern, rng)) == b"abab"
    assert pattern.finished
    grammar = backend.dispatch_ebnf('root ::= "x" | "yz"')
    assert spelled(backend, write(backend, grammar, rng)) in (b"x", b"yz")
    tag = {"type": "structural_tag", "format": {"type": "const_string", "value": "yes"}}
    tagged = backend.dispatch_structural_tag(json.dumps(tag))
    assert spelled(backend, write(backend, tagged, rng)) == b"yes"


def test_any_object(backend: Any) -> None:
    text = backend.dispatch_json("$$ANY$$")
    mask = text.allocate_vocab_mask(backend._vocab.size, 1, None)
    text.fill_vocab_mask(mask, 0)
    logits = torch.zeros(1, backend._vocab.size)
    text.apply_vocab_mask(logits, mask)
    begins = {backend._vocab.tokens[int(t)][:1] for t in logits[0].isfinite().nonzero()}
    assert b"{" in begins
    assert begins <= {b"{", b" ", b"\n", b"\t", b"\r"}


def test_rolling_back_over_the_end(backend: Any) -> None:
    text = backend.dispatch_regex("ab")
    a, b = (backend._vocab.tokens.index(letter) for letter in (b"a", b"b"))
    eos = backend._vocab.eos[0]
    for token in (a, b, eos, a, a):  # what comes after the end is ignored
        text.accept_token(token)
    assert text.finished
    text.rollback(3)
    assert not text.finished
    with pytest.raises(ValueError, match=f"token {a} is not allowed"):
        text.accept_token(a)
    text.rollback(1)
    text.accept_token(b)
    text.accept_token(eos)
    assert text.is_terminated()


@pytest.mark.parametrize(
    ("method", "text"),
    [
        ("dispatch_json", '{"type": "text"}'),
        ("dispatch_json", "{"),
        ("dispatch_regex", "("),
        ("dispatch_ebnf", "root ::= missing"),
        ("dispatch_structural_tag", "[]"),
    ],
)
def test_a_shape_that_can_not_be_compiled(
    backend: Any, module: ModuleType, method: str, text: str
) -> None:
    found = getattr(backend, method)(text)
    assert isinstance(found, module.InvalidGrammarObject)
    assert found.error_message


def test_the_plugin_is_found(module: ModuleType) -> None:
    found = [each for each in entry_points(group="sglang.srt.plugins") if each.name == "maskwright"]
    if not found:
        pytest.skip("the package was installed before it had this entry point")
    assert found[0].load() is module.register


def test_the_command_of_the_document_names_the_backend(
    module: ModuleType, registered: dict[str, Callable[..., Any]]
) -> None:
    module.register()
    [name] = re.findall(r"--grammar-backend (\S+)", example("SGLang", "sh"))
    assert list(registered) == [name]
