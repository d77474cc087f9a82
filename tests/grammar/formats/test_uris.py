"""URIs, IRIs and URI templates: examples of RFC 3986, 3987 and 6570, and what breaks each rule."""

from __future__ import annotations

import pytest

from maskwright.grammar.formats import language as formats
from maskwright.grammar.regular.derivative import contains

URIS = [
    *("ftp://ftp.is.co.za/rfc/rfc1808.txt", "http://www.ietf.org/rfc/rfc2396.txt", "a:"),
    *("ldap://[2001:db8::7]/c=GB?objectClass?one", "mailto:John.Doe@example.com", "a:b:c"),
    *("news:comp.infosystems.www.servers.unix", "tel:+1-816-555-1212", "a+b-c.1:/", "a:?#"),
    *("telnet://192.0.2.16:80/", "urn:oasis:names:specification:docbook:dtd:xml:4.1.2"),
    *("foo://example.com:8042/over/there?name=ferret#nose", "file:///etc/hosts", "a://@:/"),
    *(
        "a://u:p@h",
        "a://[v1.fe:x]",
        "a:%41%fF",
        "a:/b//c",
        "a:b/c;d=1,2!$&'()*",
        "a:?/?:@",
        "a:#/?",
    ),
]
RELATIVE = [
    "",
    "a",
    "a/b:c",
    "/",
    "/a//b",
    "//h",
    "//h:1/a?b#c",
    "?q",
    "#f",
    "./a:b",
    "../..",
    "%41",
]
NEITHER = [
    *(
        " ",
        "a b",
        "a:b c",
        "a:\\",
        "a:<b>",
        'a:"',
        "a:{b}",
        "a:|",
        "a:^",
        "a:`",
        "a:%",
        "a:%4",
        "a:%4g",
    ),
    *(
        "a://[::1",
        "a://[1.2.3.4]",
        "a://[v.x]",
        "a://[v1.]",
        "a://h:x",
        "a://a@b@c",
        "a:#b#c",
        "a:[]",
    ),
    *("//[", "?[", "#[", "\ud7ff \n"),
]
ONLY_RELATIVE = ["1a:b", "+a:b", ":a", "é:x"]
"""A colon in the first segment, after what is no scheme."""
INTERNATIONAL = ["http://résumé.example.org/ü?ü#ü", "a:\u00a0", "a:\U0001f600", "a://ü@ü:1"]
PRIVATE_IN_QUERY = "a:?\ue000\U000f0000\U0010fffd"
NO_CHARACTERS = ["a:\ue000", "a:#\ue000", "a:\x80", "a:\ufdd0", "a:\uffff", "a:\U0001ffff"]


@pytest.mark.parametrize("text", URIS)
def test_uris(text: str) -> None:
    for language in (
        formats.uri(),
        formats.uri_reference(),
        formats.iri(),
        formats.iri_reference(),
    ):
        assert contains(language, text)


@pytest.mark.parametrize("text", RELATIVE)
def test_relative_references(text: str) -> None:
    for language in (formats.uri_reference(), formats.iri_reference()):
        assert contains(language, text)
    for language in (formats.uri(), formats.iri()):
        assert not contains(language, text)


@pytest.mark.parametrize("text", [*NEITHER, *ONLY_RELATIVE])
def test_what_is_no_reference(text: str) -> None:
    for language in (
        formats.uri(),
        formats.uri_reference(),
        formats.iri(),
        formats.iri_reference(),
    ):
        assert not contains(language, text)


@pytest.mark.parametrize("text", [*INTERNATIONAL, PRIVATE_IN_QUERY])
def test_characters_beyond_ascii(text: str) -> None:
    for language, expected in (
        *((formats.uri(), False), (formats.uri_reference(), False)),
        *((formats.iri(), True), (formats.iri_reference(), True)),
    ):
        assert contains(language, text) is expected


@pytest.mark.parametrize("text", NO_CHARACTERS, ids=ascii)
def test_characters_that_no_iri_has(text: str) -> None:
    assert not contains(formats.iri(), text)
    assert not contains(formats.iri_reference(), text)


TEMPLATES = [
    *(
        "",
        "/",
        "{var}",
        "{+path}/here",
        "{#x,hello,y}",
        "X{.var:3}",
        "{/list*,path:4}",
        "{;x,y,empty}",
    ),
    *(
        "{?x,y}",
        "{&x}",
        "{&var:3}",
        "{a.b}",
        "{%41b}",
        "{a:1}",
        "{a:9999}",
        "{a_1}",
        "ü{x}",
        "a%20{x}",
    ),
    *("{=x}", "{,x}", "{!x}", "{@x}", "{|x}"),
]
NO_TEMPLATES = [
    *(
        "{",
        "}",
        "{}",
        "{a",
        "a}",
        "{a b}",
        "{a,}",
        "{,}",
        "{a:0}",
        "{a:10000}",
        "{a:}",
        "{a*:3}",
        "{a**}",
    ),
    *(
        "{a.}",
        "{.}",
        "{a..b}",
        "{$x}",
        "{a-b}",
        "{%4}",
        "%",
        "%4",
        " ",
        '"',
        "<",
        "\\",
        "^",
        "`",
        "|",
    ),
]


@pytest.mark.parametrize("text", TEMPLATES)
def test_templates(text: str) -> None:
    assert contains(formats.uri_template(), text)


@pytest.mark.parametrize("text", NO_TEMPLATES)
def test_what_is_no_template(text: str) -> None:
    assert not contains(formats.uri_template(), text)
