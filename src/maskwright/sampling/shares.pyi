"""How likely tokens are under the model, and among those that a mask allows."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

class Shares(NamedTuple):
    """Natural logarithms of probabilities, in float64. `share`: that of one token, under the model.
    `kept`: that of all tokens that the mask allows, which are `allowed` many. `likeliest`: the
    tokens with the highest logits, highest first and of equal ones the lowest token first, each
    with its share and whether the mask allows it."""

    share: float
    kept: float
    allowed: int
    likeliest: list[tuple[int, float, bool]]

def measure(
    logits: NDArray[np.float32],
    words: NDArray[np.int32],
    token: int,
    most: int,
    *,
    only_allowed: bool,
) -> Shares:
    """Measure `token` and the `most` likeliest tokens, at most 20, by their `logits` `[vocab]`
    under the mask `words` `[words]`; `only_allowed`: the likeliest ones that the mask allows."""
