"""Measure a running server under load: its operating envelope.

`maskwright bench serve --url http://127.0.0.1:8000` sends requests in each pattern at each rate and
waits for the answers. It ends by itself; at the start it says after how long at most. `--self`
serves the demo model in this process instead.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from math import isnan
from typing import TypeVar, cast, get_args

from maskwright.cli.bench.client import (
    SHARES,
    Objective,
    Outcome,
    PatternName,
    Point,
    ShapeName,
    arrivals,
    draw,
    matrix,
    offer,
    summarize,
)
from maskwright.cli.bench.options import BenchServeOptions
from maskwright.cli.options import USER_CACHE, cache_folder
from maskwright.cli.output.appearance import remark
from maskwright.cli.output.files import open_file, open_picture
from maskwright.cli.output.progress import progress
from maskwright.cli.output.tables import Figure, Row, lay_out, output_width
from maskwright.cli.process.reaching import ask_once, base_address, client_arguments
from maskwright.errors import InputError

Value = TypeVar("Value", int, float, str)


def run(options: BenchServeOptions) -> None:
    if options.own == (options.url is not None):
        raise InputError(
            "give either --url or --self, to say which server is measured", param="url"
        )
    connection = client_arguments(options.access)
    send = partial(offer, connection=connection)
    aim = Objective(options.ttft, options.tpot)
    cells = matrix(
        numbers("prompts", options.prompts, int),
        numbers("caps", options.caps, int),
        options.services.split(","),
        numbers("temperatures", options.temperatures, float),
        names("shapes", options.shapes, get_args(ShapeName)),
    )
    asked = names("patterns", options.patterns, get_args(PatternName))
    offered = numbers("rates", options.rates, float)
    picture = None if options.plot is None else open_picture(options.plot)
    rows = None if options.rows is None else open_file(options.rows)
    whole = len(asked) * len(offered) * (options.seconds + options.drain) + options.drain
    remark(
        f"{len(asked)} patterns at {len(offered)} rates, with {len(cells)} kinds of requests: "
        f"at most {whole:.0f} seconds"
    )
    points: list[Point] = []
    tried: list[Outcome] = []
    with ExitStack() as closing:
        if options.own:
            # Imports torch, which is not needed to measure another server.
            from maskwright.cli.own_server import own_server  # noqa: PLC0415

            address = closing.enter_context(own_server(None, cache_folder(str(USER_CACHE))))
        else:
            address = base_address(str(options.url))
        # One of each kind before anything is measured, so that grammars are compiled then.
        ask_once(address, connection)
        first = [(0.0, cell) for cell in cells if cell.words == min(c.words for c in cells)]
        with progress("one request of each kind"):
            tried += asyncio.run(
                send(address, first, options.drain, random.Random(~options.seed).getrandbits(48))
            )
        for pattern in asked:
            for rate in offered:
                # A seed for each point: the prompts of the last one are in the server's cache.
                rng = random.Random(f"{options.seed} {pattern} {rate}")
                load = arrivals(pattern, rate, options.seconds, cells, rng)
                with progress(f"{pattern} at {rate:g} a second, {len(points)} points measured"):
                    outcomes = asyncio.run(send(address, load, options.drain, rng.getrandbits(48)))
                tried += outcomes
                points.append(summarize(pattern, rate, options.seconds, outcomes, aim))
    print(envelope(points, aim, output_width()))
    for reason in sorted({one.reason for one in tried if one.end == "failed"})[:5]:
        print(f"failed: {reason}", file=sys.stderr)
    title = f"good: valid, first token in {options.ttft:g} s, then {options.tpot:g} s a token"
    if picture is not None:
        picture.write_text(draw(points, title))
    if rows is not None:
        rows.write_text("".join(json.dumps(point.row()) + "\n" for point in points))


def numbers(option: str, text: str, kind: type[Value]) -> list[Value]:
    """The numbers of an option, which are separated by commas. Raises InputError for anything but
    a number above 0, or a temperature of 0."""
    try:
        values = [kind(part) for part in text.split(",")]
    except ValueError:
        values = []
    least = 0 if option == "temperatures" else 1e-9
    if not values or any(not cast(float, value) >= least for value in values):
        raise InputError(
            f"--{option} {text}: numbers above 0 are needed, separated by commas", param=option
        )
    return values


def names(option: str, text: str, known: Sequence[Value]) -> list[Value]:
    """The names of an option, which are separated by commas. Raises InputError for one that isn't
    among `known`."""
    given = text.split(",")
    if unknown := [name for name in given if name not in known]:
        raise InputError(
            f"--{option} {unknown[0]}: it is none of {', '.join(map(str, known))}", param=option
        )
    return cast(list[Value], given)


def envelope(points: Sequence[Point], aim: Objective, width: int) -> str:
    """What `maskwright bench serve` prints: for each pattern and rate, how requests ended, and how
    long they took at 50, 95 and 99 %."""
    rows: list[Row] = []
    for point in points:
        at = {"pattern": point.pattern, "asked/s": f"{point.rate:g}"}
        ends = ("answered", "refused", "failed", "unfinished")
        rows.append(
            {
                **at,
                "good/s": round(point.goodput, 2),
                **{name: point.ends.get(name, 0) for name in ends},
                "tokens/s": round(point.tokens_a_second),
                "valid": point.valid,
                "of": point.shaped,
            }
        )
        times = {"first token": point.ttft, "each further token": point.tpot, "gap": point.gap}
        for name, values in times.items():
            row: dict[str, Figure] = {**at, "pattern": f"{point.pattern}, ms", "time": name}
            for share, value in zip(SHARES, values, strict=True):
                row[f"p{share}"] = None if isnan(value) else round(1000 * value)
            rows.append(row)
    return (
        f"good: the answer has its shape, the first token came within {aim.ttft:g} s\n"
        f"and each further one within {aim.tpot:g} s; times are milliseconds\n\n"
        f"{lay_out(rows, width)}"
    )
