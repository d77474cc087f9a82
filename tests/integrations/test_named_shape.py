"""Shapes as requests to other servers name them."""

from __future__ import annotations

import pytest

from maskwright.errors import SchemaError
from maskwright.integrations.named_shape import compile_named_shape
from maskwright.workbench.reading import byte_vocabulary

FORMAT = '{"type": "json_schema", "json_schema": {"minimum": 1e-400}}'


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("json_schema", '{"minimum": 1e-400}', "/minimum"),
        (
            "structural_tag",
            f'{{"type": "structural_tag", "format": {FORMAT}}}',
            "/format/json_schema/minimum",
        ),
    ],
)
def test_a_number_that_is_too_small_is_not_read_as_0(name: str, text: str, place: str) -> None:
    with pytest.raises(SchemaError, match=r"read as 0\.0") as raised:
        compile_named_shape({name: text}, byte_vocabulary())
    assert raised.value.pointer == place
    compile_named_shape({name: text.replace("e-400", "e-300")}, byte_vocabulary())
