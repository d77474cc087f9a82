"""Patterns: counters, overlaps, look-around, and automata that are exponential when written out."""

from __future__ import annotations

from tests.hostile.shape import ALWAYS, BOUNDED, HostileShape, Subject

PATTERN = Subject("patterns")
REFUSED = frozenset({"unsupported_json_schema", "invalid_json_schema"})
WORDS = "|".join(f"{first}{last}+" for first in "abcdefgh" for last in "stuvwxyz")

SHAPES: list[HostileShape] = [
    PATTERN.string("two counters about letters", r"^.{0,1000}a.{0,1000}b.{0,12}$"),
    PATTERN.string("three counters in a counter", r"(.*a.{300}){3}"),
    PATTERN.string("letters before capitals", r"^\p{L}{1,200}(\p{Lu}|\p{N}){3,90}$"),
    PATTERN.string("words and spaces 500 times", r"^(\p{L}+\s){500}",
        outcomes=BOUNDED | {"max_tokens_too_small"}),
    PATTERN.string("words and spaces, 1 to 20", r"^(\p{L}+\s){1,20}$"),
    PATTERN.string("nested stars", r"^(((a+)+)+)+$", outcomes=ALWAYS),
    PATTERN.string("nested stars that end in another letter", r"^(a|aa|aaa)+b$", outcomes=ALWAYS),
    PATTERN.string("the 12th letter from the end", r"^[ab]*a[ab]{12}$"),
    PATTERN.string("the 30th letter from the end", r"^[ab]*a[ab]{30}$"),
    PATTERN.string("the 18th from the end, twice", r"^[ab]*(a[ab]{18}|b[ab]{17}a)$"),
    PATTERN.string("a counter in a counter", r"^((a|b){1,40}c?){1,40}$"),
    PATTERN.string("a counter in a counter in a counter", r"^(((ab?){2,9}c?){2,9}d?){2,9}$"),
    PATTERN.string("a counter of a counter of anything", r"^((.{1,30}){1,30}){1,30}$"),
    PATTERN.string("counters that overlap", r"^(a{2,5}|a{3,7}|a{5,11}){4,50}$"),
    PATTERN.string("counts of coprime lengths", r"^(?:(?:a{7})*|(?:a{11})*|(?:a{13})*)b$"),
    PATTERN.string("equal lengths of coprime counts", r"^(?=(?:a{7})*b)(?=(?:a{11})*b)a{50,}b$"),
    PATTERN.string("64 overlapping words", rf"^(?:{WORDS}){{1,30}}$"),
    PATTERN.string("12 lookaheads", "^" + "".join(f"(?=.*{c})" for c in "abcdefghijkl") + ".*$"),
    PATTERN.string("12 negative lookaheads", "^" + "".join(f"(?!.*{c}{c})" for c in "abcdefghijkl")
        + "[a-l]{12,40}$"),
    PATTERN.string("lookaheads with counters", r"^(?=.{0,80}a.{40})(?=.{0,60}b.{50}).{100}$"),
    PATTERN.string("a lookbehind of any length", r"^.*(?<=a.{20}).*(?<=b.{20})c$"),
    PATTERN.string("boundaries of words, counted", r"^(?:\b\w{1,8}\b\W{1,3}){5,40}$"),
    PATTERN.string("dots everywhere", r".*a.*b.*c.*d.*e.*f.*g.*h.*"),
    PATTERN.string("counters everywhere", r"^.{3,80}x.{3,80}y.{3,80}z.{3,80}$"),
    PATTERN.string("optional 600 times", "^" + "a?" * 600 + "a{3}$"),
    PATTERN.string("a repeat of 20,000", r"^[a-z]{20000}$",
        outcomes=frozenset({"max_tokens_too_small", "limit_exceeded"})),
    PATTERN.string("a repeat of up to a million", r"^[a-z]{0,1000000}$"),
    PATTERN.string("a repeat of a thousand repeats", r"^(?:[a-z]{1,1000}-){1,1000}$"),
    PATTERN.string("classes that overlap", r"^(?:[a-m]{1,9}[g-z]{1,9}[a-z]{1,9}){2,30}$"),
    PATTERN.string("a back-reference", r"^(a+)\1$", outcomes=REFUSED),
    PATTERN.string("case folded and counted", r"^(?i:strasse|ſtraße|[k-s]{1,30}){2,20}$"),
    PATTERN.string("anything but three words", r"^(?!.*(?:foo|bar|baz)).{10,200}$"),
    PATTERN.string("no word of a hundred", "^(?!.*(?:" + "|".join(f"w{n}x" for n in range(100))
        + r"))\w{5,60}$"),
    PATTERN.regex("a date or nothing else, nested", r"(((\d{4}-)?\d{2}-)?\d{2},?){1,60}"),
    PATTERN.regex("quoted fields", r'("([^"\\]|\\.){0,40}"(,|;|\t)){1,80}'),
    PATTERN.regex("anything that ends anywhere", r"(?:.{0,50}\n){0,50}"),
    PATTERN.regex("optional groups in each other", r"(?:(a(b(c(d(e(f(g)?)?)?)?)?)?)?){1,50}"),
    PATTERN.regex("groups nested 100 deep", "(" * 100 + "a" + "+)" * 100, answer="a+"),
    PATTERN.regex("groups nested 5,000 deep", "(" * 5000 + "a" + ")" * 5000,
        outcomes=frozenset({"limit_exceeded", "invalid_regex"})),
]  # fmt: skip
