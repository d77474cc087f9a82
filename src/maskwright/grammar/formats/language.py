"""The formats that the drafts of JSON Schema define, as regular languages over string values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

from maskwright.grammar.formats import dates, expressions, hosts, idna, names, uris
from maskwright.grammar.regular.terms import Regular


@dataclass(frozen=True, slots=True)
class FormatLanguage:
    """What a string of one format may be.

    `exact`: `language` holds the format's strings, all of them and no others. If not, it still
    holds no others, and `note` says which are left out.
    """

    language: Regular
    exact: bool = True
    note: str = ""


@cache
def format_language(name: str, draft: str) -> FormatLanguage | None:
    """The format `name` as `draft` ("draft4" … "draft2020-12") defines it; None if it is unknown
    and so an annotation."""
    maker = _FORMATS.get(_OLD_NAMES.get(name, name))
    return maker(draft) if maker else None


def _same(make: Callable[[], Regular]) -> Callable[[str], FormatLanguage]:
    """A format that is the same in every draft."""
    return lambda draft: FormatLanguage(make())


def _hostname(draft: str) -> FormatLanguage:
    if draft in ("draft3", "draft4", "draft6"):
        return FormatLanguage(hosts.hostname())
    note = "labels that begin with xn-- are left out: no finite automaton decodes Punycode"
    return FormatLanguage(hosts.plain_hostname(), exact=False, note=note)


def _idn_hostname(draft: str) -> FormatLanguage:
    note = (
        "labels that begin with xn--, long labels outside ASCII and characters that combine are "
        "left out: no finite automaton computes Punycode"
    )
    return FormatLanguage(idna.idn_hostname(), exact=False, note=note)


def _regex(draft: str) -> FormatLanguage:
    note = (
        f"back-references, a second named group and groups nested more than "
        f"{expressions.MOST_NESTING} deep are left out: the syntax of patterns isn't regular"
    )
    return FormatLanguage(expressions.regex(), exact=False, note=note)


def _relative_json_pointer(draft: str) -> FormatLanguage:
    return FormatLanguage(names.relative_json_pointer(draft == "draft2020-12"))


_OLD_NAMES: Final = {"ip-address": "ipv4", "host-name": "hostname"}
"""What draft 3 called them."""

_FORMATS: Final[dict[str, Callable[[str], FormatLanguage]]] = {
    "date": _same(dates.date),
    "time": _same(dates.time),
    "date-time": _same(dates.date_time),
    "duration": _same(dates.duration),
    "email": _same(hosts.email),
    "idn-email": _same(hosts.idn_email),
    "hostname": _hostname,
    "idn-hostname": _idn_hostname,
    "ipv4": _same(hosts.ipv4),
    "ipv6": _same(hosts.ipv6),
    "uri": _same(uris.uri),
    "uri-reference": _same(uris.uri_reference),
    "iri": _same(uris.iri),
    "iri-reference": _same(uris.iri_reference),
    "uri-template": _same(uris.uri_template),
    "uuid": _same(names.uuid),
    "json-pointer": _same(names.json_pointer),
    "regex": _regex,
    "relative-json-pointer": _relative_json_pointer,
}
