"""The languages of JSON Schema's `format` keyword.

A format is a regular language over the value of a string, made of patterns where these suffice and
of automata that are written out lazily where they don't. Every string of a language is valid under
the format's RFC. Where the RFC asks for more than a regular language can express, some valid
strings are left out, and the language says so. To add a format, write its language into a module
of this package and its name into the table of `language`.

- `hosts`: Internet addresses, host names and mailboxes.
- `idna`: Internationalised host names.
- `language`: The table of formats by name, and what a schema gets for each: start reading here.
"""

from maskwright.grammar.formats.language import FormatLanguage, format_language, format_names

__all__ = ["FormatLanguage", "format_language", "format_names"]
