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
from maskwright.grammar.regular.derivative import arcs
from maskwright.grammar.regular.terms import (
    ANYTHING,
    EPSILON,
    Regular,
    char,
    chars,
    complement,
    concat,
    intersection,
    repeat,
    words,
)
from maskwright.grammar.regular.terms import LengthBounded as BoundedLanguage
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
from maskwright.immutable import Immutable
from maskwright.limits import DEFAULT_LIMITS, Work
from maskwright.workbench.choices import LayoutName
from maskwright.workbench.conversion.languages import (
    compact,
    spelled_characters,
    spelled_language,
    spelled_text,
)
from maskwright.workbench.pointer import reference_tokens

_KEYWORDS: dict[type[Assertion], str] = {
    UniqueItems: "uniqueItems",
    Properties: "additionalProperties",
}


class ConversionLoss(NamedTuple):
    """Something that a grammar leaves open: it accepts more than the schema."""

    pointer: str
    message: str


class ConversionLosses:
    """Everything that a conversion has met so far, each once."""

    def __init__(self) -> None:
        self.found: dict[ConversionLoss, None] = {}

    def add(self, conjunction: Conjunction, kind: type[Assertion] | None, message: str) -> None:
        """Note a loss at the keyword of a kind of assertion about a value."""
        self.found[ConversionLoss(pointer_of_keyword(conjunction, kind), message)] = None

    def refuse(self) -> None:
        """Raise `UnsupportedSchemaError` if anything was lost."""
        if self.found:
            first, *others = self.found
            more = f"; and {len(others)} more like it" if others else ""
            raise UnsupportedSchemaError(first.message + more, pointer=first.pointer)


def pointer_of_keyword(conjunction: Conjunction, kind: type[Assertion] | None) -> str:
    """The JSON Pointer of the keyword that asserts something of a kind about a value; that of the
    value's schema if there is none."""
    place = None if kind is None else place_of(conjunction, lambda each: isinstance(each, kind))
    if kind is None or place is None:
        return construct_of(conjunction).pointer or ""
    return f"{place}/{_KEYWORDS[kind]}"


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


class JsonLayout(Immutable):
    """How the parts of arrays and objects are joined."""

    name: LayoutName

    def rules(self) -> dict[str, Expression]:
        """The rules that the other texts refer to."""
        if self.name != "flexible":
            return {}
        return {SPACE: Terminal(repeat(chars(charset.of(" \t\n\r")), 0, MOST_SPACE))}

    def opening(self, bracket: str) -> list[Expression]:
        return [text(bracket), *self._space()]

    def closing(self, bracket: str) -> list[Expression]:
        return [*self._space(), text(bracket)]

    def comma(self) -> list[Expression]:
        after = WHITESPACE[self.name].after_comma.decode()
        return [*self._space(), text("," + after), *self._space()]

    def colon(self) -> list[Expression]:
        after = WHITESPACE[self.name].after_colon.decode()
        return [*self._space(), text(":" + after), *self._space()]

    def empty(self, brackets: str) -> Expression:
        """An empty array or object."""
        return joined([*self.opening(brackets[0]), text(brackets[1])])

    def named(self, name: Expression, value: Expression) -> Expression:
        """A member of an object; `name` has its quotes."""
        return joined([name, *self.colon(), value])

    def _space(self) -> list[Expression]:
        return [Ref(SPACE)] if self.name == "flexible" else []


def text(characters: str) -> Terminal:
    """The terminal that is exactly this text."""
    return Terminal(concat(*map(char, characters)))


def joined(parts: list[Expression]) -> Expression:
    """Parts one after the other, with texts that follow each other joined to one."""
    merged: list[Expression] = []
    for part in parts:
        inner = part.parts if isinstance(part, Concat) else (part,)
        for each in inner:
            before = merged[-1] if merged else None
            if isinstance(each, Terminal) and isinstance(before, Terminal):
                merged[-1] = Terminal(concat(before.language, each.language))
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
        conversion = _Conversion(solver, JsonLayout(whitespace))
        start = conversion.value(root)
        rules = conversion.finish()
    if not approximate:
        conversion.losses.refuse()
    return ConvertedSchema(Rules(start.name, rules), tuple(conversion.losses.found))


