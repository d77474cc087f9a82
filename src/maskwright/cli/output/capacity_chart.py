"""A serving plan as charts."""

from __future__ import annotations

from dataclasses import replace

from maskwright.cli.output.chart import BarChart, Chart, Line, LineChart
from maskwright.sizing.serving_plan import ServingPlan


def capacity_charts(found: ServingPlan) -> list[Chart]:
    """Draw how memory is divided, how many sequences of each length fit, what block sizes cost
    and, with a bandwidth, how fast sequences decode at most."""
    charts: list[Chart] = [_division(found), _lengths(found), _block_sizes(found)]
    if found.decode_rows():
        charts.append(_rates(found))
    return charts


def _division(found: ServingPlan) -> Chart:
    rows: list[tuple[str, list[float]]] = []
    for each in found.variants():
        held = each.sequences * each.sequence_blocks * each.block
        name = f"{_name(each)}: {each.sequences:,} sequences"
        sizes = (each.model.weights, each.reserve, held, max(0, each.kv_bytes - held))
        rows.append((name, [size / 1e9 for size in sizes]))
    return BarChart("where memory goes", ("weights", "reserve", "sequences", "left"), rows, "GB")


def _lengths(found: ServingPlan) -> Chart:
    contexts = [max(1, int(found.context * 2.0**power)) for power in range(-3, 3)]
    lines = [
        Line(
            _name(each),
            [(float(n), float(replace(each, context=n).sequences)) for n in contexts],
        )
        for each in found.variants()
    ]
    return LineChart("sequences that fit", "tokens of a sequence", lines, is_doubling=True)


def _block_sizes(found: ServingPlan) -> Chart:
    rows = found.block_sizes()
    wasted, listed = rows[-1].unused_tokens, rows[0].table_entries
    unused = [(float(row.block_size), 100 * row.unused_tokens / wasted) for row in rows]
    tables = [(float(row.block_size), 100 * row.table_entries / listed) for row in rows]
    lines = [
        Line(f"unused tokens (100: {wasted:g})", unused),
        Line(f"block table (100: {listed:,} entries)", tables),
    ]
    title = "cost of a sequence, % of the highest"
    return LineChart(title, "tokens of a block", lines, is_doubling=True)


def _rates(found: ServingPlan) -> Chart:
    lines = [
        Line(
            _name(each),
            [(float(row.sequences), row.tokens_per_second) for row in each.decode_rows()],
        )
        for each in found.variants()
    ]
    return LineChart("tokens a second, at most", "sequences", lines, is_doubling=True)


def _name(found: ServingPlan) -> str:
    kind = "" if found.kv_dtype == "auto" else f", KV {found.kv_dtype}"
    return f"weights {found.model.weight_bits} bits{kind}"
