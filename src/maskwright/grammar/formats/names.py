"""UUIDs (RFC 4122) and JSON Pointers (RFC 6901, and relative ones)."""

from __future__ import annotations

from functools import cache

from maskwright.grammar.pattern.translate import full_match
from maskwright.grammar.regular.terms import Regular, alt, concat


@cache
def uuid() -> Regular:
    return full_match("[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


@cache
def json_pointer() -> Regular:
    return full_match("(/([^/~]|~[01])*)*")


@cache
def relative_json_pointer(shifted: bool) -> Regular:
    """`shifted`: whether an index may be moved (`1+2`), as drafts from 2020-12 on have it."""
    up = full_match(r"(0|[1-9]\d*)([+-][1-9]\d*)?" if shifted else r"0|[1-9]\d*")
    return concat(up, alt(json_pointer(), full_match("#")))
