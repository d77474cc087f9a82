"""The least tokens of the prompts of a body, read from its bytes: as plain Python counts them in
what the body is parsed to, and never more than the prompts take."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maskwright.errors import InputError
from maskwright.models import DEMO_PATH, load
from maskwright.server.prompt_sizes import MAX_DEPTH, MAX_DIGITS, least_tokens
from maskwright.server.request.answer_request import TextPrompt, TokenPrompt
from maskwright.server.request.anthropic_request import AnthropicRequest
from maskwright.server.request.body import parse_object
from maskwright.server.request.completion_requests import ChatCompletionRequest, CompletionRequest
from maskwright.server.request.messages import ChatPrompt
from maskwright.server.request.response_request import ResponseRequest

ALL: Final = frozenset({"system", "user", "tool"})
OUTPUTS: Final = ("function_call_output", "custom_tool_call_output")
NAMES: Final = {"developer": "system", "function": "tool"}


def of(body: object, place: str = "prompt") -> tuple[int, int] | None:
    """The least tokens where each byte may be one."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return least_tokens(data, place, ALL, 1, 1)


# As plain Python counts ---------------------------------------------------------------------------


class Naive:
    def __init__(self, shown: frozenset[str], shrinks: int, longest: int) -> None:
        self.shown, self.shrinks, self.longest = shown, shrinks, longest

    def least(self, body: dict[str, Any], place: str) -> tuple[int, int]:
        counts = list(self.prompts(body, place))
        return (0, 0) if "truncate_prompt_tokens" in body else (max(counts, default=0), sum(counts))

    def prompts(self, body: dict[str, Any], place: str) -> Iterator[int]:
        sent: Any = body.get(place)
        if place == "prompt":
            many = isinstance(sent, list) and sent and isinstance(sent[0], list | str)
            yield from map(self.prompt, sent if many else [sent])
            return
        if place == "input" and isinstance(sent, str):
            sent = [{"role": "user", "content": sent}]
        chat: list[Any] = sent if isinstance(sent, list) else []
        if place == "input":
            instructions: Any = body.get("instructions")
            first = [{"role": "system", "content": instructions}]
            chat = [*(first if isinstance(instructions, str) else []), *map(self.turn, chat)]
        yield self.tokens([text.strip() for text in self.texts(chat)])

    def turn(self, item: Any) -> Any:
        if isinstance(item, dict) and item.get("type") in OUTPUTS:
            return {"role": "tool", "content": item.get("output")}
        return item

    def prompt(self, prompt: object) -> int:
        if isinstance(prompt, list):
            return len(prompt)
        return self.tokens([prompt] if isinstance(prompt, str) else [])

    def texts(self, chat: Sequence[Any]) -> Iterator[str]:
        for at, message in enumerate(chat):
            role = message.get("role") if isinstance(message, dict) else None
            role = NAMES.get(role, role) if isinstance(role, str) else None
            if role not in self.shown or (role == "system" and at > 0):
                continue
            content = message.get("content")
            for part in content if isinstance(content, list) else [content]:
                text = part.get("text") if part is not content and isinstance(part, dict) else part
                if isinstance(text, str):
                    yield text

    def tokens(self, texts: Sequence[str]) -> int:
        if not self.shrinks:
            return 0
        size = sum(len(t) * self.shrinks if t.isascii() else len(t.encode()) for t in texts)
        return -(-size // (self.longest * self.shrinks))


SPACE = [chr(point) for point in range(0x3001) if chr(point).isspace()]
LETTERS = "\x80\xbf\xc0é\u07ff\u3fff\u4000中\ucfff\ud000\ud7ff\ue000，\uffff\ufeff😀\U0010ffff"
CHARACTERS = st.sampled_from([*'abz /"\\\x7f\x00\x1b', *LETTERS, *SPACE])
TEXTS = st.text(CHARACTERS, max_size=30) | st.integers(0, 40).map(lambda size: "x" * size)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
LEAVES = st.none() | st.booleans() | NUMBERS | TEXTS
KEYS = st.sampled_from(["role", "content", "text", "type", "output", "prompt", "messages", "input"])
ANY = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | TEXTS, inner, max_size=4),
    max_leaves=10,
)
PARTS = st.fixed_dictionaries({}, optional={"type": st.just("text"), "text": TEXTS | ANY})
ROLES = st.sampled_from([*sorted(ALL), *NAMES, "assistant", "User", "user "]) | ANY
ITEMS = st.fixed_dictionaries(
    {},
    optional={
        "role": ROLES,
        "content": TEXTS | st.lists(TEXTS | PARTS | ANY, max_size=3) | ANY,
        "type": st.sampled_from([*OUTPUTS, "message"]) | ANY,
        "output": TEXTS | st.lists(PARTS, max_size=3) | ANY,
        "name": TEXTS,
    },
)
IDS = st.lists(NUMBERS, max_size=9)
BODIES = st.fixed_dictionaries(
    {},
    optional={
        "messages": st.lists(ITEMS | ANY, max_size=4) | ANY,
        "input": TEXTS | st.lists(ITEMS | ANY, max_size=4) | ANY,
        "instructions": TEXTS | ANY,
        "prompt": TEXTS | IDS | st.lists(TEXTS | IDS | ANY, max_size=4) | ANY,
        "tools": ANY,
    },
)
PLACES = st.sampled_from(["messages", "input", "prompt"])
BOUNDS = st.tuples(
    st.sets(st.sampled_from(sorted(ALL))).map(frozenset),
    st.sampled_from([0, 1, 3]),
    st.sampled_from([1, 2, 7]),
)


