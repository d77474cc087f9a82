"""Context-free grammars: ambiguity, recursion on both sides, empty rules, and large ones."""

from __future__ import annotations

from tests.hostile.shape import ALWAYS, BOUNDED, HostileShape, Subject

GRAMMAR = Subject("grammars")
REFUSED = frozenset({"invalid_grammar", "unsupported_grammar"})
EMPTY = frozenset({"unsatisfiable_grammar", "invalid_grammar"})


def ladder(count: int) -> str:
    """`count` rules, each of which is the next one twice, or the next one."""
    rules = [f"r{at}: r{at + 1} r{at + 1} | r{at + 1}" for at in range(count)]
    return "\n".join(["start: r0", *rules, f'r{count}: "a" | ""'])


def mutual(count: int) -> str:
    """Rules all of which may begin with each other."""
    rules = [
        f"r{at}: " + " | ".join(f'r{other} "{chr(97 + at)}"' for other in range(count)) + ' | "z"'
        for at in range(count)
    ]
    return "\n".join(["start: r0", *rules])


PALINDROMES = "\n".join(
    ["start: p", 'p: "" | ' + " | ".join(f'"{c}" | "{c}" p "{c}"' for c in "abcdefgh")]
)
EXPRESSIONS = """
start: e
e: e "+" e | e "-" e | e "*" e | e "/" e | e "^" e | "-" e | "(" e ")" | NUMBER
NUMBER: /[0-9]+/
"""
DANGLING_ELSE = """
start: s
s: "if " e " then " s | "if " e " then " s " else " s | "x"
e: e " or " e | e " and " e | "y"
"""
KEYWORDS = "\n".join(
    [
        'start: (statement ";")+',
        'statement: KEYWORD " " NAME | NAME "=" NAME | NAME ("." NAME)* "(" NAME ")"',
        "NAME: /[a-z_][a-z_0-9]*/ & ~KEYWORD",
        "KEYWORD: " + " | ".join(f'"key{at}word"' for at in range(400)),
    ]
)
IGNORED = r"""
start: word+
word: /[a-z]+/ | /[0-9]+/ | "(" word* ")"
%ignore /[ \t\n]+/
%ignore /#[^\n]*/
%ignore /\/\*(.|\n)*?\*\//
"""
CAPTURES = """
start: (part | other)+
part[capture]: "a"+ | "a" other
other[capture="rest"]: "a" "b"? | part "b"
"""
JSON_TWICE = r"""
start: (%json {"type": "object", "properties": {"a": {"type": "integer"}}} "\n"){1,20}
"""
GBNF_JSON = r"""
root ::= value
value ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" ws (string ws ":" ws value (ws "," ws string ws ":" ws value)*)? ws "}"
array ::= "[" ws (value (ws "," ws value)*)? ws "]"
string ::= "\"" ([^"\\\x00-\x1f] | "\\" ["\\/bfnrt] | "\\u" [0-9a-fA-F]{4})* "\""
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [-+]? [0-9]+)?
ws ::= [ \t\n]{0,4}
"""

