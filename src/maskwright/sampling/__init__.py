"""From logits to a token: parameters, the ordered chain, positional randomness, the draw.

To add a processor, place it in `ORDER` (`kernels/sample_inputs.py`), and give
`params.SamplingParams` its field. What changes logits belongs into `penalties` and
`SamplingParams.penalised`, what forbids tokens into `bans` and `SamplingParams.restricts`, or a
device draws several tokens in a row without asking it; if other tokens than ends may be forbidden,
also into `SamplingParams.forbids`, or forced text is written without asking it. What cuts tokens
off, such as top-k, belongs into `draw`, to which `device_rows`, `sampler`, `engine/request/row.pyx`
and `engine/step/plain_rows.pyx` pass its parameter. On a device, a number of a row is a field of
`SampleInputs`, which `kernels/sample_twin.py` and the kernels beside it read and `device_rows`
fills. Write the reference's part in `tests/sampling/reference_chain.py`. A field that holds token
ids belongs into `SamplingParams.tokens`. Both tables of docs/sampling.md, the groups in
`tests/sampling/test_params.py` and the values in `tests/dist/handoff/test_request_record.py` name
all parameters. The field of the API is described in `server/request/`.

- `bans`: The tokens that one request forbids beyond its grammar.
- `chain`: The rows of a step as the chain of logits processors takes them.
- `device_draw`: The draws of a step on a device, and the scores of rows that ask for them.
- `device_rows`: Rows of the chain as the tensors that the sampling kernels read.
- `draw`: The draw, and the random number generator (Philox4x32-10), addressed by position.
- `mask_table`: Masks that stay on a device, in a table whose rows a step names by number.
- `params`: How the next token is chosen, as the client asked, and strings that are forbidden.
- `penalties`: Penalties and bias of one request, kept up by one token a step.
- `sampler`: Chooses one token for each row.
- `scores`: How likely a chosen token was, and the tokens of a prompt.
- `shares`: How likely tokens are under the model, and among those that a mask allows.
"""

from maskwright.sampling.chain import SampleRow
from maskwright.sampling.device_draw import Outcome, draw_on_device, draw_plain_on_device
from maskwright.sampling.mask_table import Mask, MaskTable
from maskwright.sampling.params import MOST_LOGPROBS, SamplingParams, Scale, TextBan
from maskwright.sampling.sampler import sample, sample_on_host
from maskwright.sampling.scores import (
    CANONICAL,
    NOWHERE,
    Alternative,
    Place,
    PromptScores,
    PromptToken,
    TokenScore,
    join_scores,
    score,
    score_prompt,
)

__all__ = [
    "CANONICAL",
    "MOST_LOGPROBS",
    "NOWHERE",
    "Alternative",
    "Mask",
    "MaskTable",
    "Outcome",
    "Place",
    "PromptScores",
    "PromptToken",
    "SampleRow",
    "SamplingParams",
    "Scale",
    "TextBan",
    "TokenScore",
    "draw_on_device",
    "draw_plain_on_device",
    "join_scores",
    "sample",
    "sample_on_host",
    "score",
    "score_prompt",
]
