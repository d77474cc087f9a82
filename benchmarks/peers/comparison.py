"""Engines' times on the cases of maskbench.py as ratios to a baseline's, and the dearest cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from benchmarks.peers.worker import Outcome
from benchmarks.report import percentile
from maskwright.cli.output.tables import Figure

BASELINE: Final = "llguidance"
DEAREST: Final = 20
COMPILE: Final = {"p50": 50, "p90": 90, "p99": 99, "p99.9": 99.9, "mean": None}
MASK: Final = {"p50": 50, "mean": None, "p99": 99, "longest": 100}
"""Percentiles by their names; None is the mean."""


@dataclass(frozen=True, slots=True)
class Run:
    """One engine's pass over the cases. `cache` says what it knew before: nothing ("cold"), what it
    keeps of a first compilation ("warm"), or the compiled schema ("kept")."""

    engine: str
    cache: str
    outcomes: dict[str, Outcome]
    restarts: int
    megabytes: float

    @property
    def label(self) -> str:
        return f"{self.engine} {self.cache}".strip()


@dataclass(frozen=True, slots=True)
class Pair:
    """A run beside the baseline's. Masks are compared with the same pass's. Compiling is
    compared with the baseline's first pass, since later ones compile nothing; without one, and for
    a run that compiles nothing itself, `compiling` is None."""

    run: Run
    base: Run
    compiling: Run | None

    @property
    def label(self) -> str:
        return f"{self.run.label} / {self.base.label}"

    def row(self, *, all_cases: bool) -> dict[str, Figure]:
        """Ratios of the run's figures to the baseline's over the cases that both pass, or with
        `all_cases` over what each of them compiles; and among the cases that both compile (of
        those that both pass), how many take the run longer, in per cent: for compiling, for all
        masks, and for a mask on average. An engine that refuses a text earlier reads fewer of its
        tokens, so that only the average compares like with like."""
        ours, theirs = self.run.outcomes, self.base.outcomes
        both = [case for case in ours if _compiles(ours[case]) and _compiles(theirs[case])]
        if not all_cases:
            both = [case for case in both if ours[case].passes and theirs[case].passes]
        left = ours.values() if all_cases else [ours[case] for case in both]
        found: dict[str, Figure] = {"schemas": len(both)}
        if self.compiling is not None:
            at_first = self.compiling.outcomes
            right = at_first.values() if all_cases else [at_first[case] for case in both]
            found |= _ratios("compile", COMPILE, _first_masks(left), _first_masks(right))
            found["compile slower_%"] = _share(
                ours[case].compile_us > at_first[case].compile_us for case in both
            )
        right = theirs.values() if all_cases else [theirs[case] for case in both]
        found |= _ratios("mask", MASK, _steps(left), _steps(right))
        found["mask slower_%"] = _share(
            ours[case].masks_us > theirs[case].masks_us for case in both
        )
        found["mask slower_by_token_%"] = _share(
            ours[case].step_mean_us > theirs[case].step_mean_us for case in both
        )
        return found

    def surplus_us(self, case: str) -> float:
        """How much longer than the baseline the run takes to compile a case and for all masks of
        its texts together. A case that one of them doesn't compile has no surplus."""
        ours, theirs = self.run.outcomes[case], self.base.outcomes[case]
        if not _compiles(ours) or not _compiles(theirs):
            return 0.0
        surplus = ours.masks_us - theirs.masks_us
        if self.compiling is not None:
            surplus += ours.compile_us - self.compiling.outcomes[case].compile_us
        return surplus


def pairs(runs: Sequence[Run]) -> Iterator[Pair]:
    """Each run of another engine beside the baseline's run in that pass, where there is one."""
    bases = {run.cache == "cold": run for run in runs if run.engine == BASELINE}
    for run in runs:
        base = bases.get(run.cache == "cold")
        if base is not None and run.engine != BASELINE:
            yield Pair(run, base, None if run.cache == "kept" else bases.get(True))


def dearest(pair: Pair) -> Iterator[tuple[str, dict[str, Figure]]]:
    """For each of the orders "compile", "masks" and "beside the baseline": the cases that cost the
    run most, the dearest first, with the times of both (0 for what doesn't compile)."""
    ours, theirs = pair.run.outcomes, pair.base.outcomes
    at_first = {} if pair.compiling is None else pair.compiling.outcomes
    orders: dict[str, Callable[[str], float]] = {
        "compile": lambda case: ours[case].compile_us,
        "masks": lambda case: ours[case].masks_us,
        f"beside {BASELINE}": pair.surplus_us,
    }
    for name, cost in orders.items():
        for case in sorted(ours, key=cost, reverse=True)[:DEAREST]:
            if cost(case) <= 0:
                break
            yield (
                f"{pair.run.label}, {name}",
                {
                    "schema": case,
                    "compile_ms": _ms(ours[case].compile_us),
                    "masks_ms": _ms(ours[case].masks_us),
                    "longest_ms": _ms(max(ours[case].step_us, default=0.0)),
                    "base_compile_ms": _ms(at_first[case].compile_us) if at_first else None,
                    "base_masks_ms": _ms(theirs[case].masks_us),
                },
            )


def collections(run: Run) -> dict[str, Figure]:
    """What Python's garbage collector did while cases were run, not between them."""
    found = [outcome.collections for outcome in run.outcomes.values()]
    spent = sum(each.total_us for each in found)
    whole = sum(each.whole_us for each in found)
    return {
        "collections": sum(each.number for each in found),
        "longest_collection_ms": _ms(max((each.longest_us for each in found), default=0.0)),
        "collecting_%": round(100 * spent / whole, 2) if whole else None,
    }


def _compiles(outcome: Outcome) -> bool:
    return outcome.status == "compiled"


def _first_masks(outcomes: Iterable[Outcome]) -> list[float]:
    return [time for outcome in outcomes for time in outcome.first_mask_us]


def _steps(outcomes: Iterable[Outcome]) -> list[float]:
    return [time for outcome in outcomes for time in outcome.step_us]


def _ratios(
    what: str, wanted: Mapping[str, float | None], ours: list[float], theirs: list[float]
) -> dict[str, Figure]:
    """Each wanted figure of `ours` divided by that of `theirs`; nothing without samples."""
    if not ours or not theirs:
        return {}
    ours, theirs = sorted(ours), sorted(theirs)
    return {
        f"{what} {name}": round(_figure(ours, percent) / _figure(theirs, percent), 3)
        for name, percent in wanted.items()
    }


def _figure(ordered: list[float], percent: float | None) -> float:
    return fmean(ordered) if percent is None else percentile(ordered, percent)


def _share(slower: Iterable[bool]) -> Figure:
    answers = list(slower)
    return round(100 * sum(answers) / len(answers), 1) if answers else None


def _ms(time_us: float) -> float:
    return round(time_us / 1000, 3)