SHAPES: list[HostileShape] = [
    GRAMMAR.grammar("an ambiguous list", 'start: start start | "a" | "b"', "[ab]+"),
    GRAMMAR.grammar("three ways to be twice", 'start: b\na: b b | "x"\nb: a | "y" | b a', "[xy]+"),
    GRAMMAR.grammar("ambiguous with empty texts", 'start: start start start | "a" | ""', "a*"),
    GRAMMAR.grammar("ambiguous in every place",
        'start: a\na: a a | a "x" a | "x" a "x" | "x" | b\nb: a "y" | "y" b | ""', "[xy]*"),
    GRAMMAR.grammar("a ladder of 20 rules", ladder(20), "a*"),
    GRAMMAR.grammar("a ladder of 200 rules", ladder(200), "a*"),
    GRAMMAR.grammar("12 rules that begin with each other", mutual(12), "[a-lz]+"),
    GRAMMAR.grammar("60 rules that begin with each other", mutual(60), r"(?s).+"),
    GRAMMAR.grammar("palindromes", PALINDROMES, "[a-h]*"),
    GRAMMAR.grammar("expressions without precedence", EXPRESSIONS, r"[-+*/^()0-9]+"),
    GRAMMAR.grammar("the dangling else", DANGLING_ELSE, r"[a-z ]+"),
    GRAMMAR.grammar("400 keywords that are no names", KEYWORDS, r"(?s).+;"),
    GRAMMAR.grammar("three kinds of ignored text", IGNORED, r"(?s).*"),
    GRAMMAR.grammar("ambiguous captures", CAPTURES, "[ab]+"),
    GRAMMAR.grammar("JSON values one after another", JSON_TWICE, r"(?s)(\{.*\}\n)+"),
    GRAMMAR.grammar("GBNF's JSON", GBNF_JSON, r"(?s).+", syntax="gbnf"),
    GRAMMAR.grammar("GBNF's ambiguous JSON",
        GBNF_JSON.replace("ws ::= [ \\t\\n]{0,4}", 'ws ::= ws ws | " " | "\\t" | ""'),
        r"(?s).+", syntax="gbnf"),
    GRAMMAR.grammar("GBNF with counted groups",
        'root ::= (("a" | "b"{1,9} | [a-c]{2,30}){1,20} ","?){3,40}', r"[abc,]+", syntax="gbnf"),
    GRAMMAR.grammar("GBNF that begins with itself", 'root ::= root "a" | root root | "b"', "b[ab]*",
        syntax="gbnf"),
    GRAMMAR.grammar("EBNF with differences",
        "root ::= (word ' '?)+\nword ::= ([a-z]+ - ('a' [a-z]* 'z')) - ([a-z]* 'qu' [a-z]*)",
        "[a-z ]+", syntax="ebnf"),
    GRAMMAR.grammar("a rule that matches nothing but itself", "start: a\na: a", "",
        outcomes=EMPTY),
    GRAMMAR.grammar("rules that are all empty", "start: a b\na: b b |\nb: a a |", "",
        outcomes=ALWAYS | EMPTY),
    GRAMMAR.grammar("empty texts repeated", 'start: (("a"?)*)*', "a*"),
    GRAMMAR.grammar("nested counts", 'start: ((A~1..30 B)~1..30 ",")~1..30\n'
        "A: /[ab]/\nB: /[b-d]/", "[abcd,]+"),
    GRAMMAR.grammar("a count of a million", "start: A~1000000\nA: /[ab]/", "[ab]+",
        outcomes=frozenset({"max_tokens_too_small", "limit_exceeded", "invalid_grammar"})),
    GRAMMAR.grammar("terminals that exclude each other",
        "start: (A | B | C)+\nA: /[a-z]{1,20}/ & ~/.*ab.*/\nB: /[a-z]{2,30}/ & ~A & ~/.*cd.*/\n"
        "C: /[a-z0-9]{1,40}/ & ~(A | B)", "[a-z0-9]+"),
    GRAMMAR.grammar("a lazy terminal in a counter",
        "start: (COMMENT | WORD){1,60}\nWORD: /[a-z]{1,9} /\n" r"COMMENT: /\/\*(.|\n)*?\*\//",
        r"(?s).+"),
    GRAMMAR.grammar("5,000 alternatives",
        "start: (" + " | ".join(f'"w{at:x}"' for at in range(5000)) + ")+", "(w[0-9a-f]+)+"),
    GRAMMAR.grammar("3,000 rules in a chain", "\n".join(["start: r0",
        *(f'r{at}: "{"ab"[at % 2]}" r{at + 1} | "c"' for at in range(3000)), 'r3000: "d"']),
        "[abcd]+"),
    GRAMMAR.grammar("a part of a document", 'start: %regex {"substring_words": "'
        + "the quick brown fox jumps over the lazy dog " * 400 + '"} "."', r"(?s).*\."),
    GRAMMAR.grammar("an undefined rule", "start: absent", "", outcomes=REFUSED),
    GRAMMAR.grammar("digits before a JSON number", 'start: /[0-9]+/ %json {"type": "integer"}', "",
        outcomes=BOUNDED | REFUSED),
]  # fmt: skip
