from __future__ import annotations

from typing import Any

import pytest

from maskwright.errors import InputError, LimitError, SchemaError
from maskwright.limits import DEFAULT_LIMITS
from maskwright.mask import (
    ChoiceResponse,
    GrammarResponse,
    JsonResponse,
    RegexResponse,
    TagResponse,
)
from maskwright.server.request.body import parse_object
from maskwright.server.request.shape import (
    ConstrainedShape,
    FormattedShapeFields,
    FreeText,
    Shape,
)

SCHEMA = {"type": "object", "properties": {"z": {}, "a": {}, "m": {}}}
TEXT = '{"type":"object","properties":{"z":{},"a":{},"m":{}}}'
OBJECT = '{"type":"object"}'
INNER = "response_format.json_schema.schema"


def shape_of(body: dict[str, Any]) -> Shape:
    return FormattedShapeFields.read(body).shape()


FORMATS: list[tuple[Any, Shape]] = [
    (None, FreeText()),
    ({"type": "text"}, FreeText()),
    ({"type": "json_object"}, ConstrainedShape(JsonResponse(OBJECT), "response_format")),
    (
        {"type": "json_object", "schema": SCHEMA},
        ConstrainedShape(JsonResponse(TEXT), "response_format.schema"),
    ),
    (
        {"type": "json_schema", "json_schema": {"schema": SCHEMA}},
        ConstrainedShape(JsonResponse(TEXT), INNER),
    ),
    (
        {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA, "strict": True}},
        ConstrainedShape(JsonResponse(TEXT), INNER),
    ),
    (
        {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA, "strict": False}},
        ConstrainedShape(JsonResponse(TEXT), INNER),
    ),
    (
        {
            "type": "json_schema",
            "json_schema": {"schema": SCHEMA, "description": "d"},
        },
        ConstrainedShape(JsonResponse(TEXT), INNER),
    ),
    (
        {"type": "json_schema", "schema": SCHEMA},
        ConstrainedShape(JsonResponse(TEXT), "response_format.schema"),
    ),
    (
        {"type": "json_schema", "name": "n", "strict": True, "schema": SCHEMA},
        ConstrainedShape(JsonResponse(TEXT), "response_format.schema"),
    ),
    (
        {"type": "json_schema", "json_schema": {"name": "any"}},
        ConstrainedShape(JsonResponse("true"), "response_format.json_schema", shown=False),
    ),
    (
        {"type": "json_schema", "json_schema": {"schema": False}},
        ConstrainedShape(JsonResponse("false"), INNER),
    ),
    (
        {"type": "json_schema", "json_schema": {"schema": TEXT}},
        ConstrainedShape(JsonResponse(TEXT), INNER),
    ),
    (
        {"type": "regex", "regex": "a+"},
        ConstrainedShape(RegexResponse("a+"), "response_format.regex"),
    ),
    (
        {"type": "regex", "pattern": "a+"},
        ConstrainedShape(RegexResponse("a+"), "response_format.pattern"),
    ),
    (
        {"type": "regex", "value": "a+"},
        ConstrainedShape(RegexResponse("a+"), "response_format.value"),
    ),
    (
        {"type": "regex", "regex": "a+", "pattern": "a+"},
        ConstrainedShape(RegexResponse("a+"), "response_format.pattern"),
    ),
    (
        {"type": "grammar", "grammar": "start: A", "syntax": "lark"},
        ConstrainedShape(GrammarResponse("start: A", "lark"), "response_format.grammar"),
    ),
    (
        {"type": "structural_tag", "format": {"type": "any_text"}},
        ConstrainedShape(
            TagResponse('{"type":"structural_tag","format":{"type":"any_text"}}'), "response_format"
        ),
    ),
]

