"""What `maskwright replay` does, once its arguments are read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import httpx

from maskwright.cli.options import cache_folder
from maskwright.cli.output.progress import progress
from maskwright.cli.replay import ReplayOptions
from maskwright.cli.serving.serve import adapter_folders
from maskwright.engine import Engine, EngineConfig, FinishReason
from maskwright.errors import InputError
from maskwright.json_faults import json_reason
from maskwright.models import LoadedModel, load
from maskwright.server import RequestTrace, ServerConfig, create_app

CUT_SHORT: Final = frozenset(
    reason.value for reason in (FinishReason.CANCELLED, FinishReason.TIMEOUT, FinishReason.ERROR)
)
"""Finish reasons of answers that may be only the beginning of what would have come."""

NOT_REPLAYED: Final = (
    *("n", "best_of", "stream", "stream_options", "rid", "request_id"),
    *("logprobs", "top_logprobs", "include"),
)
"""Fields that decide how many answers there are and what is reported of them, not their tokens."""
OWN_REPLAYED: Final = ("service", "additional_properties", "numbers", "unusable_tools")
"""Fields under `maskwright` that decide on the tokens."""


@dataclass(frozen=True, slots=True)
class Difference:
    """How a replayed answer differs from the traced one. `where`: what differs, `at`: the first
    place, from 0; `traced`, `replayed`: the tokens there, None after the end."""

    where: str
    at: int
    traced: int | None
    replayed: int | None


def run(options: ReplayOptions) -> int:
    lines = [
        line
        for line in read_traces(options.trace)
        if not options.request or line["request_id"] in options.request
    ]
    if not lines:
        raise InputError(f"{options.trace} has no such trace", param="trace")
    folders = adapter_folders(options.adapter)
    with progress("loading the model"):
        loaded = load(options.model, backend=options.backend, cache=cache_folder(options.cache))
    groups: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        groups.setdefault(json.dumps(line["settings"], sort_keys=True), []).append(line)
    different = 0
    for group in groups.values():
        with Replayer(loaded, group[0]["settings"], folders) as replayer:
            for line in group:
                different += not report(line, replayer)
    print(f"{len(lines) - different} of {len(lines)} answers are equal")
    return 1 if different else 0


def read_traces(path: str) -> Iterator[dict[str, Any]]:
    """Yield the traces of a file. Raises InputError for what isn't one, or has no request."""
    try:
        texts = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"can't read {path}: {error}", param="trace") from None
    for number, text in enumerate(texts, 1):
        try:
            line: object = json.loads(text)
        except ValueError as error:
            reason = json_reason(error, one_line=True)
            raise InputError(f"{path}:{number} is not JSON: {reason}", param="trace") from None
        if not isinstance(line, dict) or "output_token_ids" not in line:
            raise InputError(
                f"{path}:{number} has no request; 'serve --trace FILE --trace-requests' writes "
                "traces with requests",
                param="trace",
            )
        yield cast(dict[str, Any], line)


def report(line: dict[str, Any], replayer: Replayer) -> bool:
    """Replay one answer, print what came of it, and return whether it was equal."""
    name = f"{line['request_id']} [{line['index']}]"
    if line["system_fingerprint"] != replayer.fingerprint:
        print(f"{name}: traced by {line['system_fingerprint']}, this is {replayer.fingerprint}")
    try:
        found = replayer.difference(line)
    except InputError as error:
        print(f"{name}: can't be replayed: {error}")
        return False
    count = len(line["output_token_ids"])
    if found is None:
        print(f"{name}: equal, {count} token{'s' * (count != 1)}")
        return True
    print(
        f"{name}: the {found.where} differs at token {found.at}: traced "
        f"{replayer.shown(found.traced)}, replayed {replayer.shown(found.replayed)}"
    )
    return False


class Replayer:
    """A server in this process, with the settings of a traced one. A context manager."""

    def __init__(
        self, loaded: LoadedModel, settings: dict[str, Any], adapters: dict[str, Path]
    ) -> None:
        """Raises InputError for settings that this version doesn't have."""
        self._loaded = loaded
        self._traces: list[RequestTrace] = []
        self._closing = ExitStack()
        try:
            config = EngineConfig(
                canonical=settings["canonical"],
                kv_dtype=settings["kv_dtype"],
                max_context=settings["max_context"],
            )
            server = ServerConfig(
                whitespace=settings["whitespace"],
                additional_properties=settings["additional_properties"],
                numbers=settings["numbers"],
                tool_format=settings["tool_format"],
                chat_template_kwargs=settings["chat_template_kwargs"],
            )
        except KeyError as error:
            raise InputError(f"the trace has no setting {error}", param="trace") from None
        self._engine = Engine(loaded, config, adapters)
        self._app = create_app(self._engine, server, [self._traces.append])

    def __enter__(self) -> Replayer:
        self._closing.enter_context(self._engine)
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    @property
    def fingerprint(self) -> str:
        """What would be the `system_fingerprint` of its answers."""
        return self._app.state.identity.fingerprint

    def difference(self, line: dict[str, Any]) -> Difference | None:
        """Generate the answer again. Return how it differs; None if it is equal. Raises InputError
        if the server refuses the request."""
        adapter = line["adapter"]
        if adapter is not None and adapter not in self._engine.adapters:
            raise InputError(f"it needs --adapter {adapter}=FOLDER", param="adapter")
        made = self._generate(str(line["route"]), replayable(line))
        prompt, output = list(made.exchange.prompts[0]), list(made.exchange.generations[0].output)
        traced = line["output_token_ids"]
        if line["finish_reason"] in CUT_SHORT:
            output = output[: len(traced)]
        return _compare("prompt", line["prompt_token_ids"], prompt) or _compare(
            "answer", traced, output
        )

    def shown(self, token: int | None) -> str:
        """A token as its id and its text."""
        if token is None:
            return "the end"
        return f"{token} {self._loaded.vocab.decode([token]).decode(errors='replace')!r}"

    def _generate(self, route: str, body: dict[str, Any]) -> RequestTrace:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(self._app)
            async with httpx.AsyncClient(transport=transport, base_url="http://replay") as client:
                return await client.post(route, json=body, timeout=None)

        self._traces.clear()
        answer = asyncio.run(ask())
        if not self._traces:
            raise InputError(f"the request is answered {answer.status_code}: {answer.text}")
        return self._traces[0]


def replayable(line: dict[str, Any]) -> dict[str, Any]:
    """Return the body that asks for one traced answer alone, with its seed."""
    body = {name: value for name, value in line["request"].items() if name not in NOT_REPLAYED}
    seed = line["seed"]
    body["seed"] = seed - (1 << 64) if seed >> 63 else seed
    own = body.pop("maskwright", None) or {}
    kept = {name: own[name] for name in OWN_REPLAYED if name in own}
    if kept:
        body["maskwright"] = kept
    if "prompt" in body:  # a request may have several
        body["prompt"] = line["prompt_token_ids"]
    return body


def _compare(where: str, traced: list[int], replayed: list[int]) -> Difference | None:
    if traced == replayed:
        return None
    shorter = min(len(traced), len(replayed))
    pairs = enumerate(zip(traced, replayed, strict=False))
    at = next((at for at, (one, other) in pairs if one != other), shorter)
    ends = (tokens[at] if at < len(tokens) else None for tokens in (traced, replayed))
    return Difference(where, at, *ends)
