"""Every loop of the grammar half that can grow with the input counts its work.

Looked at are `while` loops, and `for` loops over a list that grows in their body, in Python code
(compiled code runs within walks, which are counted as a whole). Each calls `spend` in its body, or
a function that does, or is listed below with the reason why it need not.
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

COUNTED_IN = (
    PACKAGE / "grammar/shape/unions.py",
    PACKAGE / "automaton/machine/machine.py",
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
        grammar/dialects/lark.py: _LarkReader.document _LarkReader.options _LarkReader.statement
        grammar/dialects/lark_expressions.py: Expressions.choice Expressions.intersection
        grammar/dialects/lark_expressions.py: Expressions.sequence Expressions.repeated
        grammar/dialects/lark_expressions.py: Expressions.name
        grammar/dialects/special.py: _ranges
        grammar/pattern/classes.py: _python_point bracket
        grammar/pattern/parse.py: _Parser.choice _Parser.intersection _Parser.sequence _Parser.skip
        grammar/pattern/parse.py: _Parser.inline_flags
        grammar/tags/rules.py: literal
    """,
    ONCE: """
        grammar/dialects/lark.py: _LarkReader.bring
        grammar/dialects/lower.py: _fresh
        grammar/dialects/write.py: _Writer.name _Writer.strung _Writer.write_states
        grammar/rules/captures.py: _capturing _peel
        grammar/rules/tree.py: all_parts
        grammar/schema/document.py: check _refuse _deep_place
        grammar/schema/order.py: name_order
        grammar/schema/references.py: _needs_registry
        grammar/tags/free_text.py: _FreeText.reachable
        automaton/rules/network.py: RuleNetwork._live_nodes
        automaton/rules/value_places.py: _counters
    """,
    TERM: """
        grammar/dialects/spelling.py: _pattern
        grammar/number/multiples.py: Multiples.residue Multiples.least_exponent multiples
        grammar/regular/byte_alphabet.py: _alphabet
        grammar/regular/beginnings.py: _least_length _way_to_end beginning_alike
        grammar/regular/character_dfa.py: CharacterDfa.complete
        grammar/regular/derivative.py: _derive_concat _decide
        grammar/regular/length_bounds.py: counted
        grammar/regular/terms.py: _concat _find_counter
        grammar/regular/word_lists.py: word_arcs
        grammar/rules/fold.py: _length
        automaton/events/captures.py: CaptureReader._calling
        automaton/finish/completion.py: CompletionSearch._find_tail CompletionSearch._stack
        automaton/finish/leaf_exits.py: LeafExits._only_exit
        automaton/json/plain_names.py: places
        automaton/machine/machine.py: Machine.stack
        mask/budget/places.py: Places._is_settled
        mask/budget/token_costs.py: TokenCosts._levels
        mask/ready_rows/runs.py: _is_finite
        mask/recognizer.py: Recognizer.take_exit
    """,
    SMALL: """
        grammar/dialects/lower.py: _single_text
        grammar/dialects/write.py: _Writer.write_states
        grammar/pattern/casing.py: _holds
        grammar/regular/derivative.py: _lives
        grammar/schema/places.py: _growing
        grammar/regular/terms.py: counting_set
        automaton/finish/leaf_exits.py: _unlisted
        automaton/leaf/rows.py: LeafRows.make_room LeafRows.override LeafRows.override_all
        automaton/machine/machine.py: Machine._enter_exit Machine.know_context
        mask/ready_rows/strings.py: StringRows.ready
        mask/shared/budget_cache.py: BudgetCache.keep_masks
        mask/shared/generations.py: Generations._make_room
        mask/shared/known_tools.py: KnownTools._keep
        mask/walk/row_table.py: RowTable.number RowTable.without
        automaton/value/names_read.py: NamesMemory._forget
        mask/walker.py: Walker._widest_run
    """,
    ROUND: """
        grammar/regular/character_dfa.py: CharacterDfa.explore
        automaton/json/precheck.py: precheck_alternatives
        automaton/leaf/table.py: LeafTable.expand
        mask/budget/token_costs.py: TokenCosts._follow
        automaton/value/names_read.py: NamesMemory.before
        mask/matcher/forced.py: forced_bytes
        mask/matcher/matcher.py: Matcher.accept_bytes
        mask/ready_rows/strings.py: _classified
        mask/matcher/matcher.py: Matcher.forced_run
    """,
    TEXT: """
        automaton/machine/trace.py: MachineTrace.read MachineTrace.end MachineTrace._leave
        automaton/value/last_value.py: open_bracket _start string_start closing_quote
        automaton/value/names_read.py: _comma_before _name_before
        automaton/value/open_place.py: open_place _string_end
        mask/walk/ends.py: _ends
    """,
}


def listed() -> dict[str, str]:
    """Place of each loop that need not count → the reason."""
    found: dict[str, str] = {}
    for reason, text in REASONS.items():
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


def test_every_loop_that_can_grow_counts() -> None:
    found = {
        f"{path.relative_to(PACKAGE)}: {name}"
        for room in ROOMS
        for path in (PACKAGE / room).rglob("*.py")
        for name in uncounted(ast.parse(path.read_text()))
    }
    reasons = listed()
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
    assert defined.keys() == COUNTING - {"spend"}
    assert all(names & COUNTING for names in defined.values()), defined
