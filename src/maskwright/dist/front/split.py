"""A request whose prompt one worker computes, and whose answer another one gives."""

from __future__ import annotations

import json
import logging
from typing import Any, Final

from maskwright.dist.front.asked import Asked
from maskwright.dist.front.front_metrics import FrontMetrics
from maskwright.dist.front.relay import StreamRelay
from maskwright.dist.front.wire import Headers, WorkerLostError
from maskwright.dist.front.worker import RemoteServer
from maskwright.dist.handoff.http_names import HAND_TO, HANDOFF_KEY

ARRIVED: Final = "arrived"
PARTIAL: Final = "partial"
REFUSED: Final = "refused"
LOST: Final = "lost"
"""What became of a hand-off: all blocks arrived, or some; or the first worker refused the request,
or was lost."""

log = logging.getLogger(__name__)


class PromptService:
    """Has prompts computed by one worker for another one. `key`: the one that workers have in
    common for it."""

    def __init__(self, key: str, metrics: FrontMetrics) -> None:
        self._key = key
        self._metrics = metrics

    async def handed(
        self,
        target: str,
        headers: Headers,
        body: bytes,
        asked: Asked,
        prefill: RemoteServer,
        decode: RemoteServer,
    ) -> StreamRelay | None:
        """Have `prefill` compute the prompt of a request and send its blocks to `decode`. Returns
        what `decode` has to be told to go on with it. None if the request was not handed over:
        `decode` then does all of it, and refuses it as well if it can't be served.

        `target`: the path of the request; `headers` and `body`: those of the client."""
        relay = StreamRelay(asked)
        to = [(HANDOFF_KEY.encode(), self._key.encode()), (HAND_TO.encode(), decode.url.encode())]
        with prefill.serving(asked, 0):
            try:
                response = await prefill.client.send("POST", target, [*headers, *to], body)
                told = await response.body()
            except WorkerLostError as error:
                prefill.lose()
                self._metrics.note_hand_off(prefill.name, LOST, 0)
                log.warning(
                    "worker %s was lost while it computed a prompt: %s", prefill.name, error
                )
                return None
        if response.status != 200:
            self._metrics.note_hand_off(prefill.name, REFUSED, 0)
            return None
        record: dict[str, Any] = json.loads(told)
        sent = record.pop("sent")
        outcome = ARRIVED if sent["arrived"] == sent["blocks"] else PARTIAL
        self._metrics.note_hand_off(prefill.name, outcome, sent["bytes"])
        relay.begin(record)
        return relay