def written(value: object, draw: random.Random) -> str:
    """JSON in one of its spellings: with space, escapes, and names that stand twice."""

    def space() -> str:
        return draw.choice(["", "", "", " ", "\n\t", "\r "])

    def string(text: str) -> str:
        plain = draw.random() < 0.5
        return f'"{"".join(character(each, plain) for each in text)}"'

    def character(each: str, plain: bool) -> str:
        if draw.random() < (0.02 if plain else 0.3):
            units = each.encode("utf-16-be")
            return "".join(
                f"\\u{units[at]:02x}{units[at + 1]:02X}" for at in range(0, len(units), 2)
            )
        if each in '"\\' or each < " ":
            return json.dumps(each)[1:-1]
        return "\\/" if each == "/" and not plain else each

    def write(value: Any) -> str:
        match value:
            case dict():
                pairs = list(value.items())
                if pairs and draw.random() < 0.2:
                    name, _ = draw.choice(pairs)
                    pairs.insert(0, (name, draw.choice([["y" * 50], "y" * 50, 5, None, {}])))
                members = (
                    f"{string(name)}{space()}:{space()}{write(each)}" for name, each in pairs
                )
                text = "{" + f"{space()},{space()}".join(members) + "}"
            case list():
                text = f"[{space()}{f'{space()},{space()}'.join(map(write, value))}{space()}]"
            case str():
                text = string(value)
            case _:
                text = json.dumps(value)
        return space() + text + space()

    return write(value)


@settings(max_examples=300, deadline=None)
@given(BODIES, PLACES, BOUNDS, st.randoms(use_true_random=False))
def test_the_bytes_of_a_body_give_what_its_tree_does(
    body: dict[str, Any], place: str, bound: tuple[frozenset[str], int, int], draw: random.Random
) -> None:
    data = written(body, draw).encode()
    assert parse_object(data).keys() == body.keys()
    tree = json.loads(data)  # in which the last of equal names counts
    assert least_tokens(data, place, *bound) == Naive(*bound).least(tree, place)
    if place == "input" and isinstance(tree.get("instructions"), str):
        tree["instructions"] = ""  # which are still the first message
    expected = Naive(*bound).least(tree, place)
    assert least_tokens(data, place, *bound, instructed=False) == expected


