"""Compute on paper what a model can serve: sequences that fit, and how fast they decode at most.

`maskwright plan --layers 40 --kv-heads 8 --head-dim 128 --parameters 14B --memory 76GB` needs
neither the model nor the machine. Sizes are in units of a thousand (GB) or of
1,024 (GiB). The formulas are in docs/capacity.md.

Exit code: 0 if at least one sequence fits; 1 if none does.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Literal

from maskwright.cli.options import JSON_HELP
from maskwright.cli.output.appearance import shown_json
from maskwright.cli.output.chart import BarChart, Chart, Line, LineChart, draw_charts
from maskwright.cli.output.files import open_picture
from maskwright.cli.output.tables import Row, lay_out, output_width, paragraph
from maskwright.errors import InputError
from maskwright.kernels.kv_bytes import KvDtype
from maskwright.settings import REQUIRED, option
from maskwright.sizing.serving_plan import (
    BLOCK_SIZES,
    RESERVE,
    WEIGHT_BITS,
    ModelShape,
    ServingPlan,
)
from maskwright.sizing.units import decimal_size, parse_count, parse_size

WeightDtype = Literal["float32", "bfloat16", "float16", "fp8", "int8", "int4"]


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What `maskwright plan` is given."""

    memory: str = option(REQUIRED, "Memory for everything, such as 76GB or 24GiB.")
    model: str | None = option(
        None, "Folder with a config.json, or that file, instead of the next five options."
    )
    layers: int | None = option(None, "Layers of the model.", least=1)
    kv_heads: int | None = option(None, "Heads of keys and values in a layer.", least=1)
    head_dim: int | None = option(None, "Numbers of a head.", least=1)
    parameters: str | None = option(
        None, "Parameters of the model, such as 14B; or give --weights."
    )
    weights: str | None = option(None, "Bytes of all weights, such as 28GB.")
    weight_dtype: WeightDtype | None = option(
        None, "Data type of weights.", show_default="bfloat16, or what config.json says"
    )
    reserve: str | None = option(
        None,
        "Memory for activations, libraries and whatever isn't weights, keys or values.",
        show_default="1GiB, and with --model a step of the engine's",
    )
    context: int = option(4096, "Positions of a sequence.", least=1)
    block_size: int = option(16, "Positions in a block: 4, 8, 16, 32 or 64.")
    kv_dtype: KvDtype = option(
        "auto", "Data type of keys and values: 'auto' is 2 bytes, or 4 with float32 weights."
    )
    bandwidth: str | None = option(
        None, "Bytes that can be read in a second, such as 4TB, to bound rates."
    )
    plot: str | None = option(None, "SVG file to which the plan is drawn.")
    as_json: bool = option(False, JSON_HELP, flag="--json")


def run(options: PlanOptions) -> int:
    if options.block_size not in BLOCK_SIZES:
        raise InputError(f"--block-size {options.block_size}: it is none of 4, 8, 16, 32, 64")
    if options.model is not None:
        # Only here, because it imports torch.
        from maskwright.cli.input.checkpoint_shape import read_shape  # noqa: PLC0415

        sizes = (options.layers, options.kv_heads, options.head_dim)
        if any(each is not None for each in (*sizes, options.parameters, options.weights)):
            raise InputError("--model says what the sizes of the model are; leave them out")
        shape, workspace = read_shape(options.model, options.weight_dtype)
    else:
        shape, workspace = _given_shape(options), 0
    found = ServingPlan(
        model=shape,
        memory=parse_size(options.memory, "memory"),
        reserve=RESERVE + workspace
        if options.reserve is None
        else parse_size(options.reserve, "reserve"),
        context=options.context,
        block_size=options.block_size,
        kv_dtype=options.kv_dtype,
        bandwidth=None if options.bandwidth is None else parse_size(options.bandwidth, "bandwidth"),
    )
    target = None if options.plot is None else open_picture(options.plot)
    print(shown_json(plan_document(found)) if options.as_json else plan_text(found, output_width()))
    if target is not None:
        size = decimal_size(found.memory)
        title = f"{found.sequences:,} sequences of {found.context:,} tokens in {size}"
        target.write_text(draw_charts(capacity_charts(found), title))
    return 0 if found.sequences else 1


def plan_document(found: ServingPlan) -> dict[str, object]:
    """The plan as a JSON object. Sizes are in bytes."""
    return {
        "model": asdict(found.model),
        "memory": found.memory,
        "reserve": found.reserve,
        "kv_bytes": found.kv_bytes,
        "kv_dtype": found.kv_dtype,
        "token_bytes": found.token_bytes,
        "block_size": found.block_size,
        "block_bytes": found.block,
        "blocks": found.blocks,
        "tokens": found.blocks * found.block_size,
        "context": found.context,
        "sequence_blocks": found.sequence_blocks,
        "sequence_bytes": found.sequence_blocks * found.block,
        "sequences": found.sequences,
        "bandwidth": found.bandwidth,
        "block_sizes": [asdict(row) for row in found.block_sizes()],
        "decode": [asdict(row) for row in found.decode_rows()],
        "quantisation": [asdict(each.quantisation_row()) for each in found.variants()],
    }


