"""Train the demo model's tokenizer: a byte-level BPE of 4,000 entries, with its chat template.

    python -m examples.demo_model.tokenizer --out DIR

Text is cut in such a way that a value has equal tokens in a sentence and in JSON. A word never
holds the space before it (except closed-class words such as `` is ``, with which no value starts),
digits come in pairs, and capitals are tokens of their own. JSON's punctuation is merged freely, and
so are phrases that nearly every schema repeats, so that some tokens cross the boundaries of the
grammar: ``": "``, ``"}, {"``, ``":{"type":"string"},"``.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from examples.demo_model.corpus import Example, example

VOCABULARY = 4000
PAD, END = "<|pad|>", "<|end|>"
SPECIAL = (
    PAD,
    END,
    "<|system|>",
    "<|schema|>",
    "<|tools|>",
    "<|user|>",
    "<|assistant|>",
    "<|tool|>",
)

CLOSED_CLASS = (
    *("is", "in", "of", "at", "and", "for", "to", "on", "by", "with", "from", "was", "will"),
    *("be", "has", "it", "as", "or", "not", "are", "that", "can", "have", "its"),
)
TYPES = "string|integer|number|boolean|array|object|null"
SCHEMA_PHRASES = (
    rf'":\{{"type":"(?:{TYPES})"(?:\}},")?',
    rf'","type":"(?:{TYPES})"(?:\}},")?',
    r'":\{"title":"',
    r'\{"type":"object","properties":\{"',
    r'\{"properties":\{"',
    r'\}*,"required":\["',
    r'"\],"title":"',
    r'"\],"additionalProperties":false\}*',
    r',"additionalProperties":false\}*',
    r'\{"additionalProperties":false,"properties":\{"',
    r'\{"\$defs":\{"',
    r'":\{"\$ref":"#/\$defs/',
    r'":\{"anyOf":\[\{"type":"',
    r'"\},\{"type":"null"\}\]',
    r'","enum":\["',
    r'","description":"the ',
    r'":\{"type":"array","items":\{',
)
PATTERN = "|".join(
    (
        *SCHEMA_PHRASES,
        rf" (?:{'|'.join(CLOSED_CLASS)})(?: (?:{'|'.join(CLOSED_CLASS)}))* ",
        r"\p{Lu}?\p{Ll}+",
        r"\p{Lu}",
        r"\p{L}+",
        r"\p{N}{1,2}",
        r"[^\p{L}\p{N}]+?(?= (?:" + "|".join(CLOSED_CLASS) + r") )",
        r"[^\p{L}\p{N}]+",
    )
)

CHAT_TEMPLATE = """\
{%- set compact = (',', ':') -%}
{%- set opening = messages[0]['role'] in ('system', 'developer') -%}
{%- if opening -%}<|system|>{{ messages[0]['content'] }}{%- endif -%}
{%- if tools -%}<|tools|>
{%- for tool in tools -%}
{%- set f = tool['function'] if tool['function'] is defined else tool -%}
{%- if not loop.first -%}{{ '\\n' }}{%- endif -%}
{%- if f['description'] -%}
{{- {'name': f['name'], 'description': f['description'], 'parameters': f['parameters'] or {}}
    | tojson(separators=compact) -}}
{%- else -%}
{{- {'name': f['name'], 'parameters': f['parameters'] or {}} | tojson(separators=compact) -}}
{%- endif -%}
{%- endfor -%}
{%- endif -%}
{%- if response_schema -%}<|schema|>
{{- response_schema if response_schema is string
    else response_schema | tojson(separators=compact) -}}
{%- endif -%}
{%- for message in (messages[1:] if opening else messages) -%}
{%- if message['role'] == 'assistant' -%}<|assistant|>
{%- if message['tool_calls'] -%}
{%- for call in message['tool_calls'] -%}
{%- set f = call['function'] if call['function'] is defined else call -%}
{%- if not loop.first -%}{{ '\\n' }}{%- endif -%}
{{- '{"name": ' ~ (f['name'] | tojson) ~ ', "arguments": ' -}}
{{- f['arguments'] if f['arguments'] is string else f['arguments'] | tojson -}}
{{- '}' -}}
{%- endfor -%}
{%- else -%}{{ message['content'] }}{%- endif -%}<|end|>
{%- elif message['role'] == 'tool' -%}<|tool|>{{ message['content'] }}
{%- elif message['role'] in ('system', 'developer') -%}<|system|>{{ message['content'] }}
{%- else -%}<|user|>{{ message['content'] }}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}<|assistant|>{%- endif -%}
"""


def _parts(drawn: Example) -> Iterator[str]:
    """Every text of an example, as the chat template will show it."""
    for message in drawn.messages:
        yield message["content"]
    if drawn.schema is not None:
        yield json.dumps(drawn.schema, separators=(",", ":"))
    for tool in drawn.tools:
        yield json.dumps(tool["function"], separators=(",", ":"))
    yield drawn.answer


def _texts(seed: int, count: int) -> Iterator[str]:
    for index in range(count):
        yield from _parts(example(seed, index, level=1.0))


def train(seed: int, count: int) -> PreTrainedTokenizerFast:
    """The tokenizer trained on ``count`` examples of the training split."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bpe.train_from_iterator(_texts(seed, count), trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        pad_token=PAD,
        eos_token=END,
        additional_special_tokens=list(SPECIAL[2:]),
        clean_up_tokenization_spaces=False,
        model_max_length=2048,
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer


def main() -> None:
    """Train the tokenizer and save it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--count", type=int, default=40_000)
    options = parser.parse_args()
    train(options.seed, options.count).save_pretrained(options.out, save_jinja_files=False)


if __name__ == "__main__":
    main()
