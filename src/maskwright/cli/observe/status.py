"""Say what a running server does now: requests, rates, times, blocks. The figures of its dashboard.

`maskwright status --url http://127.0.0.1:8000` asks the server twice, `--seconds` apart, because
rates need two moments. With `--watch` it asks again and again: on a terminal the figures stay in
their place, elsewhere each set of them is printed, with `--json` as a line.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import httpx

from maskwright.cli.options import StatusOptions
from maskwright.cli.output.tables import Figure, Row, lay_out, output_width
from maskwright.cli.process.reaching import base_address, client_arguments, reaching
from maskwright.errors import AddressError, InputError
from maskwright.json_faults import object_in

TIMEOUT_SECONDS = 10.0
RATES = {
    "output_tokens": "output_tokens_total",
    "prompt_tokens": "prompt_tokens_total",
    "requests": "requests_finished_total",
    "steps": "steps_total",
}
"""The names of rates, and the counters from which they are computed."""

CLEARED = "\x1b[H\x1b[2J"
"""What has a terminal begin anew at its top."""
NEEDED = frozenset({"time", "metrics", "healthy"})
"""Members of a server's state by which it is known to be one."""
PERCENT = ("forced_share", "kv_use", "prefix_hit_share", "mask_hit_share", "draft_acceptance")


def run(options: StatusOptions) -> int:
    address = f"{base_address(options.url)}/v1/state"
    with httpx.Client(timeout=TIMEOUT_SECONDS, **client_arguments(options.access)) as client:
        found = read_state(client, address)
        while True:
            before = found
            time.sleep(options.seconds)
            found = read_state(client, address)
            rates = rates_between(before, found)
            _show({**found, "rates": rates}, options)
            if not options.watch:
                return 0 if found["healthy"] else 1


def _show(found: dict[str, Any], options: StatusOptions) -> None:
    """Print the figures; while they are watched, in place of those before."""
    if options.as_json:
        print(json.dumps(found, indent=None if options.watch else 2), flush=True)
        return
    if options.watch and sys.stdout.isatty():
        print(CLEARED, end="")
    print(status_text(found, output_width()), flush=True)
    if options.watch and not sys.stdout.isatty():
        print(flush=True)


def read_state(client: httpx.Client, address: str) -> dict[str, Any]:
    """Return the document of `/v1/state`. Raises AddressError if no server answers there, and
    InputError if it refuses."""
    with reaching(address):
        answer = client.get(address)
    found = object_in(answer.content)
    if found is None or (answer.status_code == 200 and not found.keys() >= NEEDED):
        raise AddressError(f"at {address} is no Maskwright server")
    if answer.status_code != 200:
        message = found.get("error", {}).get("message")
        raise InputError(f"{address} answers {answer.status_code}: {message}")
    return found


def rates_between(before: dict[str, Any], after: dict[str, Any]) -> dict[str, float | None]:
    """Return how fast counters grew, a second; None where a server has begun anew meanwhile or
    both documents are of one moment."""

    def total(metrics: dict[str, float], name: str) -> float:
        return sum(value for key, value in metrics.items() if key.partition("{")[0] == name)

    seconds = after["time"] - before["time"]
    rates: dict[str, float | None] = {}
    for name, counter in RATES.items():
        grown = total(after["metrics"], counter) - total(before["metrics"], counter)
        rates[f"{name}_per_second"] = grown / seconds if seconds > 0 and grown >= 0 else None
    return rates


def status_text(found: dict[str, Any], width: int) -> str:
    """The document as tables of at most `width` characters."""
    metrics, figures = found["metrics"], found["figures"]
    states = {
        state: int(metrics[f'requests{{state="{state}"}}'])
        for state in ("running", "waiting", "compiling", "paused")
    }
    blocks = {
        f"blocks {state}": int(metrics[f'kv_blocks{{state="{state}"}}'])
        for state in ("used", "cached", "free")
    }
    shares: Row = {
        name.removesuffix("_share").replace("_", " ") + " %": _percent(figures[name])
        for name in PERCENT
    }
    times: Row = {
        name.replace("_", " "): value
        for name, value in figures.items()
        if name.endswith(("_ms", "_us"))
    }
    rates: Row = {name.replace("_", " "): value for name, value in found["rates"].items()}
    counts: Row = {
        "ended": int(figures["requests_finished"]),
        "refused": int(figures["refused"]),
        "output tokens": int(figures["output_tokens"]),
    }
    servers: list[dict[str, Any]] = found.get("workers", [])
    tables: list[list[Row]] = [
        [_server(each) for each in servers] or [{}],
        [{**states, **blocks}],
        [{**counts, **rates}],
        [times],
        [shares],
        [
            {"class": each["name"], **{key: each[key] for key in each if key != "name"}}
            for each in found["classes"]
        ],
    ]
    laid = [lay_out(rows, width) for rows in tables if any(rows[0])]
    if not found["healthy"]:
        health = "an engine has stopped" if servers else "the engine has stopped"
    else:
        ready = sum(each["ready"] for each in servers)
        health = f"{ready} of {len(servers)} servers are ready" if servers else "running"
    return "\n\n".join((f"{found['model']}: {health}", *laid))


def _server(server: dict[str, Any]) -> Row:
    """One of several servers; what is not known of it is left out."""
    row: dict[str, Figure] = {
        "server": server["name"],
        "state": "ready" if server["ready"] else "not ready",
    }
    for name in ("running", "requests_finished", "output_tokens"):
        row[name.replace("_", " ")] = None if server[name] is None else int(server[name])
    return {**row, "kv use %": _percent(server["kv_use"])}


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