def plan_text(found: ServingPlan, width: int) -> str:
    """The plan as lines and tables of at most `width` characters."""
    held = found.sequence_blocks * found.block
    parts = [
        f"memory: {decimal_size(found.memory)} = weights {decimal_size(found.model.weights)} + "
        f"reserve {decimal_size(found.reserve)} + keys and values "
        + (decimal_size(found.kv_bytes) if found.kv_bytes > 0 else "none, since these exceed it"),
        f"keys and values: {found.token_bytes:,} bytes a token, {found.block:,} a block of "
        f"{found.block_size} tokens; {found.blocks:,} blocks hold "
        f"{found.blocks * found.block_size:,} tokens",
        f"sequences of {found.context:,} tokens: {found.sequences:,} fit, each with "
        f"{found.sequence_blocks:,} blocks ({decimal_size(held)})",
    ]
    text = "\n".join(paragraph(part, width) for part in parts)
    for title, rows in _tables(found):
        text += f"\n\n{title}\n{lay_out(rows, width)}"
    return text


def _tables(found: ServingPlan) -> list[tuple[str, list[Row]]]:
    sizes: list[Row] = [
        {
            "block": row.block_size,
            "sequences": row.sequences,
            "table entries": row.table_entries,
            "unused tokens": row.unused_tokens,
            "unused kB": row.unused_bytes / 1000,
            "run kB": row.run_bytes / 1000,
        }
        for row in found.block_sizes()
    ]
    kinds: list[Row] = [
        {
            "bits, KV": f"{row.weight_bits}, {row.kv_dtype}",
            "weights GB": row.weights / 1e9,
            "KV bytes a token": row.token_bytes,
            "sequences": row.sequences,
            "tokens/s of one": row.one_rate,
            "tokens/s of all": row.full_rate,
        }
        for row in (each.quantisation_row() for each in found.variants())
    ]
    decode: list[Row] = [
        {
            "sequences": row.sequences,
            "step ms": 1000 * row.step_seconds,
            "tokens/s": row.tokens_per_second,
            "of each": row.tokens_per_second / row.sequences,
            "KV % of reads": 100 * row.kv_share,
        }
        for row in found.decode_rows()
    ]
    tables = [("block sizes (unused: mean in a sequence's last block)", sizes)]
    if decode:
        rate = decimal_size(found.bandwidth or 0)
        tables.append((f"decoding at full context, at most, reading {rate}/s", decode))
    return [*tables, ("with fewer bits (of a weight; of keys and values)", kinds)]


def _given_shape(given: PlanOptions) -> ModelShape:
    """The shape that options give. Raises InputError if some are missing."""
    if given.layers is None or given.kv_heads is None or given.head_dim is None:
        raise InputError("give --model, or all of --layers, --kv-heads and --head-dim")
    if (given.parameters is None) == (given.weights is None):
        raise InputError("give either --parameters or --weights")
    bits = WEIGHT_BITS[given.weight_dtype or "bfloat16"]
    if given.weights is not None:
        size = parse_size(given.weights, "weights")
    else:
        size = parse_count(given.parameters or "", "parameters") * bits // 8
    sizes = given.layers, given.kv_heads, given.head_dim
    return ModelShape(*sizes, size, bits, max(2, bits // 8))


def capacity_charts(found: ServingPlan) -> list[Chart]:
    """Draw how memory is divided, how many sequences of each length fit, what block sizes cost
    and, with a bandwidth, how fast sequences decode at most."""
    division: list[tuple[str, list[float]]] = []
    lengths: list[Line] = []
    rates: list[Line] = []
    for each in found.variants():
        kind = "" if each.kv_dtype == "auto" else f", KV {each.kv_dtype}"
        name = f"weights {each.model.weight_bits} bits{kind}"
        held = each.sequences * each.sequence_blocks * each.block
        sizes = (each.model.weights, each.reserve, held, max(0, each.kv_bytes - held))
        division.append((f"{name}: {each.sequences:,} sequences", [n / 1e9 for n in sizes]))
        contexts = [max(1, int(found.context * 2.0**power)) for power in range(-3, 3)]
        fitting = [(float(n), float(replace(each, context=n).sequences)) for n in contexts]
        lengths.append(Line(name, fitting))
        decoded = [(float(row.sequences), row.tokens_per_second) for row in each.decode_rows()]
        rates.append(Line(name, decoded))
    rows = found.block_sizes()
    wasted, listed = rows[-1].unused_tokens, rows[0].table_entries
    unused = [(float(row.block_size), 100 * row.unused_tokens / wasted) for row in rows]
    tables = [(float(row.block_size), 100 * row.table_entries / listed) for row in rows]
    costs = [
        Line(f"unused tokens (100: {wasted:g})", unused),
        Line(f"block table (100: {listed:,} entries)", tables),
    ]
    cost = "cost of a sequence, % of the highest"
    parts = ("weights", "reserve", "sequences", "left")
    charts: list[Chart] = [
        BarChart("where memory goes", parts, division, "GB"),
        LineChart("sequences that fit", "tokens of a sequence", lengths, is_doubling=True),
        LineChart(cost, "tokens of a block", costs, is_doubling=True),
    ]
    if found.decode_rows():
        charts.append(LineChart("tokens a second, at most", "sequences", rates, is_doubling=True))
    return charts
