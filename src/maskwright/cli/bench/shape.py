"""Measure what a shape costs: compiling it, its first mask, and the masks of texts.

SHAPE is a file, '-', the shape itself, or the name of a schema or grammar that ships with the
package. The texts come from FILES and `--text`, or else are random ones of the shape. They are
divided by the tokenizer of `--model`, and a mask is computed before each token.

The first reading finds nothing known of the shape, as in a server to which it is new; the later
ones compile it again, as a server does that no longer has it. Each engine has compiled a trivial
shape before. Rows "with budgets" are about masks that allow only what can be completed within a
limit of tokens, hardly larger than the text needs. llguidance and xgrammar are measured in turns
with it, if they are installed.

`maskwright bench serve` measures a running server under load.

Exit code: 0; 2 if the shape, an option or a file can't be used, or a text isn't allowed.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct, field

from maskwright.cli.bench.options import BenchOptions
from maskwright.cli.input.opened import given_texts
from maskwright.cli.input.shapes import (
    GrammarArgument,
    RegexArgument,
    SchemaArgument,
    Shape,
    compile_quietly,
    compile_shape,
    located,
    read_shape,
)
from maskwright.cli.input.vocabulary import read_vocabulary, tokenizer_file
from maskwright.cli.output.appearance import shown_json
from maskwright.cli.output.chart import BarChart, Line, LineChart, draw_charts
from maskwright.cli.output.files import open_picture
from maskwright.cli.output.progress import Tell, progress
from maskwright.cli.output.tables import Row, lay_out, output_width
from maskwright.errors import InputError, MaskwrightError
from maskwright.grammar.dialects.detect import Dialect, detect
from maskwright.immutable import Immutable
from maskwright.mask import Grammar
from maskwright.vocab import Vocabulary
from maskwright.workbench.reading import byte_vocabulary
from maskwright.workbench.sample import samples


class RefusedShapeError(Exception):
    """An engine doesn't compile a shape. The message is the engine's."""


class TextReader(Immutable):
    """One text that an engine reads. `fill` computes the mask; `accept` reads a token, and says
    whether it was allowed; `fill_within` computes the mask of the tokens after which the text can
    be completed in so many tokens, the next one included, None for an engine that has no budgets.
    These are the engine's own functions, so that nothing else is timed."""

    fill: Callable[[], object]
    accept: Callable[[int], bool]
    fill_within: Callable[[int], object] | None = None


class OwnEngine:
    """Maskwright itself for one vocabulary. As every engine it has a `name`, and `compile` returns
    what `start` takes, or raises RefusedShapeError or an error of the engine's own."""

    name = "maskwright"

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._row = np.zeros(vocabulary.words, np.int32)

    def compile(self, shape: Shape) -> Grammar:
        return compile_quietly(shape, self._vocabulary)

    def start(self, compiled: Grammar) -> TextReader:
        matcher = compiled.matcher()
        fill = partial(matcher.fill_mask, self._row)
        return TextReader(fill, matcher.accept, fill)


class GuidanceEngine:
    """llguidance. The texts of a shape share one matcher, and with it the states that it knows."""

    name = "llguidance"

    def __init__(self, vocabulary: Vocabulary, tokenizer: Path) -> None:
        self._library = import_module("llguidance")
        self._arrays = import_module("llguidance.numpy")
        self._row = np.zeros((1, vocabulary.words), np.int32)
        self._tokenizer = self._library.LLTokenizer(
            tokenizer.read_text(encoding="utf-8"),
            n_vocab=vocabulary.size,
            eos_token=list(vocabulary.eos),
        )

    def compile(self, shape: Shape) -> Any:
        make = self._library.LLMatcher
        match shape:
            case SchemaArgument(schema=schema):
                grammar = make.grammar_from_json_schema(json.dumps(schema))
            case RegexArgument(pattern=pattern):
                grammar = make.grammar_from_regex(pattern)
            case GrammarArgument(text=text):
                if dialect_of(shape) != "lark":
                    raise RefusedShapeError("its grammars are in Lark")
                grammar = make.grammar_from_lark(text)
        matcher = make(self._tokenizer, grammar, log_level=0)
        if matcher.is_error():
            raise RefusedShapeError(matcher.get_error())
        return matcher

    def start(self, compiled: Any) -> TextReader:
        compiled.reset()
        fill = partial(self._arrays.fill_next_token_bitmask, compiled, self._row)
        return TextReader(fill, compiled.consume_token)


