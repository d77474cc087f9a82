"""Grammars drawn at random, written in the languages in which people write grammars."""

from __future__ import annotations

from maskwright.grammar.rules.tree import Capture, Choice, Concat, Ref, Repeat
from tests.properties.naive_rules import NaiveRules, Run


def gbnf(rules: NaiveRules) -> str:
    lines = [f"root ::= {rules.start}"]
    lines += [f"{name} ::= {_written(body, _gbnf_run, '{%s,%s}')}" for name, body in _bodies(rules)]
    return "\n".join(lines)


def lark(rules: NaiveRules) -> str:
    lines = [f"start: {rules.start}"]
    lines += [f"{name}: {_written(body, _lark_run, '~%s..%s')}" for name, body in _bodies(rules)]
    return "\n".join(lines)


def _bodies(rules: NaiveRules) -> list[tuple[str, object]]:
    return [*rules.rules.items()]


def _gbnf_run(run: Run) -> str:
    most = "" if run.most is None else run.most
    tail = f' "{run.tail}"' if run.tail else ""
    return f"[{run.letters}]{{{run.least},{most}}}{tail}"


def _lark_run(run: Run) -> str:
    most = "" if run.most is None else run.most
    return f"/[{run.letters}]{{{run.least},{most}}}{run.tail}/"


def _written(body: object, run: object, counts: str) -> str:
    """`counts`: how a repeat from a least to a most number of times is written."""
    assert callable(run)
    match body:
        case Run():
            return f"({run(body)})"
        case Ref(name=name):
            return name
        case Capture(body=inner):
            return _written(inner, run, counts)
        case Concat(parts=parts):
            return "(" + " ".join(_written(each, run, counts) for each in parts) + ")"
        case Choice(options=options):
            return "(" + " | ".join(_written(each, run, counts) for each in options) + ")"
        case Repeat(body=inner, least=least, most=most):
            one = _written(inner, run, counts)
            if most is None:
                return "(" + " ".join([one] * least + [f"{one}*"]) + ")"
            return f"({one}{counts % (least, most)})"  # a group, which may be repeated in turn
        case _:
            raise TypeError(body)
