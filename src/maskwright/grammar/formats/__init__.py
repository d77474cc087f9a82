"""The languages of JSON Schema's `format` keyword.

- `dates`: Dates, times and durations as RFC 3339 defines them, leap days and leap seconds
  included.
- `expressions`: Regular expressions in the syntax of ECMA-262 with its `u` flag.
- `hosts`: Internet addresses, host names and mailboxes.
- `idna`: Internationalised host names.
- `language`: The formats that the drafts of JSON Schema define, as regular languages over string
  values.
- `names`: UUIDs (RFC 4122) and JSON Pointers (RFC 6901, and relative ones).
- `uris`: URIs (RFC 3986), IRIs (RFC 3987) and URI templates (RFC 6570).
"""

from maskwright.grammar.formats.language import FormatLanguage, format_language

__all__ = ["FormatLanguage", "format_language"]