class XGrammarEngine:
    """xgrammar with any white space, `strict_mode` off, one thread and no cache."""

    name = "xgrammar"

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._library = import_module("xgrammar")
        self._row = np.zeros((1, vocabulary.words), np.int32)
        info = self._library.TokenizerInfo(
            [token or b"<|%d|>" % number for number, token in enumerate(vocabulary.tokens)],
            self._library.VocabType.RAW,
            vocab_size=vocabulary.size,
            stop_token_ids=list(vocabulary.eos),
        )
        self._compiler = self._library.GrammarCompiler(info, max_threads=1, cache_enabled=False)

    def compile(self, shape: Shape) -> Any:
        match shape:
            case SchemaArgument(schema=schema):
                return self._compiler.compile_json_schema(
                    json.dumps(schema), any_whitespace=True, strict_mode=False
                )
            case RegexArgument(pattern=pattern):
                return self._compiler.compile_regex(pattern)
            case GrammarArgument(text=text):
                if dialect_of(shape) != "gbnf":
                    raise RefusedShapeError("its grammars are in GBNF")
                return self._compiler.compile_grammar(text)

    def start(self, compiled: Any) -> TextReader:
        matcher = self._library.GrammarMatcher(compiled)
        return TextReader(partial(matcher.fill_next_token_bitmask, self._row), matcher.accept_token)


MaskEngine: TypeAlias = OwnEngine | GuidanceEngine | XGrammarEngine


def dialect_of(shape: GrammarArgument) -> Dialect:
    """The dialect of a grammar, by its text where nothing else says it."""
    return detect(shape.text) if shape.dialect == "auto" else shape.dialect


def installed_engines(
    vocabulary: Vocabulary, tokenizer: Path, *, peers: bool = True
) -> list[MaskEngine]:
    """This engine, and with `peers` those others that are installed. `tokenizer`: the file
    tokenizer.json of the vocabulary."""
    engines: list[MaskEngine] = [OwnEngine(vocabulary)]
    if peers and find_spec("llguidance"):
        engines.append(GuidanceEngine(vocabulary, tokenizer))
    if peers and find_spec("xgrammar"):
        engines.append(XGrammarEngine(vocabulary))
    return engines


TRIVIAL: Final[dict[type, tuple[Shape, bytes]]] = {
    SchemaArgument: (
        SchemaArgument({"type": "object", "properties": {"a": {"type": ["string", "integer"]}}}),
        b'{"a": "b"}',
    ),
    RegexArgument: (RegexArgument("[a-z]+ [0-9]{2}"), b"ab 12"),
    GrammarArgument: (GrammarArgument('start: "a" /[b-z]+/', "lark"), b"ab"),
}
"""A shape of each kind and a text of it, which is measured before others and not reported: it loads
code that a running server has loaded."""


class RoundTimes(Struct):
    """What one engine took to compile a shape once and to read all texts with it. Seconds."""

    compiling: float
    first_mask: float
    """From the compiled shape to the mask of the first token."""
    masks: list[float] = field(default_factory=list[float])
    """The mask of each token of each text."""
    masks_within: list[float] = field(default_factory=list[float])
    """The mask of each token under the budget that its text has left, after all masks without a
    budget. Empty for an engine that has no budgets."""


class EngineTimes(Struct):
    """The readings of one engine, in order. `refused`: why it has none."""

    engine: str
    readings: list[RoundTimes] = field(default_factory=list[RoundTimes])
    refused: str | None = None


def token_texts(vocabulary: Vocabulary, texts: Sequence[bytes]) -> list[list[int]]:
    """The tokens of texts, each with an end token if the vocabulary has one."""
    return [[*vocabulary.encode(text), *vocabulary.eos[:1]] for text in texts]


class MeasuredText(NamedTuple):
    """The tokens of a text, and a budget under which each mask allows the next of them, which is
    hardly larger than needed."""

    tokens: Sequence[int]
    budget: int


def with_budgets(grammar: Grammar, texts: Sequence[Sequence[int]]) -> list[MeasuredText]:
    """Texts with their budgets. At some places, what completes a text takes more tokens than the
    text itself has left, since it is counted along the fewest bytes.

    `grammar` is one whose masks aren't measured: counting finds out much of what they need. A text
    that isn't allowed has a budget as far as it is."""
    found: list[MeasuredText] = []
    for tokens in texts:
        matcher = grammar.matcher()
        budget = max(len(tokens), matcher.min_tokens)
        for at, token in enumerate(tokens, 1):
            if not matcher.accept(token):
                break
            budget = max(budget, at + matcher.min_tokens)
        found.append(MeasuredText(tokens, budget))
    return found


