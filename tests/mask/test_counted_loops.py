"""Every loop and every recursion of the grammar half that can grow with the input counts its work.

Looked at are `while` loops, and `for` loops over a list that grows in their body, in Python code
(compiled code runs within walks, which are counted as a whole). Each calls `spend` in its body, or
a function that does, or is listed below with the reason why it need not.

So does each function that calls itself, directly or through other functions of its module or
methods of its class, unless a function on the way counts. Recursion from one module into another
is not looked at: it passes shapes or languages, whose computing is counted.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import maskwright

PACKAGE = Path(maskwright.__file__).parent
ROOMS = ("grammar", "automaton", "mask")
COUNTING = {"spend", "serve_requests", "_supply", "_supplied", "_absorb"}
"""`spend`, and functions that call it each time."""
COMPILED = {"spend", "serve_requests"}
"""Those whose own tests show it: `test_limits`, `test_each_served_request_is_counted`."""

COUNTED_IN = (
    PACKAGE / "grammar/shape/unions.py",
    PACKAGE / "mask/ready_rows/strings.py",
    *(PACKAGE / "mask").glob("*.py"),
)
"""Where they are defined."""

READS = "reads a document, whose length is limited, from left to right"
TERM = "goes once along a term, a number or a stack that is there already"
SMALL = "few rounds, by a bound that is fixed or logarithmic"
ONCE = "visits each part of a document, whose size is limited, once"
ROUND = "each round is counted by what it calls"
TEXT = "goes along the text once"

REASONS = {
    READS: """
        grammar/dialects/bnf.py: _BnfReader.document _BnfReader.choice _BnfReader.sequence
        grammar/dialects/bnf.py: _BnfReader.repeated _BnfReader.set
        grammar/dialects/cursor.py: GrammarCursor.quoted
        grammar/dialects/lark.py: LarkReader.document LarkReader.options LarkReader.statement
        grammar/dialects/lark.py: LarkReader.choice LarkReader.intersection
        grammar/dialects/lark.py: LarkReader.sequence
        grammar/dialects/lark.py: LarkReader.name
        grammar/dialects/bnf.py: _BnfReader.listed
        grammar/dialects/special.py: _ranges
        grammar/pattern/parse.py: _python_point bracket
        grammar/pattern/parse.py: _Parser.choice _Parser.intersection _Parser.sequence _Parser.skip
        grammar/pattern/parse.py: _Parser.inline_flags
        grammar/tags/rules.py: literal
    """,
    ONCE: """
        grammar/dialects/lark.py: LarkReader.bring
        grammar/schema/document.py: plain
        grammar/schema/remarks.py: _wrapped
        grammar/shape/disjoint.py: accepts_all
        grammar/shape/shapes.py: name_order
        grammar/shape/shape.py: place_of
        grammar/dialects/lower.py: _fresh
        grammar/dialects/write.py: _Writer.name _Writer.strung _Writer.write_states
        grammar/rules/captures.py: _capturing _peel
        grammar/rules/tree.py: all_parts
        grammar/tags/free_text.py: _FreeText.reachable
        automaton/rules/network.py: RuleNetwork._live_nodes
        automaton/rules/value_places.py: _counters
    """,
    TERM: """
        grammar/dialects/spelling.py: _pattern
        grammar/number/multiples.py: Multiples.residue Multiples.least_exponent common
        grammar/regular/beginnings.py: _Beginnings._find
        grammar/regular/character_dfa.py: CharacterDfa.complete
        grammar/regular/word_lists.py: word_arcs
        grammar/rules/fold.py: _length
        grammar/schema/recent.py: RecentSchemas.parse
        grammar/schema/registry.py: _fault
        automaton/events/captures.py: CaptureReader._calling
        automaton/finish/completion.py: CompletionSearch._find_tail CompletionSearch._stack
        automaton/finish/leaf_exits.py: LeafExits._only_exit
        automaton/json/bit_sets.py: numbers_in
        mask/budget/places.py: Places._is_settled
        mask/budget/token_costs.py: TokenCosts._levels
        mask/ready_rows/text_rows.py: _is_finite
        mask/recognizer.py: Recognizer.take_exit
    """,
    SMALL: """
        grammar/dialects/lower.py: _single_text
        grammar/dialects/write.py: _Writer.write_states
        mask/compile/constructs.py: _growing
        mask/ready_rows/strings.py: StringRows.ready
        mask/shared/budget_cache.py: BudgetCache.keep_masks
        mask/shared/generations.py: Generations._make_room
        mask/shared/known_tools.py: KnownTools._keep
        mask/walk/name_endings.py: characters_before_quote
        automaton/value/names_read.py: TextNames._forget
        mask/walker.py: Walker._widest_run
    """,
    ROUND: """
        grammar/regular/character_dfa.py: CharacterDfa.explore
        automaton/json/precheck.py: precheck_alternatives precheck_beginning
        mask/budget/token_costs.py: TokenCosts._follow
        automaton/value/names_read.py: TextNames.before
        mask/matcher/matcher.py: forced_text
        mask/ready_rows/combination.py: ProductAutomaton.state
        mask/ready_rows/strings.py: _classified
    """,
    TEXT: """
        automaton/machine/trace.py: MachineTrace.read MachineTrace.end MachineTrace._leave
        automaton/value/last_value.py: signs_before string_start
        automaton/value/names_read.py: _comma_before _name_before
        mask/compile/constructs.py: open_place _string_end
        mask/walk/ends.py: _ends
    """,
}


LAZY = "makes the transitions of an automaton, one state at a time, when counted steps ask for them"

RECURSIVE = {
    READS: """
        grammar/dialects/bnf.py: _BnfReader.choice _BnfReader.group _BnfReader.item
        grammar/dialects/bnf.py: _BnfReader.repeated _BnfReader.sequence
        grammar/dialects/lark.py: _named _renamed
        grammar/dialects/lark.py: LarkReader.choice LarkReader.group
        grammar/dialects/lark.py: LarkReader.intersection LarkReader.item
        grammar/dialects/lark.py: LarkReader.name LarkReader.repeated
        grammar/dialects/lark.py: LarkReader.sequence
        grammar/pattern/parse.py: _Parser.atom _Parser.choice _Parser.group _Parser.intersection
        grammar/pattern/parse.py: _Parser.negation _Parser.quantified _Parser.sequence _looks_ahead
        grammar/tags/rules.py: TagRules._by_trigger TagRules._format TagRules._inside
        grammar/tags/rules.py: TagRules._separated TagRules._triggered
        grammar/tags/rules.py: _check_tag check_token_bounds
        grammar/tools/rules.py: _trie
        grammar/schema/tree.py: value_schema
    """,
    LAZY: """
        grammar/dialects/lower.py: _inside _moves skipping
        grammar/formats/language.py: _clock _clock_moves
        grammar/formats/language.py: _in_class _moves_in_class
        grammar/formats/language.py: _disjunction _term
        grammar/formats/hosts.py: _groups _label _label_moves
        grammar/formats/idna.py: _fewest_octets _label _moves
        grammar/number/digits.py: Magnitudes._fraction Magnitudes._fraction_moves
        grammar/number/digits.py: Magnitudes._integer Magnitudes._integer_moves
        grammar/number/digits.py: Magnitudes._integer_moves.after
        grammar/number/spellings.py: PlainMagnitudes._fraction PlainMagnitudes._fraction_moves
        grammar/number/spellings.py: PlainMagnitudes._integer PlainMagnitudes._integer_moves
        grammar/tags/free_text.py: _FreeText._after _FreeText._moves _FreeText.at
        grammar/tools/python_arguments.py: _escapes _inside _moves
        grammar/tools/custom_input.py: escaped _moves
    """,
    TERM: """
        grammar/dialects/longest.py: _has_greedy _has_lazy _language
        grammar/dialects/spelling.py: _pattern _single
        grammar/number/digits.py: _between
        grammar/pattern/tree.py: assertions_at can_be_empty is_plain
        grammar/regular/beginnings.py: _least_length _one_after_the_other _way_to_end least_length
        grammar/regular/beginnings.py: least_weight way_to_end
        grammar/regular/byte_alphabet.py: _alphabet alphabet
        grammar/regular/word_lists.py: _is_listed with_minimal_escapes
        grammar/rules/fold.py: _options
        grammar/rules/tree.py: with_rules
        grammar/tools/custom_input.py: spelled
        automaton/events/captures.py: CaptureReader._end
        automaton/finish/leaf_exits.py: _ends_alike _has_one_label
        automaton/rules/completion.py: RuleCompletion._rest
        automaton/value/finite_values.py: _plain
        mask/budget/places.py: Places._name Places._plain_node Places._remembers_items
        mask/ready_rows/text_rows.py: _is_finite _without_exceptions _without_its_exceptions
        mask/ready_rows/strings.py: StringRows._after StringRows._after_alike StringRows.farthest
        mask/ready_rows/strings.py: characters_left term_within
        mask/shared/leaf_bounds.py: LeafBounds._of LeafBounds.compute NodeBounds._levels_below _rest
        mask/compile/constructs.py: _schemas
        grammar/dialects/lower.py: _filled
    """,
    ONCE: """
        grammar/dialects/lower.py: _undefined_in
        mask/compile/arguments.py: compiler.run
        grammar/dialects/write.py: _algebra _Writer.expression _Writer.regular _Writer.strung
        grammar/rules/captures.py: without_captures
        grammar/rules/fold.py: _Folding.fold _Folding.rule
        grammar/shape/disjoint.py: _outline_of joint_outline outline
        grammar/shape/shapes.py: StringLanguages._satisfying StringLanguages.language
        grammar/tools/cohere_values.py: CohereValues._dicts CohereValues._element
        grammar/tools/cohere_values.py: CohereValues._lists
        grammar/tools/python_arguments.py: PythonArguments._containers PythonArguments._item
        grammar/tools/python_arguments.py: PythonArguments._value
        automaton/rules/network.py: NetworkBuilder._node NetworkBuilder._repeat
        grammar/rules/tree.py: has_such_text
    """,
    SMALL: """
        automaton/satisfy/quick.py: QuickCheck._can_complete QuickCheck._has_value
        automaton/satisfy/quick.py: QuickCheck._takes_members QuickCheck._takes_wanted
        mask/matcher/counting.py: CountingMatcher._accept_bytes
        mask/matcher/counting.py: TokenCounts._close TokenCounts._closed_at
        mask/matcher/counting.py: TokenCounts._completed
    """,
    ROUND: """
        grammar/pattern/translate.py: _Translation._leading _Translation._quantified.rounds
        grammar/pattern/translate.py: _Translation._quantified.rounds.unfold _looks_to_the_left
        grammar/pattern/translate.py: _plain language
        grammar/shape/unevaluated.py: ResolvedAssertions._cases
        grammar/shape/unevaluated.py: ResolvedAssertions._cases_of_assertion
        automaton/finish/completion.py: CompletionSearch._beside_value CompletionSearch._search_leaf
    """,
}
"""Functions that call themselves without counting, by the reason why they need not."""


def listed(reasons: dict[str, str]) -> dict[str, str]:
    """Place of each function that need not count → the reason."""
    found: dict[str, str] = {}
    for reason, text in reasons.items():
        for line in text.split("\n"):
            path, _, names = line.strip().partition(": ")
            found |= {f"{path}: {name}": reason for name in names.split()}
    return found


def grows(loop: ast.For) -> bool:
    """Whether a loop runs over a list to which its body adds."""
    if not isinstance(loop.iter, ast.Name):
        return False
    added = {
        node.func.value.id
        for node in ast.walk(loop)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("append", "extend")
        and isinstance(node.func.value, ast.Name)
    }
    added |= {
        node.target.id
        for node in ast.walk(loop)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
    }
    return loop.iter.id in added


def called(node: ast.AST) -> set[str]:
    """The names of the functions and methods that are called within."""
    functions = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
    return {
        each.id if isinstance(each, ast.Name) else each.attr
        for each in functions
        if isinstance(each, ast.Name | ast.Attribute)
    }


def uncounted(tree: ast.Module) -> Iterator[str]:
    """The functions with a loop that may grow and doesn't count."""

    def visit(node: ast.AST, names: tuple[str, ...]) -> Iterator[str]:
        for child in ast.iter_child_nodes(node):
            inner = names
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                if any("compiled" in ast.unparse(each) for each in child.decorator_list):
                    continue
                inner = (*names, child.name)
            loops = isinstance(child, ast.While) or (isinstance(child, ast.For) and grows(child))
            if loops and not called(child) & COUNTING:
                yield ".".join(names)
            yield from visit(child, inner)

    yield from visit(tree, ())


