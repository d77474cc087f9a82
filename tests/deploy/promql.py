"""The part of PromQL that the shipped alert rules and dashboard use, evaluated as Prometheus does.

Instant selectors with a lookback of five minutes, `rate` and `increase` with Prometheus's
extrapolation, `histogram_quantile`, `sum`, arithmetic, comparisons as filters and `and on`, with
one-to-one matching. Whatever else an expression contains is an error. `test_alerts.py` has promtool
check the same scenarios where there is one.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

Labels: TypeAlias = frozenset[tuple[str, str]]
Vector: TypeAlias = dict[Labels, float]
Series: TypeAlias = Mapping[Labels, list[tuple[float, float]]]
"""Samples (time in seconds, value) by labels, the name as `__name__` among them."""

LOOKBACK = 300.0
UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}
TOKEN = re.compile(
    r'\s*([A-Za-z_:][\w:]*|\d+[smh]|\d+(?:\.\d+)?|"[^"]*"|==|!=|>=|<=|=~|[-+*/()<>{}\[\],=])'
)
ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda one, other: one / other if other else (math.inf * one if one else math.nan),
}
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt, "<": operator.lt, ">=": operator.ge, "<=": operator.le,
    "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


def evaluate(expression: str, series: Series, at: float) -> Vector:
    """Return the vector of an expression at a time. Raises ValueError for what isn't known here."""
    parser = _Parser(_tokens(expression), series, at)
    value = parser.conjunction()
    if parser.left or not isinstance(value, dict):
        raise ValueError(f"not understood: {parser.left or expression}")
    return value


def _tokens(text: str) -> list[str]:
    tokens, at = list[str](), 0
    while text[at:].strip():
        found = TOKEN.match(text, at)
        if found is None:
            raise ValueError(f"not understood: {text[at:]}")
        tokens.append(found[1])
        at = found.end()
    return tokens


@dataclass
class _Parser:
    """Evaluates while it reads; each method reads one level of precedence."""

    left: list[str]
    series: Series
    at: float

    def conjunction(self) -> Vector | float:
        value = self.comparison()
        while self.next_is("and"):
            self.expect("on")
            names = self.names()
            kept = {_only(labels, names) for labels in _vector(self.comparison())}
            value = {k: v for k, v in _vector(value).items() if _only(k, names) in kept}
        return value

    def comparison(self) -> Vector | float:
        value = self.sum()
        while self.left and self.left[0] in COMPARISONS:
            holds, bound = COMPARISONS[self.left.pop(0)], self.sum()
            if not isinstance(bound, float):
                raise ValueError("only comparisons with numbers are known")
            value = {k: v for k, v in _vector(value).items() if holds(v, bound)}
        return value

    def sum(self) -> Vector | float:
        value = self.product()
        while self.left and self.left[0] in "+-":
            value = _combine(ARITHMETIC[self.left.pop(0)], value, self.product())
        return value

    def product(self) -> Vector | float:
        value = self.atom()
        while self.left and self.left[0] in "*/":
            value = _combine(ARITHMETIC[self.left.pop(0)], value, self.atom())
        return value

    def atom(self) -> Vector | float:
        token = self.left.pop(0)
        if token == "(":
            value = self.conjunction()
            self.expect(")")
            return value
        if token[0].isdigit():
            return float(token)
        if token in ("rate", "increase"):
            return self.rate(per_second=token == "rate")
        if token == "sum":
            names = self.names() if self.next_is("by") else frozenset[str]()
            grouped: Vector = {}
            for labels, value in _vector(self.atom()).items():
                key = _only(labels, names)
                grouped[key] = grouped.get(key, 0.0) + value
            return grouped
        if token == "histogram_quantile":
            self.expect("(")
            share = float(self.left.pop(0))
            self.expect(",")
            value = histogram_quantile(share, _vector(self.conjunction()))
            self.expect(")")
            return value
        return {
            labels: samples[-1][1] for labels, samples in self.selected(token, LOOKBACK).items()
        }

    def rate(self, *, per_second: bool) -> Vector:
        self.expect("(")
        name = self.left.pop(0)
        matchers = self.matchers()
        self.expect("[")
        amount = self.left.pop(0)
        seconds = float(amount[:-1]) * UNITS[amount[-1]]
        self.expect("]")
        self.expect(")")
        found: Vector = {}
        for labels, samples in self.selected(name, seconds, matchers).items():
            value = increase(samples, self.at - seconds, self.at)
            if value is not None:
                found[_without_name(labels)] = value / (seconds if per_second else 1.0)
        return found

    def selected(
        self,
        name: str,
        seconds: float,
        matchers: list[Callable[[dict[str, str]], bool]] | None = None,
    ) -> dict[Labels, list[tuple[float, float]]]:
        """The samples of the last `seconds` of the series that are selected."""
        checks = self.matchers() if matchers is None else matchers
        found: dict[Labels, list[tuple[float, float]]] = {}
        for labels, samples in self.series.items():
            own = dict(labels)
            recent = [one for one in samples if self.at - seconds <= one[0] <= self.at]
            if recent and own["__name__"] == name and all(check(own) for check in checks):
                found[labels] = recent
        return found

    def matchers(self) -> list[Callable[[dict[str, str]], bool]]:
        checks: list[Callable[[dict[str, str]], bool]] = []
        if not self.next_is("{"):
            return checks
        while not self.next_is("}"):
            name, sign, text = self.left.pop(0), self.left.pop(0), self.left.pop(0).strip('"')
            if sign not in ("=", "!="):
                raise ValueError(f"the matcher {sign} is not known")
            checks.append(
                lambda own, name=name, text=text, equal=sign == "=": (
                    (own.get(name, "") == text) == equal
                )
            )
            self.next_is(",")
        return checks

    def names(self) -> frozenset[str]:
        self.expect("(")
        names: list[str] = []
        while not self.next_is(")"):
            names.append(self.left.pop(0))
            self.next_is(",")
        return frozenset(names)

    def next_is(self, token: str) -> bool:
        if self.left and self.left[0] == token:
            self.left.pop(0)
            return True
        return False

    def expect(self, token: str) -> None:
        if not self.next_is(token):
            raise ValueError(f"{token} is missing before {self.left}")


