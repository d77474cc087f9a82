"""The languages in which grammars are written: Lark, GBNF and EBNF, to and from `rules.Rules`."""
