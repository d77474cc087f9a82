from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

from maskwright.errors import InputError
from maskwright.mask import compile_regex
from maskwright.workbench.cases import CaseGroup, ShapeCase, junit, read_groups, run_group
from maskwright.workbench.reading import byte_vocabulary, read_lines

GROUP = {"shape": "/a+b/", "accept": ["ab"], "reject": {"no a": "b", "open": "a"}, "prefix": [""]}


def test_a_document_is_read() -> None:
    [group] = read_groups(GROUP, "f")
    assert group == CaseGroup(
        "/a+b/",
        "/a+b/",
        "auto",
        "any",
        (
            ShapeCase("'ab'", "accept", "ab"),
            ShapeCase("no a", "reject", "b"),
            ShapeCase("open", "reject", "a"),
            ShapeCase("''", "prefix", ""),
        ),
    )
    schema, named = read_groups(
        [{"shape": {"type": "object"}, "accept": [{"ä": 1}, 3]}, {**GROUP, "name": "n"}], "f"
    )
    assert (schema.name, schema.shape) == ("shape 1", '{"type": "object"}')
    assert [case.text for case in schema.cases] == ['{"ä": 1}', "3"]
    assert named.name == "n"


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("text", r"f\[0\]: an object"),
        (None, r"^f: it is empty; an object"),
        ([GROUP, {"accept": ["a"]}], r"f\[1\]: 'shape' is"),
        ({"shape": "x"}, "there are no cases"),
        ({**GROUP, "acept": []}, "'acept' is unknown"),
        ({**GROUP, "accept": "ab"}, r"f\[0\].accept: a list of texts"),
    ],
)
def test_a_document_that_cannot_be_read(document: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_groups(document, "f")


def test_results() -> None:
    grammar = compile_regex("a+b", byte_vocabulary())
    document = {
        "shape": "-",
        "accept": ["ab\n", "a", "x"],
        "reject": ["ab", "a"],
        "prefix": ["aab", "", "b"],
    }
    [group] = read_groups(document, "f")
    results = run_group(group, lambda text: read_lines(grammar, text))
    assert [(r.case.expected, r.case.text, r.fault) for r in results] == [
        ("accept", "ab\n", ""),
        ("accept", "a", "it ends too early at line 1, column 2"),
        ("accept", "x", "it doesn't match at line 1, column 1"),
        ("reject", "ab", "it matches"),
        ("reject", "a", ""),
        ("prefix", "aab", ""),
        ("prefix", "", ""),
        ("prefix", "b", "it doesn't match at line 1, column 1"),
    ]
    suite = ElementTree.fromstring(junit(results, "f"))
    assert (suite.get("tests"), suite.get("failures")) == ("8", "4")
    assert [case.get("name") for case in suite if case.find("failure") is not None] == [
        "accept 'a'",
        "accept 'x'",
        "reject 'ab'",
        "prefix 'b'",
    ]


def test_the_report_is_xml_whatever_the_text_is() -> None:
    grammar = compile_regex("a", byte_vocabulary())
    [group] = read_groups({"shape": "-", "accept": ["\x00<&>\ud7ff\uffff"]}, "f")
    results = run_group(group, lambda text: read_lines(grammar, text))
    suite = ElementTree.fromstring(junit(results, "f"))
    assert suite[0][0].text == "�<&>\ud7ff�"
