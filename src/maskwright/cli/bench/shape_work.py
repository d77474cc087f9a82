"""What `maskwright bench` does, once its arguments are read."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from maskwright.cli.bench.engines import engine_version, installed_engines
from maskwright.cli.bench.mask_times import (
    EngineTimes,
    RoundTimes,
    measure,
    microseconds,
    token_texts,
    warm_up,
    with_budgets,
)
from maskwright.cli.bench.picture import draw
from maskwright.cli.bench.shape import BenchOptions
from maskwright.cli.input.opened import given_texts
from maskwright.cli.input.shapes import SchemaArgument, Shape, compile_shape, located, read_shape
from maskwright.cli.input.vocabulary import read_vocabulary, tokenizer_file
from maskwright.cli.output.files import open_file
from maskwright.cli.output.progress import progress
from maskwright.cli.output.tables import Row, lay_out, output_width
from maskwright.errors import InputError
from maskwright.workbench.reading import byte_vocabulary
from maskwright.workbench.sample import samples

LONGER = 200
"""Bytes by which a random text may be longer than the shortest text."""


def run(options: BenchOptions) -> int:
    given = given_texts(options.shape, options.files, options.text)
    wanted = read_shape(options.shape, options.kind)
    picture = None if options.plot is None else open_file(options.plot)
    with located(wanted):
        texts = [data.rstrip(b"\r\n") for data in given.values()] or _samples(
            wanted, options.count, options.seed
        )
    vocabulary = read_vocabulary(options.model)
    unmeasured = compile_shape(
        wanted, read_vocabulary(options.model)
    )  # of which no engine knows anything
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
        told = {
            "texts": len(read),
            "tokens": tokens,
            "vocabulary": vocabulary.size,
            "engines": [engine_data(times) for times in found],
        }
        print(json.dumps(told, indent=2))
    else:
        print(f"{size}; masks are in microseconds\n")
        print("\n".join(_lines(found)))
    if picture is not None:
        picture.write_text(draw(found, size), encoding="utf-8")
    return 0


def _lines(found: Sequence[EngineTimes]) -> Iterator[str]:
    """The times of all engines as a table, and why an engine has none."""
    yield lay_out([row for times in found for row in engine_rows(times)], output_width())
    for times in found:
        if times.refused is not None:
            yield f"\n{times.engine}: {times.refused.splitlines()[0]}"


def _samples(shape: Shape, count: int, seed: int) -> list[bytes]:
    """Random texts as `maskwright sample` writes them."""
    grammar = compile_shape(
        shape,
        byte_vocabulary(),
        whitespace="spaced",
        escapes="needed",
        integers="digits",
        numbers="plain",
    )
    limit = grammar.min_tokens + LONGER
    texts = islice(samples.random_texts(grammar, limit, seed), count)
    if not isinstance(shape, SchemaArgument):
        return [*texts]
    return [samples.plain_json(text.decode()).encode() for text in texts]


def engine_data(times: EngineTimes) -> dict[str, Any]:
    """The times of an engine as a JSON object: those of the first reading, and of the later ones
    together, None if there are none. Times to compile and to the first mask are medians."""
    told: dict[str, Any] = {"engine": times.engine, "version": engine_version(times.engine)}
    if times.refused is not None:
        return {**told, "refused": times.refused}
    first, *later = times.readings
    return {**told, "first": _figures([first]), "later": _figures(later) if later else None}


def engine_rows(times: EngineTimes) -> list[Row]:
    """The times of an engine as rows of a table."""
    data = engine_data(times)
    rows: list[Row] = []
    for reading in ("first", "later"):
        if figures := data.get(reading):
            rows.append(
                {
                    "engine": times.engine,
                    "reading": reading,
                    "compile ms": figures["compile_ms"],
                    "first mask ms": figures["first_mask_ms"],
                    **figures["mask_us"],
                }
            )
            if figures["budget_mask_us"]:
                with_budgets = {"engine": times.engine, "reading": f"{reading}, with budgets"}
                rows.append({**with_budgets, **figures["budget_mask_us"]})
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
