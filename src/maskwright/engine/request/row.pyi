"""What most requests do in most steps: take one token that asks for nothing rare.

A row that is `plain` asks for no trace, and what its grammar, if it has one, allows depends on the
position of the text alone, and it forces no text that is to be drafted. Where all that comes after
a token is known too, learned from a grammar process or found out in this one, the engine's thread
takes the token at once, in compiled code; what is rare is left to `Active`.
"""

from maskwright.engine.request.drafts import LookBack
from maskwright.engine.request.emission import Emitter
from maskwright.engine.request.generation import Generation
from maskwright.engine.request.request import Request
from maskwright.engine.schedule.sequence import Sequence
from maskwright.engine.stats import Counts
from maskwright.mask import TextMatcher
from maskwright.sampling import Mask, Place, TokenScore

class Masks:
    """The masks of the next token and of the tokens after each draft token, each of `words` int32
    `[words]`. What a grammar hands out again and again can't be written to.

    `free`: the masks without the token limit of those that it makes smaller, each with the number
    of its row; none where nothing depends on that any more.

    A grammar filled `rows` of them in `seconds` seconds; `hits` of them were cached. `places`: the
    row of the table and the state of the grammar that each came from, if the request is traced.
    """

    words: tuple[Mask, ...]
    rows: int
    hits: int
    seconds: float
    places: tuple[Place, ...]
    free: tuple[tuple[int, Mask], ...]

    def __init__(
        self,
        words: tuple[Mask, ...],
        rows: int = 0,
        hits: int = 0,
        seconds: float = 0.0,
        places: tuple[Place, ...] = (),
        free: tuple[tuple[int, Mask], ...] = (),
    ) -> None: ...

class Row:
    """One request between two tokens.

    Its fields are those that `Active` describes; `free`: the masks of an unconstrained request;
    `scores`: of the tokens that aren't published yet.
    """

    generation: Generation
    sequence: Sequence
    matcher: TextMatcher | None
    eos: frozenset[int]
    stop_tokens: frozenset[int]
    texts: tuple[bytes, ...]
    emitter: Emitter
    drafter: LookBack | None
    plain: bool
    free: Masks
    scores: list[TokenScore]

    def __init__(
        self,
        request: Request,
        generation: Generation,
        sequence: Sequence,
        matcher: TextMatcher | None,
        free_words: Mask,
        eos: frozenset[int],
        stop_tokens: frozenset[int],
        texts: tuple[bytes, ...],
        emitter: Emitter,
        canonical: bool,
        drafter: LookBack | None,
    ) -> None: ...
    def judge(self, drafted: int, accepted: int, counts: Counts) -> None:
        """Note that of `drafted` draft tokens the first `accepted` were drawn."""

    def take_draft(self, guesses: list[int]) -> None:
        """Draft `guesses`, as far as the grammar allows them, and fill the masks: what `Active`
        does where a row has guesses."""
