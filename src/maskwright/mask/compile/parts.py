"""What structural tags and tool calls are made of: schemas, patterns and grammars as expressions,
with the rules that these need and the reports on their keywords."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final, get_args

from msgspec import structs

from maskwright.automaton.rules.network import RuleNetwork
from maskwright.automaton.rules.values import is_satisfiable
from maskwright.automaton.satisfy.solver import Solver
from maskwright.automaton.value.whitespace import WHITESPACE, WhitespaceName
from maskwright.errors import (
    Construct,
    InputError,
    LimitError,
    RegexError,
    SchemaError,
    StructuralTagError,
    UnsatisfiableGrammarError,
    UnsatisfiableSchemaError,
)
from maskwright.grammar.dialects.detect import Dialect
from maskwright.grammar.dialects.read import ReadGrammar, read_grammar
from maskwright.grammar.dialects.special import GrammarTokens
from maskwright.grammar.pattern.flags import Flags
from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.derivative import is_live
from maskwright.grammar.regular.terms import ANYTHING
from maskwright.grammar.rules.begins import refuse_bounded
from maskwright.grammar.rules.fold import fold_rules
from maskwright.grammar.rules.tree import Expression, JsonValue, Ref, Rules, Terminal, renamed
from maskwright.grammar.schema.document import escape
from maskwright.grammar.schema.options import (
    AdditionalProperties,
    Escapes,
    Integers,
    Numbers,
    PropertyOrder,
)
from maskwright.grammar.schema.parse import ParseOptions, parse_schema
from maskwright.grammar.schema.remarks import pattern_remarks
from maskwright.grammar.schema.tree import Json, Report, ReportEntry, Schema
from maskwright.grammar.shape.shapes import Shapes
from maskwright.grammar.tags.rules import TagRules
from maskwright.grammar.tags.tree import Format, GrammarText, JsonSchemaText, RegexText
from maskwright.grammar.tools.arguments import Parameters
from maskwright.grammar.tools.cohere_values import CohereValues
from maskwright.grammar.tools.custom_input import custom_arguments, spelled, surroundings
from maskwright.grammar.tools.formats import ParameterStyle, ToolFormat, parameter_style
from maskwright.grammar.tools.members import DECLARED_ONLY, DeclaredMembers, object_schema
from maskwright.grammar.tools.python_arguments import PythonArguments
from maskwright.grammar.tools.tools import CustomInput, Tool
from maskwright.limits import Limits
from maskwright.mask.compile.rules import compile_rules
from maskwright.mask.grammar import Grammar
from maskwright.mask.shared.generations import tables_of
from maskwright.mask.shared.known_tools import Arguments
from maskwright.vocab import Vocabulary

START = "start"
_WORDS: Final[dict[str, Iterable[str]]] = {
    "whitespace": WHITESPACE,
    "property_order": get_args(PropertyOrder),
    "integers": get_args(Integers),
    "numbers": get_args(Numbers),
    "escapes": get_args(Escapes),
    "additional_properties": get_args(AdditionalProperties),
}
"""The words of each option."""


@dataclass(slots=True)
class Parts:
    """Compiles the contents of tags and calls, and collects their rules and the reports of their
    schemas."""

    vocabulary: Vocabulary
    whitespace: WhitespaceName
    property_order: PropertyOrder
    integers: Integers
    escapes: Escapes
    additional_properties: AdditionalProperties
    numbers: Numbers
    limits: Limits
    rules: dict[str, Expression] = field(default_factory=dict[str, Expression])
    enforced: list[ReportEntry] = field(default_factory=list[ReportEntry])
    annotations: list[ReportEntry] = field(default_factory=list[ReportEntry])
    impossible: list[Tool] = field(default_factory=list[Tool])
    """Tools that can't be called, because no object satisfies their schema."""
    grammars: list[ReadGrammar] = field(default_factory=list[ReadGrammar])
    """The grammars whose rules are included."""
    intricate: bool = False
    """Whether some schema has keywords that may exceed a limit even in small numbers."""

    def __post_init__(self) -> None:
        for name, known in _WORDS.items():
            if getattr(self, name) not in known:
                raise InputError(f"{name} is one of {', '.join(known)}", param=name)

    def compiled(self, *, check_values: bool = True) -> Grammar:
        report = Report(tuple(self.enforced), tuple(self.annotations))
        rules = Rules(START, self.rules)
        try:
            grammar = compile_rules(
                rules,
                self.vocabulary,
                report=report,
                limits=self.limits,
                check_values=check_values,
            )
        except UnsatisfiableGrammarError:
            for read in self.grammars:
                self._check_texts(read)  # whose errors name the rules as they are written
            raise
        if self.intricate:
            grammar.find_first_mask()
        return grammar

    def _check_texts(self, read: ReadGrammar) -> Rules:
        """The rules of a grammar, its regular parts joined. Raises `UnsatisfiableGrammarError` with
        the place if it has no text."""
        rules = fold_rules(read.rules)
        try:
            RuleNetwork(rules, self._has_value, self.limits)
        except UnsatisfiableGrammarError as error:
            raise read.placed(error) from None
        return rules

    def schema(self, source: Json, pointer: str) -> Schema:
        """Parse a schema that stands at `pointer`."""
        options = ParseOptions(
            plain_integers=self.integers == "digits",
            closed=self.additional_properties == "forbid",
            limits=self.limits,
        )
        parsed = parse_schema(source, options)
        if options.closed and not self.is_satisfiable(parsed.root):
            parsed = parse_schema(source, replace(options, closed=False))
        self.intricate |= parsed.intricate
        for new, entries in (
            (parsed.report.enforced, self.enforced),
            (parsed.report.annotations, self.annotations),
        ):
            entries += [structs.replace(entry, pointer=pointer + entry.pointer) for entry in new]
        return parsed.root

    def value(self, schema: Schema) -> JsonValue:
        return JsonValue(schema, self.whitespace, self.property_order, self.escapes, self.numbers)

    def is_satisfiable(self, schema: Schema) -> bool:
        """Whether some value satisfies a schema."""
        return self._has_value(self.value(schema))

    def _has_value(self, value: JsonValue) -> bool:
        return is_satisfiable(value, lambda: Solver(self.property_order, self.limits, self.numbers))

    def _written(self, leaf: JsonSchemaText, schema: Schema) -> JsonValue:
        """Return a value with the options of its format, and with the general ones for the rest."""
        whitespace = "compact" if leaf.compact else self.whitespace
        order = self.property_order
        if leaf.any_order is not None:
            order = "any" if leaf.any_order else "schema"
        return JsonValue(schema, whitespace, order, self.escapes, self.numbers)

    def leaf(self, leaf: JsonSchemaText | RegexText | GrammarText) -> Expression:
        """Translate a schema, pattern or grammar in a tag. Raises its errors with their place."""
        try:
            match leaf:
                case JsonSchemaText(schema=source, style="json"):
                    return self._written(leaf, self.schema(source, leaf.pointer))
                case JsonSchemaText(schema=source, style=style):
                    root = self.schema(source, leaf.pointer)
                    if style == "cohere_xml":
                        return self._cohere_values(root, leaf.pointer)
                    return self._parameters(parameter_style(style), root, leaf.pointer)
                case RegexText(pattern=pattern):
                    self.annotations += pattern_remarks(pattern, leaf.pointer)
                    return Terminal(full_match(pattern, self.limits))
                case GrammarText(grammar=text, syntax=syntax):
                    dialect = None if syntax == "auto" else syntax
                    return self.grammar(text, dialect, leaf.pointer)
        except SchemaError as error:
            raise type(error)(error.reason, pointer=leaf.pointer + error.pointer) from None
        except LimitError as error:
            error.complete(construct=Construct.schema(""))
            if error.pointer is not None:
                error.place(Construct.schema(leaf.pointer + error.pointer))
            raise
        except RegexError as error:
            raise RegexError(
                error.reason,
                pattern=error.pattern,
                position=error.position,
                unsupported=error.unsupported,
                pointer=leaf.pointer,
            ) from None
        except InputError as error:
            raise StructuralTagError(error.message, pointer=leaf.pointer) from error

    def tag(self, tag: Format) -> Expression:
        """Translate a structural tag."""
        vocab = self.vocabulary
        rules = TagRules(vocab.special_tokens, vocab.tokens, self.leaf, frozenset(vocab.eos))
        return rules.expression(tag)

    def grammar(self, text: str, dialect: Dialect | None, pointer: str | None = None) -> Expression:
        """Translate a grammar; without a `dialect`, that is recognised. `pointer`: where it stands
        in something else."""
        read = self._read(text, dialect, pointer, "a structural tag or an answer beside tools")
        self.grammars.append(read)
        prefix = f"{len(self.rules)}:"
        for name, body in read.rules.rules.items():
            self.rules[prefix + name] = renamed(body, prefix)
        return Ref(prefix + read.rules.start)

    def _read(
        self, text: str, dialect: Dialect | None, pointer: str | None, within: str
    ) -> ReadGrammar:
        """A grammar that stands `within` something else, whose bounds on tokens are refused."""
        vocab = self.vocabulary
        tokens = GrammarTokens(vocab.special_tokens, frozenset(vocab.eos), vocab.tokens)
        read = read_grammar(text, dialect, tokens=tokens, limits=self.limits)
        self.annotations += read.remarks(pointer)
        refuse_bounded(read.rules, within)
        return read

    def arguments(self, format: ToolFormat, tool: Tool) -> Expression:
        """Translate the arguments of a tool."""
        arguments = self._known_arguments(tool, format)
        self.rules |= arguments.rules
        self.enforced += arguments.enforced
        self.annotations += arguments.annotations
        self.intricate |= arguments.intricate
        if not arguments.possible:
            self.impossible.append(tool)
        return arguments.expression

    def check_arguments(self, tool: Tool, format: ToolFormat) -> None:
        """Raise the error that keeps a tool from being called, if there is one."""
        if not self._known_arguments(tool, format).possible:
            raise no_arguments(tool)

    def _known_arguments(self, tool: Tool, format: ToolFormat) -> Arguments:
        own = (getattr(self, name) for name in _WORDS)
        return tables_of(self.vocabulary).tools.get(
            tool.parameters,
            (tool.name, tool.input, *own, self.limits, format.parameter, format.literals),
            lambda: self._arguments(tool, format),
        )

    def _arguments(self, tool: Tool, format: ToolFormat) -> Arguments:
        parts = replace(self, rules={}, enforced=[], annotations=[], impossible=[], intricate=False)
        if tool.input is not None:
            said = parts._input(tool, tool.input, format)
            return Arguments(said, parts.rules, (), tuple(parts.annotations))
        try:
            root = parts.schema(tool.parameters, f"/{escape(tool.name)}")
            possible = parts.is_satisfiable(object_schema(root))
            if format.literals == "python":
                members = DeclaredMembers(Shapes(self.limits, numbers=self.numbers), "as Python")
                said = PythonArguments(members, tool.name, parts.rules).expression(root)
                parts._note_narrowed(members, f"/{escape(tool.name)}")
            elif format.parameter:
                style = ParameterStyle(format.parameter)
                said = parts._parameters(style, root, f"/{escape(tool.name)}")
            else:
                said = parts.value(object_schema(root))
        except SchemaError as error:
            reason = f"tool {tool.name!r}: {error.reason}"
            raise type(error)(reason, pointer=error.pointer, param=tool.place) from None
        except LimitError as error:
            error.param = tool.place
            error.complete(construct=Construct.schema(""))
            error.within(f"tool {tool.name!r}")
            raise
        except RegexError as error:
            error.param = tool.place
            raise
        return Arguments(
            said,
            parts.rules,
            tuple(parts.enforced),
            tuple(parts.annotations),
            possible,
            parts.intricate,
        )

    def _input(self, tool: Tool, wanted: CustomInput, format: ToolFormat) -> Expression:
        """Translate the input of a custom tool. Raises errors that name its definition."""
        around = surroundings(format, compact=self.whitespace == "compact")
        try:
            rules = self._input_rules(wanted, f"/{tool.name}")
            prefix = f"{tool.name}:"
            for name, body in rules.rules.items():
                self.rules[prefix + name] = spelled(body, around, prefix)
        except UnsatisfiableGrammarError as error:
            raise UnsatisfiableGrammarError(
                f"tool {tool.name!r}: no text matches its grammar: {error.message}",
                rule=error.rule,
                param=wanted.place,
            ) from None
        except InputError as error:
            error.param = wanted.place
            raise
        start = self.rules[prefix + rules.start]
        said = start if isinstance(start, Terminal) else Ref(prefix + rules.start)
        return custom_arguments(said, around, self.vocabulary.special_tokens)

    def _input_rules(self, wanted: CustomInput, pointer: str) -> Rules:
        match wanted.syntax:
            case "text":
                return Rules(START, {START: Terminal(ANYTHING)})
            case "regex":
                flags = Flags(syntax="python")  # which has the named groups of OpenAI's patterns
                language = full_match(wanted.definition, self.limits, flags)
                if not is_live(language, self.limits.witness_search):
                    raise RegexError(
                        "the pattern matches no text", pattern=wanted.definition, position=0
                    )
                self.annotations += pattern_remarks(wanted.definition, pointer)
                return Rules(START, {START: Terminal(language)})
            case dialect:
                within = "the input of a tool"
                return self._check_texts(self._read(wanted.definition, dialect, pointer, within))

    def _parameters(self, style: ParameterStyle, root: Schema, pointer: str) -> Expression:
        """Translate a schema that stands at `pointer` into parameters."""
        members = DeclaredMembers(Shapes(self.limits, numbers=self.numbers), "one by one")
        special = self.vocabulary.special_tokens
        said = Parameters(style, special, members, self.value).expression(root)
        self._note_narrowed(members, pointer)
        return said

    def _cohere_values(self, root: Schema, pointer: str) -> Expression:
        """Translate a schema that stands at `pointer` into elements in Cohere's notation."""
        members = DeclaredMembers(Shapes(self.limits, numbers=self.numbers), "as elements")
        special = self.vocabulary.special_tokens
        said = CohereValues(members, f"cohere {pointer}", self.rules, special).expression(root)
        self._note_narrowed(members, pointer)
        return said

    def _note_narrowed(self, members: DeclaredMembers, pointer: str) -> None:
        self.enforced += [
            ReportEntry(pointer + place, "additionalProperties", DECLARED_ONLY)
            for place in members.narrowed
        ]


def no_arguments(tool: Tool) -> UnsatisfiableSchemaError:
    """Return the error of a tool whose parameters no object matches."""
    return UnsatisfiableSchemaError(
        f"tool {tool.name!r}: no object matches its parameters", pointer="", param=tool.place
    )