Functions = dict[str, tuple[ast.FunctionDef, str | None]]
"""Each function of a module by its qualified name, with the class that has it as a method."""


def functions(tree: ast.Module) -> Functions:
    """The functions that are not compiled."""
    found: Functions = {}

    def visit(node: ast.AST, names: tuple[str, ...], owner: str | None) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                inner = (*names, child.name)
                visit(child, inner, ".".join(inner))
            elif isinstance(child, ast.FunctionDef):
                inner = (*names, child.name)
                if not any("compiled" in ast.unparse(each) for each in child.decorator_list):
                    found[".".join(inner)] = (child, owner)
                visit(child, inner, owner)
            else:
                visit(child, names, owner)

    visit(tree, (), None)
    return found


def body(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """What stands in a function, but for what stands in functions within it."""
    waiting: list[ast.AST] = [*function.body, function.args]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef):
            waiting += ast.iter_child_nodes(node)


def names_bound(function: ast.FunctionDef) -> set[str]:
    """The names that are variables within a function."""
    bound = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
    for node in body(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            bound.add(node.name)
    return bound


def uses(name: str, known: Functions) -> set[str]:
    """The functions of its module and the methods of its class that a function calls, or hands on
    to be called."""
    function, owner = known[name]
    bound, found = names_bound(function), set[str]()
    for node in body(function):
        match node:
            case ast.Attribute(
                value=ast.Name(id="self" | "cls")
                | ast.Call(func=ast.Name(id="type"), args=[ast.Name(id="self")]),
                attr=attribute,
            ):
                found.add(f"{owner}.{attribute}")
            case ast.Name(id=used, ctx=ast.Load()) if used not in bound:
                parts = name.split(".")
                outer = [".".join(parts[:n]) for n in range(len(parts), 0, -1)]
                scopes = [f"{scope}.{used}" for scope in outer if scope in known]
                found |= set(next(([each] for each in (*scopes, used) if each in known), []))
            case _:
                pass
    return found & known.keys()


def uncounted_recursion(tree: ast.Module) -> set[str]:
    """The functions that call themselves without any function on the way that counts."""
    known = functions(tree)
    free = {name for name, (each, _) in known.items() if not calls_in(each) & COUNTING}
    calls = {name: uses(name, known) & free for name in free}
    found: set[str] = set()
    for name in free:
        reached: set[str] = set()
        waiting = [*calls[name]]
        while waiting:
            other = waiting.pop()
            if other not in reached:
                reached.add(other)
                waiting += calls[other]
        found |= {name} & reached
    return found


def calls_in(function: ast.FunctionDef) -> set[str]:
    """The names of what a function calls itself, and not in functions within it."""
    return {
        each.func.id if isinstance(each.func, ast.Name) else each.func.attr
        for each in body(function)
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name | ast.Attribute)
    }