ELSEWHERE: list[tuple[dict[str, Any], Shape]] = [
    ({"guided_json": SCHEMA}, ConstrainedShape(JsonResponse(TEXT), "guided_json")),
    ({"json_schema": TEXT}, ConstrainedShape(JsonResponse(TEXT), "json_schema")),
    ({"guided_regex": "a"}, ConstrainedShape(RegexResponse("a"), "guided_regex")),
    ({"regex": "a"}, ConstrainedShape(RegexResponse("a"), "regex")),
    ({"guided_choice": ["a", "b"]}, ConstrainedShape(ChoiceResponse(("a", "b")), "guided_choice")),
    ({"guided_grammar": "x"}, ConstrainedShape(GrammarResponse("x"), "guided_grammar")),
    ({"grammar": "x"}, ConstrainedShape(GrammarResponse("x"), "grammar")),
    ({"ebnf": "x"}, ConstrainedShape(GrammarResponse("x"), "ebnf")),
    *(
        (
            {name: {"syntax": "gbnf", "definition": "x"}},
            ConstrainedShape(GrammarResponse("x", "gbnf"), f"{name}.definition"),
        )
        for name in ("guided_grammar", "grammar", "ebnf")
    ),
    (
        {"structured_outputs": {"grammar": {"syntax": "lark", "definition": "x"}}},
        ConstrainedShape(GrammarResponse("x", "lark"), "structured_outputs.grammar.definition"),
    ),
    ({"ebnf": {"definition": "x"}}, ConstrainedShape(GrammarResponse("x"), "ebnf.definition")),
    ({"structural_tag": "{}"}, ConstrainedShape(TagResponse("{}"), "structural_tag")),
    (
        {"structured_outputs": {"json": SCHEMA}},
        ConstrainedShape(JsonResponse(TEXT), "structured_outputs.json"),
    ),
    (
        {"structured_outputs": {"json_object": True}},
        ConstrainedShape(JsonResponse(OBJECT), "structured_outputs.json_object"),
    ),
    (
        {"structured_outputs": {"regex": "a"}},
        ConstrainedShape(RegexResponse("a"), "structured_outputs.regex"),
    ),
    (
        {"structured_outputs": {"choice": ["a"]}},
        ConstrainedShape(ChoiceResponse(("a",)), "structured_outputs.choice"),
    ),
    (
        {"structured_outputs": {"choice": ["a"], "disable_fallback": True}},
        ConstrainedShape(ChoiceResponse(("a",)), "structured_outputs.choice"),
    ),
    (
        {"structured_outputs": {"grammar": "x"}},
        ConstrainedShape(GrammarResponse("x"), "structured_outputs.grammar"),
    ),
    (
        {"structured_outputs": {"structural_tag": "{}"}},
        ConstrainedShape(TagResponse("{}"), "structured_outputs.structural_tag"),
    ),
    # the same one twice is one
    (
        {"guided_grammar": "x", "structured_outputs": {"grammar": "x"}},
        ConstrainedShape(GrammarResponse("x"), "structured_outputs.grammar"),
    ),
    (
        {"grammar": {"syntax": "lark", "definition": "x"}, "guided_grammar": "x"},
        ConstrainedShape(GrammarResponse("x"), "guided_grammar"),
    ),
    (
        {"response_format": {"type": "text"}, "regex": "a"},
        ConstrainedShape(RegexResponse("a"), "regex"),
    ),
]


@pytest.mark.parametrize(("sent", "read"), FORMATS, ids=str)
def test_response_formats(sent: Any, read: Shape) -> None:
    assert shape_of({"response_format": sent}) == read


@pytest.mark.parametrize(("body", "read"), ELSEWHERE, ids=str)
def test_shapes_elsewhere(body: dict[str, Any], read: Shape) -> None:
    assert shape_of(body) == read


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"guided_json": 5}, "guided_json"),
    ({"guided_json": "{"}, "guided_json"),
    ({"regex": ""}, "regex"),
    ({"grammar": {"syntax": "peg", "definition": "x"}}, "grammar.syntax"),
    ({"ebnf": {"syntax": "ebnf"}}, "ebnf.definition"),
    ({"ebnf": {"syntax": "ebnf", "grammar": "x"}}, "ebnf.grammar"),
    (
        {
            "grammar": {"syntax": "lark", "definition": "x"},
            "ebnf": {"syntax": "ebnf", "definition": "x"},
        },
        "ebnf.definition",
    ),
    ({"guided_choice": []}, "guided_choice"),
    ({"structured_outputs": {"json_object": False}}, "structured_outputs.json_object"),
    ({"structured_outputs": {"json_object": 1}}, "structured_outputs.json_object"),
    ({"guided_choice": "a"}, "guided_choice"),
    ({"guided_choice": [1]}, "guided_choice[0]"),
    ({"structured_outputs": {}}, "structured_outputs"),
    ({"structured_outputs": {"regex": "a", "choice": ["a"]}}, "structured_outputs"),
    ({"structured_outputs": {"jason": {}}}, "structured_outputs.jason"),
    (
        {"structured_outputs": {"json": {}, "disable_fallback": "no"}},
        "structured_outputs.disable_fallback",
    ),
    (
        {"structured_outputs": {"json": {}, "whitespace_pattern": " "}},
        "structured_outputs.whitespace_pattern",
    ),
    ({"structured_outputs": {"disable_any_whitespace": True}}, "structured_outputs"),
    ({"structural_tag": 5}, "structural_tag"),
    (
        {"response_format": {"type": "structural_tag", "structures": None}},
        "response_format.format",
    ),
    ({"regex": "a", "guided_regex": "b"}, "regex"),
    (
        {"response_format": {"type": "regex", "regex": "a+", "pattern": "b"}},
        "response_format.regex",
    ),
    ({"response_format": {"type": "regex", "pattern": "a", "value": "b"}}, "response_format.value"),
    ({"response_format": {"type": "json_object"}, "regex": "b"}, "regex"),
    (
        {"response_format": {"type": "grammar", "grammar": "x", "syntax": "y"}},
        "response_format.syntax",
    ),
]


