"""Pictures of everything that ships: in sound SVG nothing overlaps and nothing is missing."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from maskwright.grammar.dialects.read import read_document
from maskwright.workbench.diagram.grammar_tracks import reached
from maskwright.workbench.diagram.pictures import (
    PictureName,
    grammar_picture,
    pattern_picture,
    schema_picture,
)
from tests.source_tree import ROOT

GRAMMARS = sorted(file for file in (ROOT / "grammars").glob("*.lark") if file.stem != "common")
SCHEMAS = sorted((ROOT / "schemas").glob("*.json"))
SVG = "{http://www.w3.org/2000/svg}"


def rectangles(svg: str) -> list[tuple[float, float, float, float]]:
    """The boxes as left, top, right, bottom, without the inner ones of double frames."""
    found: list[tuple[float, float, float, float]] = []
    for group in ElementTree.fromstring(svg).iter():
        box = group.find(f"{SVG}rect")
        if box is not None:
            x, y, width, height = (float(box.get(n, "")) for n in ("x", "y", "width", "height"))
            found.append((x, y, x + width, y + height))
    return found


def check_picture(svg: str) -> None:
    """Every box is within the picture, and no two overlap."""
    root = ElementTree.fromstring(svg)
    width, height = float(root.get("width", "")), float(root.get("height", ""))
    boxes = sorted(rectangles(svg))
    assert boxes
    for number, (left, top, right, bottom) in enumerate(boxes):
        assert left >= 0
        assert top >= 0
        assert right <= width
        assert bottom <= height
        for other in boxes[number + 1 :]:
            if other[0] >= right:
                break
            assert other[1] >= bottom or other[3] <= top, ((left, top), other)


def texts(svg: str) -> set[str]:
    return {each.text or "" for each in ElementTree.fromstring(svg).iter(f"{SVG}text")}


def ids(svg: str) -> list[str]:
    return [found for each in ElementTree.fromstring(svg).iter() if (found := each.get("id"))]


@pytest.mark.parametrize("which", ["railroad", "graph"])
@pytest.mark.parametrize("file", GRAMMARS, ids=lambda file: file.stem)
def test_a_grammar(file: object, which: PictureName) -> None:
    text = file.read_text()  # type: ignore[attr-defined]
    svg = grammar_picture(text, "lark", "it", which)
    check_picture(svg)
    document, start = read_document(text, "lark")
    plain = {n for n in reached(document.definitions, start) if "{" not in n and len(n) < 40}
    plain = {name for name in plain if not document.definitions[name].parameters}
    assert plain <= texts(svg)


@pytest.mark.parametrize("which", ["railroad", "graph"])
def test_half_a_surrogate_pair_in_a_name_is_an_escape(which: PictureName) -> None:
    """UTF-8 can't write it. Diagrams of two such names have two ids."""
    names = ["\ud800", "\ud801\x00"]
    schema = {
        "$defs": {name: {"type": "null"} for name in names},
        "anyOf": [{"$ref": f"#/$defs/{name}"} for name in names],
    }
    svg = schema_picture(schema, "\udfff", which)
    assert {"#/$defs/\\ud800", "#/$defs/\\ud801\\x00"} <= texts(svg.encode().decode())
    assert len(set(ids(svg))) == (3 if which == "railroad" else 0)


def test_half_a_surrogate_pair_in_a_pattern_is_an_escape() -> None:
    assert "\\ud800" in pattern_picture("\ud800").encode().decode()


@pytest.mark.parametrize("which", ["railroad", "graph"])
@pytest.mark.parametrize("file", SCHEMAS, ids=lambda file: file.stem)
def test_a_schema(file: object, which: PictureName) -> None:
    schema = json.loads(file.read_text())  # type: ignore[attr-defined]
    svg = schema_picture(schema, "it", which)
    check_picture(svg)
    shown = texts(svg)
    if which == "railroad":
        assert {json.dumps(name) for name in schema.get("properties", {})} <= shown
    assert {f"#/$defs/{name}" for name in schema.get("$defs", {})} <= shown


def test_names_that_markup_has_a_meaning_for() -> None:
    name = "a<b>&'\"]]>"
    inner = {"type": ["object", "null"], "properties": {name: {"enum": [1, name]}}}
    svg = schema_picture({"items": {"$ref": f"#/$defs/{name}"}, "$defs": {name: inner}}, name)
    check_picture(svg)
    assert {f"#/$defs/{name}", json.dumps(name)} <= texts(svg)
    links = [
        each.get("{http://www.w3.org/1999/xlink}href")
        for each in ElementTree.fromstring(svg).iter(f"{SVG}a")
    ]
    assert links == ["#" + each for each in ids(svg) if "defs" in each]


@pytest.mark.parametrize(
    ("pattern", "labels"),
    [
        ("(ab|cd)*[x-z]{2,5}", {'"ab"', '"cd"', "[x-z]", "2 to 5×"}),
        ('<&">', {'"<&\\">"'}),
        ("\\x00\\u2028", {'"\\x00\\u2028"'}),
        ("日本", {'"日本"'}),
    ],
)
def test_a_pattern(pattern: str, labels: set[str]) -> None:
    svg = pattern_picture(pattern)
    check_picture(svg)
    assert labels <= texts(svg)


def test_an_automaton_has_its_states_and_double_frames() -> None:
    svg = pattern_picture("a+b?", "graph")
    check_picture(svg)
    assert {"0", "1", "2", '"a"', '"b"'} == texts(svg)
    ends = [
        g for g in ElementTree.fromstring(svg).iter(f"{SVG}g") if len(g.findall(f"{SVG}rect")) == 2
    ]
    assert len(ends) == 2