def test_every_recursion_that_can_grow_counts() -> None:
    found = {
        f"{path.relative_to(PACKAGE)}: {name}"
        for room in ROOMS
        for path in (PACKAGE / room).rglob("*.py")
        for name in uncounted_recursion(ast.parse(path.read_text()))
    }
    reasons = listed(RECURSIVE)
    assert found - reasons.keys() == set(), "call `spend`, or list the function with a reason"
    assert reasons.keys() - found == set(), "counts, or is gone"


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def f(x):\n    return f(x - 1)", {"f"}),
        ("def f(x):\n    spend()\n    return f(x - 1)", set[str]()),
        ("def f(x):\n    return g(x)\ndef g(x):\n    return map(f, x)", {"f", "g"}),
        ("def f(x):\n    return g(x)\ndef g(x):\n    spend()\n    return f(x)", set[str]()),
        ("def f(x):\n    def g(y):\n        return g(y)\n    return g(x)", {"f.g"}),
        (
            "def f(x):\n    def g(y):\n        spend()\n        return f(y)\n    return g(x)",
            set[str](),
        ),
        ("def f(f):\n    return f(1)", set[str]()),
        (
            "class A:\n    def f(self):\n        self.g()\n    def g(self):\n        self.f()",
            {"A.f", "A.g"},
        ),
        (
            "class A:\n    def f(self):\n        return f()\ndef f():\n    return A().f()",
            set[str](),
        ),
        ("class A:\n    def f(self):\n        return partial(type(self).f, self)", {"A.f"}),
        ("class A:\n    def f(self, b):\n        return b.f(self)", set[str]()),
        ("@compiled\ndef f(x):\n    return f(x)", set[str]()),
    ],
)
def test_recursion_that_does_not_count_is_found(source: str, names: set[str]) -> None:
    assert uncounted_recursion(ast.parse(source)) == names


