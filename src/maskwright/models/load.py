"""Loads a checkpoint: its decoder, tokenizer and vocabulary, from a directory or the hub.

Weights are read from safetensors only; a pickle is never opened.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, cast

import torch

from maskwright.errors import InputError, first_line
from maskwright.json_faults import object_in_file
from maskwright.kernels.device import keep_compiled, kernels_run_on
from maskwright.model_options import (
    BACKENDS,
    DEMO_PATH,
    DTYPES,
    WEIGHT_DTYPES,
    Backend,
    Dtype,
    WeightDtype,
    local_checkpoint,
)
from maskwright.models.chat import ModelTokenizer, chat_texts, shown_roles
from maskwright.models.config import end_tokens, parse_config, read_config
from maskwright.models.decoder import Decoder
from maskwright.models.dense import DenseDecoder
from maskwright.models.device import find_device, launching_on
from maskwright.models.plain_tokenizer import read_plain_tokenizer
from maskwright.models.weights import read_weights, weights_revision
from maskwright.vocab import Vocabulary
from maskwright.vocab.least_tokens import LeastTextTokens
from maskwright.vocab.text_encoder import TextEncoder

KERNELS: Final = "kernels"
"""The folder for compiled kernels, in that for what is computed once."""

_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass(frozen=True)
class LoadedModel:
    """A checkpoint that is ready to be served. Immutable; can be shared between threads."""

    name: str
    decoder: Decoder
    tokenizer: ModelTokenizer
    vocab: Vocabulary
    revision: str = ""
    """The digest of its weights, see `weights_revision`, and their type if they became codes."""

    @property
    def eos(self) -> tuple[int, ...]:
        """The end tokens. Each of them ends an unconstrained answer."""
        return self.vocab.eos

    @property
    def chat_template(self) -> str:
        """The source of the checkpoint's chat template, empty if it has none."""
        template: object = self.tokenizer.chat_template
        return template if isinstance(template, str) else str(template or "")

    @cached_property
    def encoder(self) -> TextEncoder:
        """What cuts texts into tokens, which several threads can use at once."""
        names = not self.tokenizer.split_special_tokens
        return TextEncoder(self.tokenizer.backend_tokenizer, reads_names=names)

    @cached_property
    def least_tokens(self) -> LeastTextTokens:
        """What knows how many tokens texts take at least."""
        return LeastTextTokens.by(self.tokenizer.backend_tokenizer, self.vocab)

    def shown_roles(self) -> frozenset[str]:
        """The roles whose messages a prompt shows with all of their text; see
        `chat.shown_roles`."""
        return shown_roles(self.tokenizer) if self.tokenizer.chat_template else frozenset()

    def encode(self, text: str) -> list[int]:
        """Return the token ids of `text`, with the special tokens that the tokenizer is configured
        to add."""
        return self.encoder.encode(text, special=True)

    def render_chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        response_schema: str | None = None,
        tools: Sequence[Mapping[str, Any]] | None = None,
        variables: Mapping[str, Any] | None = None,
        *,
        begins_answer: bool = True,
        continues: bool = False,
    ) -> list[int]:
        """Return the token ids of a chat's prompt, by default up to the beginning of the
        assistant's answer: the ids of all texts of `render_chat_texts`."""
        texts = self.render_chat_texts(
            messages,
            response_schema,
            tools,
            variables,
            begins_answer=begins_answer,
            continues=continues,
        )
        return [token for text in texts for token in self.encoder.encode(text, special=False)]

    def render_chat_texts(
        self,
        messages: Sequence[Mapping[str, Any]],
        response_schema: str | None = None,
        tools: Sequence[Mapping[str, Any]] | None = None,
        variables: Mapping[str, Any] | None = None,
        *,
        begins_answer: bool = True,
        continues: bool = False,
    ) -> list[str]:
        """Return a chat's prompt as texts, whose token ids, each without additional special tokens,
        are the prompt. It is rendered by the checkpoint's chat template, which sees
        `response_schema`, `tools` and all of `variables`. The contents of messages are text, even
        if they spell a control token; `begins_answer` and `continues` are as in `chat_texts`.
        Raises `InputError`, also for a variable whose name has a meaning already."""
        if not self.tokenizer.chat_template:
            raise InputError(
                f"The model {self.name} has no chat template; send a plain prompt.",
                param="messages",
                code="no_chat_template",
            )
        own = {
            "tools": None if tools is None else [dict(tool) for tool in tools],
            "response_schema": response_schema,
        }
        if variables:
            self._check_variables(variables, own)
        return chat_texts(
            self.tokenizer,
            messages,
            begins_answer=begins_answer,
            continues=continues,
            **own,
            **(variables or {}),
        )

    def _check_variables(self, variables: Mapping[str, Any], own: Mapping[str, Any]) -> None:
        """Raise `InputError` for a variable whose name has a meaning already."""
        meant = inspect.signature(self.tokenizer.apply_chat_template).parameters.keys()
        taken = (meant - {"documents"}) | {"messages", "begins_answer", "continues", *own}
        for name in variables:
            if name in taken:
                raise InputError(
                    f"{name} can't be given as a variable of the chat template.",
                    param="chat_template_kwargs",
                )


