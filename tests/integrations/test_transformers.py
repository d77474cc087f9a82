"""The logits processor inside transformers' `generate`, on the CPU."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import (
    AutoModelForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

from maskwright import (
    BudgetError,
    Grammar,
    InputError,
    Vocabulary,
    compile_choice,
    compile_json_schema,
    compile_regex,
)
from maskwright.integrations.transformers import GrammarLogitsProcessor, model_vocabulary
from tests.engine.tiny import save_checkpoint, tokenizer

RECORD = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "tags": {"type": "array"}},
    "required": ["name", "tags"],
    "additionalProperties": False,
}
PROMPTS = ["the cat", " sat on the", "é", 'a longer prompt {"']
WORDS = ["the cat", "the", "the catalogue", "stop", "é 日"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> PreTrainedModel:
    """A random model, whose texts are therefore as wild as the grammars let them be."""
    folder = save_checkpoint(tmp_path_factory.mktemp("checkpoint") / "tiny")
    return AutoModelForCausalLM.from_pretrained(folder).eval()


@pytest.fixture(scope="module")
def fast() -> PreTrainedTokenizerFast:
    made = tokenizer()
    made.padding_side = "left"
    return made


@pytest.fixture(scope="module")
def vocab(model: PreTrainedModel, fast: PreTrainedTokenizerFast) -> Vocabulary:
    return model_vocabulary(model, fast)


Generate = Callable[..., list[list[int]]]


@pytest.fixture
def generate(model: PreTrainedModel, fast: PreTrainedTokenizerFast) -> Generate:
    """`generate` with grammars; the new tokens of each row."""

    def run(
        grammars: Grammar | Sequence[Grammar | None],
        prompts: Sequence[str] = PROMPTS,
        max_new_tokens: int = 24,
        **options: Any,
    ) -> list[list[int]]:
        inputs = fast(list(prompts), return_tensors="pt", padding=True)
        length = inputs["input_ids"].shape[1]
        processor = GrammarLogitsProcessor(
            grammars, prompt_length=length, max_new_tokens=max_new_tokens
        )
        torch.manual_seed(3)
        out = model.generate(
            input_ids=inputs["input_ids"],
            attention_mask=inputs["attention_mask"],
            pad_token_id=fast.pad_token_id,
            max_new_tokens=max_new_tokens,
            logits_processor=[processor],
            **options,
        )
        return out[:, length:].tolist()

    return run


def texts(vocab: Vocabulary, rows: Sequence[Sequence[int]]) -> list[str]:
    return [vocab.decode(row).decode() for row in rows]


def test_the_vocabulary_is_the_models(model: PreTrainedModel, vocab: Vocabulary) -> None:
    assert vocab.size == model.config.vocab_size
    assert vocab.eos == (model.generation_config.eos_token_id,)


MODES = [{"do_sample": False}, {"do_sample": True}, {"do_sample": True, "top_k": 3, "top_p": 0.8}]


@pytest.mark.parametrize("options", MODES, ids=["greedy", "sampling", "top-k and top-p"])
def test_rows_of_unlike_shapes(
    generate: Generate, vocab: Vocabulary, options: dict[str, Any]
) -> None:
    grammars = [
        compile_json_schema(RECORD, vocab),
        compile_regex(r"\d{3,8}", vocab),
        compile_choice(WORDS, vocab),
        compile_json_schema({"type": "array", "items": {"enum": [1, "é"]}}, vocab),
    ]
    rows = generate(grammars, max_new_tokens=40, **options)
    record, digits, word, items = texts(vocab, rows)
    assert set(json.loads(record)) == {"name", "tags"}
    assert re.fullmatch(r"\d{3,8}", digits)
    assert word in WORDS
    assert set(json.loads(items)) <= {1, "é"}


@pytest.mark.parametrize("most", [8, 9, 10, 12, 16, 32])
def test_every_text_is_complete_within_max_new_tokens(
    generate: Generate, vocab: Vocabulary, most: int
) -> None:
    schema = {"type": "array", "items": {"type": "string"}, "minItems": 1}
    grammar = compile_json_schema(schema, vocab)
    prompts = PROMPTS * 6
    rows = generate(grammar, prompts, max_new_tokens=most, do_sample=True)
    assert len({*texts(vocab, rows)}) > 4
    for row, text in zip(rows, texts(vocab, rows), strict=True):
        assert len(row) <= most
        assert all(isinstance(item, str) for item in json.loads(text))


def test_after_a_complete_text_comes_an_end_token_and_then_padding(
    generate: Generate, vocab: Vocabulary, fast: PreTrainedTokenizerFast
) -> None:
    grammars = [compile_choice(["top"], vocab), compile_regex("x{12}", vocab)]
    short, long = generate(grammars, PROMPTS[:2], do_sample=True)
    end = short.index(fast.eos_token_id)
    assert vocab.decode(short[:end]) == b"top"
    assert set(short[end + 1 :]) == {fast.pad_token_id}
    assert long == [*vocab.encode(b"x" * 12), fast.eos_token_id]


def test_a_row_that_generate_ends_for_another_reason_is_let_be(
    generate: Generate, vocab: Vocabulary, fast: PreTrainedTokenizerFast
) -> None:
    grammars = [compile_regex("abcx+", vocab), compile_regex("y{10}", vocab)]
    ended, other = generate(
        grammars, PROMPTS[:2], max_new_tokens=20, stop_strings=["bc"], tokenizer=fast
    )
    assert vocab.decode(ended) == b"abc"
    assert set(ended[4:]) == {fast.pad_token_id}
    assert vocab.decode(other) == b"y" * 10


def test_a_row_without_a_grammar_is_as_without_the_processor(
    generate: Generate, vocab: Vocabulary
) -> None:
    free = generate([None, None], PROMPTS[:2], max_new_tokens=12)
    mixed = generate([None, compile_regex("z{20}", vocab)], PROMPTS[:2], max_new_tokens=21)
    assert mixed[0][:12] == free[0]
    assert vocab.decode(mixed[1]) == b"z" * 20
    assert vocab.decode(free[1]) != b"z" * 12


def test_several_answers_to_each_prompt(generate: Generate, vocab: Vocabulary) -> None:
    grammars = [compile_regex("[a-f]{4}", vocab), compile_regex("[0-9]{4}", vocab)]
    rows = generate(grammars, PROMPTS[:2], do_sample=True, num_return_sequences=3)
    letters, digits = texts(vocab, rows)[:3], texts(vocab, rows)[3:]
    assert all(re.fullmatch("[a-f]{4}", text) for text in letters)
    assert all(re.fullmatch("[0-9]{4}", text) for text in digits)
    assert len({*letters}) > 1


def allowed_by(words: Sequence[str], vocab: Vocabulary) -> Callable[[list[int]], list[int]]:
    """The tokens with which some word goes on, found by trying all; after none, the end token."""
    ends = [word.encode() for word in words]

    @cache
    def of(text: bytes) -> list[int]:
        more = [
            token
            for token, added in enumerate(vocab.tokens)
            if added and any(end.startswith(text + added) for end in ends)
        ]
        return [*more, *vocab.eos] if text in ends or not more else more

    return lambda tokens: of(vocab.decode(tokens))


@pytest.mark.parametrize("beams", [2, 3, 5])
def test_beams_are_those_of_transformers_own_constraint(
    model: PreTrainedModel, generate: Generate, vocab: Vocabulary, fast: Any, beams: int
) -> None:
    inputs = fast(PROMPTS, return_tensors="pt", padding=True)
    length = inputs["input_ids"].shape[1]
    allowed = allowed_by(WORDS, vocab)
    expected = model.generate(
        input_ids=inputs["input_ids"],
        attention_mask=inputs["attention_mask"],
        pad_token_id=fast.pad_token_id,
        max_new_tokens=24,
        num_beams=beams,
        prefix_allowed_tokens_fn=lambda _, ids: allowed(ids[length:].tolist()),
    )
    rows = generate(compile_choice(WORDS, vocab), num_beams=beams)
    assert rows == expected[:, length:].tolist()
    assert {*texts(vocab, rows)} <= set(WORDS)


def test_drafts_do_not_change_the_texts(generate: Generate, vocab: Vocabulary) -> None:
    grammar = compile_json_schema(RECORD, vocab)
    prompt = ['{"name": "the cat", "tags": []} and {"name": "the']
    plain = generate(grammar, prompt, max_new_tokens=60)
    drafted = generate(grammar, prompt, max_new_tokens=60, prompt_lookup_num_tokens=4)
    assert texts(vocab, drafted) == texts(vocab, plain)
    json.loads(texts(vocab, plain)[0])


def test_an_assistant_model_does_not_change_the_texts(
    model: PreTrainedModel, generate: Generate, vocab: Vocabulary
) -> None:
    """It uses the processor too, for texts that the model then cuts off."""
    grammar = compile_json_schema(RECORD, vocab)
    plain = generate(grammar, PROMPTS[:1], max_new_tokens=40)
    assistant = copy.deepcopy(model)
    with torch.no_grad():
        for parameter in assistant.parameters():
            parameter.add_(0.05 * torch.randn(parameter.shape))
    assisted = generate(grammar, PROMPTS[:1], max_new_tokens=40, assistant_model=assistant)
    assert texts(vocab, assisted) == texts(vocab, plain)
    json.loads(texts(vocab, plain)[0])


def test_prompts_as_embeddings(
    model: PreTrainedModel, vocab: Vocabulary, fast: PreTrainedTokenizerFast
) -> None:
    processor = GrammarLogitsProcessor(
        compile_regex("[a-e]{3}", vocab), prompt_length=0, max_new_tokens=5
    )
    ids = fast(["the cat"], return_tensors="pt")["input_ids"]
    out = model.generate(
        inputs_embeds=model.get_input_embeddings()(ids),
        attention_mask=torch.ones_like(ids),
        pad_token_id=fast.pad_token_id,
        max_new_tokens=5,
        logits_processor=[processor],
    )
    assert re.fullmatch("[a-e]{3}", texts(vocab, out.tolist())[0])


def test_an_encoder_and_a_decoder(vocab: Vocabulary, fast: PreTrainedTokenizerFast) -> None:
    """The decoder's text begins with one token of its own, however long the prompts are."""
    torch.manual_seed(1)
    sizes = {"d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 1, "num_heads": 2}
    tokens = {
        "vocab_size": vocab.size,
        "pad_token_id": fast.pad_token_id,
        "eos_token_id": fast.eos_token_id,
        "decoder_start_token_id": fast.pad_token_id,
    }
    model = T5ForConditionalGeneration(T5Config(**sizes, **tokens)).eval()
    grammars = [compile_regex("[a-e]{3}", vocab), compile_regex("[0-9]{6,}", vocab)]
    inputs = fast(PROMPTS[:2], return_tensors="pt", padding=True)
    out = model.generate(
        input_ids=inputs["input_ids"],
        attention_mask=inputs["attention_mask"],
        max_new_tokens=9,
        logits_processor=[GrammarLogitsProcessor(grammars, prompt_length=1, max_new_tokens=9)],
    )
    letters, digits = texts(vocab, out[:, 1:].tolist())
    assert re.fullmatch("[a-e]{3}", letters)
    assert re.fullmatch("[0-9]{6,9}", digits)


def test_a_processor_serves_several_calls(
    model: PreTrainedModel, vocab: Vocabulary, fast: PreTrainedTokenizerFast
) -> None:
    processor = GrammarLogitsProcessor(
        compile_regex("[a-e]{3}", vocab), prompt_length=3, max_new_tokens=5
    )
    for prompt in ("xyz", "123", "xyz"):
        inputs = fast([prompt], return_tensors="pt")
        out = model.generate(
            input_ids=inputs["input_ids"],
            attention_mask=inputs["attention_mask"],
            pad_token_id=fast.pad_token_id,
            max_new_tokens=5,
            logits_processor=[processor],
        )
        assert re.fullmatch("[a-e]{3}", texts(vocab, [out[0, 3:].tolist()])[0])


def fewest(vocab: Vocabulary, text: bytes) -> int:
    return len(vocab.fewest(text)) if text else 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_masks_by_trying_every_token(vocab: Vocabulary, dtype: torch.dtype) -> None:
    """Within a budget, with more logits than tokens; the given logits stay as they are."""
    grammar = compile_choice(WORDS, vocab)
    text = vocab.encode(b"the")
    for most in range(len(text) + 1, 14):
        processor = GrammarLogitsProcessor(grammar, prompt_length=2, max_new_tokens=most)
        for length in range(len(text) + 1):
            ids = torch.tensor([[7, 7, *text[:length]]])
            scores = torch.randn(1, vocab.size + 40, dtype=dtype)
            before = scores.clone()
            found = processor(ids, scores)
            assert torch.equal(scores, before)
            so_far = vocab.decode(text[:length])
            left = most - length - 1
            expected = {
                token
                for token, added in enumerate(vocab.tokens)
                for word in WORDS
                if added and word.encode().startswith(so_far + added)
                if fewest(vocab, word.encode()[len(so_far + added) :]) <= left
            } | ({*vocab.eos} if so_far.decode() in WORDS else set())
            kept = found[0] > -torch.inf
            assert set(kept.nonzero().flatten().tolist()) == expected
            assert torch.equal(found[0][kept], before[0][kept])


def test_after_an_end_token_only_end_tokens_are_left(vocab: Vocabulary) -> None:
    """Also if `generate` goes on, or another processor has forbidden them."""
    processor = GrammarLogitsProcessor(
        compile_regex("a*", vocab), prompt_length=1, max_new_tokens=9
    )
    for length in range(1, 4):
        ids = torch.tensor([[7, *vocab.eos, *vocab.eos][:length]])
        for value in (0.0, -torch.inf) if length > 1 else (0.0,):
            found = processor(ids, torch.full((1, vocab.size), value))
            kept = (found[0] > -torch.inf).nonzero().flatten().tolist()
            assert kept == ([*vocab.encode(b"a")] if length == 1 else []) + [*vocab.eos]


def logits(vocab: Vocabulary, rows: int = 1) -> Tensor:
    return torch.zeros(rows, vocab.size)


def test_tokens_that_do_not_follow_the_prompts_are_refused(vocab: Vocabulary) -> None:
    grammar = compile_regex("a*", vocab)
    processor = GrammarLogitsProcessor(grammar, prompt_length=3, max_new_tokens=5)
    with pytest.raises(ValueError, match="don't follow prompts of 3 tokens"):
        processor(torch.tensor([[1, 2, 3, 4]]), logits(vocab))  # begins after a longer prompt
    processor(torch.tensor([[1, 2, 3]]), logits(vocab))
    a = vocab.encode(b"a")[0]
    processor(torch.tensor([[1, 2, 3, a]]), logits(vocab))
    for ids in ([1, 2], [1, 2, 3, a, a, a], [1, 2, 4, a], [9, 2, 3, a, a]):
        with pytest.raises(ValueError, match="don't follow prompts"):
            processor(torch.tensor([ids]), logits(vocab))


def test_the_number_of_grammars_must_fit(generate: Generate, vocab: Vocabulary) -> None:
    grammar = compile_regex("a*", vocab)
    with pytest.raises(ValueError, match="3 grammars were given for 2 rows"):
        generate([grammar] * 3, PROMPTS[:2])
    with pytest.raises(InputError, match="a grammar for each prompt"):
        GrammarLogitsProcessor([], prompt_length=1, max_new_tokens=1)


def test_a_limit_that_is_too_low_is_an_error(generate: Generate, vocab: Vocabulary) -> None:
    with pytest.raises(BudgetError) as caught:
        generate(compile_regex("x{12}", vocab), max_new_tokens=11)
    assert caught.value.needed == 12
    generate(compile_regex("x{12}", vocab), max_new_tokens=12)


def test_processors_that_forbid_the_rest_are_named(generate: Generate, vocab: Vocabulary) -> None:
    with pytest.raises(ValueError, match=r"row 1: other processors .*min_new_tokens"):
        generate([None, compile_regex("abc", vocab)], PROMPTS[:2], min_new_tokens=8)


def test_a_vocabulary_that_is_not_the_models(vocab: Vocabulary) -> None:
    processor = GrammarLogitsProcessor(
        compile_regex("a*", vocab), prompt_length=1, max_new_tokens=5
    )
    with pytest.raises(ValueError, match="compiled for a vocabulary of"):
        processor(torch.tensor([[1]]), torch.zeros(1, vocab.size - 1))
    endless = Vocabulary([b"a", b"b"])
    with pytest.raises(InputError, match="no end token"):
        GrammarLogitsProcessor(compile_regex("a*", endless), prompt_length=1, max_new_tokens=5)