def measure(
    engines: Sequence[MaskEngine],
    vocabulary: Vocabulary,
    shape: Shape,
    texts: Sequence[MeasuredText],
    rounds: int,
    tell: Tell = lambda _: None,
) -> list[EngineTimes]:
    """The times of all engines, which take turns, so that other load on the machine slows all of
    them. In each of `rounds` rounds the shape is compiled again and all texts are read. Raises the
    errors of Maskwright's compilers; what another engine raises becomes `refused`. `tell` is
    called with what is measured next."""
    found = [EngineTimes(engine.name) for engine in engines]
    for number in range(1, rounds + 1):
        for engine, times in zip(engines, found, strict=True):
            tell(f"round {number} of {rounds}: {engine.name}")
            if times.refused is None:
                try:
                    times.readings.append(_read(engine, vocabulary, shape, texts))
                except MaskwrightError:
                    raise
                except Exception as error:  # each engine has errors of its own
                    times.refused = str(error).strip() or type(error).__name__
                    times.readings.clear()
    return found


def warm_up(engines: Sequence[MaskEngine], vocabulary: Vocabulary, shape: Shape) -> None:
    """Have engines load their code, by a trivial shape of the kind of `shape`."""
    trivial, text = TRIVIAL[type(shape)]
    grammar = compile_quietly(trivial, vocabulary)
    measure(engines, vocabulary, trivial, with_budgets(grammar, token_texts(vocabulary, [text])), 1)


def _read(
    engine: MaskEngine, vocabulary: Vocabulary, shape: Shape, texts: Sequence[MeasuredText]
) -> RoundTimes:
    """Raises RefusedShapeError, also for a text that isn't allowed."""
    begin = perf_counter()
    compiled = engine.compile(shape)
    done = perf_counter()
    reader = engine.start(compiled)
    reader.fill()
    reading = RoundTimes(done - begin, perf_counter() - done)
    for number, text in enumerate(texts, 1):
        reader = engine.start(compiled)
        for at, token in enumerate(text.tokens):
            begin = perf_counter()
            reader.fill()
            reading.masks.append(perf_counter() - begin)
            if not reader.accept(token):
                spelling = vocabulary.tokens[token].decode("utf-8", "backslashreplace")
                raise RefusedShapeError(
                    f"{spelling!r}, token {at + 1} of text {number}, isn't allowed"
                )
    for text in texts:
        reader = engine.start(compiled)
        if reader.fill_within is None:
            break
        for at, token in enumerate(text.tokens):
            begin = perf_counter()
            reader.fill_within(text.budget - at)
            reading.masks_within.append(perf_counter() - begin)
            reader.accept(token)
    return reading


def microseconds(masks: Sequence[float]) -> dict[str, float]:
    """The average, the percentiles 50 and 99, and the longest of times in seconds."""
    times = 1e6 * np.array(masks)
    p50, p99 = np.percentile(times, (50, 99)).tolist()
    figures = {"mean": float(times.mean()), "p50": p50, "p99": p99, "most": float(times.max())}
    return {name: round(value, 3) for name, value in figures.items()}


PERCENTILES: Final = (*range(0, 100, 5), 98, 99)
"""The slowest mask is left out: it is most often the machine's, and flattens all others."""


def draw(found: Sequence[EngineTimes], title: str) -> str:
    """Draw the times of engines that have readings, as SVG."""
    bars: list[tuple[str, Sequence[float]]] = []
    lines: list[Line] = []
    for times in found:
        for name, readings in ("first", times.readings[:1]), ("later", times.readings[1:]):
            if not readings:
                continue
            case = f"{times.engine}, {name}"
            compiling = _milliseconds([reading.compiling for reading in readings])
            bars.append((case, (compiling, _milliseconds([r.first_mask for r in readings]))))
            lines.append(_line(case, [s for reading in readings for s in reading.masks]))
            if within := [s for reading in readings for s in reading.masks_within]:
                lines.append(_line(f"{case}, with budgets", within))
    charts = (
        BarChart("to the first mask", ("compiling", "first mask"), bars, "ms"),
        LineChart("microseconds a mask", "percent of masks that are as fast", lines),
    )
    return draw_charts(charts, title)


