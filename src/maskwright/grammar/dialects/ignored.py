"""The language of a terminal together with the ignored text before it."""

from __future__ import annotations

from functools import partial

from maskwright.grammar.regular import charset
from maskwright.grammar.regular.character_classes import Arc
from maskwright.grammar.regular.derivative import transitions
from maskwright.grammar.regular.terms import EMPTY, Regular, alt, state


def skipping(ignored: Regular, text: Regular) -> Regular:
    """Return the language of any number of pieces of `ignored` and then a text of `text`, which is
    either not nullable or `EPSILON`.

    A piece is as long as possible: what follows it doesn't begin with a character that could
    continue it.
    """
    pieces = not_empty(ignored)
    if pieces is EMPTY:
        return text
    first = state(
        ("ignored", pieces, text), False, lambda: _begun(pieces, text), plain=_plain(pieces, text)
    )
    return alt(text, first)


def not_empty(language: Regular) -> Regular:
    """Return `language` without the empty text."""
    if not language.nullable:
        return language
    moves = transitions(language)
    key = ("not empty", language)
    return state(key, False, lambda: moves, plain=language.plain) if moves else EMPTY


def _begun(pieces: Regular, text: Regular) -> list[Arc]:
    return [(low, high, _inside(pieces, target, text)) for low, high, target in transitions(pieces)]


def _inside(pieces: Regular, rest: Regular, text: Regular) -> Regular:
    """Return the language within a piece, of which a text of `rest` is still to come."""
    nullable = rest.nullable and text.nullable
    moves = partial(_moves, pieces, rest, text)
    return state(("in ignored", pieces, rest, text), nullable, moves, plain=_plain(pieces, text))


def _moves(pieces: Regular, rest: Regular, text: Regular) -> list[Arc]:
    going_on = transitions(rest)
    arcs = [(low, high, _inside(pieces, target, text)) for low, high, target in going_on]
    if rest.nullable:
        others = charset.complement(charset.normal((low, high) for low, high, _ in going_on))
        for low, high, target in transitions(skipping(pieces, text)):
            for part in charset.intersection(((low, high),), others):
                arcs.append((*part, target))
    return sorted(arcs, key=lambda arc: arc[0])


def _plain(pieces: Regular, text: Regular) -> bool:
    return pieces.plain and text.plain
