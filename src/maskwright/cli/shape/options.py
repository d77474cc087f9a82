"""The options of the commands about shapes, which are read before a command is imported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from maskwright.automaton.value.whitespace import WhitespaceName
from maskwright.cli.options import (
    BEFORE_HELP,
    JSON_HELP,
    KIND_HELP,
    ORDER_HELP,
    SHAPE_HELP,
    TEXT_HELP,
    VOCABULARY_HELP,
    WHITESPACE_HELP,
)
from maskwright.grammar.schema.options import Integers, PropertyOrder
from maskwright.settings import REQUIRED, argument, option
from maskwright.workbench.choices import (
    COMPARISON_SECONDS,
    MOST_PAIRS,
    Kind,
    LayoutName,
    PictureName,
    Profile,
    Which,
)

OutputFormat: TypeAlias = Literal["text", "json", "github", "sarif"]


@dataclass(frozen=True, slots=True)
class CasesOptions:
    """What `maskwright test` is given."""

    files: list[str] = argument("Files with test cases, in YAML or JSON.")
    report: str | None = option(
        None, "File to which a report in JUnit's XML is written.", flag="--junit"
    )
    watch: bool = option(False, "Run the cases again whenever a file changes.", flag="--watch")
    as_json: bool = option(False, JSON_HELP, flag="--json")


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What `maskwright check` is given."""

    shapes: list[str] = argument(f"{SHAPE_HELP} Or a folder of such files.")
    kind: Kind = option("auto", KIND_HELP)
    property_order: PropertyOrder = option("any", ORDER_HELP)
    profile: Profile | None = option(None, "Whose rules a schema has to keep as well.")
    ignore: list[str] = option(
        [],
        "A rule to be silent about, as it stands in brackets; 'unbounded-*' stands for all that "
        "begin so. May be repeated.",
        metavar="RULE",
    )
    fix: bool = option(False, "Write the file of SHAPE anew with what can be mended.", flag="--fix")
    watch: bool = option(False, "Check again whenever one of the files changes.", flag="--watch")
    output_format: OutputFormat = option(
        "text", "For people, for programs, for GitHub, for code scanning."
    )
    as_json: bool = option(False, "As --output-format json.", flag="--json")


@dataclass(frozen=True, slots=True)
class ConvertOptions:
    """What `maskwright convert` is given."""

    shape: str = argument(SHAPE_HELP)
    to: str = option(REQUIRED, "The dialect to write: lark, gbnf or ebnf.")
    dialect: str = option(
        "auto", "The dialect of a grammar. Default: by the file's name, or by the text."
    )
    start: str | None = option(None, "The start rule of a grammar. Default: that of the dialect.")
    kind: Kind = option("auto", KIND_HELP)
    whitespace: LayoutName = option(
        "spaced", "White space between the parts of a schema's instances."
    )
    integers: Integers = option(
        "digits", "How integers are written; with 'any' also as 1.0 and 1e0."
    )
    closed: bool = option(
        False,
        "Objects have no other properties than those that a schema lists, unless it says that they "
        "have.",
        flag="--closed",
    )
    approximate: bool = option(
        False, "Leave open what no grammar can say of a schema.", flag="--approximate"
    )
    as_json: bool = option(False, JSON_HELP, flag="--json")


@dataclass(frozen=True, slots=True)
class DiffOptions:
    """What `maskwright diff` is given."""

    first: str = argument(SHAPE_HELP)
    second: str = argument("The other shape, given in the same ways.")
    kind: Kind = option("auto", KIND_HELP)
    property_order: PropertyOrder = option("any", ORDER_HELP)
    seconds: float = option(COMPARISON_SECONDS, "Time for the comparison.", least=0.1)
    pairs: int = option(MOST_PAIRS, "Most pairs of places to visit.", least=1)
    as_json: bool = option(False, JSON_HELP, flag="--json")


@dataclass(frozen=True, slots=True)
class DrawOptions:
    """What `maskwright draw` is given."""

    shape: str = argument(SHAPE_HELP)
    which: PictureName = option("railroad", "What is drawn.", flag="--as")
    output: str | None = option(None, "SVG file to write. Default: standard output.", short="-o")
    kind: Kind = option("auto", KIND_HELP)
    as_json: bool = option(False, JSON_HELP, flag="--json")


@dataclass(frozen=True, slots=True)
class ExplainOptions:
    """What `maskwright explain` is given."""

    schema: str = argument(SHAPE_HELP)
    as_json: bool = option(False, JSON_HELP, flag="--json")


@dataclass(frozen=True, slots=True)
class NextOptions:
    """What `maskwright next` is given."""

    shape: str = argument(SHAPE_HELP)
    file: str | None = argument("File with the beginning of a text; '-' is standard input.", None)
    text: str | None = option(None, "The beginning of a text.")
    model: str | None = option(None, VOCABULARY_HELP)
    probabilities: bool = option(
        False, "Load the model, by default the demo model.", flag="--probabilities"
    )
    prompt: str | None = option(None, BEFORE_HELP)
    kind: Kind = option("auto", KIND_HELP)
    property_order: PropertyOrder = option("schema", ORDER_HELP)
    as_json: bool = option(False, JSON_HELP, flag="--json")


@dataclass(frozen=True, slots=True)
class MatchOptions:
    """What `maskwright match` is given."""

    shape: str = argument(SHAPE_HELP)
    files: list[str] = argument("Files with texts; '-' is standard input.", [])
    text: list[str] = option([], TEXT_HELP)
    kind: Kind = option("auto", KIND_HELP)
    property_order: PropertyOrder = option("any", ORDER_HELP)
    why: bool = option(True, "Look for reasons, and for allowed texts alike.")
    brief: bool = option(
        False, "A few lines a text: where it stops, what could follow.", flag="--brief"
    )
    as_json: bool = option(False, JSON_HELP, flag="--json")


@dataclass(frozen=True, slots=True)
class SampleOptions:
    """What `maskwright sample` is given."""

    shape: str = argument(SHAPE_HELP)
    count: int = option(5, "How many random texts.", short="-n", least=1)
    which: Which = option("random", "'longest' is the longest of 32 random texts within --limit.")
    cover: bool = option(False, "Texts that together use every alternative.", flag="--cover")
    limit: int | None = option(
        None, "Most bytes of a text. Default: 100 more than the shortest has.", least=0
    )
    seed: int = option(0, "Seed of the random choices.")
    whitespace: WhitespaceName = option("spaced", WHITESPACE_HELP)
    kind: Kind = option("auto", KIND_HELP)
    as_json: bool = option(False, JSON_HELP, flag="--json")


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """What `maskwright trace` is given."""

    shape: str = argument(SHAPE_HELP)
    file: str | None = argument("File with a text; '-' is standard input.", None)
    text: str | None = option(None, TEXT_HELP.partition(".")[0] + ".")
    model: str = option("demo", VOCABULARY_HELP)
    probabilities: bool = option(
        False, "Load the model, and show what it gives each token.", flag="--probabilities"
    )
    prompt: str | None = option(None, BEFORE_HELP)
    kind: Kind = option("auto", KIND_HELP)
    as_json: bool = option(False, JSON_HELP, flag="--json")
