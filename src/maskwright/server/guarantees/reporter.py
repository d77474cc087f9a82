"""The report of each answer, with the verdicts of the checks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final, cast

from maskwright.errors import MaskwrightError
from maskwright.grammar.schema.tree import Report
from maskwright.processes import GrammarProcesses, Inquiry
from maskwright.processes.validation import Check, checked
from maskwright.server.answer.parts import WholeAnswer
from maskwright.server.grammars.recipes import ReasoningSection, Recipes
from maskwright.server.guarantees.checks import checks_of
from maskwright.server.guarantees.report import report_body
from maskwright.server.json import Json
from maskwright.server.request.answer_request import AnswerRequest
from maskwright.vocab import Vocabulary

PATIENCE: Final = 10.0
"""Seconds that an answer waits for its checks."""


class Reporter:
    """Makes the reports of the answers to one request."""

    def __init__(
        self,
        request: AnswerRequest,
        recipes: Recipes,
        report: Report | None,
        vocabulary: Vocabulary,
        processes: GrammarProcesses | None,
        section: ReasoningSection | None = None,
    ) -> None:
        """`report`: that of the grammar, None if there is none. `section`: its reasoning section.
        `processes` make the checks; without, none is made, since nothing could stop one that never
        ends."""
        self._request = request
        self._recipes = recipes
        self._vocabulary = vocabulary
        self._processes = processes
        self._section = section
        self._body = report_body(request, recipes, report)

    async def report(
        self, message: WholeAnswer, tokens: Sequence[int], shortened_at: int | None
    ) -> Json:
        """Return the report of one answer. `valid` is true if every check says so, false if one
        says no, null if there is none or one can't be decided. `shortened_at`: the first of the
        `tokens` that the token limit has changed."""
        checks = checks_of(
            self._request, self._recipes, message, tokens, self._vocabulary, self._section
        )
        verdicts = await self._verdicts(checks)
        found = [verdict["valid"] for verdict in verdicts]
        valid = False if False in found else None if None in found or not found else True
        return {**self._body, "shortened_at": shortened_at, "valid": valid, "checks": verdicts}

    async def _verdicts(self, checks: list[Check]) -> list[Json]:
        if not checks:
            return []
        if self._processes is None:
            return _undecided(checks, "the server runs without grammar processes")
        future = asyncio.wrap_future(self._processes.inquire(Inquiry(checked, (checks,))))
        try:
            async with asyncio.timeout(PATIENCE):
                return cast(list[Json], await future)
        except TimeoutError:
            return _undecided(checks, f"it takes more than {PATIENCE:g} seconds")
        except MaskwrightError as error:  # a limit, or the processes have ended
            return _undecided(checks, str(error))


def _undecided(checks: list[Check], reason: str) -> list[Json]:
    return [
        {"subject": check.subject, "by": None, "valid": None, "errors": [], "reason": reason}
        for check in checks
    ]
