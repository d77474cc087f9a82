"""Grammars: what a mask costs, and which engine is right where masks differ.

    python benchmarks/grammars.py [--cases json,toml] [--engines maskwright,llguidance] [--save]

The cases are the grammars that ship, with the texts that they accept, and some kinds of grammars
that people write: left recursion, ambiguity, a rule for every character. Each engine reads the
grammar in a dialect of its own: llguidance and GLRMask in Lark (the file that ships if they read
it, else what `maskwright convert` writes, else that converted to EBNF and back, in which `&` and
`~` are written out as rules), xgrammar in EBNF, converted. All have the tekken vocabulary of
131,072 entries and read the same tokens. Each runs in a process of its own on one thread; they take
turns case by case.

`first` is the first time that a process sees the case, `again` the second time. Each engine's masks
are compared with ours on the same tokens. Of the tokens on which a mask differs, up to 40 at each
position are judged by a textbook recogniser (`earley.py`), which has only the rules in common with
our machine. `--list` prints each disagreement that was judged.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import random
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import glrmask
import llguidance
import numpy as np
import numpy.typing as npt

from benchmarks.peers.earley import Recogniser
from benchmarks.peers.engines import Maskwright, Refused, allows
from benchmarks.peers.of_glrmask import GLRMask
from benchmarks.peers.of_llguidance import LLGuidance
from benchmarks.peers.of_xgrammar import XGrammar
from benchmarks.report import Report, figures, some_of
from benchmarks.vocabularies import tekken, tekken_encoding
from maskwright import Grammar, Vocabulary, compile_grammar
from maskwright.grammar.dialects.read import read_grammar
from maskwright.grammar.dialects.write import write_grammar

FOLDER: Final = ROOT / "grammars"
PACKAGES: Final = ("numpy", "llguidance", "xgrammar", "glrmask")
THREADS: Final = ("OMP_NUM_THREADS", "RAYON_NUM_THREADS", "MKL_NUM_THREADS")
JUDGED: Final = 40
START_UP_S: Final = 300.0
TRIVIAL: Final = 'start: "a"'

SHAPES: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "left recursion": (
        'start: start ("+" | "-") term | term\nterm: term "*" atom | atom\n'
        'atom: /[0-9]+/ | /[a-z]+/ | "(" start ")"\n',
        ("12+abc*(3-x)*y-77", "a*b*c*d*e*f*g*h+1"),
    ),
    "ambiguity": (
        'start: start start | "if" | /[a-z]+/ | " "\n',
        ("if the words are cut any way", "abcdefghijklmnop"),
    ),
    "a rule a character": (
        'start: value\nvalue: object | array | string | number | ("true" | "false" | "null") ws\n'
        'object: "{" ws (string ":" ws value ("," ws string ":" ws value)*)? "}" ws\n'
        'array: "[" ws (value ("," ws value)*)? "]" ws\nstring: "\\"" char* "\\"" ws\n'
        'char: /[^"\\\\\\x00-\\x1f]/ | "\\\\" (/["\\\\bfnrt]/ | "u" hex hex hex hex)\n'
        'hex: /[0-9a-fA-F]/\nnumber: "-"? ("0" | /[1-9]/ digit*) ("." digit+)? ws\ndigit: /[0-9]/\n'
        "ws: (/[ \\t\\n]/ ws)?\n",
        ('{"name": "Ada", "born": 1815, "tags": ["x", -2.5, null]}',),
    ),
    "words until a mark": (
        'start: "<think>" /(.|\\n)*/ "</think>" /[0-9]+/\n',
        ("<think>First this, then that.\nSo it is nine.</think>9",),
    ),
}


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    lark: str
    texts: tuple[str, ...]
    dialects: dict[str, tuple[str, ...]]
    """By dialect, the spellings of the grammar, which are tried until the engine reads one."""


@dataclass(slots=True)
class Outcome:
    refused: str = ""
    compile_ms: float = 0.0
    first_us: list[float] = field(default_factory=list[float])
    again_us: list[float] = field(default_factory=list[float])
    masks: list[list[bytes]] = field(default_factory=list[list[bytes]])
    """[texts][tokens]: the mask before each token, up to a token that was refused."""
    ended: list[bool] = field(default_factory=list[bool])


SHIPPED: Final = sorted(path.stem for path in FOLDER.glob("*.lark") if path.stem != "common")
CASES: Final = [*SHIPPED, *SHAPES]


def cases(wanted: Sequence[str]) -> Iterator[Case]:
    """The cases of these names; a shipped grammar's texts are those that its examples accept."""
    for name in wanted:
        if name in SHAPES:
            text, texts = SHAPES[name]
        else:
            path = FOLDER / f"{name}.lark"
            text = path.read_text()
            examples = tomllib.loads(path.with_suffix(".toml").read_text())
            texts = tuple(filter(None, examples["accepted"]))
        yield _case(name, text, texts)