def load(
    path_or_id: str | Path = DEMO_PATH,
    *,
    backend: Backend = "auto",
    dtype: Dtype = "auto",
    device: str = "cpu",
    weight_dtype: WeightDtype = "auto",
    cache: Path | None = None,
) -> LoadedModel:
    """Load a checkpoint from a directory, or from the hub if `path_or_id` is no directory.

    `backend`: the dense decoder or the transformers library; "auto" is the dense decoder if it
    supports the model. `dtype`: of weights, keys and values; "auto" is float32 on the CPU and
    bfloat16 on a GPU. `device`: cpu, cuda, cuda:N, or auto, see `find_device`. `weight_dtype`:
    "fp8" makes codes of the weights of products, which the dense decoder computes with. `cache`:
    the folder for what is computed once for each vocabulary, and for compiled kernels. Raises
    `InputError` for what isn't supported.
    """
    for param, name, chosen, known in (
        ("dtype", "dtype", dtype, DTYPES),
        ("weight_dtype", "weight type", weight_dtype, WEIGHT_DTYPES),
        ("backend", "backend", backend, BACKENDS),
    ):
        if chosen not in known:
            raise InputError(f"{name} {chosen!r}: one of {', '.join(known)}.", param=param)
    directory = _directory(path_or_id)
    raw = read_config(directory)
    where = find_device(device)
    if dtype == "auto":
        dtype = "float32" if where.type == "cpu" else "bfloat16"
    if cache is not None and kernels_run_on(where):
        keep_compiled(cache / KERNELS)
    with launching_on(where):
        decoder = _decoder(
            directory, raw, backend, dtype=_DTYPES[dtype], weight_dtype=weight_dtype, device=where
        )
    tokenizer = _read_tokenizer(directory, raw)
    own = tokenizer.eos_token_id
    eos = end_tokens(raw) or ((own,) if isinstance(own, int) else ())
    vocab = Vocabulary.from_tokenizer(tokenizer, size=decoder.vocab_size, eos=eos, cache=cache)
    name = "maskwright-demo" if directory == DEMO_PATH else directory.name
    if isinstance(path_or_id, str) and not Path(path_or_id).is_dir():
        name = path_or_id
    revision = weights_revision(directory) + ("" if weight_dtype == "auto" else f"-{weight_dtype}")
    return LoadedModel(name, decoder, tokenizer, vocab, revision)


def _decoder(
    directory: Path,
    raw: Mapping[str, Any],
    backend: Backend,
    *,
    dtype: torch.dtype,
    weight_dtype: WeightDtype,
    device: torch.device,
) -> Decoder:
    if backend != "transformers":
        try:
            config = parse_config(raw)
        except InputError as error:
            if backend == "dense" or error.code != "unsupported_model":
                raise
        else:
            weights = read_weights(directory)
            return DenseDecoder(config, weights, dtype, device=device, weight_dtype=weight_dtype)
    if weight_dtype != "auto":
        raise InputError(
            f"Weight type {weight_dtype}: this model is computed by the transformers"
            " library; only the dense decoder computes with codes.",
            param="weight_dtype",
        )
    # Takes some two seconds, which a model that Maskwright runs itself doesn't need.
    from maskwright.models.transformers_backend.load import load_transformers  # noqa: PLC0415

    return load_transformers(directory, dtype, device)


def _directory(path_or_id: str | Path) -> Path:
    """The folder of a checkpoint, downloaded if it is one of the Hugging Face hub. Raises
    `InputError` for a name that there isn't."""
    path = local_checkpoint(path_or_id)
    if path is not None:
        return path
    # Takes a tenth of a second, which models that are there don't need.
    from huggingface_hub import snapshot_download  # noqa: PLC0415

    # Only the top folder, because some repositories contain the weights twice.
    patterns = ["*.json", "*.safetensors", "*.jinja", "tokenizer.model"]
    name = str(path_or_id)
    try:
        return Path(snapshot_download(name, allow_patterns=patterns, ignore_patterns=["*/*"]))
    except (OSError, ValueError) as error:
        raise InputError(
            f"{name} is neither a directory nor a checkpoint on the hub: {first_line(error)}",
            param="model",
        ) from error


def _read_tokenizer(directory: Path, raw: Mapping[str, Any]) -> ModelTokenizer:
    if not (directory / "tokenizer.json").exists():
        raise InputError(
            f"{directory} has no tokenizer.json; a fast tokenizer is needed.", param="model"
        )
    plain = read_plain_tokenizer(directory, raw.get("model_type"))
    return read_library_tokenizer(directory, raw) if plain is None else plain


def read_library_tokenizer(directory: Path, config: Mapping[str, Any]) -> ModelTokenizer:
    """Have the transformers library read the tokenizer of a checkpoint with this config.json.
    Raises `InputError` if it can't be read, or is no fast one."""
    # Takes a second, which few settings of a checkpoint need.
    from transformers import AutoTokenizer, PreTrainedTokenizerFast  # noqa: PLC0415

    chosen = PreTrainedTokenizerFast if _is_plain_llama(directory, config) else AutoTokenizer
    try:
        tokenizer = chosen.from_pretrained(directory, local_files_only=True)
    except Exception as error:  # the library raises many kinds of errors for wrong files
        raise InputError(
            f"{directory}: its tokenizer can't be read: {type(error).__name__}: "
            f"{first_line(error)}",
            param="model",
        ) from error
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise InputError(f"{directory}: its tokenizer is not a fast one.", param="model")
    return cast(ModelTokenizer, tokenizer)


def _is_plain_llama(directory: Path, raw: Mapping[str, Any]) -> bool:
    """Whether `AutoTokenizer` would choose `PreTrainedTokenizerFast`, for the one type of model of
    which that is easy to say. To find out, `AutoTokenizer` imports the library's code of the model,
    which takes two seconds."""
    settings = object_in_file(directory / "tokenizer_config.json")
    return (
        raw.get("model_type") == "llama"
        and settings.get("tokenizer_class") in ("PreTrainedTokenizerFast", "TokenizersBackend")
        and "auto_map" not in settings
    )
