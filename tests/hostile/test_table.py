"""The table of hostile shapes and the generator: large enough, without gaps, reproducible."""

from __future__ import annotations

import hashlib
import json
from collections import Counter

import pytest

from tests.hostile.random_shapes import random_shape
from tests.hostile.shape import LIMIT, READY
from tests.hostile.table.whole import BY_NAME, SHAPES, sample
from tests.hostile.test_shapes import UNBOUNDED

SUBJECTS = {
    "counts", "formats", "grammars", "nesting", "patterns", "references", "sizes", "tags", "tools",
    "unicode", "unions", "unique",
}  # fmt: skip


def test_the_table_is_large_and_has_every_subject() -> None:
    counts = Counter(shape.subject for shape in SHAPES)
    assert set(counts) == SUBJECTS
    assert min(counts.values()) >= 12
    assert len(SHAPES) >= 150


def test_names_are_unique() -> None:
    assert len(BY_NAME) == len(SHAPES)


def test_outcomes_are_known_words() -> None:
    """Codes of errors that the server has for a request that is at fault, never one of its own
    defects."""
    codes = {
        READY, LIMIT, "body_too_large", "context_length_exceeded", "invalid_grammar",
        "invalid_json", "invalid_json_schema", "invalid_regex", "invalid_structural_tag",
        "max_tokens_too_small", "unsatisfiable_grammar", "unsatisfiable_json_schema",
        "unsupported_grammar", "unsupported_json_schema", "invalid_value",
    }  # fmt: skip
    used = {outcome for shape in SHAPES for outcome in shape.outcomes}
    assert used <= codes
    assert all(shape.outcomes for shape in SHAPES)


def test_every_answer_can_be_checked() -> None:
    unchecked = [
        shape.name
        for shape in SHAPES
        if READY in shape.outcomes
        and shape.schema is None
        and shape.pattern is None
        and shape.answer is None
        and not shape.functions
    ]
    assert unchecked == []


@pytest.mark.parametrize("count", [12, 24, 60])
def test_a_sample_has_every_subject_equally_often(count: int) -> None:
    chosen = sample(count, seed=5)
    assert chosen == sample(count, seed=5)
    assert chosen != sample(count, seed=6)
    counts = Counter(shape.subject for shape in chosen)
    assert len(chosen) == len({shape.name for shape in chosen}) == count
    assert set(counts) == SUBJECTS
    assert max(counts.values()) - min(counts.values()) <= 1


def test_a_random_shape_is_that_of_its_number() -> None:
    """The same under every version of Python, so that a number in a report means one shape."""
    bodies = [json.dumps(random_shape(number).body, sort_keys=True) for number in range(60)]
    assert bodies == [json.dumps(random_shape(number).body, sort_keys=True) for number in range(60)]
    assert len(set(bodies)) == 60
    digest = hashlib.sha256("\n".join(bodies).encode()).hexdigest()
    assert digest[:16] == "d93f8fe9b723bd24"


def test_random_shapes_combine_every_construct() -> None:
    bodies = " ".join(json.dumps(random_shape(number).body) for number in range(300))
    constructs = [
        "allOf", "anyOf", "oneOf", '"if"', '"not"', "$ref", "patternProperties", "propertyNames",
        "minProperties", "dependentRequired", "uniqueItems", "contains", "prefixItems",
        "multipleOf", "format", "(?=", "(?!", "{30,", "\\\\p{L}", "start: r0", '"tag"', "tools",
    ]  # fmt: skip
    assert [construct for construct in constructs if construct not in bodies] == []


def test_shapes_that_are_left_out_are_in_the_table() -> None:
    assert [name for name in UNBOUNDED if name not in BY_NAME] == []