def test_every_loop_that_can_grow_counts() -> None:
    found = {
        f"{path.relative_to(PACKAGE)}: {name}"
        for room in ROOMS
        for path in (PACKAGE / room).rglob("*.py")
        for name in uncounted(ast.parse(path.read_text()))
    }
    reasons = listed(REASONS)
    assert found - reasons.keys() == set(), "call `spend`, or list the loop with a reason"
    assert reasons.keys() - found == set(), "counts, or is gone"


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def f(queue):\n    while queue:\n        queue.pop()", ["f"]),
        ("def f(queue):\n    while queue:\n        spend()", []),
        ("def f(queue):\n    for x in queue:\n        queue.append(x)", ["f"]),
        ("def f(queue):\n    for x in queue:\n        queue += [x]\n        spend()", []),
        ("def f(queue):\n    for x in queue:\n        print(x)", []),
        ("class A:\n    def f(self):\n        while True:\n            self.go()", ["A.f"]),
        ("@compiled\ndef f(at):\n    while at:\n        at -= 1", []),
        ("def f():\n    def g():\n        while 1:\n            h()", ["f.g"]),
    ],
)
def test_a_loop_that_does_not_count_is_found(source: str, names: list[str]) -> None:
    assert list(uncounted(ast.parse(source))) == names


def test_the_counting_functions_count() -> None:
    defined = {
        node.name: called(node)
        for path in COUNTED_IN
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and node.name in COUNTING
    }
    assert defined.keys() == COUNTING - COMPILED
    assert all(names & COUNTING for names in defined.values()), defined
