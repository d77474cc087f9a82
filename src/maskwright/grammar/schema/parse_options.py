"""How a schema document is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from maskwright.grammar.schema.drafts import DEFAULT_DRAFT, Draft
from maskwright.grammar.schema.tree import Json
from maskwright.limits import DEFAULT_LIMITS, Limits


@dataclass(frozen=True, slots=True)
class ParseOptions:
    """How a document is read.

    `draft`: the draft of a document without `$schema`. `documents`: documents that references may
    name, by URI. `enforce_formats`: if false, `format` is an annotation, which is what the
    specification has by default. `plain_integers`: if true, what `type` calls an integer is written
    in digits alone, and numbers of `enum` and `const` in the spellings of `numbers.written`; else
    in any spelling, except that in draft 4 `1.0` and `1e2` are no integers.
    `closed`: if true, an object schema that has `properties` and says nothing of others allows no
    others (see `grammar.shape.closed`); the specification has it allow them.
    """

    draft: Draft = DEFAULT_DRAFT
    documents: Mapping[str, Json] = field(default_factory=dict[str, Json], hash=False)
    enforce_formats: bool = True
    plain_integers: bool = False
    closed: bool = False
    limits: Limits = field(default=DEFAULT_LIMITS, hash=False)  # whose own hash takes long