@pytest.mark.parametrize(("body", "param"), REFUSED, ids=str)
def test_faulty_shapes_are_refused(body: dict[str, Any], param: str) -> None:
    with pytest.raises(InputError) as refused:
        shape_of(body)
    assert refused.value.param == param


def test_a_number_that_is_too_small_is_refused_in_the_body_and_in_a_text() -> None:
    texts = ('{"guided_json": {"minimum": 1e-400}}', '{"guided_json": "{\\"minimum\\": 1e-400}"}')
    for text in texts:
        with pytest.raises(InputError, match=r"read as 0\.0 \(at /minimum\)") as raised:
            FormattedShapeFields.read(parse_object(text.encode())).shape()
        assert raised.value.param == "guided_json"


@pytest.mark.parametrize(
    ("body", "param", "place"),
    [
        ('{"structural_tag": %s}', "structural_tag", "/format/json_schema/minimum"),
        (
            '{"structured_outputs": {"structural_tag": %s}}',
            "structured_outputs.structural_tag",
            "/format/json_schema/minimum",
        ),
        ('{"response_format": %s}', "response_format", "/format/json_schema/minimum"),
        (
            '{"response_format": {"type": "structural_tag", "structures": [{"begin": "<", '
            '"schema": {"maximum": -1e-400}, "end": ">"}], "triggers": ["<"]}}',
            "response_format",
            "/structures/0/schema/maximum",
        ),
    ],
)
def test_a_number_that_is_too_small_is_refused_in_a_tag(body: str, param: str, place: str) -> None:
    """Where a tag is an object, its text is written from what has been read."""
    tag = (
        '{"type": "structural_tag", '
        '"format": {"type": "json_schema", "json_schema": {"minimum": 1e-400}}}'
    )
    sent = body.replace("%s", tag)
    with pytest.raises(SchemaError, match=rf"read as 0\.0 \(at {place}\)") as raised:
        FormattedShapeFields.read(parse_object(sent.encode())).shape()
    assert raised.value.param == param
    zero = FormattedShapeFields.read(parse_object(sent.replace("e-400", "e-300").encode()))
    asked = zero.shape()
    assert isinstance(asked, ConstrainedShape)
    assert isinstance(asked.response, TagResponse)


def test_a_schema_that_is_too_large_is_refused_as_it_is_read() -> None:
    """Before the prompt shows it to the model, which takes long."""
    schema = {"enum": [*range(DEFAULT_LIMITS.schema_nodes)]}
    with pytest.raises(LimitError, match="more than 200,000 values") as caught:
        shape_of({"guided_json": schema})
    assert caught.value.param == "guided_json"


@pytest.mark.parametrize(
    ("choice", "param", "message"),
    [
        ([], "", "must be an array of at least one string, not an empty array"),
        ("a", "", 'must be an array of at least one string, not "a"'),
        ({}, "", "must be an array of at least one string, not an object"),
        (["a", 1], "[1]", "must be a string, not 1"),
        ([["a"]], "[0]", "must be a string, not an array"),
    ],
    ids=str,
)
def test_a_choice_that_is_none_says_what_is_wrong(choice: Any, param: str, message: str) -> None:
    for name, body in (
        ("guided_choice", {"guided_choice": choice}),
        ("structured_outputs.choice", {"structured_outputs": {"choice": choice}}),
    ):
        with pytest.raises(InputError) as refused:
            shape_of(body)
        assert refused.value.param == name + param
        assert str(refused.value) == f"{name}{param} {message}"
