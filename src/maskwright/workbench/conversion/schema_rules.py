"""The rules of a schema: a grammar whose texts are the schema's instances as JSON.

Every conjunction becomes a rule. An array or object whose items or members come in a fixed order is
written as one expression. Others, with counts, `contains` or requirements that some member has to
meet, become a rule for each progress of reading them (see `automaton.value.progress`), as the masks
follow them. Properties come in the order of the schema, as in what a server generates. What stands
around members and items depends on the style of white space.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from msgspec.structs import replace

from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.progress import ArrayProgress, ObjectProgress, Progress
from maskwright.automaton.value.whitespace import MOST_SPACE, WHITESPACE
from maskwright.errors import LimitError, UnsatisfiableSchemaError, UnsupportedSchemaError
from maskwright.grammar.regular import charset
from maskwright.grammar.regular import terms as r
from maskwright.grammar.regular.derivative import arcs
from maskwright.grammar.regular.terms import EPSILON, Regular
from maskwright.grammar.rules.tree import Choice, Concat, Expression, Ref, Repeat, Rules, Terminal
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.schema.tree import Assertion, Json, Properties, UniqueItems
from maskwright.grammar.shape.shape import (
    ArrayShape,
    Conjunction,
    ObjectShape,
    construct_of,
    place_of,
)
from maskwright.limits import DEFAULT_LIMITS, Work
from maskwright.workbench.choices import LayoutName
from maskwright.workbench.conversion.languages import (
    compact,
    spelled_characters,
    spelled_language,
    spelled_text,
)
from maskwright.workbench.pointer import reference_tokens

_KINDS: Final[dict[str, type[Assertion]]] = {
    "uniqueItems": UniqueItems,
    "additionalProperties": Properties,
}
"""The assertions of keywords at which something may be left open."""


class ConversionLoss(NamedTuple):
    """Something that a grammar leaves open: it accepts more than the schema."""

    pointer: str
    message: str


MOST_STATES: Final = 2_000
"""States of the automaton of one string that are written as rules."""


def string_rules(term: Regular, name: str) -> tuple[Expression, Mapping[str, Expression]]:
    """The spellings of a language's strings, without quotes, and the rules that they need.

    What isn't made of unions, concatenations and repetitions alone becomes a rule for each state of
    its automaton, with names that begin with `name`. Raises `LimitError`.
    """
    spelled = spelled_language(term)
    if spelled is not None:
        return Terminal(spelled), {}
    states: dict[Regular, str] = {term: name}
    rules: dict[str, Expression] = {}
    waiting = [term]
    for state in waiting:
        ranges: dict[Regular, list[tuple[int, int]]] = {}
        for low, high, target in arcs(state):
            ranges.setdefault(target, []).append((low, high))
        options: list[Expression] = [Terminal(EPSILON)] if state.nullable else []
        for target, some in ranges.items():
            if target not in states:
                states[target] = f"{name} {len(states) + 1}"
                waiting.append(target)
            step = Terminal(spelled_characters(tuple(some)))
            options.append(Concat((step, Ref(states[target]))))
        rules[states[state]] = options[0] if len(options) == 1 else Choice(tuple(options))
        if len(states) > MOST_STATES:
            raise LimitError(
                f"the automaton of a string has more than {MOST_STATES:,} states",
                limit="states of a converted string",
                value=MOST_STATES,
            )
    return Ref(states[term]), rules


SPACE: Final = "space"
"""The name of the rule for white space in the style "flexible"."""


def text(characters: str) -> Terminal:
    """The terminal that is exactly this text."""
    return Terminal(r.concat(*map(r.char, characters)))


def joined(parts: list[Expression]) -> Expression:
    """Parts one after the other, with texts that follow each other joined to one."""
    merged: list[Expression] = []
    for part in parts:
        inner = part.parts if isinstance(part, Concat) else (part,)
        for each in inner:
            before = merged[-1] if merged else None
            if isinstance(each, Terminal) and isinstance(before, Terminal):
                merged[-1] = Terminal(r.concat(before.language, each.language))
            else:
                merged.append(each)
    return merged[0] if len(merged) == 1 else Concat(tuple(merged))


MOST_RULES: Final = 20_000
FEW_NAMES: Final = 4
"""Names that no keyword lists, up to which each is written out, so that none comes twice."""
_NO_NAMES: Final = frozenset(
    ("properties", "items", "$defs", "definitions", "anyOf", "oneOf", "allOf", "prefixItems")
)
"""Keywords whose names say nothing of a value."""


class ConvertedSchema(NamedTuple):
    """The rules of a schema, and what they leave open."""

    rules: Rules
    losses: tuple[ConversionLoss, ...]


def schema_rules(
    schema: Json,
    *,
    whitespace: LayoutName = "spaced",
    digits: bool = True,
    closed: bool = False,
    approximate: bool = False,
) -> ConvertedSchema:
    """The rules whose texts are the instances of a schema, with properties in the schema's order
    and names and listed strings without needless escapes.

    `digits`: integers are written in digits alone, and numbers of `const` and `enum` as programs
    write them; else `1.0` and `1e0` are integers as well.
    `closed`: objects that list properties, and say nothing of others, have no others.
    `approximate`: what no context-free grammar of reasonable size says is left open, and listed.

    Raises `SchemaError`, `UnsupportedSchemaError` for what would be left open, `LimitError`.
    """
    with Work(DEFAULT_LIMITS):
        options = ParseOptions(plain_integers=digits, closed=closed, limits=DEFAULT_LIMITS)
        root = frozenset([parse_schema(schema, options).root])
        solver = Solver("schema", DEFAULT_LIMITS)
        if not solver.satisfiable(root):
            raise UnsatisfiableSchemaError("no JSON value matches the schema", pointer="")
        conversion = _Conversion(solver, whitespace)
        start = conversion.value(root)
        rules = conversion.finish()
    if conversion.losses and not approximate:
        first, *others = conversion.losses
        more = f"; and {len(others)} more like it" if others else ""
        raise UnsupportedSchemaError(first.message + more, pointer=first.pointer)
    return ConvertedSchema(Rules(start.name, rules), tuple(conversion.losses))


class _Conversion:
    def __init__(self, solver: Solver, layout: LayoutName) -> None:
        self._solver = solver
        self.losses: dict[ConversionLoss, None] = {}
        """What has been left open so far, each once."""
        self._rules: dict[str, Expression] = {}
        self._space: list[Expression] = [Ref(SPACE)] if layout == "flexible" else []
        style = WHITESPACE[layout]
        self._comma = [*self._space, text("," + style.after_comma.decode()), *self._space]
        self._colon = [*self._space, text(":" + style.after_colon.decode()), *self._space]
        self._values: dict[Conjunction, Ref] = {}
        self._numbers: dict[str, int] = {}
        """The number that was appended last to a name; 1 for none."""
        self._waiting: list[Conjunction] = []
        self._states: dict[Progress, Ref] = {}
        self._states_waiting: list[tuple[Progress, Conjunction]] = []
        self._strings: dict[Regular, Expression] = {}

    def value(self, conjunction: Conjunction) -> Ref:
        """The rule of a value, which is written later."""
        known = self._values.get(conjunction)
        if known is None:
            known = self._values[conjunction] = Ref(self._name(_name_of(conjunction)))
            self._waiting.append(conjunction)
        return known

    def finish(self) -> Mapping[str, Expression]:
        """All rules, once those that are waiting have been written."""
        while self._waiting or self._states_waiting:
            if self._states_waiting:
                progress, conjunction = self._states_waiting.pop()
                self._rules[self._states[progress].name] = self._after(progress, conjunction)
            else:
                conjunction = self._waiting.pop(0)
                self._rules[self._values[conjunction].name] = self._value(conjunction)
            if len(self._rules) > MOST_RULES:
                raise LimitError(
                    f"the schema needs more than {MOST_RULES:,} rules",
                    limit="rules of a converted schema",
                    value=MOST_RULES,
                )
        if self._space:
            self._rules[SPACE] = Terminal(r.repeat(r.chars(charset.of(" \t\n\r")), 0, MOST_SPACE))
        return self._rules

    def _lose(self, conjunction: Conjunction, keyword: str, message: str) -> None:
        """Note what is left open at a keyword about a value; at the value's schema, if the keyword
        is empty or isn't there."""
        kind = _KINDS.get(keyword)
        place = None if kind is None else place_of(conjunction, lambda one: isinstance(one, kind))
        schema = construct_of(conjunction).pointer or ""
        pointer = schema if place is None else f"{place}/{keyword}"
        self.losses[ConversionLoss(pointer, message)] = None

    def _enclosed(self, brackets: str, *parts: Expression) -> Expression:
        """The array or object that consists of these parts; an empty one without any."""
        inner = [*parts, *self._space] if parts else []
        return joined([text(brackets[0]), *self._space, *inner, text(brackets[1])])

    def _further(self, *parts: Expression) -> Expression:
        """A comma, and what follows it."""
        return joined([*self._comma, *parts])

    def _member(self, name: Expression, value: Conjunction) -> Expression:
        """A member of an object; `name` has its quotes."""
        return joined([name, *self._colon, self.value(value)])

    def _name(self, wanted: str) -> str:
        """A name that no rule has; its place is kept."""
        name = self._free_name(wanted)
        self._rules[name] = Terminal(EPSILON)
        return name

    def _free_name(self, wanted: str) -> str:
        number = self._numbers.get(wanted, 1)
        name = f"{wanted} {number}" if number > 1 else wanted
        while name in self._rules:
            number += 1
            name = f"{wanted} {number}"
        self._numbers[wanted] = number
        return name

    def _value(self, conjunction: Conjunction) -> Expression:
        shape = self._solver.values.shapes.normal_form(conjunction)
        options: list[Expression] = []
        if self._solver.values.is_live(shape.strings):
            options.append(self._string(shape.strings, conjunction))
        if self._solver.values.is_live(shape.scalars):
            options.append(Terminal(compact(shape.scalars)))
        options += [self._array(array, conjunction) for array in shape.arrays if self._ends(array)]
        options += [self._object(each, conjunction) for each in shape.objects if self._ends(each)]
        return _choice(options)

    def _ends(self, shape: ArrayShape | ObjectShape) -> bool:
        """Whether some array or object has this shape."""
        if isinstance(shape, ArrayShape):
            return self._solver.can_complete(ArrayProgress.start(shape))
        return self._solver.can_complete(ObjectProgress(shape))

    # Strings

    def _string(self, language: Regular, conjunction: Conjunction) -> Expression:
        """A string with its quotes."""
        known = self._strings.get(language)
        if known is None:
            known = self._strings[language] = self._new_string(language, conjunction)
        return known

    def _new_string(self, language: Regular, conjunction: Conjunction) -> Expression:
        name = _name_of(conjunction)
        try:
            body, rules = string_rules(language, self._free_name(f"{name} text"))
        except LimitError:
            is_bounded = isinstance(language, r.LengthBounded)
            what = "the bounds of this string's length" if is_bounded else "this string's language"
            self._lose(conjunction, "", f"{what} would take too many rules")
            return self._new_string(language.core if is_bounded else r.ANYTHING, conjunction)
        self._rules.update(rules)
        return joined([text('"'), body, text('"')])

    # Arrays

    def _array(self, shape: ArrayShape, conjunction: Conjunction) -> Expression:
        several = shape.most is None or shape.most > 1
        if shape.unique and several:
            message = "a grammar can't say that the items of an array differ"
            self._lose(conjunction, "uniqueItems", message)
        if shape.repeats:
            message = "a grammar can't say that two items of an array are equal"
            self._lose(conjunction, "uniqueItems", message)
        if shape.contains:
            return self._stateful(ArrayProgress.start(shape), conjunction)
        return self._plain_array(shape)

    def _plain_array(self, shape: ArrayShape) -> Expression:
        """An array whose items depend on their places alone."""
        most = shape.most
        for index, item in enumerate((*shape.prefix, shape.rest)):
            if not self._solver.satisfiable(item):
                most = index if most is None else min(most, index)
                break
        items = [*(shape.prefix if most is None else shape.prefix[:most])]
        if not items and most != 0:
            items = [shape.rest]  # the first one follows no comma
        more = None if most is None else most - len(items)
        body: list[Expression] = []
        if more != 0:
            again = self._further(self.value(shape.rest))
            body = [Repeat(again, max(0, shape.least - len(items)), more)]
        for index in range(len(items) - 1, 0, -1):
            item = self._further(self.value(items[index]), *body)
            body = [item if index < shape.least else Repeat(item, 0, 1)]
        whole = [self._enclosed("[]", self.value(items[0]), *body)] if items else []
        return _choice([self._enclosed("[]")] * (shape.least == 0) + whole)

    # Objects

    def _object(self, shape: ObjectShape, conjunction: Conjunction) -> Expression:
        is_counted = shape.least > len(shape.required) or shape.most is not None
        is_stateful = is_counted or shape.some or shape.declared < len(shape.names)
        if is_stateful or self._has_others(shape, conjunction):
            return self._stateful(ObjectProgress(shape), conjunction)
        return self._plain_object(shape, conjunction)

    def _has_others(self, shape: ObjectShape, conjunction: Conjunction) -> bool:
        """Whether an object that isn't counted may have members that the shape doesn't list. They
        come behind those that it lists, so the question is put there: at the start of an object
        with required members, none may come yet."""
        behind = ObjectProgress(shape, position=shape.declared)
        return any(self._other_members(behind, conjunction))

    def _plain_object(self, shape: ObjectShape, conjunction: Conjunction) -> Expression:
        """An object whose members come in one order, each at most once."""
        places = [at for at, value in enumerate(shape.values) if self._solver.satisfiable(value)]
        members = [self._member(_quoted(shape.names[at]), shape.values[at]) for at in places]
        needed = [at in shape.required for at in places]
        lead = needed.index(True) if True in needed else len(places)
        further = map(self._further, members)
        after = [
            member if is_needed else Repeat(member, 0, 1)
            for member, is_needed in zip(further, needed, strict=True)
        ]
        tails = self._tails(after, lead, conjunction)
        options = [
            self._enclosed("{}", members[first], *tails[first + 1])
            for first in range(min(lead + 1, len(places)))
        ]
        return _choice(options + [self._enclosed("{}")] * (lead == len(places)))

    def _tails(
        self, after: list[Expression], lead: int, conjunction: Conjunction
    ) -> list[list[Expression]]:
        """What may follow, by the place of the next member. Tails that several beginnings share are
        rules of their own."""
        tails: list[list[Expression]] = [[] for _ in range(len(after) + 1)]
        for place in range(len(after) - 1, -1, -1):
            tails[place] = [after[place], *tails[place + 1]]
            if 0 < place <= lead and place + 1 < len(after):
                name = self._name(f"{_name_of(conjunction)} rest")
                self._rules[name] = joined(tails[place])
                tails[place] = [Ref(name)]
        return tails

    # Containers whose state is more than a place

    def _stateful(self, progress: Progress, conjunction: Conjunction) -> Expression:
        brackets = "[]" if isinstance(progress, ArrayProgress) else "{}"
        begun = [
            self._enclosed(brackets, part, self._rest(after, conjunction))
            for part, after in self._parts(progress, conjunction)
        ]
        return _choice([self._enclosed(brackets)] * progress.may_close() + begun)

    def _rest(self, progress: Progress, conjunction: Conjunction) -> Ref:
        """The rule of what may follow up to the closing bracket."""
        known = self._states.get(progress)
        if known is None:
            name = self._name(f"{_name_of(conjunction)} rest")
            known = self._states[progress] = Ref(name)
            self._states_waiting.append((progress, conjunction))
        return known

    def _after(self, progress: Progress, conjunction: Conjunction) -> Expression:
        """What may follow the items or members read so far, up to the closing bracket."""
        options: list[Expression] = [Terminal(EPSILON)] if progress.may_close() else []
        for part, after in self._parts(progress, conjunction):
            options.append(self._further(part, self._rest(after, conjunction)))
        return _choice(options)

    def _parts(
        self, progress: Progress, conjunction: Conjunction
    ) -> Iterator[tuple[Expression, Progress]]:
        """Each item or member that may come next, with the progress after it."""
        if isinstance(progress, ArrayProgress):
            for option in self._solver.item_options(progress):
                yield self.value(option.value), option.after
            return
        shape = progress.shape
        for at in progress.names("schema"):
            name = _quoted(shape.names[at])
            for option in self._solver.named_options(progress, at):
                yield self._member(name, option.value), option.after
        yield from self._other_members(progress, conjunction)

    def _other_members(
        self, progress: ObjectProgress, conjunction: Conjunction
    ) -> Iterator[tuple[Expression, Progress]]:
        """The members whose names the shape doesn't list, with the progress after them. A class of
        few names is written out; of another, only the first member's name is known to be new."""
        if not progress.others_may_come("schema"):
            return
        for each in self._solver.values.names.of(progress.shape.languages):
            language = r.intersection(each.language, r.complement(r.words(progress.shape.names)))
            if not self._solver.values.is_live(language):
                continue
            few = self._solver.values.names.few(each)
            if few is not None and len(few) <= FEW_NAMES + len(progress.shape.names):
                for name in few:
                    if name in progress.shape.names or name in progress.others:
                        continue
                    for option in self._solver.other_options(progress, each, name):
                        yield self._member(_quoted(name), option.value), option.after
                continue
            for option in self._solver.other_options(progress, each, None):
                assert isinstance(option.after, ObjectProgress)
                if progress.has_unremembered:
                    message = (
                        "a grammar can't say that the names of other members differ; with "
                        "additionalProperties: false there are none"
                    )
                    self._lose(conjunction, "additionalProperties", message)
                member = self._member(self._string(language, conjunction), option.value)
                yield member, replace(option.after, has_unremembered=True)


def _quoted(name: str) -> Expression:
    return joined([text('"'), Terminal(spelled_text(name)), text('"')])


def _choice(options: list[Expression]) -> Expression:
    options = list(dict.fromkeys(options))
    return options[0] if len(options) == 1 else Choice(tuple(options))


def _name_of(conjunction: Conjunction) -> str:
    """A name for the rule of a value, from where its schema stands."""
    tokens = reference_tokens(construct_of(conjunction).pointer or "")
    named = [t for t in tokens if t not in _NO_NAMES and not t.isdigit()]
    return named[-1] if named else "item" if tokens else "value"
