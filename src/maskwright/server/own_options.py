"""The field `maskwright`: what only this server's clients can ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast, get_args

from maskwright.errors import InputError
from maskwright.sampling import Scale
from maskwright.server.fields import Fields


@dataclass(frozen=True, slots=True)
class OwnOptions:
    """`logprobs`: which log-probabilities are told, where any are."""

    logprobs: Scale = "raw"


def parse_own_options(body: Fields) -> OwnOptions:
    """Read the field; absent means the defaults."""
    own = body.object("maskwright")
    if own is None:
        return OwnOptions()
    own.only("logprobs")
    scale = own.choice("logprobs", get_args(Scale))
    if scale is not None and not body.boolean("logprobs"):
        raise InputError(
            "maskwright.logprobs says which log-probabilities are told; send logprobs: true",
            param="maskwright.logprobs",
        )
    return OwnOptions(logprobs=cast(Scale, scale or "raw"))
