"""From tools and a format to rules.

Under `auto`, an answer is free text up to the format's trigger, then calls; or text alone. The
names of the tools are read letter by letter along a tree, so that many tools cost no more than the
few that a text can still become.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final, Literal

from maskwright.grammar.regular.terms import (
    ANYTHING,
    Regular,
    chars,
    complement,
    concat,
    intersection,
    repeat,
    words,
)
from maskwright.grammar.rules.tree import (
    Bounded,
    Capture,
    Choice,
    Concat,
    Expression,
    Repeat,
    Terminal,
)
from maskwright.grammar.tags.free_text import text_until, text_without
from maskwright.grammar.tags.rules import literal, names_in, series
from maskwright.grammar.tools.formats import Template, ToolFormat
from maskwright.grammar.tools.tools import Tool, ToolChoice

Reasoning = Literal["none", "section", "begun"]
"""Does an answer begin with a reasoning section, or (begun) inside of one?"""

MOST_CALLS: Final = 128
"""Calls in one answer."""

_DIGITS: Final = repeat(chars(((ord("0"), ord("9")),)), 1, 3)


@dataclass(frozen=True, slots=True)
class ToolRules:
    """Builds the grammar of an answer in one format."""

    format: ToolFormat
    special: Mapping[str, int]
    """Ids of the vocabulary's special tokens by name."""
    arguments: Callable[[Tool], Expression]
    """What stands for `$arguments`."""
    stop: tuple[str, ...] = ()
    """Strings that end an answer in words. They end the text, not being part of it, and may stand
    in arguments."""
    reasoning_tokens: int | None = None
    """The most tokens of a reasoning section, at least one."""
    _texts: dict[str, Expression] = field(default_factory=dict[str, Expression], init=False)

    def expression(
        self,
        choice: ToolChoice,
        *,
        parallel: bool = True,
        reasoning: Reasoning = "none",
        answer: Expression | None = None,
    ) -> Expression:
        """Words (or `answer`, in their place) or calls, as `choice` has it."""
        match choice.mode:
            case "none":
                said = self._words(answer, choice.tools)
            case "auto":
                said = self._words_or_calls(choice.tools, parallel, answer)
            case "required":
                said = self._calls(choice.tools, parallel, "")
            case "one":
                said = self._calls(choice.tools, False, "")
        if reasoning == "none" or not self.format.reasoning:
            return said
        return series(self._reasoning(begun=reasoning == "begun"), said)

    def _words(self, answer: Expression | None, tools: tuple[Tool, ...]) -> Expression:
        return self._filled(self.format.text, {"$text": answer or self._free_text(tools)})

    def _free_text(self, tools: tuple[Tool, ...]) -> Expression:
        """Words; where calls stand alone, those that don't begin like a call of one of `tools`."""
        ends = (*self._plain_trigger, *self.stop)
        spoken = ANYTHING
        if self.format.alone and tools:
            begins = words([self._first_call(tool) for tool in tools])
            spoken = complement(concat(begins, ANYTHING))
        text = intersection(text_without(ends), spoken)
        options: list[Expression] = [Capture("text", Terminal(text))]
        for stop in self.stop:
            text = intersection(text_until(stop, tuple(end for end in ends if end != stop)), spoken)
            options.append(Capture("text", Terminal(text), tail=stop))
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _first_call(self, tool: Tool) -> str:
        """How an answer that calls a tool begins, up to the end of the name."""
        at = self.format.call.index("$name")
        before = (*self.format.begin, *self.format.call[:at])
        return "".join((*before, tool.name, self.format.call[at + 1]))

    @property
    def _plain_trigger(self) -> tuple[str, ...]:
        """The trigger, where plain text could spell it; none where calls stand alone."""
        if self.format.alone:
            return ()
        spelled = literal(self.format.trigger, self.special)
        return (self.format.trigger,) if isinstance(spelled, Terminal) else ()

    def _words_or_calls(
        self, tools: tuple[Tool, ...], parallel: bool, answer: Expression | None
    ) -> Expression:
        words_only = self._words(answer, tools)
        if answer is not None or self.format.alone or self.format.text != ("$text",):
            return Choice((words_only, self._calls(tools, parallel, "")))
        trigger = self.format.trigger
        if self._plain_trigger:
            text = text_until(trigger, self.stop)
            before: Expression = Capture("text", Terminal(text), tail=trigger)
        else:
            text = text_without(self.stop)
            before = series(Capture("text", Terminal(text)), literal(trigger, self.special))
        return Choice((words_only, series(before, self._calls(tools, parallel, trigger))))

    def _calls(self, tools: tuple[Tool, ...], parallel: bool, read: str) -> Expression:
        """The calls, once `read` of their beginning has been read."""
        begin = "".join(self.format.begin)
        one_by_one = self.format.parameter or self.format.literals == "python"
        kind = "parameters" if one_by_one else "arguments"
        arguments = {tool.name: Capture(kind, self.arguments(tool)) for tool in tools}
        named = self._by_name(self._named(arguments))
        first = self._call(named, read[len(begin) :])
        more: Expression = Concat(())
        if parallel and self.format.parallel:
            more = Repeat(
                series(self._filled(self.format.separator, {}), self._call(named, "")),
                0,
                MOST_CALLS - 1,
            )
        return series(
            literal(begin[len(read) :], self.special),
            first,
            more,
            self._filled(self.format.end, {}),
        )

    def _call(self, named: Expression, read: str) -> Expression:
        """One call of any of the tools, of which `read` has been read; `named` is what comes from
        the tool's name on."""
        before = "".join(self.format.call[: self.format.call.index("$name")])
        return series(literal(before[len(read) :], self.special), named)

    def _named(self, arguments: Mapping[str, Expression]) -> dict[str, Expression]:
        """By tool: its name and the text after it, which no other's name goes on with, and what
        comes then."""
        text, *behind = self.format.call[self.format.call.index("$name") + 1 :]
        return {
            name + text: Capture(
                f"call:{name}",
                self._filled(tuple(behind), {"$arguments": said, "$index": Terminal(_DIGITS)}),
            )
            for name, said in arguments.items()
        }

    def _by_name(self, named: Mapping[str, Expression]) -> Expression:
        """One of the texts, followed by what belongs to it; which one shows letter by letter."""
        return _told_apart(named, names_in("\n".join(named), self.special))

    def _reasoning(self, *, begun: bool) -> Expression:
        """The reasoning section; without its beginning if the prompt has that already."""
        template = self.format.reasoning
        at = template.index("$text")
        end = "".join(template[at + 1 :])
        before = "" if begun else "".join(template[:at])
        tail = literal(end, self.special)
        if isinstance(tail, Terminal):
            text = Capture("reasoning", self._bounded(text_until(end), len(end)), tail=end)
        else:
            text = series(Capture("reasoning", self._bounded(text_without(), 0)), tail)
        return series(literal(before, self.special), text)

    def _bounded(self, language: Regular, tail: int) -> Expression:
        text = Terminal(language)
        return text if (most := self.reasoning_tokens) is None else Bounded(text, most, tail)

    def _filled(self, template: Template, parts: Mapping[str, Expression]) -> Expression:
        return series(*(parts[p] if p.startswith("$") else self._text(p) for p in template))

    def _text(self, text: str) -> Expression:
        """A part of a template."""
        known = self._texts.get(text)
        if known is None:
            known = self._texts[text] = literal(text, self.special)
        return known


def _told_apart(named: Mapping[str, Expression], special: Mapping[str, int]) -> Expression:
    if len(named) == 1:
        [(text, rest)] = named.items()
        return series(literal(text, special), rest)
    common = _common_beginning(named)
    groups: dict[str, dict[str, Expression]] = {}
    for text, rest in named.items():
        left = text[len(common) :]
        groups.setdefault(left[:1], {})[left] = rest
    branches = Choice(tuple(_told_apart(group, special) for group in groups.values()))
    return series(literal(common, special), branches)


def _common_beginning(texts: Collection[str]) -> str:
    first, last = min(texts), max(texts)
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return "".join(character for character, _ in same)
