"""Translates structural tags into rules.

Free text is divided where structure begins: a text up to a trigger, or up to the end of its tag, is
one terminal, so that there is one way to read it. In literals, the name of a special token of the
vocabulary means that token. In free text, such a name is plain text.

To count the tokens of a text, its beginning and its end must be unambiguous, or a bound on its
tokens is refused: it begins at the beginning of the output or after marks, and ends at the end of
the output or at a mark. (Marks are constant strings and tokens, such as the beginning and the end
of a tag.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from maskwright.errors import StructuralTagError
from maskwright.grammar.regular.charset import Ranges, ranges_of
from maskwright.grammar.regular.terms import Regular, intersection, length, words
from maskwright.grammar.rules.tree import (
    Bounded,
    Capture,
    Choice,
    Concat,
    Expression,
    Repeat,
    SpecialToken,
    Terminal,
)
from maskwright.grammar.tags.free_text import always_ends, text_until, text_without
from maskwright.grammar.tags.tree import (
    AnyText,
    AnyToken,
    AnyTokens,
    ConstString,
    Format,
    GrammarText,
    JsonSchemaText,
    Or,
    RegexText,
    Repeated,
    SeparatedTags,
    Tag,
    TagSequence,
    Token,
    TriggeredTags,
)
from maskwright.immutable import Acyclic, Immutable


def check_token_bounds(format: Format, *, begins: bool = True, ends: bool = True) -> None:
    """Raise `StructuralTagError` for a bounded text whose tokens can't be counted. `begins`,
    `ends`: whether the beginning and the end of `format` are unambiguous."""
    match format:
        case AnyText() | AnyTokens() | AnyToken():
            _check_text(format, begins, ends)
        case TagSequence(elements=elements):
            for at, element in enumerate(elements):
                last = at == len(elements) - 1
                check_token_bounds(element, begins=begins, ends=ends and last)
                begins = begins and _is_mark(element)
        case Or(elements=elements):
            for element in elements:
                check_token_bounds(element, begins=begins, ends=ends)
        case Repeated(content=content):
            check_token_bounds(content, begins=begins and _is_mark(content), ends=False)
        case Tag():
            _check_tag(format, begins, ends)
        case TriggeredTags(tags=tags):
            for tag in tags:
                _check_tag(tag, True, False)
        case SeparatedTags(tags=tags):
            for tag in tags:
                _check_tag(tag, begins, False)
        case ConstString() | JsonSchemaText() | RegexText() | GrammarText() | Token():
            pass


def _check_text(text: AnyText | AnyTokens | AnyToken, begins: bool, ends: bool) -> None:
    what = "exclude_token" if isinstance(text, AnyToken) else "max_tokens"
    is_bounded = isinstance(text, AnyToken) or text.max_tokens is not None
    if is_bounded and not (begins and ends):
        raise StructuralTagError(
            f"{what} can't be counted where it isn't certain where the text "
            f"{'ends' if begins else 'begins'}; put it into a tag with a begin and an end, "
            "after nothing but tags",
            pointer=text.pointer,
        )


def _check_tag(tag: Tag, begins: bool, ends: bool) -> None:
    check_token_bounds(tag.content, begins=begins, ends=ends if tag.ends == ("",) else True)


def _is_mark(format: Format) -> bool:
    """Whether the end of `format` is unambiguous if its beginning is."""
    match format:
        case ConstString(value=value):
            return value != ""
        case Token():
            return True
        case Tag(ends=marks):
            return marks != ("",)
        case _:
            return False


Mark = str | Token
Marks = tuple[Mark, ...]

EMPTY_TEXT: Final = Concat(())


class _Bounds(Acyclic):
    """Upper bounds on the characters and tokens of a free text (None: any number), and the least
    number of its characters."""

    characters: int | None = None
    tokens: int | None = None
    least: int = 0

    def terminal(self, language: Regular, tail: int = 0) -> Terminal | Bounded:
        """Return a text of `language`, whose last `tail` characters end it, with the bound on
        tokens."""
        if self.least:
            language = intersection(language, length(self.least + tail, None))
        if self.tokens is None:
            return Terminal(language)
        return Bounded(Terminal(language), self.tokens, tail)

    def token(self, ids: Ranges) -> SpecialToken | Bounded:
        token = SpecialToken(ids)
        return token if self.tokens is None else Bounded(token, self.tokens, 0)


_UNBOUNDED: Final = _Bounds()


class TagRules(Immutable):
    """Translates formats. `leaf` translates the schemas, patterns and grammars in them."""

    special: Mapping[str, int]
    """Ids of the vocabulary's special tokens by name."""
    tokens: Sequence[bytes]
    """The bytes of each token; empty for special tokens."""
    leaf: Callable[[JsonSchemaText | RegexText | GrammarText], Expression]
    final: frozenset[int] = frozenset()
    """Ids of the end tokens."""

    def expression(self, format: Format) -> Expression:
        check_token_bounds(format)
        return self._format(format, ())

    def _format(self, format: Format, ends: Marks) -> Expression:
        """Translate `format`, followed by one of `ends` if there are any."""
        match format:
            case AnyText():
                return self._text(format, ends)
            case AnyTokens():
                return self._tokens(format, ends)
            case AnyToken():
                return self._one_token(format, ends)
            case TriggeredTags():
                return self._triggered(format, ends)
            case TagSequence(elements=elements) if elements:
                *before, last = elements
                firsts = (self._format(element, ()) for element in before)
                return series(*firsts, self._format(last, ends))
            case Or(elements=elements):
                return Choice(tuple(self._format(element, ends) for element in elements))
            case ConstString(value=value):
                alone = self._literal(value)
            case Token():
                alone = self._token(format)
            case JsonSchemaText() | RegexText() | GrammarText():
                alone = self.leaf(format)
            case TagSequence():
                alone = EMPTY_TEXT
            case Repeated(content=content, least=least, most=most):
                alone = Repeat(self._format(content, ()), least, most)
            case Tag(begin=begin):
                alone = series(self._mark(begin), self._inside(format))
            case SeparatedTags():
                alone = self._separated(format)
        return series(alone, self._any(ends))

    def _inside(self, tag: Tag) -> Expression:
        """Translate a tag without its beginning."""
        return self._format(tag.content, () if tag.ends == ("",) else tag.ends)

    def _text(self, text: AnyText, ends: Marks, before: Expression = EMPTY_TEXT) -> Expression:
        """Translate free text, which follows `before` and extends to the first of `ends`."""
        bounds = _Bounds(text.max_chars, text.max_tokens or None)
        if text.max_tokens == 0:
            bounds = _Bounds(0)
        if not ends:
            language = text_without(text.excludes, bounds.characters)
            return Capture("text", series(before, bounds.terminal(language)))
        texts = [end for end in map(self._spelled, ends) if isinstance(end, str)]
        by_text = bounds.tokens is not None and len(texts) == len(ends)
        if by_text and not always_ends(texts, text.excludes):
            raise _no_end_at_once("at most max_tokens tokens", text.pointer)
        return self._up_to(ends, (), text.excludes, bounds, before)

    def _tokens(self, format: AnyTokens, ends: Marks) -> Expression:
        """Translate texts and special tokens in alternation, and the text up to an end."""
        last = AnyText((), None, format.max_tokens, format.pointer)
        others, texts = self._apart(ends, format.excludes)
        if not others or format.max_tokens == 0:
            return self._text(last, ends)
        bounds = _Bounds(None, format.max_tokens)
        piece = bounds.terminal(text_without(tuple(texts)))
        pieces = Repeat(series(piece, bounds.token(ranges_of(others))))
        return self._text(last, ends, pieces)

    def _apart(self, ends: Marks, excludes: Iterable[Token]) -> tuple[set[int], list[str]]:
        """The special tokens that may come before one of `ends`, and the texts among these."""
        others = set(self.special.values()) - self.final - self._ids(excludes)
        texts: list[str] = []
        for end in map(self._spelled, ends):
            if isinstance(end, str):
                texts.append(end)
            elif isinstance(end, SpecialToken):
                others -= {number for number, _ in end.ids}
        return others, texts

    def _one_token(self, format: AnyToken, ends: Marks) -> Expression:
        """Translate one token, which is special or has a text, up to one of `ends`."""
        others, texts = self._apart(ends, format.excludes)
        if texts and not always_ends(texts, ()):
            raise _no_end_at_once("one token", format.pointer)
        bounds = _Bounds(tokens=1, least=1)
        some = self._up_to(ends, (), (), bounds) if ends else None
        some = some or Capture("text", bounds.terminal(text_without()))
        if not others:
            return some
        return Choice((some, series(SpecialToken(ranges_of(others)), self._any(ends))))

    def _ids(self, tokens: Iterable[Token]) -> set[int]:
        """Return the ids of special tokens. Raises `StructuralTagError` for other tokens."""
        ids: set[int] = set()
        for token in tokens:
            expression = self._token(token)
            if not isinstance(expression, SpecialToken):
                raise StructuralTagError(
                    f"{token.token!r} is no special token: its text can also be spelled with "
                    "other tokens. Exclude the text instead",
                    pointer=token.pointer,
                )
            ids |= {number for number, _ in expression.ids}
        return ids

    def _up_to(
        self,
        ends: Marks,
        others: Marks,
        without: tuple[str, ...],
        bounds: _Bounds = _UNBOUNDED,
        before: Expression = EMPTY_TEXT,
    ) -> Expression:
        """Return free text up to the first of `ends`, which contains none of `others`."""
        texts = [end for end in map(self._spelled, ends) if isinstance(end, str)]
        stops = (*texts, *(o for o in map(self._spelled, others) if isinstance(o, str)))
        options: list[Expression] = []
        for end in ends:
            spelled = self._spelled(end)
            if isinstance(spelled, str):
                rest = tuple(stop for stop in stops if stop != spelled)
                language = text_until(spelled, rest, without, bounds.characters)
                text = bounds.terminal(language, len(spelled))
                options.append(Capture("text", series(before, text), tail=spelled))
            else:
                text = bounds.terminal(text_without((*stops, *without), bounds.characters))
                options.append(series(Capture("text", series(before, text)), spelled))
        return choice(options)

    def _triggered(self, format: TriggeredTags, ends: Marks) -> Expression:
        """Translate text up to a trigger followed by the rest of a tag, repeatedly, and the text up
        to the end."""
        without = tuple(one for one in format.excludes if isinstance(one, str))
        tokens = self._ids(one for one in format.excludes if isinstance(one, Token))
        for trigger in format.triggers:
            if isinstance(trigger, Token) and tokens & self._ids([trigger]):
                raise StructuralTagError(
                    f"the trigger {trigger.token!r} is excluded", pointer=trigger.pointer
                )
        rounds: list[Expression] = []
        for trigger, rests in self._by_trigger(format).items():
            others = (*(t for t in format.triggers if t != trigger), *ends)
            rounds.append(series(self._up_to((trigger,), others, without), choice(rests)))
        once = choice(rounds)
        least = 1 if format.at_least_one else 0
        if ends:
            last = self._up_to(ends, format.triggers, without)
        else:
            texts = (t for t in map(self._spelled, format.triggers) if isinstance(t, str))
            last = Capture("text", Terminal(text_without((*texts, *without))))
        if not format.stop_after_first:
            return series(Repeat(once, least, None), last)
        stopped = series(once, self._any(ends))
        return stopped if least else Choice((stopped, last))

    def _by_trigger(self, format: TriggeredTags) -> dict[Mark, list[Expression]]:
        """Return the tags by the trigger with which they begin, without it. Raises
        `StructuralTagError` for a tag that begins with none."""
        by_trigger: dict[Mark, list[Expression]] = {}
        for tag in format.tags:
            begun = ((t, self._after(tag.begin, t)) for t in format.triggers)
            trigger, rest = next((each for each in begun if each[1] is not None), (None, None))
            if trigger is None or rest is None:
                begin = tag.begin if isinstance(tag.begin, str) else tag.begin.token
                raise StructuralTagError(
                    f"no trigger begins the tag {begin!r}", pointer=tag.pointer
                )
            by_trigger.setdefault(trigger, []).append(series(rest, self._inside(tag)))
        return by_trigger

    def _after(self, begin: Mark, trigger: Mark) -> Expression | None:
        """Return the rest of a tag's beginning after a trigger; None if that doesn't begin it."""
        if isinstance(begin, str) and isinstance(trigger, str):
            begins = begin.startswith(trigger)
            return self._literal(begin[len(trigger) :]) if begins else None
        return EMPTY_TEXT if self._mark(begin) == self._mark(trigger) else None

    def _separated(self, format: SeparatedTags) -> Expression:
        tags = Choice(tuple(self._format(tag, ()) for tag in format.tags))
        more = Repeat(series(self._literal(format.separator), tags))
        some = tags if format.stop_after_first else series(tags, more)
        return some if format.at_least_one else Repeat(some, 0, 1)

    # Marks

    def _any(self, marks: Marks) -> Expression:
        return choice(list(map(self._mark, marks))) if marks else EMPTY_TEXT

    def _mark(self, mark: Mark) -> Expression:
        return self._literal(mark) if isinstance(mark, str) else self._token(mark)

    def _spelled(self, mark: Mark) -> str | Expression:
        """Return the text of a mark, or an expression if it contains a special token."""
        expression = self._mark(mark)
        return mark if isinstance(mark, str) and isinstance(expression, Terminal) else expression

    def _literal(self, text: str) -> Expression:
        return literal(text, self.special)

    def _token(self, token: Token) -> Expression:
        number = token.token
        if isinstance(number, str):
            if number not in self.special:
                raise StructuralTagError(
                    f"{number!r} is no special token of this vocabulary", pointer=token.pointer
                )
            number = self.special[number]
        if not 0 <= number < len(self.tokens):
            raise StructuralTagError(
                f"token {number} is not in the vocabulary of {len(self.tokens)}",
                pointer=token.pointer,
            )
        if not self.tokens[number]:
            return SpecialToken(((number, number),))
        try:
            return Terminal(words([self.tokens[number].decode()]))
        except UnicodeDecodeError:
            raise StructuralTagError(
                f"token {number} is a part of a character", pointer=token.pointer
            ) from None


