"""The drafts of JSON Schema: which keywords each of them has."""

from __future__ import annotations

from enum import Enum
from typing import Final, overload


class Draft(Enum):
    """A draft, by the URI of its meta-schema (without a trailing `#`)."""

    __hash__ = object.__hash__  # they are looked up often, and a name's hash costs a call

    DRAFT4 = "http://json-schema.org/draft-04/schema"
    DRAFT6 = "http://json-schema.org/draft-06/schema"
    DRAFT7 = "http://json-schema.org/draft-07/schema"
    DRAFT2019 = "https://json-schema.org/draft/2019-09/schema"
    DRAFT2020 = "https://json-schema.org/draft/2020-12/schema"

    @property
    def title(self) -> str:
        """`draft4` … `draft2020-12`."""
        return {"DRAFT2019": "draft2019-09", "DRAFT2020": "draft2020-12"}.get(
            self.name, self.name.lower()
        )

    @property
    def is_old(self) -> bool:
        """Whether a `$ref` hides its siblings, as up to draft 7."""
        return self in (Draft.DRAFT4, Draft.DRAFT6, Draft.DRAFT7)


DEFAULT_DRAFT: Final = Draft.DRAFT2020

_DRAFT4: Final = frozenset(
    "$ref type enum multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength"
    " minLength pattern additionalItems items maxItems minItems uniqueItems maxProperties"
    " minProperties required additionalProperties properties patternProperties dependencies allOf"
    " anyOf oneOf not format".split()
)
_DRAFT6: Final = _DRAFT4 | {"const", "contains", "propertyNames"}
_DRAFT7: Final = _DRAFT6 | {"if", "then", "else"}
_DRAFT2019: Final = (_DRAFT7 - {"dependencies"}) | frozenset(
    "dependentRequired dependentSchemas minContains maxContains unevaluatedItems"
    " unevaluatedProperties $recursiveRef".split()
)
_DRAFT2020: Final = (_DRAFT2019 - {"additionalItems", "$recursiveRef"}) | {
    "prefixItems",
    "$dynamicRef",
}

KEYWORDS: Final[dict[Draft, frozenset[str]]] = {
    Draft.DRAFT4: _DRAFT4,
    Draft.DRAFT6: _DRAFT6,
    Draft.DRAFT7: _DRAFT7,
    Draft.DRAFT2019: _DRAFT2019,
    Draft.DRAFT2020: _DRAFT2020,
}
"""The keywords of each draft that have a say in what is valid."""

ANNOTATIONS: Final = frozenset(
    "$schema $id id $comment $anchor $dynamicAnchor $recursiveAnchor $vocabulary title description"
    " default examples deprecated readOnly writeOnly contentEncoding contentMediaType"
    " contentSchema definitions $defs".split()
)
"""Keywords that the specification gives no say in what is valid, or that only hold others."""


@overload
def draft_of(uri: object, otherwise: Draft) -> Draft: ...


@overload
def draft_of(uri: object, otherwise: None) -> Draft | None: ...


def draft_of(uri: object, otherwise: Draft | None) -> Draft | None:
    """The draft that a `$schema` names; `otherwise` if it names none that is known."""
    if isinstance(uri, str):
        plain = uri.rstrip("#")
        for draft in Draft:
            if plain in (draft.value, draft.value.replace("http://", "https://")):
                return draft
            if plain == draft.value.replace("https://", "http://"):
                return draft
    return otherwise