def _case(name: str, text: str, texts: tuple[str, ...]) -> Case:
    lowered = read_grammar(text).lowered
    lark, ebnf = write_grammar(lowered, "lark"), write_grammar(lowered, "ebnf")
    plain = write_grammar(read_grammar(ebnf, dialect="ebnf").lowered, "lark")
    return Case(name, text, texts, {"lark": (text, lark, plain), "ebnf": (ebnf,)})


# The engines, compiling a grammar instead of a schema


class OfGrammar(Maskwright):
    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__(vocabulary, "schema")
        self._own = vocabulary

    def compile(self, schema: Any) -> Grammar:
        return compile_grammar(schema, self._own, dialect="lark")


class LLGuidanceOfGrammar(LLGuidance):
    def compile(self, schema: Any) -> llguidance.LLMatcher:
        grammar = llguidance.LLMatcher.grammar_from_lark(schema)
        matcher = llguidance.LLMatcher(self._tokenizer, grammar, log_level=0)
        if matcher.is_error():
            raise Refused(matcher.get_error())
        return matcher


class XGrammarOfGrammar(XGrammar):
    def compile(self, schema: Any) -> Any:
        return self._compiler.compile_grammar(schema)


class GLRMaskOfGrammar(GLRMask):
    def compile(self, schema: Any) -> glrmask.Constraint:
        return glrmask.Grammar.from_lark(schema).compile(self._vocabulary)


ENGINES: Final[dict[str, tuple[Callable[[Vocabulary], Any], str]]] = {
    "maskwright": (OfGrammar, "lark"),
    "llguidance": (LLGuidanceOfGrammar, "lark"),
    "xgrammar": (XGrammarOfGrammar, "ebnf"),
    "glrmask": (GLRMaskOfGrammar, "lark"),
}


def run(engine: Any, case: Case, dialect: str) -> Outcome:
    """Compile the first spelling that the engine reads, and read every text twice."""
    outcome, compiled = Outcome(), None
    for text in case.dialects[dialect]:
        started = perf_counter()
        try:
            compiled = engine.compile(text)
            engine.start(compiled).fill()
        except BaseException as error:  # a panic of a Rust engine is no Exception
            outcome.refused = (
                f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:200]}"
            )
            continue
        outcome.refused = ""
        outcome.compile_ms = (perf_counter() - started) * 1e3
        break
    if outcome.refused:
        return outcome
    encoded = [tekken_encoding().encode_ordinary(each) for each in case.texts]
    try:
        for times in (outcome.first_us, outcome.again_us):
            for tokens in encoded:
                walk_text(engine, compiled, tokens, times)
        for tokens in encoded:
            masks, ended = record(engine, compiled, tokens)
            outcome.masks.append(masks)
            outcome.ended.append(ended)
    except BaseException as error:
        outcome.refused = f"while masking: {type(error).__name__}: {str(error)[:200]}"
    return outcome


def walk_text(engine: Any, compiled: Any, tokens: list[int], times: list[float]) -> None:
    walk = engine.start(compiled)
    for token in tokens:
        started = perf_counter()
        walk.fill()
        accepted = allows(engine.mask, token) and walk.accept(token)
        times.append((perf_counter() - started) * 1e6)
        if not accepted:
            return