def _line(name: str, masks: Sequence[float]) -> Line:
    values = np.percentile(1e6 * np.array(masks), PERCENTILES).tolist()
    return Line(name, [*zip(map(float, PERCENTILES), values, strict=True)])


LONGER = 200
"""Bytes by which a random text may be longer than the shortest text."""


def run(options: BenchOptions) -> int:
    given = given_texts(options.shape, options.files, options.text)
    wanted = read_shape(options.shape, options.kind)
    picture = None if options.plot is None else open_picture(options.plot)
    with located(wanted):
        texts = [data.rstrip(b"\r\n") for data in given.values()] or _samples(
            wanted, options.count, options.seed
        )
    vocabulary = read_vocabulary(options.model)
    # Over a vocabulary of its own, of which no engine that is measured knows anything.
    unmeasured = compile_shape(wanted, read_vocabulary(options.model))
    read = with_budgets(unmeasured, token_texts(vocabulary, texts))
    engines = installed_engines(vocabulary, tokenizer_file(options.model), peers=options.peers)
    with progress("loading the engines") as tell, located(wanted):
        warm_up(engines, vocabulary, wanted)
        found = measure(engines, vocabulary, wanted, read, options.rounds, tell)
    if found[0].refused is not None:
        raise InputError(f"{found[0].refused}; 'maskwright match' says why", param="text")
    tokens = sum(len(text.tokens) for text in read)
    size = f"{len(read)} texts with {tokens:,} tokens, {vocabulary.size:,} tokens in the vocabulary"
    if options.as_json:
        document = {
            "texts": len(read),
            "tokens": tokens,
            "vocabulary": vocabulary.size,
            "engines": [engine_data(times) for times in found],
        }
        print(shown_json(document))
    else:
        print(f"{size}; masks are in microseconds\n")
        print(lay_out([row for times in found for row in engine_rows(times)], output_width()))
        for times in found:
            if times.refused is not None:
                print(f"\n{times.engine}: {times.refused.splitlines()[0]}")
    if picture is not None:
        picture.write_text(draw(found, size), encoding="utf-8")
    return 0


def _samples(shape: Shape, count: int, seed: int) -> list[bytes]:
    """Random texts as `maskwright sample` writes them."""
    grammar = compile_shape(shape, byte_vocabulary(), **samples.PLAINLY)
    texts = samples.texts(grammar, "random", count, seed, grammar.min_tokens + LONGER)
    plain = samples.plain_json if isinstance(shape, SchemaArgument) else str
    return [plain(text).encode() for text in texts]


def engine_data(times: EngineTimes) -> dict[str, Any]:
    """The times of an engine as a JSON object: of the first reading, and of the later ones
    together, None if there are none. Times to compile and to the first mask are medians."""
    engine: dict[str, Any] = {"engine": times.engine, "version": ""}
    with suppress(PackageNotFoundError):  # of sources that aren't installed
        engine["version"] = version(times.engine)
    if times.refused is not None:
        return {**engine, "refused": times.refused}
    first, *later = times.readings
    return {**engine, "first": _figures([first]), "later": _figures(later) if later else None}


def engine_rows(times: EngineTimes) -> list[Row]:
    """The times of an engine as rows of a table."""
    data = engine_data(times)
    rows: list[Row] = []
    for reading in ("first", "later"):
        if figures := data.get(reading):
            row = {"engine": times.engine, "reading": reading}
            taken = {"compile ms": figures["compile_ms"], "first mask ms": figures["first_mask_ms"]}
            rows.append({**row, **taken, **figures["mask_us"]})
            if within := figures["budget_mask_us"]:
                rows.append({**row, "reading": f"{reading}, with budgets", **within})
    return rows


def _figures(readings: Sequence[RoundTimes]) -> dict[str, Any]:
    """The figures of one reading, or of some together. Masks under a budget are None for an engine
    that has no budgets."""
    masks = [seconds for reading in readings for seconds in reading.masks]
    within = [seconds for reading in readings for seconds in reading.masks_within]
    return {
        "compile_ms": _milliseconds([reading.compiling for reading in readings]),
        "first_mask_ms": _milliseconds([reading.first_mask for reading in readings]),
        "mask_us": microseconds(masks),
        "budget_mask_us": microseconds(within) if within else None,
    }


def _milliseconds(seconds: Sequence[float]) -> float:
    return round(1000 * statistics.median(seconds), 4)