class _Conversion:
    def __init__(self, solver: Solver, layout: JsonLayout) -> None:
        self._solver = solver
        self._layout = layout
        self.losses = ConversionLosses()
        self._rules: dict[str, Expression] = {}
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
        return self._rules | self._layout.rules()

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
            is_bounded = isinstance(language, BoundedLanguage)
            what = "the bounds of this string's length" if is_bounded else "this string's language"
            self.losses.add(conjunction, None, f"{what} would take too many rules")
            return self._new_string(language.core if is_bounded else ANYTHING, conjunction)
        self._rules.update(rules)
        return joined([text('"'), body, text('"')])

    # Arrays

    def _array(self, shape: ArrayShape, conjunction: Conjunction) -> Expression:
        several = shape.most is None or shape.most > 1
        if shape.unique and several:
            message = "a grammar can't say that the items of an array differ"
            self.losses.add(conjunction, UniqueItems, message)
        if shape.repeats:
            message = "a grammar can't say that two items of an array are equal"
            self.losses.add(conjunction, UniqueItems, message)
        if shape.contains:
            return self._stateful(ArrayProgress.start(shape), conjunction)
        return self._plain_array(shape)

    def _plain_array(self, shape: ArrayShape) -> Expression:
        """An array whose items depend on their places alone."""
        layout, most = self._layout, shape.most
        places = len(shape.prefix)
        for index, item in enumerate((*shape.prefix, shape.rest)):
            if not self._solver.satisfiable(item):
                most = index if most is None else min(most, index)
                break
        items = shape.prefix if most is None else shape.prefix[:most]
        rest: Expression | None = None
        if most is None or most > places:
            more = None if most is None else most - places - (not places)
            fewest = max(0, shape.least - places - (not places))
            again = Repeat(joined([*layout.comma(), self.value(shape.rest)]), fewest, more)
            rest = again if more != 0 else None
            if not places:
                items, rest = (shape.rest,), again if more != 0 else None
        body: Expression | None = rest
        for index in range(len(items) - 1, -1, -1):
            before = layout.comma() if index else []
            item = joined([*before, self.value(items[index]), *([body] if body else [])])
            is_needed = index < shape.least
            body = item if is_needed or not index else Repeat(item, 0, 1)
        whole = [] if body is None else [joined([*layout.opening("["), body, *layout.closing("]")])]
        return _choice([layout.empty("[]")] * (shape.least == 0) + whole)

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
        layout = self._layout
        places = [at for at, value in enumerate(shape.values) if self._solver.satisfiable(value)]
        members = [self._named(shape, at) for at in places]
        needed = [at in shape.required for at in places]
        lead = needed.index(True) if True in needed else len(places)
        after = [
            joined([*layout.comma(), member])
            if is_needed
            else Repeat(joined([*layout.comma(), member]), 0, 1)
            for member, is_needed in zip(members, needed, strict=True)
        ]
        options: list[Expression] = []
        tails = self._tails(after, lead, conjunction)
        for first in range(min(lead + 1, len(places))):
            body = joined([members[first], *tails[first + 1]])
            options.append(joined([*layout.opening("{"), body, *layout.closing("}")]))
        if lead == len(places):
            options.append(layout.empty("{}"))
        return _choice(options)

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

    def _named(self, shape: ObjectShape, at: int) -> Expression:
        name = _quoted(shape.names[at])
        return self._layout.named(name, self.value(shape.values[at]))

    # Containers whose state is more than a place

    def _stateful(self, progress: Progress, conjunction: Conjunction) -> Expression:
        is_array = isinstance(progress, ArrayProgress)
        brackets = "[]" if is_array else "{}"
        layout = self._layout
        begun = [
            joined(
                [
                    *layout.opening(brackets[0]),
                    part,
                    self._rest(after, conjunction),
                    *layout.closing(brackets[1]),
                ]
            )
            for part, after in self._parts(progress, conjunction)
        ]
        return _choice([layout.empty(brackets)] * progress.may_close() + begun)

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
            rest = self._rest(after, conjunction)
            options.append(joined([*self._layout.comma(), part, rest]))
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
                yield self._layout.named(name, self.value(option.value)), option.after
        yield from self._other_members(progress, conjunction)

    def _other_members(
        self, progress: ObjectProgress, conjunction: Conjunction
    ) -> Iterator[tuple[Expression, Progress]]:
        """The members whose names the shape doesn't list, with the progress after them. A class of
        few names is written out; of another, only the first member's name is known to be new."""
        if not progress.others_may_come("schema"):
            return
        for each in self._solver.values.names.of(progress.shape.languages):
            language = intersection(each.language, complement(words(progress.shape.names)))
            if not self._solver.values.is_live(language):
                continue
            few = self._solver.values.names.few(each)
            if few is not None and len(few) <= FEW_NAMES + len(progress.shape.names):
                for name in few:
                    if name in progress.shape.names or name in progress.others:
                        continue
                    for option in self._solver.other_options(progress, each, name):
                        named = self._layout.named(_quoted(name), self.value(option.value))
                        yield named, option.after
                continue
            for option in self._solver.other_options(progress, each, None):
                assert isinstance(option.after, ObjectProgress)
                if progress.has_unremembered:
                    message = (
                        "a grammar can't say that the names of other members differ; with "
                        "additionalProperties: false there are none"
                    )
                    self.losses.add(conjunction, Properties, message)
                named = self._layout.named(
                    self._string(language, conjunction), self.value(option.value)
                )
                yield named, replace(option.after, has_unremembered=True)


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
