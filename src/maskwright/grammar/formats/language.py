"""The formats that the drafts of JSON Schema define: the table of their languages by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

from maskwright.grammar.formats import dates, expressions, hosts, idna, names, uris
from maskwright.grammar.regular.terms import Regular


@dataclass(frozen=True, slots=True)
class FormatLanguage:
    """The strings of one format.

    `exact`: whether `language` has all strings of the format. It never has any others; where some
    are left out, `note` says which.
    """

    language: Regular
    exact: bool = True
    note: str = ""


@cache
def format_language(name: str, draft: str) -> FormatLanguage | None:
    """The format `name` as `draft` ("draft4" … "draft2020-12") defines it; None if no draft defines
    it, which makes it an annotation."""
    maker = _FORMATS.get(_OLD_NAMES.get(name, name))
    return maker(draft) if maker else None


def format_names() -> tuple[str, ...]:
    """The names of the formats that some draft defines."""
    return tuple(_FORMATS)


def _in_every_draft(make: Callable[[], Regular]) -> Callable[[str], FormatLanguage]:
    """A format whose definition is equal in every draft."""
    return lambda draft: FormatLanguage(make())


def _hostname(draft: str) -> FormatLanguage:
    if draft in ("draft3", "draft4", "draft6"):
        return FormatLanguage(hosts.hostname())
    note = "labels that begin with xn-- are left out: no small automaton decodes Punycode"
    return FormatLanguage(hosts.plain_hostname(), exact=False, note=note)


def _idn_hostname(draft: str) -> FormatLanguage:
    note = (
        "labels that begin with xn--, long labels outside ASCII, and accents apart from their "
        "letters are left out: no small automaton computes Punycode, or what Unicode composes"
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
"""The names that draft 3 had for formats of later drafts."""

_FORMATS: Final[dict[str, Callable[[str], FormatLanguage]]] = {
    "date": _in_every_draft(dates.date),
    "time": _in_every_draft(dates.time),
    "date-time": _in_every_draft(dates.date_time),
    "duration": _in_every_draft(dates.duration),
    "email": _in_every_draft(hosts.email),
    "idn-email": _in_every_draft(hosts.idn_email),
    "hostname": _hostname,
    "idn-hostname": _idn_hostname,
    "ipv4": _in_every_draft(hosts.ipv4),
    "ipv6": _in_every_draft(hosts.ipv6),
    "uri": _in_every_draft(uris.uri),
    "uri-reference": _in_every_draft(uris.uri_reference),
    "iri": _in_every_draft(uris.iri),
    "iri-reference": _in_every_draft(uris.iri_reference),
    "uri-template": _in_every_draft(uris.uri_template),
    "uuid": _in_every_draft(names.uuid),
    "json-pointer": _in_every_draft(names.json_pointer),
    "regex": _regex,
    "relative-json-pointer": _relative_json_pointer,
}
