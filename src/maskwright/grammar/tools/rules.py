"""Translates tools and a format into rules.

With `auto`, an answer is free text, or free text up to the format's trigger and then calls. The
names of the tools form a trie. So with many tools, only those cost time whose names the text may
still become.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from itertools import pairwise, takewhile
from typing import Final, Literal

from msgspec import field

from maskwright.errors import InputError
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
    Cut,
    Expression,
    Repeat,
    Terminal,
)
from maskwright.grammar.tags.free_text import text_until, text_without
from maskwright.grammar.tags.rules import choice, literal, names_in, series
from maskwright.grammar.tools.formats import Template, ToolFormat
from maskwright.grammar.tools.tools import Tool, ToolChoice
from maskwright.immutable import Immutable

Reasoning = Literal["none", "section", "begun", "optional"]
"""Whether an answer begins with a reasoning section ("section"), within one ("begun"), or with one
if the model begins it ("optional")."""

MOST_CALLS: Final = 128
"""Most calls in one answer."""

_LINE_BREAK: Final = Cut(Terminal(words(["\n"])))
_LINE_BREAKS: Final = Choice((Choice((series(_LINE_BREAK, _LINE_BREAK), _LINE_BREAK)), Concat(())))
"""Up to two line breaks, as families write them between reasoning and answer. They belong to
nothing that may begin with one."""
_DIGITS: Final = repeat(chars(((ord("0"), ord("9")),)), 1, 3)


class ToolRules(Immutable):
    """Builds the grammar of an answer in one format."""

    format: ToolFormat
    special: Mapping[str, int]
    """Ids of the vocabulary's special tokens by name."""
    arguments: Callable[[Tool], Expression]
    """Returns the expression that replaces `$arguments`."""
    stop: tuple[str, ...] = ()
    """Strings that end free text. They are not part of it, and may occur in arguments."""
    reasoning_tokens: int | None = None
    """Upper bound on the tokens of a reasoning section; None for no bound."""
    reasoning_marks: tuple[str, str] | None = None
    """The strings or special tokens around a reasoning section; None for the format's."""
    reasoning_last: str = ""
    """What stands before the end of a reasoning section that has had all its tokens."""
    _texts: dict[str, Expression] = field(default_factory=dict[str, Expression])

    def expression(
        self,
        choice: ToolChoice,
        *,
        parallel: bool = True,
        reasoning: Reasoning = "none",
        answer: Expression | None = None,
    ) -> Expression:
        """Return the expression of a whole answer: free text (or `answer` in its place) or calls,
        as `choice` demands."""
        match choice.mode:
            case "none":
                said = self._words(answer, choice.tools)
            case "auto":
                said = self._words_or_calls(choice.tools, parallel, answer)
            case "required":
                said = self._calls(choice.tools, parallel, "")
            case "one":
                said = self._calls(choice.tools, False, "")
        marks = self.reasoning_marks or self.format.reasoning
        if reasoning == "none" or marks is None:
            return said
        section = self._reasoning(reasoning, *marks)
        if reasoning == "optional":
            section = Choice((section, Concat(())))
        return series(section, said)

    def _words(self, answer: Expression | None, tools: tuple[Tool, ...]) -> Expression:
        return self._filled(self.format.text, {"$text": answer or self._free_text(tools)})

    def _free_text(self, tools: tuple[Tool, ...]) -> Expression:
        """Return free text. If an answer with calls contains nothing else, free text doesn't begin
        like a call of one of `tools`."""
        ends = (*self._plain_trigger, *self.stop)
        spoken = ANYTHING
        if self.format.alone and tools:
            begins = words([self._first_call(tool.name) for tool in tools])
            spoken = complement(concat(begins, ANYTHING))
        text = intersection(text_without(ends), spoken)
        options: list[Expression] = [Capture("text", Terminal(text))]
        for stop in self.stop:
            text = intersection(text_until(stop, tuple(end for end in ends if end != stop)), spoken)
            options.append(Capture("text", Terminal(text), tail=stop))
        return choice(options)

    def _first_call(self, name: str) -> str:
        """Return the beginning of an answer that calls the tool `name`, with the text after the
        name."""
        at = self.format.call.index("$name")
        before = (*self.format.begin, *self.format.call[:at])
        return "".join((*before, name, self.format.call[at + 1]))

    @property
    def _plain_trigger(self) -> tuple[str, ...]:
        """The trigger, if it consists of plain text; empty if answers with calls contain nothing
        else."""
        if self.format.alone:
            return ()
        spelled = literal(self.format.trigger, self.special)
        return (self.format.trigger,) if isinstance(spelled, Terminal) else ()

    def _words_or_calls(
        self, tools: tuple[Tool, ...], parallel: bool, answer: Expression | None
    ) -> Expression:
        words_only = self._words(answer, tools)
        if answer is not None and self.first_calls(tools):
            return Choice((words_only, self._calls(tools, parallel, "", apart=True)))
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

    def first_calls(self, tools: tuple[Tool, ...]) -> tuple[str, ...]:
        """Return the texts with which an answer calls one of `tools`, if they are plain text and a
        shaped answer might begin with them too."""
        texts = tuple(self._first_call(tool.name) for tool in tools)
        if self.format.text != ("$text",):
            return ()
        return texts if all(isinstance(self._text(text), Terminal) for text in texts) else ()

    def _calls(
        self, tools: tuple[Tool, ...], parallel: bool, read: str, *, apart: bool = False
    ) -> Expression:
        """Return the calls without the text `read`, with which they begin. `apart`: whether a text
        that begins like a call must be one, whatever else it may be."""
        begin = "".join(self.format.begin)
        arguments = {tool.name: self._arguments(tool) for tool in tools}
        by_name = self._named(arguments, {tool.name for tool in tools if tool.input is not None})
        named = _trie(by_name, names_in("\n".join(by_name), self.special))
        more: Expression = Concat(())
        if parallel and self.format.parallel:
            more = Repeat(
                series(self._filled(self.format.separator, {}), self._call(named, "")),
                0,
                MOST_CALLS - 1,
            )
        if apart:
            heads = map(self._first_call, arguments)
            first = self._distinguished(dict(zip(heads, by_name.values(), strict=True)))
        else:
            first = series(
                literal(begin[len(read) :], self.special), self._call(named, read[len(begin) :])
            )
        return series(first, more, self._filled(self.format.end, {}))

    def _distinguished(self, rests: Mapping[str, Expression]) -> Expression:
        """Return the choice among the texts, each followed by its expression. Each gives up
        whatever is read beside it."""
        options: list[Expression] = []
        ordered = sorted(rests)
        for text, longer in pairwise(ordered):
            if longer.startswith(text):
                raise InputError(
                    f"calls that begin with {text!r} and {longer!r} can't stand beside a shape, "
                    "since the first is the beginning of the second; rename one of the tools",
                    param="tools",
                )
        for text, rest in rests.items():
            head = self._text(text)
            assert isinstance(head, Terminal)
            options.append(series(Cut(head), rest))
        return choice(options)

    def _call(self, named: Expression, read: str) -> Expression:
        """Return one call without the text `read`, with which it begins. `named` is the part from
        the tool's name on."""
        before = "".join(self.format.call[: self.format.call.index("$name")])
        return series(literal(before[len(read) :], self.special), named)

    def _arguments(self, tool: Tool) -> Expression:
        """Return the arguments of a tool, captured as a whole unless it is a custom tool."""
        said = self.arguments(tool)
        if tool.input is not None:
            return said
        one_by_one = self.format.parameter or self.format.literals == "python"
        return Capture("parameters" if one_by_one else "arguments", said)

    def _named(
        self, arguments: Mapping[str, Expression], custom: Collection[str]
    ) -> dict[str, Expression]:
        """Return, for each tool, the rest of a call by the tool's name with the text after it,
        which is no prefix of another tool's."""
        text, *rest = self.format.call[self.format.call.index("$name") + 1 :]
        return {
            name + text: Capture(
                f"{'custom' if name in custom else 'call'}:{name}",
                self._filled(tuple(rest), {"$arguments": said, "$index": Terminal(_DIGITS)}),
            )
            for name, said in arguments.items()
        }

    def _reasoning(self, reasoning: Reasoning, begin: str, end: str) -> Expression:
        """Return the reasoning section between its marks, without the first one if the prompt
        contains that. What begins like an optional section is one, whatever else it may be."""
        if (self.reasoning_last + end).find(end) < len(self.reasoning_last):
            raise InputError(
                f"what is said last of the reasoning holds its end, {end!r}", param="reasoning_last"
            )
        before = "" if reasoning == "begun" else begin
        head, tail = literal(before, self.special), literal(end, self.special)
        # A family that marks the answer as well has no line breaks before that mark.
        after = _LINE_BREAKS if self.format.text == ("$text",) else Concat(())
        if reasoning == "optional" and isinstance(head, Terminal):
            head = Cut(head)
        if self.reasoning_tokens == 0:
            text = series(Capture("reasoning", Concat(())), tail)
        elif isinstance(tail, Terminal):
            text = Capture("reasoning", self._bounded(text_until(end), len(end)), tail=end)
        else:
            text = series(Capture("reasoning", self._bounded(text_without(), 0)), tail)
        return series(head, text, after)

    def _bounded(self, language: Regular, tail: int) -> Expression:
        text, most = Terminal(language), self.reasoning_tokens
        return text if most is None else Bounded(text, most, tail, self.reasoning_last)

    def _filled(self, template: Template, parts: Mapping[str, Expression]) -> Expression:
        return series(*(parts[p] if p.startswith("$") else self._text(p) for p in template))

    def _text(self, text: str) -> Expression:
        """Return the expression of a text in a template."""
        known = self._texts.get(text)
        if known is None:
            known = self._texts[text] = literal(text, self.special)
        return known


def _trie(named: Mapping[str, Expression], special: Mapping[str, int]) -> Expression:
    """Return a choice among texts that share their common prefixes."""
    if len(named) == 1:
        [(text, rest)] = named.items()
        return series(literal(text, special), rest)
    pairs = zip(min(named), max(named), strict=False)
    common = "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    groups: dict[str, dict[str, Expression]] = {}
    for text, rest in named.items():
        left = text[len(common) :]
        groups.setdefault(left[:1], {})[left] = rest
    branches = Choice(tuple(_trie(group, special) for group in groups.values()))
    return series(literal(common, special), branches)