def record(engine: Any, compiled: Any, tokens: list[int]) -> tuple[list[bytes], bool]:
    """The mask before each token up to the one that is refused, and whether none was."""
    walk, masks = engine.start(compiled), list[bytes]()
    for token in tokens:
        walk.fill()
        masks.append(engine.mask.tobytes())
        if not allows(engine.mask, token) or not walk.accept(token):
            return masks, False
    if not walk.accepting():
        return masks, False
    return masks, True


def serve(name: str, pipe: Connection) -> None:
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 2)  # peers log refusals there
    make, dialect = ENGINES[name]
    engine = make(tekken())
    ebnf = write_grammar(read_grammar(TRIVIAL).lowered, "ebnf")
    trivial = Case("trivial", TRIVIAL, ("a",), {"lark": (TRIVIAL,), "ebnf": (ebnf,)})
    run(engine, trivial, dialect)
    gc.collect()
    gc.freeze()  # as the server does: peers load torch, and collecting would look through it
    pipe.send(None)
    while True:
        pipe.send(run(engine, pipe.recv(), dialect))


class Worker:
    """An engine in a process of its own, which is replaced when it takes too long or dies."""

    def __init__(self, engine: str, limit_s: float) -> None:
        self._engine = engine
        self._limit_s = limit_s
        self._start()

    def _start(self) -> None:
        os.environ.update(dict.fromkeys(THREADS, "1"))
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(self._engine, theirs), daemon=True)
        self._process.start()
        theirs.close()
        if not self._pipe.poll(START_UP_S):
            raise TimeoutError(f"{self._engine} did not start in {START_UP_S:.0f} s")
        self._pipe.recv()

    def run(self, case: Case) -> Outcome:
        try:
            self._pipe.send(case)
            if self._pipe.poll(self._limit_s):
                return self._pipe.recv()
            reason = f"timed out after {self._limit_s:.0f} s"
        except (EOFError, ConnectionError):
            reason = "the process died"
        self._process.kill()
        self._process.join()
        self._start()
        return Outcome(refused=reason)


# Which engine is right


@dataclass(frozen=True, slots=True)
class Disagreement:
    case: str
    engine: str
    before: str
    token: str
    ours: bool
    truth: bool

    def __str__(self) -> str:
        who = "only maskwright" if self.ours else f"only {self.engine}"
        right = "maskwright" if self.ours == self.truth else self.engine
        return f"{self.case}: after {self.before!r} {who} allows {self.token!r}; {right} is right"


def compare(
    case: Case, engine: str, ours: Outcome, theirs: Outcome
) -> tuple[Counter[str], list[Disagreement]]:
    """Numbers of positions and tokens that differ, and the disagreements that were judged."""
    counts: Counter[str] = Counter()
    found: list[Disagreement] = []
    tokens_of = tekken().tokens
    chooser = random.Random(0)
    for text, mine, other in zip(case.texts, ours.masks, theirs.masks, strict=False):
        recogniser = Recogniser(read_grammar(case.lark).rules)
        read, pending = b"", b""
        tokens = tekken_encoding().encode_ordinary(text)
        counts["texts"] += 1
        counts["texts refused"] += len(other) < len(mine)
        for at, (a, b) in enumerate(zip(mine, other, strict=False)):
            counts["positions"] += 1
            different = np.flatnonzero((_bits(a) != _bits(b)) & _compared(engine))
            if len(different):
                counts["positions that differ"] += 1
                counts["tokens that differ"] += len(different)
                chosen = different.tolist()
                if len(chosen) > JUDGED:
                    chosen = chooser.sample(chosen, JUDGED)
                for token in sorted(chosen):
                    data = tokens_of[token]
                    truth = (
                        recogniser.allows(pending + data)
                        if data
                        else token in tekken().eos and not pending and recogniser.accepting
                    )
                    mine_allows = bool(_bits(a)[token])
                    counts["judged for us" if mine_allows == truth else "judged against us"] += 1
                    shown = data.decode("utf-8", "replace") if data else "(end)"
                    before = read.decode("utf-8", "replace")[-40:]
                    found.append(Disagreement(case.name, engine, before, shown, mine_allows, truth))
            read += tokens_of[tokens[at]]
            pending += tokens_of[tokens[at]]
            whole = len(pending.decode("utf-8", "ignore").encode())
            recogniser.read(pending[:whole])
            pending = pending[whole:]
    return counts, found


