from maskwright.grammar.formats.language import FormatLanguage, format_language

__all__ = ["FormatLanguage", "format_language"]
