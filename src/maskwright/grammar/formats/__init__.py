"""The languages of JSON Schema's `format` keyword.

A format is a regular language over the value of a string, made of patterns where these suffice and
of automata that are written out lazily where they don't. Every string of a language is valid under
the format's RFC. Where the RFC asks for more than a regular language can express, some valid
strings are left out, and the language says so. To add a format, write its language into a module
of this package and its name into the table of `language`.

- `dates`: Dates, times and durations as RFC 3339 defines them, leap days and leap seconds
  included.
- `expressions`: Regular expressions in the syntax of ECMA-262 with its `u` flag.
- `hosts`: Internet addresses, host names and mailboxes.
- `idna`: Internationalised host names.
- `language`: The table of formats by name, and what a schema gets for each: start reading here.
- `names`: UUIDs (RFC 4122) and JSON Pointers (RFC 6901, and relative ones).
- `uris`: URIs (RFC 3986), IRIs (RFC 3987) and URI templates (RFC 6570).
"""

from maskwright.grammar.formats.language import FormatLanguage, format_language, format_names

__all__ = ["FormatLanguage", "format_language", "format_names"]
