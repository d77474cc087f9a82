"""Structural tags: triggers that overlap text, tags in tags, bounded text, separators."""

from __future__ import annotations

from typing import Any

from tests.hostile.shape import BOUNDED, HostileShape, Subject, array, closed

TAG = Subject("tags")
ANY = r"(?s).*"
REFUSED = frozenset({"invalid_structural_tag"})
IDN = {"type": "string", "format": "idn-hostname"}


def tag(begin: str, content: Any, end: str) -> Any:
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def json_value(schema: Any) -> Any:
    return {"type": "json_schema", "json_schema": schema}


def text(**more: Any) -> Any:
    return {"type": "any_text", **more}


def nested(depth: int) -> Any:
    content: Any = text(max_chars=20)
    for level in range(depth):
        content = tag(f"<{level}>", content, f"</{level}>")
    return content


def optional(depth: int) -> Any:
    content: Any = {"type": "regex", "pattern": "[ab]{1,9}"}
    for kind in ("star", "optional", "plus") * depth:
        content = {"type": kind, "content": content}
    return content


MANY_TAGS = {
    "type": "triggered_tags",
    "triggers": ["<call_"],
    "tags": [tag(f"<call_{at}>", json_value(closed({f"k{at}": IDN})), "</call>")
             for at in range(120)],
    "at_least_one": True, "stop_after_first": True,
}  # fmt: skip
ALIKE = {
    "type": "triggered_tags",
    "triggers": ["aab", "aac", "abab"],
    "tags": [tag("aab", text(max_chars=30), "baab"), tag("aac", text(), "caac"),
             tag("abab", {"type": "regex", "pattern": "(a|b){1,20}"}, "!")],
}  # fmt: skip

SHAPES: list[HostileShape] = [
    TAG.tag("an idn-hostname in a tag", tag("<h>", json_value(closed({"h": IDN})), "</h>"),
        r"(?s)<h>.*</h>"),
    TAG.tag("120 tags with host names", MANY_TAGS, r"(?s).*<call_\d+>.*</call>"),
    TAG.tag("triggers that begin alike", ALIKE, ANY),
    TAG.tag("tags nested 30 deep", nested(30), r"(?s)<29>.*</29>"),
    TAG.tag("tags nested 70 deep", nested(70), ANY, outcomes=REFUSED | {"limit_exceeded"}),
    TAG.tag("stars in stars", optional(8), "[ab]*"),
    TAG.tag("a regex of counters in a tag", tag("[", {"type": "regex",
        "pattern": r".{0,500}a.{0,500}b.{0,9}"}, "]"), r"(?s)\[.*\]"),
    TAG.tag("text of 50,000 characters at most", {"type": "sequence", "elements": [
        text(max_chars=50000), {"type": "const_string", "value": "END"}]}, r"(?s).*END"),
    TAG.tag("text with 200 excluded strings", {"type": "sequence", "elements": [
        tag("", text(excludes=[f"no{at}way" for at in range(200)]), "STOP")]}, r"(?s).*STOP"),
    TAG.tag("text that ends with a repeated letter", tag("", text(), "a" * 200), r"(?s).*a{200}",
        outcomes=BOUNDED | {"max_tokens_too_small"}),
    TAG.tag("a bounded thought, then JSON", {"type": "sequence", "elements": [
        tag("<think>", text(max_tokens=40), "</think>"), json_value(closed({"v": IDN}))]},
        r"(?s)<think>.*</think>\{.*\}"),
    TAG.tag("30 unions of tags one after another", {"type": "sequence", "elements": [
        {"type": "or", "elements": [tag(f"<{c}>", {"type": "regex", "pattern": "[ab]{0,9}"},
         f"</{c}>") for c in ("x", "xx", "y")]} for _ in range(30)]}, r"(?s).+", max_tokens=700),
    TAG.tag("ambiguous repeats of text", {"type": "repeat", "min": 3, "max": 60, "content": {
        "type": "or", "elements": [{"type": "regex", "pattern": "a{1,9}"},
                                   {"type": "regex", "pattern": "(a|b){2,8}"}]}}, "[ab]+"),
    TAG.tag("an ambiguous grammar in a tag", tag("{", {"type": "grammar",
        "grammar": 'start: start start | "a" | "b"'}, "}"), r"\{[ab]+\}"),
    TAG.tag("tags with a separator", {"type": "tags_with_separator", "separator": ", ",
        "at_least_one": True, "tags": [tag(f"<{at}", json_value(array({"enum": [at, at + 1]},
        uniqueItems=True, maxItems=2)), ">") for at in range(20)]}, r"(?s).+"),
    TAG.tag("parameters of a large object", {"type": "qwen_xml_parameter", "json_schema":
        closed({f"p{at}": {"type": "string", "pattern": f"^.{{0,90}}{at}.{{0,90}}$"}
                for at in range(12)}, [])}, ANY),
    TAG.tag("a trigger within a trigger", {"type": "triggered_tags", "triggers": ["<a", "<a>"],
        "tags": [tag("<a>", text(), "</a>")]}, ANY, outcomes=REFUSED),
    TAG.tag("a dispatch of 60 patterns", {"type": "dispatch", "loop": True, "rules": [
        [f"#{at}:", {"type": "regex", "pattern": f"[a-z]{{{at % 5},{at + 9}}};"}]
        for at in range(60)]}, ANY, outcomes=BOUNDED | REFUSED),
]  # fmt: skip