PIECES = [
    *(b'"', b"\\", b",", b"[", b"]", b"{", b"}", b":", b"'", b"//", b"", b"\x00", b"\x0b", b"\x1f"),
    *(b"0", b"-", b".", b"e", b"01", b"1.", b"NaN", b"-Infinity", b"nul", b"true"),
    *(b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe0\x80\x80", b"\xef\xbb\xbf"),
    *(b"\xc2\xa0", b"\\ud800", b"\\udc00", b"\\u12", b"\\x"),
]


@settings(max_examples=300, deadline=None)
@given(BODIES, PLACES, st.randoms(use_true_random=False))
def test_a_body_is_counted_exactly_where_it_is_well_formed(
    body: dict[str, Any], place: str, draw: random.Random
) -> None:
    data = written(body, draw).encode()
    for _ in range(5):
        at = draw.randrange(len(data) + 1)
        broken = data[:at] + draw.choice(PIECES) + data[at + draw.randrange(3) :]
        try:
            parse_object(broken)
        except InputError:
            assert least_tokens(broken, place, ALL, 1, 1) is None
        else:
            expected = Naive(ALL, 1, 1).least(json.loads(broken), place)
            assert least_tokens(broken, place, ALL, 1, 1) == expected


def test_a_body_that_ends_early_is_not_counted() -> None:
    body = b'{"prompt": ["a\\u00e9\xc3\xa9\\ud83d\\ude00", -1.5e+3, true, false, null, {"a": []}]} '
    assert of(body) is not None
    for end in range(len(body) - 1):
        assert of(body[:end]) is None, body[:end]


# Both sides of each bound -------------------------------------------------------------------------


def nested(levels: int, inside: bytes = b"1") -> bytes:
    return b'{"a":' + b"[" * (levels - 2) + inside + b"]" * (levels - 2) + b"}"


@pytest.mark.parametrize(
    ("body", "counts"),
    [
        (nested(MAX_DEPTH), True),
        (nested(MAX_DEPTH + 1), False),
        (nested(MAX_DEPTH, b""), True),
        (nested(MAX_DEPTH + 1, b""), True),
        (nested(MAX_DEPTH + 2, b""), False),
        (b'{"a": ' + b"9" * MAX_DIGITS + b"}", True),
        (b'{"a": -' + b"9" * MAX_DIGITS + b"}", True),
        (b'{"a": ' + b"9" * (MAX_DIGITS + 1) + b"}", False),
        (b'{"a": ' + b"9" * (MAX_DIGITS + 1) + b".0}", True),
        (b'{"a": ' + b"9" * (MAX_DIGITS + 1) + b"e1}", True),
        (b'{"a": ' * 100_000, False),
        (b'{"a": "\\ud83d\\ude00"}', True),
        (b'{"a": "\\ud83d\\ud83d\\ude00"}', False),
        (b'{"a": "\\ud83dx"}', False),
        (b'{"\\ude00": 1}', False),
        (b'{"a": "\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf\xf0\x90\x80\x80"}', True),
        (b'{"a": "\xed\xa0\x80"}', False),
        (b'{"a": "\xc1\xbf"}', False),
        (b"\xef\xbb\xbf{}", False),
        (b"{}", True),
        (b" {}\n", True),
        (b"{}{}", False),
        (b"[]", False),
        (b"", False),
        (b"{}\x00", False),
        (b'{"a": 1{"b": 2}', False),
        (b'{"a": [1[2]}', False),
    ],
    ids=lambda value: repr(value)[:40],
)  # fmt: skip
def test_what_the_parser_refuses_is_not_counted(body: bytes, counts: bool) -> None:
    try:
        parse_object(body)
    except InputError:
        assert not counts
    else:
        assert counts
    assert of(body) == ((0, 0) if counts else None)


@pytest.mark.parametrize(("size", "tokens"), [(0, 0), (1, 1), (7, 1), (8, 2), (700, 100)])
def test_a_text_takes_its_bytes_over_those_of_the_longest_token(size: int, tokens: int) -> None:
    data = json.dumps({"prompt": "x" * size}).encode()
    assert least_tokens(data, "prompt", ALL, 1, 7) == (tokens, tokens)
    assert least_tokens(data, "prompt", ALL, 3, 7) == (tokens, tokens), "ASCII does not shrink"
    wide = json.dumps({"prompt": "é" * size}).encode()
    assert least_tokens(wide, "prompt", ALL, 3, 7) == (-(-2 * size // 21),) * 2
    assert least_tokens(data, "prompt", ALL, 0, 7) == (0, 0), "there is no bound"


def message(role: object, content: object) -> dict[str, Any]:
    return {"role": role, "content": content}


COUNTED: dict[str, tuple[object, str, int]] = {
    "escapes": (b'{"prompt": "\\n\\u0041\\/\\""}', "prompt", 4),
    "characters that are escaped": (b'{"prompt": "\\u00e9\\u4e2d\\ud83d\\ude00"}', "prompt", 9),
    "names that are escaped": (
        b'{"m\\u0065ssages": [{"r\\u006fle": "us\\u0065r", "content": "abc"}]}',
        "messages",
        3,
    ),
    "the last of equal names": (b'{"prompt": "abc", "prompt": "ab"}', "prompt", 2),
    "the last of equal roles": (
        b'{"messages": [{"role": "user", "content": "abc", "role": "assistant"}]}',
        "messages",
        0,
    ),
    "the last of equal texts": (
        b'{"messages": [{"role": "user", "content": [{"text": "abc", "text": 1}, "d"]}]}',
        "messages",
        1,
    ),
    "space around a text": (
        {"messages": [message("user", "\u3000 a b\x1f\u00a0\n")]},
        "messages",
        3,
    ),
    "space in a prompt": ({"prompt": " a "}, "prompt", 3),
    "parts": (
        {"messages": [message("user", [{"text": " a"}, "b", {"text": None}])]},
        "messages",
        2,
    ),
    "a system's first": (
        {"messages": [message("developer", "abc"), message("system", "de")]},
        "messages",
        3,
    ),
    "instructions before a system's": (
        {"input": [message("system", "abc")], "instructions": "de"},
        "input",
        2,
    ),
    "without instructions": (
        {"input": [message("system", "abc")], "instructions": None},
        "input",
        3,
    ),
    "an output": ({"input": [{"type": OUTPUTS[1], "output": "abc", "content": "d"}]}, "input", 3),
    "an output in a chat": (
        {"messages": [{"type": OUTPUTS[1], "output": "abc", **message("user", "d")}]},
        "messages",
        1,
    ),
    "numbers": ({"prompt": [1, 2.5, "three"]}, "prompt", 3),
    "no prompt": ({"prompt": {"text": "abc"}}, "prompt", 0),
    "a part that is kept": ({"prompt": "abc", "truncate_prompt_tokens": 0}, "prompt", 0),
    "all that is kept": ({"prompt": "abc", "truncate_prompt_tokens": None}, "prompt", 3),
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTED)
def test_what_is_counted(name: str) -> None:
    body, place, tokens = COUNTED[name]
    assert of(body, place) == (tokens, tokens)


def test_the_longest_of_several_prompts_and_their_sum() -> None:
    assert of({"prompt": ["ab", [1, 2, 3], "", None]}) == (3, 5)
    assert of({"prompt": [[1], [2, 3], "a"]}) == (2, 4)


@pytest.mark.parametrize(
    ("place", "shrinks", "longest"), [("text", 1, 1), ("prompt", -1, 1), ("prompt", 1, 0)]
)
def test_other_places_and_sizes_are_refused(place: str, shrinks: int, longest: int) -> None:
    with pytest.raises(ValueError, match=r"no prompts are in|must be above 0"):
        least_tokens(b"{}", place, ALL, shrinks, longest)


# The tokens that prompts take ---------------------------------------------------------------------

PARSERS: Final[dict[str, tuple[str, Callable[[Any], Any]]]] = {
    "chat": ("messages", ChatCompletionRequest.parse),
    "text": ("prompt", CompletionRequest.parse),
    "responses": ("input", ResponseRequest.parse),
    "Anthropic's": ("messages", AnthropicRequest.parse),
}
WORDS = [
    "Anna",
    " Smith",
    "\n",
    "  ",
    "é",
    "中文",
    "😀",
    "<|user|>",
    "e\u0301",
    "\u3000",
    "the ",
    "paid",
]


def request_body(kind: str, draw: random.Random) -> dict[str, Any]:
    def text() -> str:
        return "".join(draw.choices(WORDS, k=draw.randrange(1, 40)))

    def content() -> Any:
        parts = [{"type": "text", "text": text()} for _ in range(draw.randrange(1, 4))]
        return draw.choice([text(), parts])

    if kind == "text":
        ids = draw.choices(range(4000), k=draw.randrange(1, 40))
        prompt = draw.choice([text(), ids, [text(), text()], [ids, ids[:3]]])
        return {"prompt": prompt, "add_special_tokens": draw.random() < 0.5}
    if kind == "responses" and draw.random() < 0.3:
        return {"input": text(), "instructions": text()}
    roles = ["user", "assistant"] if kind == "Anthropic's" else ["system", "user", "assistant"]
    messages = [message(draw.choice(roles), content()) for _ in range(draw.randrange(1, 5))]
    if kind == "responses":
        output = {"type": "function_call_output", "call_id": "c", "output": text()}
        return {"input": [*messages, output], "instructions": draw.choice([None, text()])}
    more = {"max_tokens": 5} if kind == "Anthropic's" else {}
    return {"messages": messages, **more}


@pytest.mark.parametrize("kind", PARSERS)
def test_prompts_take_at_least_so_many(kind: str) -> None:
    model = load(DEMO_PATH)
    place, parse = PARSERS[kind]
    shown, draw, counted = model.shown_roles(), random.Random(kind), 0

    def taken(prompt: ChatPrompt | TextPrompt | TokenPrompt) -> int:
        encode = model.encoder.encode
        match prompt:
            case TokenPrompt(tokens):
                return len(tokens)
            case TextPrompt(text, special):
                return len(encode(text, special=special))
            case ChatPrompt():
                turns = [each.for_template() for each in prompt.messages]
                texts = model.render_chat_texts(turns)
                return sum(len(encode(text, special=False)) for text in texts)

    for _ in range(150):
        data = json.dumps(request_body(kind, draw), ensure_ascii=draw.random() < 0.5).encode()
        least = least_tokens(data, place, shown, *model.least_tokens)
        assert least is not None
        taking = [taken(prompt) for prompt in parse(parse_object(data)).prompts]
        assert least[0] <= max(taking)
        assert least[1] <= sum(taking)
        counted += least[1]
    assert counted > 300
