"""What serves: the software, the model and the settings that decide which tokens an answer has."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from importlib.metadata import version

from maskwright.engine import Engine
from maskwright.server.config import ServerConfig
from maskwright.server.json import Json
from maskwright.version import VERSION


@dataclass(frozen=True, slots=True)
class Identity:
    """What serves. Two servers with equal fingerprints give equal answers to equal requests with
    equal seeds, where logits have equal bits under any schedule.

    - `fingerprint`: OpenAI's `system_fingerprint`, which changes with all of the rest.
    - `weights`: the revision of the checkpoint.
    - `vocabulary`: the digest of the tokens.
    - `settings`: the settings of engine and server that change tokens, by name.
    """

    fingerprint: str
    weights: str
    vocabulary: str
    settings: Json


def identity_of(engine: Engine, config: ServerConfig, tool_format: str) -> Identity:
    """Return what an engine and its server are. `tool_format`: how the model writes tool calls."""
    loaded = engine.loaded
    settings: Json = {
        "canonical": engine.config.canonical,
        "kv_dtype": engine.config.kv_dtype,
        "max_context": engine.max_context,
        "whitespace": config.whitespace,
        "additional_properties": config.additional_properties,
        "numbers": config.numbers,
        "tool_format": tool_format,
        "chat_template_kwargs": dict(config.chat_template_kwargs),
    }
    parts = {
        "maskwright": VERSION,
        "torch": version("torch"),
        "model": loaded.name,
        "weights": loaded.revision,
        "vocabulary": loaded.vocab.digest,
        **settings,
    }
    digest = hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=5)
    return Identity(f"fp_{digest.hexdigest()}", loaded.revision, str(loaded.vocab.digest), settings)