def _no_end_at_once(count: str, pointer: str) -> StructuralTagError:
    return StructuralTagError(
        f"text of {count} must be able to end at once, but with an end an excluded string may be "
        "completed",
        pointer=pointer,
    )


def literal(text: str, special: Mapping[str, int]) -> Expression:
    """Translate `text`, in which the name of a special token means that token. Of several names,
    the longest counts."""
    parts: list[Expression] = []
    plain = at = 0
    by_length = sorted(names_in(text, special), key=len, reverse=True)
    if text and not by_length:
        return Terminal(words([text]))
    while at < len(text):
        name = next((name for name in by_length if text.startswith(name, at)), None)
        if name is None:
            at += 1
            continue
        if plain < at:
            parts.append(Terminal(words([text[plain:at]])))
        parts.append(SpecialToken(((special[name], special[name]),)))
        at += len(name)
        plain = at
    if plain < len(text):
        parts.append(Terminal(words([text[plain:]])))
    return series(*parts)


def names_in(text: str, special: Mapping[str, int]) -> dict[str, int]:
    """Return the special tokens whose names occur in a text, by name."""
    return {name: number for name, number in special.items() if name and name in text}


def choice(options: Sequence[Expression]) -> Expression:
    """Return one of the expressions."""
    return options[0] if len(options) == 1 else Choice(tuple(options))


def series(*parts: Expression) -> Expression:
    """Return the concatenation of the parts, without nested concatenations."""
    flat: list[Expression] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, Concat) else [part])
    return flat[0] if len(flat) == 1 else Concat(tuple(flat))