@cache
def _compared(engine: str) -> npt.NDArray[np.bool_]:
    """bool [V]: the tokens on which masks are compared. They are those that add text, because
    xgrammar must give special tokens some text, and the end token, which GLRMask's masks lack."""
    vocabulary = tekken()
    kept = np.zeros(vocabulary.words * 32, np.bool_)
    kept[: vocabulary.size] = [bool(token) for token in vocabulary.tokens]
    kept[list(vocabulary.eos)] = engine != "glrmask"
    return kept


def _bits(mask: bytes) -> npt.NDArray[np.uint8]:
    return np.unpackbits(np.frombuffer(mask, np.uint8), bitorder="little")


def main() -> None:
    options = parse_options()
    load = round(os.getloadavg()[0], 1)
    times = Report("grammars", PACKAGES, vocabulary="tekken", load_at_start=load)
    agreement = Report("grammars_agreement", PACKAGES, vocabulary="tekken")
    workers = {name: Worker(name, options.limit) for name in options.engines}
    totals: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in workers}
    listed: list[Disagreement] = []
    for case in cases(options.cases):
        outcomes = {name: worker.run(case) for name, worker in workers.items()}
        ours = outcomes["maskwright"]
        for name, outcome in outcomes.items():
            if outcome.refused:
                times.add(case.name, engine=name, refused=outcome.refused)
                continue
            totals[name][0].extend(outcome.first_us)
            totals[name][1].extend(outcome.again_us)
            first_mask = outcome.compile_ms
            times.add(case.name, engine=name, first_mask_ms=first_mask, **_short(outcome))
            if name != "maskwright" and not ours.refused:
                counts, judged = compare(case, name, ours, outcome)
                listed += judged
                agreement.add(case.name, engine=name, **{each: counts[each] for each in COUNTED})
    for name, (first, again) in totals.items():
        if first:
            times.add(
                "all",
                engine=name,
                n=len(first),
                **_few(first, "first_us"),
                **_few(again, "again_us"),
            )
    times.finish(save=options.save)
    agreement.finish(save=options.save)
    for name in [*workers][1:]:
        mine = [d for d in listed if d.engine == name]
        wrong = [d for d in mine if d.ours != d.truth]
        print(f"{name}: {len(mine)} disagreements judged, maskwright is wrong in {len(wrong)}")
        print(*(mine if options.list else wrong), sep="\n")


COUNTED: Final = (
    "texts",
    "texts refused",
    "positions",
    "positions that differ",
    "tokens that differ",
    "judged for us",
    "judged against us",
)


def _short(outcome: Outcome) -> dict[str, float]:
    return _few(outcome.first_us, "first_us") | _few(outcome.again_us, "again_us")


def _few(samples: list[float], name: str) -> dict[str, float]:
    wanted = (f"{name} p50", f"{name} p99", f"{name} max")
    return {key: value for key, value in figures(samples, name).items() if key in wanted}


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=some_of(CASES), default=CASES, help="names, with commas")
    parser.add_argument(
        "--engines", type=some_of(ENGINES), default=list(ENGINES), help="maskwright and others"
    )
    parser.add_argument("--limit", type=float, default=60.0, help="seconds a case may take")
    parser.add_argument("--list", action="store_true", help="print every judged disagreement")
    parser.add_argument("--save", action="store_true", help="append the rows to results/")
    options = parser.parse_args()
    if "maskwright" not in options.engines:
        parser.error("the others are compared with maskwright, which --engines leaves out")
    options.engines.sort(key=list(ENGINES).index)  # ours first
    return options


if __name__ == "__main__":
    main()