def increase(samples: list[tuple[float, float]], start: float, end: float) -> float | None:
    """The increase of a counter between two times (`extrapolatedRate` of Prometheus 2): that of the
    samples, resets included, extended to the ends of the range where they are near, and not below
    zero."""
    if len(samples) < 2:
        return None
    rise = samples[-1][1] - samples[0][1]
    for (_, before), (_, after) in pairwise(samples):
        if after < before:
            rise += before
    covered = samples[-1][0] - samples[0][0]
    each = covered / (len(samples) - 1)
    to_start, to_end = samples[0][0] - start, end - samples[-1][0]
    if rise > 0 and samples[0][1] >= 0:
        to_start = min(to_start, covered * samples[0][1] / rise)
    whole = covered
    for gap in (to_start, to_end):
        whole += gap if gap < 1.1 * each else each / 2
    return rise * whole / covered


def histogram_quantile(share: float, buckets: Vector) -> Vector:
    """The quantile of each histogram, linear within a bucket (`bucketQuantile` of Prometheus)."""
    grouped: dict[Labels, list[tuple[float, float]]] = {}
    for labels, count in buckets.items():
        own = dict(labels)
        bound = math.inf if own["le"] == "+Inf" else float(own["le"])
        key = frozenset(item for item in labels if item[0] not in ("le", "__name__"))
        grouped.setdefault(key, []).append((bound, count))
    return {labels: _quantile(share, sorted(found)) for labels, found in grouped.items()}


def _quantile(share: float, buckets: list[tuple[float, float]]) -> float:
    total = buckets[-1][1]
    if len(buckets) < 2 or not math.isinf(buckets[-1][0]) or not total:
        return math.nan
    rank = share * total
    place = next(at for at, (_, count) in enumerate(buckets) if count >= rank)
    if place == len(buckets) - 1:
        return buckets[-2][0]
    end, count = buckets[place]
    start, before = buckets[place - 1] if place else (0.0, 0.0)
    if not place and end <= 0:
        return end
    return start + (end - start) * (rank - before) / (count - before)


def _vector(value: Vector | float) -> Vector:
    if not isinstance(value, dict):
        raise ValueError("a vector is needed, not a number")
    return value


def _combine(
    step: Callable[[float, float], float], one: Vector | float, other: Vector | float
) -> Vector | float:
    match one, other:
        case float(), float():
            return step(one, other)
        case dict(), float():
            return {_without_name(labels): step(value, other) for labels, value in one.items()}
        case float(), dict():
            return {_without_name(labels): step(one, value) for labels, value in other.items()}
        case _:
            right = {_without_name(k): v for k, v in _vector(other).items()}
            left = {_without_name(k): v for k, v in _vector(one).items()}
            return {key: step(left[key], right[key]) for key in left if key in right}


def _only(labels: Labels, names: frozenset[str]) -> Labels:
    return frozenset(item for item in labels if item[0] in names)


def _without_name(labels: Labels) -> Labels:
    return frozenset(item for item in labels if item[0] != "__name__")


def parse_series(text: str) -> Labels:
    """The labels of `name{label="value",…}`, the name as `__name__`."""
    name, _, rest = text.partition("{")
    pairs = re.findall(r'(\w+)="([^"]*)"', rest)
    return frozenset([("__name__", name), *pairs])


def parse_values(text: str) -> list[float | None]:
    """The samples that promtool's notation stands for: `1+2x3` is 1 3 5 7, `4x2` is 4 4 4, `_` is
    none."""
    values: list[float | None] = []
    for part in text.split():
        if part == "_":
            values.append(None)
            continue
        found = re.fullmatch(r"(\d+(?:\.\d+)?)(?:([-+]\d+(?:\.\d+)?))?(?:x(\d+))?", part)
        if found is None:
            raise ValueError(f"not understood: {part}")
        first, step, times = float(found[1]), float(found[2] or 0), int(found[3] or 0)
        values += [first + step * number for number in range(times + 1)]
    return values


def firing(rule: Mapping[str, Any], series: Series, until: float, every: float) -> list[Labels]:
    """The labels (without those of the rule) with which an alert fires at a time: its expression
    has had a result for the time `for`, at every evaluation."""
    pending: dict[Labels, float] = {}
    wait = str(rule.get("for", "0s"))
    hold, at = float(wait[:-1]) * UNITS[wait[-1]], 0.0
    while at <= until:
        found = {_without_name(labels) for labels in evaluate(rule["expr"], series, at)}
        pending = {labels: pending.get(labels, at) for labels in found}
        at += every
    last = at - every
    return [labels for labels, since in pending.items() if last - since >= hold]
