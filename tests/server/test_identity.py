from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, cast

from maskwright.engine import EngineConfig
from maskwright.server import ServerConfig
from maskwright.server.config import Identity, identity_of
from tests.server.scripted import ByteModel, Client


@dataclass
class Serving:
    """What an identity is made of."""

    loaded: Any = field(default_factory=ByteModel)
    config: EngineConfig = field(default_factory=EngineConfig)
    max_context: int = 100


def identity(
    serving: Serving, config: ServerConfig | None = None, tool_format: str = "json"
) -> Identity:
    return identity_of(cast(Any, serving), config or ServerConfig(), tool_format)


def test_the_fingerprint_changes_with_all_that_changes_tokens() -> None:
    other_weights, other_name = ByteModel(), ByteModel()
    other_weights.revision, other_name.name = "1", "other"
    identities = [
        identity(Serving()),
        identity(Serving(other_weights)),
        identity(Serving(other_name)),
        identity(Serving(config=EngineConfig(canonical=False))),
        identity(Serving(config=EngineConfig(kv_dtype="int8"))),
        identity(Serving(max_context=99)),
        identity(Serving(), ServerConfig(whitespace="compact")),
        identity(Serving(), ServerConfig(additional_properties="allow")),
        identity(Serving(), ServerConfig(numbers="any")),
        identity(Serving(), ServerConfig(chat_template_kwargs={"enable_thinking": False})),
        identity(Serving(), ServerConfig(chat_template_kwargs={"enable_thinking": True})),
        identity(Serving(), tool_format="hermes"),
    ]
    assert len({one.fingerprint for one in identities}) == len(identities)


def test_the_fingerprint_does_not_change_with_anything_else() -> None:
    plain = identity(Serving())
    busy = Serving(config=EngineConfig(max_running=7, drafts=0, kv_bytes=1 << 20))
    assert identity(busy, ServerConfig(strict_model=True, log_prompts=True)) == plain


def test_answers_and_metrics_tell_it(client: Client) -> None:
    fingerprint = client.chat().json()["system_fingerprint"]
    assert fingerprint.startswith("fp_")
    other = replace(client, config=ServerConfig(whitespace="pretty"), _apps={})
    assert other.chat().json()["system_fingerprint"] != fingerprint
